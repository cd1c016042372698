#pragma once

#include "messages/proc_id.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <vector>

namespace troupe::server_internals {

struct server_state;

/// Checks the processes that a collective call names.
/// @returns how many they are, a wildcard as many as its job has; an error if
///          there is no such namespace (`invalid_namespace`), or if a job has
///          no such rank (`bad_param`).
/// Source: PMIx Standard v5, `PMIx_Fence`, `PMIx_Connect`,
/// `PMIx_Group_construct`.
caf::expected<uint64_t> count_named(server_state& state,
                                    const std::vector<proc_id>& procs);

} // namespace troupe::server_internals
