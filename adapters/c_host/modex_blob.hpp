#pragma once

#include "messages/data.hpp"

#include <caf/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

// What servers exchange through their hosts: posted data as one piece of bytes,
// which a host joins with those of other nodes by putting one behind the other.
// All servers of a system are of one release; it is nobody else's protocol.
//
//     "TRP1"  length, 4 bytes, big endian  packed processes
//
// Source: PMIx Standard v5, `pmix_server_fencenb_fn_t`.

namespace troupe {

/// @returns no bytes for no data, or an error if a value cannot be packed.
caf::expected<std::string> to_modex_blob(const std::vector<proc_data>& data);

/// Reads pieces until the end.
/// @returns an error that says why if anything is no such piece.
caf::expected<std::vector<proc_data>> from_modex_blob(std::string_view bytes);

} // namespace troupe
