#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe config`: shows the settings that hold here and where they come from,
/// and checks files of them.
/// @returns the exit status: 1 for settings that are none.
int settings_command(std::vector<std::string> args);

} // namespace troupe
