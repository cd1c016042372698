#include "actors/groups/group_tracker.hpp"

#include "actors/groups/group_tracker_state.hpp"
#include "config/defaults.hpp"
#include "messages/bounded_codec.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace group_tracker_internals {

bool tracker_state::is_local(const proc_id& proc) const {
  return keeper == log_keeper::tracker
         || std::binary_search(options.local.begin(), options.local.end(),
                               proc);
}

std::vector<proc_id>
tracker_state::local_of(const std::vector<proc_id>& procs) const {
  auto result = std::vector<proc_id>{};
  for (const auto& proc : procs)
    if (is_local(proc))
      result.push_back(proc);
  return result;
}

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then) {
  const auto id = self->state.waits.add(std::move(then));
  self->delayed_send(group_tracker_actor{self}, delay, deadline{id});
}

void drain(self_pointer self) {
  auto& state = self->state;
  if (std::exchange(state.is_draining, true))
    return;
  while (!state.queue.empty() && !state.is_over && !state.is_held) {
    const auto entry = std::move(state.queue.front());
    state.queue.pop_front();
    apply(self, entry);
  }
  state.is_draining = false;
}

namespace {

/// Whether a node is not known to be lost.
bool may_live(const tracker_state& state, uint32_t rank) {
  return rank == state.here
         || (state.lost.count(rank) == 0
             && state.options.lost.count(rank) == 0);
}

} // namespace

bool is_lowest(const tracker_state& state) {
  if (state.keeper != log_keeper::mesh)
    return true;
  // If two think so, both speak: that is harmless.
  const auto lowest =
    std::find_if(state.hosts.begin(), state.hosts.end(),
                 [&](uint32_t rank) { return may_live(state, rank); });
  return lowest != state.hosts.end() && *lowest == state.here;
}

void speak_for_all(self_pointer self) {
  auto& state = self->state;
  const auto keeps_log =
    state.keeper == log_keeper::mesh || state.keeper == log_keeper::tracker;
  if (!keeps_log || !state.has_begun || state.joining_mark)
    return;
  for (const auto& [mark, count] : state.history_due) {
    // Whoever has said that nodes join tells them: they may be the lowest.
    const auto rank = static_cast<uint32_t>(mark >> 32);
    if (rank != state.here && may_live(state, rank))
      continue;
    auto past = group_history{mark, state.options.participants, state.history};
    past.entries.resize(count);
    submit(self, group_snapshot{encode(past)});
  }
  if (!is_lowest(state))
    return;
  auto ended = group_procs_ended{};
  const auto note = [&](const proc_id& proc) {
    if (state.group->is_participant(proc))
      ended.procs.push_back({proc, proc_state::comm_failed});
  };
  for (const auto& proc : state.placeless)
    note(proc);
  for (const auto& [proc, rank] : state.places)
    if (state.lost.count(rank) > 0)
      note(proc);
  if (!ended.procs.empty())
    submit(self, std::move(ended));
}

namespace {

/// The number that no other group of the DVM has: nodes count for themselves.
uint64_t context_id(const tracker_state& state) {
  return (uint64_t{state.here} << 32) | state.options.number;
}

/// Now that it is known who keeps the log, calls become entries.
void begin(self_pointer self) {
  for (auto& what : std::exchange(self->state.early, {}))
    submit(self, std::move(what));
  gather(self, group_operation::construct);
  speak_for_all(self);
}

void learn_places(self_pointer self, const proc_places& found) {
  auto& state = self->state;
  state.here = found.here;
  auto hosts = std::set<uint32_t>{state.hosts.begin(), state.hosts.end()};
  hosts.insert(found.here);
  for (const auto& x : found.procs) {
    if (!x.node) {
      state.placeless.push_back(x.proc);
      continue;
    }
    hosts.insert(*x.node);
    if (*x.node != found.here)
      state.places.emplace(x.proc, *x.node);
  }
  // Nobody is named when a group is bootstrapped: all nodes keep its log.
  const auto is_alone = hosts.size() == 1 && state.options.key.participants != 0
                        && state.keeper == log_keeper::unknown;
  state.keeper = is_alone ? log_keeper::tracker : log_keeper::mesh;
  if (state.options.hosts.empty() && state.options.key.participants != 0)
    state.hosts.assign(hosts.begin(), hosts.end());
  begin(self);
}

/// Asks where the participants are.
void locate(self_pointer self) {
  auto& state = self->state;
  if (!state.options.spans_nodes
      && state.options.local == state.options.participants) {
    state.keeper = log_keeper::tracker;
    return;
  }
  self->request(state.host, caf::infinite, locate_procs{state.options.written})
    .then([self](const proc_places& found) { learn_places(self, found); },
          [self](const caf::error& err) {
            if (status_of(err) != status::not_supported) {
              give_up(self, status_of(err),
                      "the participants of group " + self->state.options.key.id
                        + " cannot be found: " + reason_of(err));
              return;
            }
            self->state.keeper = log_keeper::host;
            begin(self);
          });
}

caf::result<ack> take(self_pointer self, group_entry_ordered& what) {
  auto& state = self->state;
  state.keeper = log_keeper::mesh;
  if (!what.hosts.empty())
    state.hosts = std::move(what.hosts);
  state.queue.push_back(std::move(what.entry));
  drain(self);
  return ack{};
}

void note_end(self_pointer self, const proc_ended& what) {
  auto& state = self->state;
  state.options.ended.insert(what.proc);
  state.constructs.erase(what.proc);
  state.destructs.erase(what.proc);
  state.notices.erase(std::remove_if(state.notices.begin(), state.notices.end(),
                                     [&](const waiting_notice& x) {
                                       return x.source == what.proc;
                                     }),
                      state.notices.end());
  if (!state.has_begun)
    state.options.gone.push_back(what.proc);
  else if (state.group->is_participant(what.proc))
    submit(self, group_procs_ended{{what}});
  gather(self, group_operation::construct);
  gather(self, group_operation::destruct);
}

group_tracker_actor::behavior_type
behavior(self_pointer self, group_tracker_options options, server_actor server,
         host_actor host, event_cache_actor events) {
  auto& state = self->state;
  state.options = std::move(options);
  state.server = std::move(server);
  state.host = std::move(host);
  state.events = std::move(events);
  state.hosts = state.options.hosts;
  state.group.emplace(state.options.key, state.options.participants);
  if (!state.hosts.empty())
    state.keeper = log_keeper::mesh;
  locate(self);
  return {
    [self](const requester& who, group_construct_request& request) {
      return construct(self, who, request);
    },
    [self](const requester& who, group_destruct_request& request) {
      return destruct(self, who, request);
    },
    [self](const requester& who, const group_leave_request&) {
      return leave(self, who);
    },
    [self](const requester& who, notify_request& request) {
      return notify(self, who, request);
    },
    [self](group_entry_ordered& what) { return take(self, what); },
    [self](const proc_ended& what) { note_end(self, what); },
    [self](host_node_lost what) {
      self->state.lost.insert(what.rank);
      say_again_who_joins(self);
      speak_for_all(self);
    },
    [self](get_group_status) { return self->state.group->describe(); },
    [self](deadline due) { self->state.waits.fire(due.id); },
  };
}

} // namespace

void submit(self_pointer self, group_step what, bool may_wait) {
  auto& state = self->state;
  if (state.is_over)
    return;
  if (state.keeper == log_keeper::unknown) {
    state.early.push_back(std::move(what));
    return;
  }
  auto entry = group_entry{};
  entry.group = state.options.key;
  entry.what = std::move(what);
  // Nodes that begin or join the log learn from it who is named.
  if (!state.has_begun || std::holds_alternative<group_snapshot>(entry.what))
    entry.participants = state.options.written;
  entry.context_id = context_id(state);
  if (state.keeper != log_keeper::mesh) {
    state.queue.push_back(std::move(entry));
    drain(self);
    return;
  }
  self
    ->request(state.host, caf::infinite,
              order_group_entry{std::move(entry), state.hosts, may_wait})
    .then(
      [](ack) {
        // It has come back as an entry of the log, or will.
      },
      [self](const caf::error& err) {
        const auto code = status_of(err);
        const auto why = "the log of group " + self->state.options.key.id
                         + " is not kept any more: " + reason_of(err);
        // Where it is over, the last entries are on their way.
        if (code == status::not_found)
          call_later(self, defaults::group_decision,
                     [=] { give_up(self, code, why); });
        else
          give_up(self, code, why);
      });
}

void give_up(self_pointer self, status code, const std::string& why) {
  auto& state = self->state;
  if (std::exchange(state.is_over, true))
    return;
  state.log(severity::warning, why);
  for (auto& [proc, call] : std::exchange(state.constructs, {}))
    call.reply.fail(code, why);
  for (auto& [proc, call] : std::exchange(state.destructs, {}))
    call.reply.fail(code, why);
  for (auto& x : std::exchange(state.notices, {}))
    x.reply.fail(code, why);
  if (state.keeper == log_keeper::mesh)
    self->send(state.host, close_group_log{state.options.key});
  self->send(state.server, group_over{state.options.key});
  self->quit();
}

} // namespace group_tracker_internals

group_tracker_actor spawn_group_tracker(caf::actor_system& sys,
                                        group_tracker_options options,
                                        server_actor server, host_actor host,
                                        event_cache_actor events) {
  return sys.spawn(group_tracker_internals::behavior, std::move(options),
                   std::move(server), std::move(host), std::move(events));
}

} // namespace troupe
