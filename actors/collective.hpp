#pragma once

#include "messages/actors.hpp"

namespace troupe {

/// Answers the participants of one collective operation: collects their calls,
/// asks the host once all have joined, and gives everybody the same outcome.
/// Who takes part, and when all have joined, is the server's business (see
/// collective_table). An operation that the host has answered may be followed
/// by another one. Source: PMIx Standard v5, `PMIx_Fence`, `PMIx_Connect`;
/// guarantees P-C1.
collective_actor spawn_collective(caf::actor_system& sys, server_actor server,
                                  host_actor host);

} // namespace troupe
