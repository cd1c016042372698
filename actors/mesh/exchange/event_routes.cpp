#include "actors/mesh/exchange/event_routes.hpp"

#include "actors/groups/group_callers.hpp"
#include "actors/jobs/dvm_jobs.hpp"
#include "base/all_of.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

namespace troupe {

event_routes::event_routes(mesh_calls::member self, host_calls& calls,
                           const job_locations& places,
                           const connected_tools& tools, effects out)
  : self_(self), calls_(calls), places_(places), tools_(tools),
    out_(std::move(out)), orders_(self.rank, self.incarnation, places,
                                  means_of_order(), defaults::tree_radix),
    spread_(places, means_of_spread()) {
  // nop
}

// -- delivery at this node --

/// Whether any of these may run here.
bool event_routes::concerns(const std::vector<proc_id>& targets) const {
  return std::any_of(targets.begin(), targets.end(), [&](const proc_id& x) {
    return x.rank == rank_wildcard || places_.node_of(x) == self_.rank;
  });
}

void event_routes::deliver(const std::string& nspace, deliver_event what,
                           const action& then) {
  if (!nspace.empty()) {
    if (concerns(what.targets))
      out_.give(std::move(what), then);
    else
      then();
    return;
  }
  struct nothing {};
  const auto all = all_of<nothing>{{}, [then](nothing&) { then(); }};
  for (auto& [name, procs] : tools_.among(what.targets, places_)) {
    all.add();
    auto copy = what;
    copy.targets = std::move(procs);
    out_.give(std::move(copy), [all] { all.done(); });
  }
  all.done();
}

event_sequencer::effects event_routes::means_of_order() {
  auto out = event_sequencer::effects{};
  out.ask = [this](uint32_t rank, host_question what,
                   event_stream::reply_handler then) {
    calls_.ask(rank, std::move(what), std::move(then));
  };
  out.deliver = [this](const std::string& nspace, ordered_content what,
                       action then) {
    if (auto* event = std::get_if<deliver_event>(&what))
      deliver(nspace, std::move(*event), then);
    else
      out_.carry_out(
        {std::move(std::get<group_entry>(what)), orders_.hosts_of_log(nspace)},
        std::move(then));
  };
  out.locate = [this](const std::string& nspace,
                      std::function<void(const caf::error&)> then) {
    calls_.locate(nspace, std::move(then));
  };
  out.live = [this] { return calls_.live(); };
  out.after = out_.call_later;
  out.trace = out_.trace;
  return out;
}

// -- events of this node --

/// Asks all members whether one of these is there.
void event_routes::find_anywhere(const std::vector<proc_id>& procs,
                                 std::function<void(bool)> then) {
  const auto all =
    all_of<bool>{false, [then = std::move(then)](bool found) { then(found); }};
  for (const auto rank : calls_.live()) {
    all.add();
    calls_.ask(rank, find_procs{procs},
               [all](const caf::expected<host_reply>& x) {
                 *all |= static_cast<bool>(x);
                 all.done();
               });
  }
  all.done();
}

event_spread::effects event_routes::means_of_spread() {
  auto out = event_spread::effects{};
  out.submit = [this](const std::string& nspace, deliver_event what,
                      event_spread::completion then) {
    orders_.submit(nspace, std::move(what), std::move(then));
  };
  out.deliver_here = [this](deliver_event what,
                            const event_spread::completion& then) {
    out_.give(std::move(what), [then] { then(ack{}); });
  };
  out.tell_manager = [this](deliver_event what, event_spread::completion then) {
    calls_.ask_for<ack>(host_calls::root, std::move(what), std::move(then));
  };
  out.locate = [this](const std::string& nspace,
                      std::function<void(const caf::error&)> then) {
    calls_.locate(nspace, std::move(then));
  };
  out.list_jobs = [this](std::function<void(std::vector<std::string>)> then) {
    calls_.ask_for<nspace_list>(
      host_calls::root, list_nspaces{},
      [then = std::move(then)](caf::expected<nspace_list> x) {
        then(x ? std::move(x->nspaces) : std::vector<std::string>{});
      });
  };
  out.find_procs = [this](const std::vector<proc_id>& procs,
                          std::function<void(bool)> then) {
    find_anywhere(procs, std::move(then));
  };
  return out;
}

void event_routes::notify(const requester& who, notify_request what,
                          completion<ack> done) {
  // Jobs and their control hear what concerns them, whatever the range; until
  // they have, the process is not answered, so that none can raise more than
  // they hear. An event for the resource manager gets there anyway.
  if (dvm_jobs::listens_to(what.code) && what.range != data_range::rm) {
    const auto both = all_of<caf::expected<ack>>{
      ack{}, [done = std::move(done)](caf::expected<ack>& outcome) {
        done(std::move(outcome));
      }};
    both.add();
    calls_.ask(host_calls::root,
               deliver_event{{what.code, who.proc, what.range, what.infos}, {}},
               [both](const caf::expected<host_reply>&) {
                 // A root that is gone needs to know nothing.
                 both.done();
               });
    done = [both](caf::expected<ack> x) {
      *both = std::move(x);
      both.done();
    };
  }
  spread_.notify(who.proc, std::move(what), std::move(done));
}

void event_routes::notify(const event& what,
                          const std::vector<proc_id>& targets,
                          completion<ack> then) {
  auto request = notify_request{};
  request.code = what.code;
  request.range = data_range::custom;
  request.infos = what.infos;
  request.infos.push_back(
    {std::string{attr::event_custom_range}, 0, value::procs(targets)});
  spread_.notify(what.source, std::move(request), std::move(then));
}

void event_routes::raise(const event& what,
                         const std::vector<std::string>& audience) {
  for (const auto& nspace : audience)
    if (!nspace.empty())
      spread_.raise(what, nspace, nullptr);
}

void event_routes::raise(const event& what,
                         const std::vector<proc_id>& audience) {
  auto parts = std::map<std::string, std::vector<proc_id>>{};
  for (const auto& x : audience)
    parts[x.nspace].push_back(x);
  for (auto& [nspace, procs] : parts)
    spread_.raise(what, nspace, std::move(procs), nullptr);
}

// -- from members --

namespace {

/// Whether all are such in whose name an entry speaks. Of processes in a row it
/// looks at one for each node: a few bytes may name very many.
struct all_speakers {
  const job_locations& places;
  const std::function<bool(const proc_id&)>& is_such;

  template <class List>
  bool in(const List& list) const {
    return std::all_of(list.begin(), list.end(),
                       [this](const auto& x) { return is_such(x.proc); });
  }

  bool operator()(const group_calls& x) const {
    return std::all_of(x.callers.begin(), x.callers.end(),
                       [this](const group_caller& y) { return in_row(y); });
  }

  bool in_row(const group_caller& x) const {
    auto proc = x.proc;
    for (auto left = x.count;;) {
      if (!is_such(proc))
        return false;
      const auto row = places.row_from(proc);
      if (row >= left)
        return true;
      proc.rank += row;
      left -= row;
    }
  }

  bool operator()(const group_data& x) const {
    return in(x.procs);
  }

  bool operator()(const group_departure& x) const {
    return is_such(x.proc);
  }

  bool operator()(const group_conflict& x) const {
    return is_such(x.proc);
  }

  bool operator()(const group_notice& x) const {
    return is_such(x.source);
  }

  bool operator()(const group_verdicts& x) const {
    return in(x.verdicts);
  }

  template <class Other>
  bool operator()(const Other&) const {
    return true;
  }
};

/// Whether a caller is one, or several that could be and have posted nothing.
bool is_sane(const group_caller& x) {
  return x.count == 1
         || (x.count > 1 && x.posted.empty() && x.proc.rank <= rank_valid_max
             && x.count - 1 <= rank_valid_max - x.proc.rank);
}

} // namespace

bool speaks_for_its_own(
  const submit_event& what, uint32_t from, const job_locations& places,
  const std::function<bool(const std::vector<event_origin>& nodes,
                           const proc_id& proc)>& is_on) {
  const auto& entry = std::get<group_entry>(what.what);
  const auto* calls = std::get_if<group_calls>(&entry.what);
  if (calls != nullptr
      && (count_of(calls->callers) > defaults::group_participants
          || !std::all_of(calls->callers.begin(), calls->callers.end(),
                          is_sane)))
    return false;
  auto nodes = what.origins;
  if (nodes.empty())
    nodes.push_back({from, 0, 0, 1});
  const std::function<bool(const proc_id&)> is_such = [&](const proc_id& x) {
    return is_on(nodes, x);
  };
  return std::visit(all_speakers{places, is_such}, entry.what);
}

bool is_among(const std::vector<event_origin>& nodes, uint32_t rank) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const event_origin& x) {
    return rank >= x.rank && rank - x.rank < x.count;
  });
}

bool event_routes::may_speak_for(uint32_t from, const proc_id& source) const {
  if (from == self_.rank)
    return true;
  // What the system makes comes from the root.
  if (source.nspace.empty())
    return from == host_calls::root;
  const auto home = places_.node_of(source);
  return !home || *home == from;
}

caf::error event_routes::check_speaker(uint32_t from,
                                       const proc_id& source) const {
  if (may_speak_for(from, source))
    return {};
  return make_error(status::no_permissions, "node " + std::to_string(from)
                                              + " does not run "
                                              + to_string(source));
}

void event_routes::take(const mesh_calls::member& from, submit_event what,
                        const event_sequencer::answerer& reply) {
  if (const auto* event = std::get_if<deliver_event>(&what.what)) {
    if (const auto why = check_speaker(from.rank, event->what.source)) {
      reply(refusal(why));
      return;
    }
  } else {
    const auto& entry = std::get<group_entry>(what.what);
    const auto is_good = speaks_for_its_own(
      what, from.rank, places_,
      [&](const std::vector<event_origin>& nodes, const proc_id& proc) {
        const auto node = places_.node_of(proc);
        return (node && is_among(nodes, *node))
               || (what.origins.empty() && may_speak_for(from.rank, proc))
               || (!node && may_speak_for(from.rank, proc));
      });
    if (!is_good) {
      reply(refusal(make_error(status::no_permissions,
                               "node " + std::to_string(from.rank)
                                 + " does not run whom it speaks for in group "
                                 + entry.group.id)));
      return;
    }
  }
  orders_.take(from.rank, from.incarnation, std::move(what), reply);
}

// -- where processes run --

/// Processes that are being looked for.
struct event_routes::place_search {
  std::vector<proc_id> procs;

  /// Tools of other nodes, by the node that has answered for them.
  std::map<proc_id, uint32_t> tools;
  caf::error why;
};

/// The places of all, or which of them does not exist.
caf::expected<proc_places>
event_routes::places_of(const place_search& x) const {
  auto result = proc_places{{}, self_.rank};
  for (const auto& proc : x.procs) {
    if (const auto tools = tools_.named(proc); !tools.empty()) {
      for (const auto& tool : tools)
        result.procs.push_back({tool, self_.rank});
      continue;
    }
    if (const auto i = x.tools.find(proc); i != x.tools.end()) {
      result.procs.push_back({proc, i->second});
      continue;
    }
    if (!places_.knows(proc.nspace))
      return x.why
               ? x.why
               : make_error(status::not_found, "no process " + to_string(proc));
    const auto lost = places_.lost_of(proc.nspace);
    const auto add = [&](const proc_id& id) {
      auto node = places_.node_of(id);
      if (!node)
        return false;
      if (std::binary_search(lost.begin(), lost.end(), *node))
        node.reset();
      result.procs.push_back({id, node});
      return true;
    };
    if (proc.rank == rank_wildcard) {
      const auto size = places_.size_of(proc.nspace);
      for (uint32_t rank = 0; rank < size; ++rank)
        add({proc.nspace, rank});
    } else if (!add(proc)) {
      return make_error(status::not_found, "no process " + to_string(proc));
    }
  }
  return result;
}

void event_routes::locate(std::vector<proc_id> procs,
                          completion<proc_places> done) {
  const auto all = all_of<place_search>{
    {std::move(procs), {}, {}},
    [this, done = std::move(done)](place_search& x) { done(places_of(x)); }};
  // A process that is no job's may be a tool of another node.
  const auto find_tool = [this, all](const proc_id& proc) {
    for (const auto rank : calls_.live()) {
      if (rank == self_.rank)
        continue;
      all.add();
      calls_.ask(rank, find_procs{{proc}},
                 [all, proc, rank](const caf::expected<host_reply>& y) {
                   if (y)
                     all->tools.emplace(proc, rank);
                   all.done();
                 });
    }
  };
  auto unknown = std::set<std::string>{};
  for (const auto& proc : all->procs)
    if (!places_.knows(proc.nspace) && tools_.named(proc).empty())
      unknown.insert(proc.nspace);
  for (const auto& nspace : unknown) {
    all.add();
    calls_.locate(nspace, [all, find_tool, nspace](const caf::error& why) {
      if (why) {
        all->why = why;
        for (const auto& proc : all->procs)
          if (proc.nspace == nspace && proc.rank != rank_wildcard)
            find_tool(proc);
      }
      all.done();
    });
  }
  all.done();
}

} // namespace troupe
