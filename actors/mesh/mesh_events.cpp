#include "actors/mesh/mesh_host_state.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

// Events for processes of this node and of others. What they stand in the order
// of, and where that order is kept, is in plain classes; here these get their
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

/// Those who are connected here and belong to no job, by their namespaces.
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

} // namespace troupe::mesh_internals
