#pragma once

#include "messages/actors.hpp"

namespace troupe {

/// The session of one connected process: puts the requester's identity, as the
/// server found it, before every request and passes it to whoever answers; what
/// the process itself says of its identity never counts.
/// @param who The process, and its connection.
/// @param monitors Null: what the process wants monitored is for the host.
/// Source: PMIx Standard v5, "Security".
client_actor spawn_client(caf::actor_system& sys, requester who,
                          server_actor server, event_cache_actor events,
                          host_actor host, connection_actor connection,
                          monitor_desk_actor monitors);

} // namespace troupe
