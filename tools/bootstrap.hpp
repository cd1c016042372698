#pragma once

#include "config/journal.hpp"

#include <string>

namespace troupe {

/// `trouped --bootstrap FILE`: a daemon of a DVM that nobody launches. All its
/// nodes have the same file; the one that it calls the controller is the root.
/// @returns the exit status: 1 for what is wrong here, 3 if it cannot join.
int bootstrap(const std::string& file, severity log_level, bool log_json);

} // namespace troupe
