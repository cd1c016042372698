#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe events watch`, `send` and `list`: shows and raises events of a DVM,
/// as a tool of it.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int events(std::vector<std::string> args);

} // namespace troupe
