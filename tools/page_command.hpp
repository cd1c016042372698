#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe page`: becomes the program that serves the page, `troupe-page` beside
/// ours.
/// @param args Without the names of the program and of the command.
/// @returns the exit status, if there is no such program.
int page(const std::vector<std::string>& args);

} // namespace troupe
