#include "actors/monitors/monitor_desk.hpp"

#include "actors/monitors/monitor_desk_state.hpp"
#include "actors/sturdy.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace monitor_desk_internals {

monitor_desk_state::~monitor_desk_state() {
  for (const auto& [item, x] : kinds)
    caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
}

std::chrono::nanoseconds now(self_pointer self) {
  return self->clock().now().time_since_epoch();
}

void arm(self_pointer self) {
  auto& state = self->state;
  const auto here = now(self);
  auto due = state.heartbeats.next(here);
  if (const auto of_files = state.files.next())
    due = due ? std::min(*due, *of_files) : *of_files;
  if (!due || (state.reminded_at && *state.reminded_at <= *due))
    return;
  state.reminded_at = *due;
  const auto delay = std::max(*due - here, std::chrono::nanoseconds{0});
  self->delayed_send(self, delay, deadline{++state.reminder});
}

void remove(self_pointer self, monitor_table::item x) {
  auto& state = self->state;
  state.heartbeats.remove(x);
  state.files.remove(x);
  const auto kind = state.kinds.extract(x);
  if (!kind.empty()) {
    self->send(kind.mapped(), stop_monitor{});
    self->send_exit(kind.mapped(), caf::exit_reason::user_shutdown);
  }
  state.table.remove(x);
}

namespace {

using item_list = std::vector<monitor_table::item>;

void remove_all(self_pointer self, const item_list& items) {
  for (const auto x : items)
    remove(self, x);
}

void lose_connection(self_pointer self, const requester& who) {
  auto& state = self->state;
  drop_beginnings(self,
                  [&](const beginning& x) { return x.who.index == who.index; });
  remove_all(self, state.table.of_connection(who.proc, who.index));
  state.sessions.erase(who.index);
}

void note_end(self_pointer self, const proc_id& proc) {
  drop_beginnings(self, [&](const beginning& x) { return x.who.proc == proc; });
  remove_all(self, self->state.table.select(proc));
}

void forget(self_pointer self, const std::string& nspace) {
  drop_beginnings(
    self, [&](const beginning& x) { return x.who.proc.nspace == nspace; });
  remove_all(self, self->state.table.of_nspace(nspace));
}

void take_beat(self_pointer self, const requester& who) {
  auto& state = self->state;
  if (const auto process = state.table.find(who.proc)) {
    state.heartbeats.beat(*process, now(self));
    arm(self);
  }
}

void pause(self_pointer self, const procs_paused& what) {
  auto& state = self->state;
  const auto here = now(self);
  auto items = item_list{};
  for (const auto& proc : what.procs) {
    const auto those = proc.rank == rank_wildcard
                         ? state.table.of_nspace(proc.nspace)
                         : state.table.select(proc);
    items.insert(items.end(), those.begin(), those.end());
  }
  for (const auto x : items) {
    state.heartbeats.pause(state.table.process_of(x), what.paused, here);
    state.files.pause(x, what.paused, here);
  }
  arm(self);
}

/// A monitor of a named kind has ended by itself.
void note_down(self_pointer self, const caf::down_msg& x) {
  auto& state = self->state;
  const auto i =
    std::find_if(state.kinds.begin(), state.kinds.end(),
                 [&](const auto& y) { return y.second.address() == x.source; });
  if (i == state.kinds.end())
    return;
  const auto item = i->first;
  const auto& of = state.table.of(state.table.process_of(item));
  state.note(severity::warning,
             "monitor " + state.table[item].extras->kind + " of "
               + to_string(of.proc)
               + " has ended by itself: no alert of it will come");
  state.kinds.erase(i);
  remove(self, item);
}

gauge_list gauges_of(const monitor_desk_state& state) {
  return {{{"monitors.all", state.table.size(), defaults::monitors_per_node,
            "monitors"},
           {"monitors.beginning", state.beginnings.size(),
            defaults::monitors_per_node, "requests"}}};
}

monitor_desk_actor::behavior_type behavior(self_pointer self,
                                           monitor_desk_options options) {
  self->state.options = std::move(options);
  self->set_down_handler(
    [self](const caf::down_msg& x) { note_down(self, x); });
  auto handlers = monitor_desk_actor::behavior_type{
    [self](monitor_alert& what) { take_alert(self, what); },
    [self](const requester& who, monitor_request& request,
           const monitored_session_actor& session) {
      return take_request(self, who, request, session);
    },
    [self](const requester& who, heartbeat) { take_beat(self, who); },
    [self](const requester& who, connection_lost what) {
      lose_connection(self, who);
      if (self->state.options.usage)
        self->send(self->state.options.usage, who, what);
    },
    [self](const proc_ended& what) {
      note_end(self, what.proc);
      if (self->state.options.usage)
        self->send(self->state.options.usage, what);
    },
    [self](const deregister_nspace& what) {
      forget(self, what.nspace);
      if (self->state.options.usage)
        self->send(self->state.options.usage, what);
    },
    [self](const procs_paused& what) { pause(self, what); },
    [self](const requester& who, const query_request& request) {
      return list_monitors(self, who, request);
    },
    [self](deadline what) {
      if (what.id != self->state.reminder)
        return;
      self->state.reminded_at = std::nullopt;
      look(self);
    },
    [self](get_gauges) { return gauges_of(self->state); },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

} // namespace monitor_desk_internals

monitor_desk_actor spawn_monitor_desk(caf::actor_system& sys,
                                      monitor_desk_options options) {
  return sys.spawn(monitor_desk_internals::behavior, std::move(options));
}

} // namespace troupe
