#pragma once

#include "messages/actors.hpp"

namespace troupe {

/// Answers the participants of one collective operation: collects their calls,
/// asks the host once all have joined, and gives everybody the same outcome.
/// Who takes part, and when all have joined, is the server's business (see
/// collective_table).
/// @param id By which the server knows the operation.
/// Source: PMIx Standard v5, `PMIx_Fence`, `PMIx_Connect`; guarantees P-C1.
collective_actor spawn_collective(caf::actor_system& sys, uint64_t id,
                                  server_actor server, host_actor host);

} // namespace troupe
