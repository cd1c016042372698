#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe group list`, `show` and `watch`.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int group(std::vector<std::string> args);

} // namespace troupe
