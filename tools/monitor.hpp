#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe monitor add`, `list` and `cancel`.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int monitor(std::vector<std::string> args);

} // namespace troupe
