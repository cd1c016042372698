#pragma once

#include "adapters/wire/handshake.hpp"

#include <caf/error.hpp>

#include <string>
#include <vector>

namespace troupe {

/// Fills in how a greeting proves who we are: the first of `accepted` that we
/// have.
/// @param accepted What the server accepts, such as `native`, `munge`; empty:
///                 native.
/// @returns `not_supported` if we have none of them, `unreach` if munged is not
///          there.
/// Source: OpenPMIx wire protocol, credentials.
caf::error make_credential(const std::vector<std::string>& accepted,
                           wire::hello& greeting);

} // namespace troupe
