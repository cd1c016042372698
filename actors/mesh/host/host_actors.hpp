#pragma once

#include "actors/mesh/host/mesh_host.hpp"

namespace troupe {

/// The actors that a MESH HOST works with: those of its directory, and those
/// that it is told of later; null before.
struct host_actors : mesh_host_directory {
  server_actor server;
  event_cache_actor events;
  node_actor node;
  sensor_desk_actor sensors;
  usage_monitor_actor usage;
};

} // namespace troupe
