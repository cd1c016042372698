#include "actors/mesh/group_speakers.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

// Events for processes of this node and of others, the logs of groups, which
// stand in the same orders, and what happens to nodes. The rules are in
// event_spread, event_sequencer and environment_spread; here they get their
// means.

namespace troupe::mesh_internals {

namespace {

/// Gives an event to the server of this node.
void hand_over(self_pointer self, deliver_event what,
               std::function<void()> then) {
  if (!self->state.events) {
    then();
    return;
  }
  // One message to the EVENT CACHE, and its answer.
  self->request(self->state.events, caf::infinite, std::move(what))
    .then([then](ack) { then(); }, [then](const caf::error&) { then(); });
}

/// Whether any of these may run here.
bool concerns(const mesh_host_state& state,
              const std::vector<proc_id>& targets) {
  return std::any_of(targets.begin(), targets.end(), [&](const proc_id& x) {
    return x.rank == rank_wildcard
           || state.locations.node_of(x) == state.options.rank;
  });
}

/// Processes that are connected here and belong to no job, by their namespaces.
std::map<std::string, std::vector<proc_id>>
tools_among(const mesh_host_state& state, const std::vector<proc_id>& targets) {
  auto result = std::map<std::string, std::vector<proc_id>>{};
  for (const auto& [index, id] : state.tools) {
    const auto is_meant = [&id = id](const proc_id& x) {
      return matches(x, id);
    };
    auto& those = result[id.nspace];
    if (!state.locations.knows(id.nspace)
        && (targets.empty()
            || std::any_of(targets.begin(), targets.end(), is_meant))
        && std::count(those.begin(), those.end(), id) == 0)
      those.push_back(id);
  }
  return result;
}

void deliver(self_pointer self, const std::string& nspace, deliver_event what,
             const std::function<void()>& then) {
  auto& state = self->state;
  if (!nspace.empty()) {
    if (concerns(state, what.targets))
      hand_over(self, std::move(what), then);
    else
      then();
    return;
  }
  auto left = std::make_shared<size_t>(1);
  const auto finish_one = [left, then] {
    if (--*left == 0)
      then();
  };
  for (auto& [name, procs] : tools_among(state, what.targets)) {
    if (procs.empty())
      continue;
    ++*left;
    auto copy = what;
    copy.targets = std::move(procs);
    hand_over(self, std::move(copy), finish_one);
  }
  finish_one();
}

/// Gives an entry of a log to the server of this node.
void carry_out(self_pointer self, const std::string& log, group_entry what,
               std::function<void()> then) {
  auto& state = self->state;
  if (!state.server) {
    then();
    return;
  }
  auto hosts = state.sequencer->hosts_of_log(log);
  self
    ->request(state.server, caf::infinite,
              group_entry_ordered{std::move(what), std::move(hosts)})
    .then([then](ack) { then(); }, [then](const caf::error&) { then(); });
}

event_sequencer::effects means_of_order(self_pointer self) {
  auto out = event_sequencer::effects{};
  out.ask = [self](uint32_t rank, host_question what,
                   event_stream::reply_handler then) {
    ask(self, rank, std::move(what), std::move(then));
  };
  out.deliver = [self](const std::string& nspace, ordered_content what,
                       std::function<void()> then) {
    if (auto* event = std::get_if<deliver_event>(&what))
      deliver(self, nspace, std::move(*event), std::move(then));
    else
      carry_out(self, nspace, std::move(std::get<group_entry>(what)),
                std::move(then));
  };
  out.locate = [self](const std::string& nspace,
                      std::function<void(const caf::error&)> then) {
    locate(self, nspace, std::move(then));
  };
  out.live = [self] { return self->state.calls->live(); };
  out.after = [self](std::chrono::nanoseconds delay,
                     std::function<void()> then) {
    call_later(self, delay, std::move(then));
  };
  return out;
}

/// Asks all members whether one of these is there.
void find_anywhere(self_pointer self, const std::vector<proc_id>& procs,
                   std::function<void(bool)> then) {
  struct search {
    size_t pending = 1;
    bool is_found = false;
    std::function<void(bool)> then;
  };
  auto all = std::make_shared<search>();
  all->then = std::move(then);
  const auto note = [all](bool is_found) {
    all->is_found |= is_found;
    if (--all->pending == 0)
      all->then(all->is_found);
  };
  for (const auto rank : self->state.calls->live()) {
    ++all->pending;
    ask(self, rank, find_procs{procs},
        [note](const caf::expected<host_reply>& x) {
          note(static_cast<bool>(x));
        });
  }
  note(false);
}

event_spread::effects means_of_spread(self_pointer self) {
  auto out = event_spread::effects{};
  out.submit = [self](const std::string& nspace, deliver_event what,
                      event_spread::completion then) {
    self->state.sequencer->submit(nspace, std::move(what), std::move(then));
  };
  out.deliver_here = [self](deliver_event what,
                            const event_spread::completion& then) {
    hand_over(self, std::move(what), [then] { then(ack{}); });
  };
  out.tell_manager = [self](deliver_event what, event_spread::completion then) {
    ask(self, 0, std::move(what), reply_to<ack>(std::move(then)));
  };
  out.locate = [self](const std::string& nspace,
                      std::function<void(const caf::error&)> then) {
    locate(self, nspace, std::move(then));
  };
  out.list_jobs = [self](std::function<void(std::vector<std::string>)> then) {
    ask(self, 0, list_nspaces{},
        reply_to<nspace_list>(
          [then = std::move(then)](caf::expected<nspace_list> x) {
            then(x ? std::move(x->nspaces) : std::vector<std::string>{});
          }));
  };
  out.find_procs = [self](const std::vector<proc_id>& procs,
                          std::function<void(bool)> then) {
    find_anywhere(self, procs, std::move(then));
  };
  return out;
}

} // namespace

void start_events(self_pointer self) {
  auto& state = self->state;
  state.sequencer = std::make_unique<event_sequencer>(
    state.options.rank, state.options.incarnation, state.locations,
    means_of_order(self), defaults::tree_radix);
  state.spread =
    std::make_unique<event_spread>(state.locations, means_of_spread(self));
}

namespace {

/// Two things that have to be over before a process is answered.
struct two_answers {
  size_t pending = 2;
  caf::expected<ack> outcome = ack{};
  completion<ack> done;

  void finish_one() {
    if (--pending == 0)
      done(std::move(outcome));
  }
};

/// Job control hears what concerns it, whatever the range; until it has, the
/// process is not answered, so that none can raise more than it hears.
/// @returns what the event's own way answers.
completion<ack> tell_control(self_pointer self, const proc_id& source,
                             const notify_request& what, completion<ack> done) {
  auto both = std::make_shared<two_answers>();
  both->done = std::move(done);
  auto copy = deliver_event{};
  copy.what = event{what.code, source, what.range, what.infos};
  ask(self, 0, std::move(copy), [both](const caf::expected<host_reply>&) {
    // A root that is gone needs to know nothing.
    both->finish_one();
  });
  return [both](caf::expected<ack> x) {
    both->outcome = std::move(x);
    both->finish_one();
  };
}

} // namespace

caf::result<ack> spread_event(self_pointer self, const requester& who,
                              notify_request& what) {
  return answer_later<ack>(self, [&](completion<ack> done) {
    // One for the resource manager gets there anyway.
    if (job_controller::listens_to(what.code) && what.range != data_range::rm)
      done = tell_control(self, who.proc, what, std::move(done));
    self->state.spread->notify(who.proc, std::move(what), std::move(done));
  });
}

void raise_event(self_pointer self, const event& what,
                 const std::vector<std::string>& audience,
                 completion<ack> then) {
  auto left = std::make_shared<size_t>(1);
  const auto one = [left, then = std::move(then)](const caf::expected<ack>&) {
    // Whoever is lost, or gone, needs to know nothing.
    if (--*left == 0 && then)
      then(ack{});
  };
  for (const auto& nspace : audience)
    if (!nspace.empty()) {
      ++*left;
      self->state.spread->raise(what, nspace, one);
    }
  one(ack{});
}

void raise_event_for(self_pointer self, const event& what,
                     const std::vector<proc_id>& audience) {
  auto parts = std::map<std::string, std::vector<proc_id>>{};
  for (const auto& x : audience)
    parts[x.nspace].push_back(x);
  for (auto& [nspace, procs] : parts)
    self->state.spread->raise(what, nspace, std::move(procs), nullptr);
}

bool may_speak_for(self_pointer self, uint32_t from, const proc_id& source) {
  if (from == self->state.options.rank)
    return true;
  // What the system makes comes from the root.
  if (source.nspace.empty())
    return from == 0;
  const auto home = self->state.locations.node_of(source);
  return !home || *home == from;
}

caf::expected<ack> take_event(self_pointer self, uint32_t from,
                              deliver_event& what) {
  if (!may_speak_for(self, from, what.what.source))
    return make_error(status::no_permissions, "node " + std::to_string(from)
                                                + " does not run "
                                                + to_string(what.what.source));
  self->state.jobs->hear(what.what);
  if (what.what.range != data_range::rm)
    return ack{};
  self->state.log(severity::info, to_string(what.what.source)
                                    + " tells the resource manager of "
                                    + to_string(what.what.code));
  // The server's own handlers may want it.
  caf::anon_send(self->state.events, std::move(what));
  return ack{};
}

bool has_tool(const mesh_host_state& state, const std::vector<proc_id>& procs) {
  for (const auto& [nspace, those] : tools_among(state, procs))
    if (!those.empty())
      return true;
  return false;
}

// -- groups: where their processes are, and who may say what of them

namespace {

/// Processes that are being looked for.
struct place_search {
  std::vector<proc_id> procs;

  /// Tools of other nodes, by the node that has answered for them.
  std::map<proc_id, uint32_t> tools;
  caf::error why;
  size_t pending = 1;
  completion<proc_places> done;
};

/// Processes of this node that belong to no job.
std::vector<proc_id> own_tools(const mesh_host_state& state,
                               const proc_id& what) {
  auto result = std::vector<proc_id>{};
  for (const auto& [index, id] : state.tools)
    if (matches(what, id) && std::count(result.begin(), result.end(), id) == 0)
      result.push_back(id);
  std::sort(result.begin(), result.end());
  return result;
}

/// The places of all, or which of them does not exist.
caf::expected<proc_places> places_of(const mesh_host_state& state,
                                     const place_search& x) {
  const auto& locations = state.locations;
  auto result = proc_places{{}, state.options.rank};
  for (const auto& proc : x.procs) {
    if (const auto tools = own_tools(state, proc); !tools.empty()) {
      for (const auto& tool : tools)
        result.procs.push_back({tool, state.options.rank});
      continue;
    }
    if (const auto i = x.tools.find(proc); i != x.tools.end()) {
      result.procs.push_back({proc, i->second});
      continue;
    }
    if (!locations.knows(proc.nspace))
      return x.why
               ? x.why
               : make_error(status::not_found, "no process " + to_string(proc));
    const auto lost = locations.lost_of(proc.nspace);
    const auto add = [&](const proc_id& id) {
      auto node = locations.node_of(id);
      if (!node)
        return false;
      if (std::binary_search(lost.begin(), lost.end(), *node))
        node.reset();
      result.procs.push_back({id, node});
      return true;
    };
    if (proc.rank == rank_wildcard) {
      const auto size = locations.size_of(proc.nspace);
      for (uint32_t rank = 0; rank < size; ++rank)
        add({proc.nspace, rank});
    } else if (!add(proc)) {
      return make_error(status::not_found, "no process " + to_string(proc));
    }
  }
  return result;
}

void finish_one(self_pointer self, const std::shared_ptr<place_search>& x) {
  if (--x->pending == 0)
    x->done(places_of(self->state, *x));
}

/// Asks all others for a process that is no job's.
void find_tool(self_pointer self, const std::shared_ptr<place_search>& x,
               const proc_id& proc) {
  for (const auto rank : self->state.calls->live()) {
    if (rank == self->state.options.rank)
      continue;
    ++x->pending;
    ask(self, rank, find_procs{{proc}},
        [self, x, proc, rank](const caf::expected<host_reply>& y) {
          if (y)
            x->tools.emplace(proc, rank);
          finish_one(self, x);
        });
  }
}

} // namespace

void locate_all(self_pointer self, std::vector<proc_id> procs,
                completion<proc_places> done) {
  const auto& state = self->state;
  auto x = std::make_shared<place_search>();
  x->procs = std::move(procs);
  x->done = std::move(done);
  auto unknown = std::set<std::string>{};
  for (const auto& proc : x->procs)
    if (!state.locations.knows(proc.nspace) && own_tools(state, proc).empty())
      unknown.insert(proc.nspace);
  for (const auto& nspace : unknown) {
    ++x->pending;
    locate(self, nspace, [self, x, nspace](const caf::error& why) {
      if (why) {
        x->why = why;
        for (const auto& proc : x->procs)
          if (proc.nspace == nspace && proc.rank != rank_wildcard)
            find_tool(self, x, proc);
      }
      finish_one(self, x);
    });
  }
  finish_one(self, x);
}

bool may_say(self_pointer self, uint32_t from, const group_entry& what) {
  const auto procs = speakers_of(what);
  return std::all_of(procs.begin(), procs.end(), [&](const proc_id& x) {
    return may_speak_for(self, from, x);
  });
}

void lose_host(self_pointer self, uint32_t rank) {
  auto& state = self->state;
  state.sequencer->node_lost(rank);
  if (state.server)
    self->send(state.server, host_node_lost{rank});
}

void list_groups_here(self_pointer self, completion<group_list> done) {
  const auto& state = self->state;
  if (!state.server) {
    done(group_list{});
    return;
  }
  self->request(state.server, defaults::net_wait, list_groups{})
    .then([done](group_list& x) { done(std::move(x)); },
          [done](caf::error& why) { done(std::move(why)); });
}

void list_all_groups(self_pointer self, completion<group_list> done) {
  struct survey {
    std::map<uint32_t, group_list> found;
    size_t missing = 1;
    completion<group_list> done;
  };
  auto& state = self->state;
  auto all = std::make_shared<survey>();
  all->done = std::move(done);
  const auto arrived = [all] {
    if (--all->missing > 0)
      return;
    auto result = group_list{};
    for (auto& [rank, x] : all->found)
      for (auto& group : x.groups)
        result.groups.push_back(std::move(group));
    all->done(std::move(result));
  };
  for (const auto rank : state.calls->live()) {
    ++all->missing;
    // A node that does not answer soon is left out.
    const auto note = [all, arrived, rank](caf::expected<group_list> x) {
      if (x)
        all->found[rank] = std::move(*x);
      arrived();
    };
    if (rank == state.options.rank)
      list_groups_here(self, note);
    else
      state.calls->call(rank, list_groups{}, reply_to<group_list>(note),
                        defaults::net_wait * 2);
  }
  arm(self);
  arrived();
}

// -- the environment: what sensors tell, and that nodes come and go

namespace {

/// Between hosts only: the namespaces that have been told already.
constexpr std::string_view except_key = "troupe.event.except";

/// Takes out the namespaces that have been told already.
std::set<std::string> take_exceptions(environment_event& x) {
  auto result = std::set<std::string>{};
  auto& infos = x.infos;
  const auto i = std::find_if(infos.begin(), infos.end(), [](const info& y) {
    return y.key == except_key;
  });
  if (i == infos.end())
    return result;
  for (const auto& proc : procs_of(i->val))
    result.insert(proc.nspace);
  infos.erase(i);
  return result;
}

void deliver_environment(self_pointer self, environment_event what) {
  auto& state = self->state;
  const auto except = take_exceptions(what);
  auto message = deliver_event{to_event(std::move(what)), {}};
  if (!except.empty()) {
    const auto add = [&](const std::string& nspace) {
      if (except.count(nspace) == 0)
        message.targets.push_back({nspace, rank_wildcard});
    };
    for (const auto& [nspace, x] : state.shares)
      add(nspace);
    for (const auto& [connection, tool] : state.tools)
      add(tool.nspace);
    if (message.targets.empty())
      return;
  }
  if (state.events)
    caf::anon_send(state.events, std::move(message));
}

environment_spread::effects means_of_environment(self_pointer self) {
  auto out = environment_spread::effects{};
  // A node that is lost meanwhile is owed nothing.
  const auto ignore = [](const caf::expected<host_reply>&) {};
  out.tell = [self, ignore](uint32_t rank, environment_interest what) {
    ask(self, rank, std::move(what), ignore);
  };
  out.pass = [self, ignore](uint32_t rank, environment_event what) {
    ask(self, rank, std::move(what), ignore);
  };
  out.deliver = [self](environment_event what) {
    deliver_environment(self, std::move(what));
  };
  out.watch = [self](environment_interest what) {
    auto& state = self->state;
    state.watched = std::move(what);
    if (state.sensors)
      self->send(state.sensors, state.watched, environment_user_actor{self});
  };
  return out;
}

} // namespace

void start_environment(self_pointer self) {
  self->state.environment = std::make_unique<environment_spread>(
    self->state.options.rank, means_of_environment(self));
}

void use_sensors(self_pointer self, const sensor_desk_actor& desk) {
  self->state.sensors = desk;
  self->send(desk, self->state.watched, environment_user_actor{self});
}

void raise(self_pointer self, environment_event what) {
  auto& state = self->state;
  if (find(what.infos, attr::nodeid) == nullptr)
    what.infos.push_back(
      {std::string{attr::nodeid}, 0, value::uint32(state.options.rank)});
  state.environment->raise(std::move(what));
}

void note_member(self_pointer self, const member_changed& what, bool was_live) {
  auto& state = self->state;
  const auto is_live = state.calls->is_live(what.rank);
  const auto told = state.jobs->take_told();
  if (is_live == was_live || what.rank == state.options.rank)
    return;
  state.environment->change_member(what.rank, is_live);
  if (!state.is_root())
    return;
  auto code = status::node_up;
  if (!is_live)
    code = what.state == node_state::left ? status::event_node_offline
                                          : status::event_node_down;
  const auto name = !what.name.empty() ? what.name : state.name_of(what.rank);
  auto x = environment_event{
    code,
    {{std::string{attr::hostname}, 0, value::string(name)},
     {std::string{attr::nodeid}, 0, value::uint32(what.rank)}}};
  if (state.options.wall_clock)
    x.infos.push_back(
      {std::string{attr::event_timestamp}, 0,
       value{data_type::time, uint64_t(state.options.wall_clock())}});
  if (code == status::event_node_down && !told.empty()) {
    auto except = std::vector<proc_id>{};
    for (const auto& nspace : told)
      except.push_back({nspace, rank_wildcard});
    x.infos.push_back(
      {std::string{except_key}, 0, value::procs(std::move(except))});
  }
  state.environment->raise(std::move(x));
}

} // namespace troupe::mesh_internals
