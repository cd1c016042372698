#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe up`: starts a DVM and is its root until it ends.
/// @param args Without the names of the program and of the command.
/// @returns the exit status: 1 or 3 if there is no DVM.
int up(std::vector<std::string> args);

} // namespace troupe
