#pragma once

#include "messages/value.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The name of a server (char*): no two have the same.
inline constexpr std::string_view origin_key = "troupe.event.origin";

/// Marks an event that goes up to the host: its server's processes have it.
/// Some hosts, Open MPI's mpirun among them, give it back to where it comes
/// from. Other marks are taken out.
void mark_origin(std::vector<info>& infos, const std::string& server);

/// Takes all marks out of an event that the host raises.
/// @returns whether it went up from `server`.
bool take_origin(std::vector<info>& infos, const std::string& server);

} // namespace troupe
