#pragma once

#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <caf/expected.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// When a monitor looks, in steady time.
struct monitor_looks {
  std::chrono::nanoseconds last{0};
  std::chrono::nanoseconds next{0};

  /// Whether what it saw last is an alert.
  bool is_alarmed = false;
};

/// A monitor that has not been started.
struct made_monitor {
  /// @param x Says nothing of its looks.
  made_monitor(monitor_actor x) : actor(std::move(x)) {
    // nop
  }

  made_monitor(monitor_actor x, std::shared_ptr<const monitor_looks> y)
    : actor(std::move(x)), looks(std::move(y)) {
    // nop
  }

  monitor_actor actor;

  /// Kept up to date by the monitor; null: nobody says.
  std::shared_ptr<const monitor_looks> looks;
};

/// The kinds of monitors that a node knows, by name.
class monitor_kinds {
public:
  using maker = std::function<made_monitor()>;

  /// Makes a kind known.
  /// @param name Letters, digits, `_`, `-` and `.`.
  /// @returns `exists` for a name in use, `bad_param` for one that cannot be
  ///          asked for, `out_of_resource` beyond `defaults::monitor_kinds`.
  caf::error add(const std::string& name, maker make);

  /// @returns `not_supported` for a name that nobody has added, with those that
  ///          there are; `error` if its maker throws, or makes nothing.
  caf::expected<made_monitor> make(const std::string& name) const;

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
