#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe attach`: shows the output of a job or process, and gives it input.
/// @param args Without the names of the program and of the command.
/// @returns the exit status: 0, the process or job is over; 1, the DVM is lost
///          or refuses; 2, wrong options; 3, detached; 4, nobody reads what is
///          shown.
int attach(std::vector<std::string> args);

/// `troupe io`: the streams of processes.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int io(std::vector<std::string> args);

} // namespace troupe
