#pragma once

#include "adapters/monitor_plugins/plugin_library.hpp"
#include "adapters/sensors/pool_reader.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <memory>

namespace troupe {

/// The state of a PLUGIN actor.
struct plugin_monitor_state {
  static inline const char* name = "plugin-monitor";

  struct monitor;

  std::shared_ptr<monitor> watched;

  /// Whether the plugin is at work.
  std::shared_ptr<bool> is_busy = std::make_shared<bool>(false);
};

/// One monitor of a plugin. Its functions are called on a thread of `post`'s
/// pool, one at a time; the first question begins the monitor. Refused with
/// `bad_param` if the plugin refuses to begin, `error` if it could not look,
/// `resource_busy` while it is still at work, or if the pool is full.
monitor_plugin_actor::behavior_type plugin_monitor(
  monitor_plugin_actor::stateful_pointer<plugin_monitor_state> self,
  work_poster post, const troupe_monitor_kind* kind,
  const start_monitor& request);

} // namespace troupe
