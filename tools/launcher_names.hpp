#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The arguments of `troupe run` if our program is called as another launcher:
/// through a link, `ln -s .../troupe mpirun`. `prun` is one that runs jobs in a
/// DVM that is up.
/// @param called How the program was called, `argv[0]`.
/// @param args   Its arguments.
/// @returns nothing if it is called by another name.
std::optional<std::vector<std::string>>
run_arguments(std::string_view called, const std::vector<std::string>& args);

} // namespace troupe
