#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe run`: starts a job on this node and waits for its end.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int run(std::vector<std::string> args);

} // namespace troupe
