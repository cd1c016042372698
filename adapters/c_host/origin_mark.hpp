#pragma once

#include "messages/value.hpp"

#include <string>
#include <vector>

namespace troupe {

/// Marks an event that goes up to the host: its server's processes have it.
/// Some hosts, Open MPI's mpirun among them, give it back to where it comes
/// from.
void mark_origin(std::vector<info>& infos, const std::string& server);

/// Takes the mark out of an event that the host raises.
/// @returns whether it went up from `server`.
bool take_origin(std::vector<info>& infos, const std::string& server);

} // namespace troupe
