#pragma once

#include "base/directives.hpp"
#include "messages/actors.hpp"

namespace troupe {

/// The session of one connected process: puts the requester's identity, as the
/// server found it, before every request and passes it to whoever answers; what
/// the process itself says of its identity never counts.
/// @param who The process, and its connection.
/// @param monitors Null: what the process wants monitored is for the host.
/// @param next Who gets what the server itself does not act upon: if a host of
///             ours, required directives that it would pass over are refused here.
/// Source: PMIx Standard v5, "Security".
client_actor spawn_client(caf::actor_system& sys, requester who,
                          server_actor server, event_cache_actor events,
                          host_actor host, connection_actor connection,
                          monitor_desk_actor monitors, next_host next);

} // namespace troupe
