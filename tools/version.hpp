#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe version`: which release this is; as JSON, what it was built with, too
/// (docs/json.md), for reports of mistakes.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int version(std::vector<std::string> args);

} // namespace troupe
