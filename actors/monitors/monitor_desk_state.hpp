#pragma once

// The inside of the MONITOR DESK actor: shared by
// actors/monitors/monitor_desk*.cpp only.

#include "actors/answer.hpp"
#include "actors/monitors/file_watch.hpp"
#include "actors/monitors/heartbeat_watch.hpp"
#include "actors/monitors/monitor_desk.hpp"
#include "actors/monitors/monitor_directives.hpp"
#include "actors/monitors/monitor_table.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::monitor_desk_internals {

/// A request that waits for somebody before its monitors begin.
struct beginning {
  requester who;
  monitor_plan plan;
  monitored_session_actor session;
  answer<info_result> reply;
};

struct monitor_desk_state {
  static inline const char* name = "monitor-desk";

  monitor_desk_options options;
  monitor_table table;
  heartbeat_watch heartbeats;
  file_watch files;

  /// Who reads before a process is said to be silent, by connection.
  std::map<uint32_t, monitored_session_actor> sessions;

  /// Monitors of named kinds.
  std::map<monitor_table::item, monitor_actor> kinds;

  std::map<uint64_t, beginning> beginnings;
  uint64_t next_beginning = 1;

  /// When the next reminder comes, and its number; earlier ones are stale.
  std::optional<std::chrono::nanoseconds> reminded_at;
  uint64_t reminder = 0;

  monitor_desk_state() = default;
  monitor_desk_state(const monitor_desk_state&) = delete;
  monitor_desk_state& operator=(const monitor_desk_state&) = delete;

  /// Monitors of named kinds end with the desk.
  ~monitor_desk_state();

  void note(severity weight, const std::string& line) const {
    if (options.log)
      options.log(weight, line);
  }
};

TROUPE_SELF_POINTER(monitor_desk_actor, monitor_desk_state);

/// Steady time.
std::chrono::nanoseconds now(self_pointer self);

/// Sees to a reminder for what is due next.
void arm(self_pointer self);

/// Ends a monitor.
void remove(self_pointer self, monitor_table::item x);

// -- monitor_desk_requests.cpp
// -------------------------------------------------

caf::result<info_result> take_request(self_pointer self, const requester& who,
                                      monitor_request& request,
                                      const monitored_session_actor& session);

/// Drops what has not begun of those for whom `is_gone` holds.
template <class Predicate>
void drop_beginnings(self_pointer self, Predicate is_gone) {
  auto& all = self->state.beginnings;
  for (auto i = all.begin(); i != all.end();)
    i = is_gone(i->second) ? all.erase(i) : std::next(i);
}

// -- monitor_desk_list.cpp
// -----------------------------------------------------

/// Ends what a requestor asks to end, here and wherever it may be.
/// @param session None for a request of another node's.
caf::result<info_result> cancel(self_pointer self, const requester& who,
                                const monitor_plan& plan,
                                const monitor_request& request,
                                const monitored_session_actor& session);

/// Has the desk of another node do what is asked, by the host.
void ask_elsewhere(self_pointer self, const requester& who,
                   const monitor_request& request,
                   const std::shared_ptr<answer<info_result>>& owed);

/// The monitors of this node that somebody may see, an item each.
std::vector<info> monitors_here(self_pointer self, const requester& who);

/// Ends its heartbeat monitors.
void cancel_heartbeats(self_pointer self, const requester& who,
                       const monitor_plan& plan);

caf::result<info_result> list_monitors(self_pointer self, const requester& who,
                                       const query_request& request);

// -- monitor_desk_alerts.cpp
// ---------------------------------------------------

/// Does what is due.
void look(self_pointer self);

/// A monitor of a named kind has found something.
void take_alert(self_pointer self, monitor_alert& what);

} // namespace troupe::monitor_desk_internals
