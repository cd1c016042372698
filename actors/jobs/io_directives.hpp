#pragma once

#include "messages/value.hpp"

#include <caf/error.hpp>

#include <string_view>
#include <vector>

namespace troupe {

/// BOOL, to `PMIx_IOF_deregister`, from libraries of ours: what is kept
/// together comes first, then the answer. Those of OpenPMIx would print it.
/// Source: PMIx Standard v5, PMIX_IOF_BUFFERING_SIZE.
inline constexpr std::string_view io_flush_key = "troupe.iof.flush";

/// The calls of I/O forwarding that take directives.
enum class io_call { pull, push, deregister, spawn };

/// Refuses what is marked as required and not acted upon by the call; of a
/// spawn, only what is about I/O forwarding.
/// Source: PMIx Standard v5, PMIX_INFO_REQD.
/// @returns `not_supported` with the name of the attribute.
caf::error check_required(io_call call, const std::vector<info>& directives);

} // namespace troupe
