#pragma once

#include "base/monitor_kind.hpp"

#include <caf/expected.hpp>

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A shared object with kinds of monitors, in C (`troupe_monitor.h`) or C++
/// (`base/monitor_kind.hpp`). It stays loaded: threads may be in it.
struct plugin_library {
  /// For the log.
  std::string path;

  /// Checked: made for this daemon, and at least one.
  monitor_kind_map kinds;
};

/// Loads a plugin. What is loaded is the file that was checked: a regular file
/// of root or of `owner` that nobody else may write to, and no link.
/// @returns a sentence: which file, what is wrong, what to do.
caf::expected<plugin_library> load_plugin(const std::string& path, uid_t owner);

/// Loads all files of a directory that end in `.so`, in alphabetical order; the
/// directory must be of root or of `owner`, too, and not writable by others.
struct plugin_set {
  std::vector<plugin_library> loaded;

  /// What could not be loaded, a sentence each.
  std::vector<std::string> complaints;
};

plugin_set load_plugins(const std::string& directory, uid_t owner);

} // namespace troupe
