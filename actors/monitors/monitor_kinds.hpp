#pragma once

#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <caf/expected.hpp>
#include <caf/timespan.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace troupe {

/// The kinds of monitors that a node knows, by name.
class monitor_kinds {
public:
  /// Makes a monitor that has not been started.
  using maker = std::function<monitor_actor()>;

  /// Makes a kind known.
  /// @param name Letters, digits, `_`, `-` and `.`.
  /// @returns `exists` for a name in use, `bad_param` for one that cannot be
  ///          asked for, `out_of_resource` beyond `defaults::monitor_kinds`.
  caf::error add(const std::string& name, maker make);

  /// @returns `not_supported` for a name that nobody has added, with those that
  ///          there are; `error` if its maker throws, or makes nothing.
  caf::expected<monitor_actor> make(const std::string& name) const;

  /// In alphabetical order.
  std::vector<std::string> names() const;

private:
  std::map<std::string, maker> makers_;
};

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
/// @param presence Knows the processes of the node, so that a monitor learns the
///                 number of its own, and one of another node is refused with
///                 `not_found`; null: nobody does.
caf::error add_plugin_kind(monitor_kinds& kinds, caf::actor_system& sys,
                           const std::string& name, caf::timespan interval,
                           plugin_maker make, process_probe_actor presence,
                           journal log);

} // namespace troupe
