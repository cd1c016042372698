#pragma once

#include "adapters/lane/authority.hpp"

#include <string>
#include <vector>

namespace troupe {

/// `troupe authority`: makes the file that the daemons of a DVM need if nobody
/// launches them.
/// @returns the exit status.
int make_authority_file(std::vector<std::string> args);

/// Reads such a file.
/// @returns `no_permissions` in a sentence if others can read it or it belongs
///          to somebody else, `bad_param` if it holds something else.
caf::expected<authority> read_authority_file(const std::string& path);

} // namespace troupe
