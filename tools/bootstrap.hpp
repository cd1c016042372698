#pragma once

#include "config/journal.hpp"

#include <string>
#include <vector>

namespace troupe {

/// What its command line says beside the file.
struct bootstrap_options {
  severity log_level = severity::warning;
  bool log_json = false;

  /// Settings of the node's sensors, as `apply_setting` takes them.
  std::vector<std::string> sensors;
};

/// `trouped --bootstrap FILE`: a daemon of a DVM that nobody launches. All its
/// nodes have the same file; the one that it calls the controller is the root.
/// @returns the exit status: 1 for what is wrong here, 3 if it cannot join.
int bootstrap(const std::string& file, const bootstrap_options& options);

} // namespace troupe
