#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe ctl`: controls the processes of a DVM or launcher.
/// @param args Without the names of the program and of the command.
/// @returns the exit status: 0 if it is done, 1 if it is refused or fails, 2
///          for a mistake in `args`, 3 if it is done to some of the processes,
///          124 if it is not done in time.
int ctl(std::vector<std::string> args);

} // namespace troupe
