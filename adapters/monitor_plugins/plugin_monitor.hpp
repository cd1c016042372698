#pragma once

#include "adapters/sensors/pool_reader.hpp"
#include "base/monitor_kind.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <memory>
#include <string>

namespace troupe {

/// The state of a PLUGIN actor.
struct plugin_monitor_state {
  static inline const char* name = "plugin-monitor";

  struct monitor;

  plugin_monitor_state() = default;
  plugin_monitor_state(const plugin_monitor_state&) = delete;
  plugin_monitor_state& operator=(const plugin_monitor_state&) = delete;

  /// The end of a watcher may block, too.
  ~plugin_monitor_state();

  std::shared_ptr<monitor> watched;
  work_poster post;

  /// Whether the watcher is at work.
  std::shared_ptr<bool> is_busy = std::make_shared<bool>(false);
};

/// One monitor that looks. Its watcher is made, used and destroyed on threads of
/// `post`'s pool, one at a time; the first question makes it. Refused with
/// `bad_param` if the watcher refuses to begin, `error` if it could not look,
/// `resource_busy` while it is still at work, or if the pool is full.
/// @param kind Its name, for refusals.
monitor_plugin_actor::behavior_type plugin_monitor(
  monitor_plugin_actor::stateful_pointer<plugin_monitor_state> self,
  work_poster post, const std::string& kind, const watcher_kind& how,
  const start_monitor& request);

} // namespace troupe
