#pragma once

#include "tools/run_options.hpp"

#include <string>
#include <vector>

namespace troupe {

/// `troupe up`: starts a DVM and is its root until it ends.
/// @param args Without the names of the program and of the command.
/// @returns the exit status: 1 or 3 if there is no DVM.
int up(std::vector<std::string> args);

/// Runs the job in a DVM of its own, which ends with it.
/// @returns the exit status.
int run_on_nodes(run_options options, dvm_plan plan);

} // namespace troupe
