#pragma once

#include "messages/actors.hpp"

namespace troupe {

/// A HOST before another: what the server wants of the environment it has from
/// the sensors of the node, and from the other host, too, if that offers such
/// events. Everything else goes to the other host as it is.
/// Gets the server and its event cache as `mesh_host_actor` does.
/// Source: PMIx Standard v5, `pmix_server_register_events_fn_t`.
host_actor spawn_environment_host(caf::actor_system& sys, host_actor host,
                                  sensor_desk_actor sensors);

} // namespace troupe
