#pragma once

#include "actors/monitors/monitor_kinds.hpp"
#include "config/journal.hpp"
#include "messages/actors.hpp"

#include <caf/timespan.hpp>

#include <functional>
#include <string>

namespace troupe {

/// What monitors of the kinds that come with us look with.
struct monitor_means {
  process_probe_actor probe;
  command_runner_actor commands;

  /// The user of the daemon, in whose name commands run.
  uint32_t daemon_uid = 0;
  journal log;
};

/// Adds the kinds `cpu_progress`, `memory_limit`, `output_silence` and
/// `command`. See docs/monitoring.md.
void add_own_kinds(monitor_kinds& kinds, caf::actor_system& sys,
                   const monitor_means& means);

/// Makes the part of a plugin that looks at one process.
using plugin_maker = std::function<monitor_plugin_actor(const start_monitor&)>;

/// Adds a kind that is a plugin.
caf::error add_plugin_kind(monitor_kinds& kinds, caf::actor_system& sys,
                           const std::string& name, caf::timespan interval,
                           plugin_maker make, journal log);

} // namespace troupe
