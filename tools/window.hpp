#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe window [--raw] SOCKET`: what runs in the window of a process: passes
/// its terminal on to the launcher, and back. Started by `--screen` only.
/// @returns the exit status.
int window(const std::vector<std::string>& args);

} // namespace troupe
