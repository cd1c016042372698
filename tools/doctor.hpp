#pragma once

#include <string>
#include <vector>

namespace troupe {

/// `troupe doctor`: looks at this node, and at those of a list as a root would
/// start daemons there, and says what is wrong and what to do about it.
/// @param args Without the names of the program and of the command.
/// @returns the exit status: 0 if a DVM would start and nothing is known that
///          fails, 1 if something is (with `--strict`, or may be), 2 for a mistake
///          in `args`.
int doctor(std::vector<std::string> args);

} // namespace troupe
