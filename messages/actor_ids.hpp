#pragma once

// Type IDs of the actor handles, which travel in messages too. Included by
// messages/actors.hpp, and by nobody else.

#include "messages/actors.hpp"

CAF_BEGIN_TYPE_ID_BLOCK(troupe_actors, caf::id_block::troupe_messages::end)

  CAF_ADD_TYPE_ID(troupe_actors, (troupe::cleaner_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::client_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::collective_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::connection_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::environment_user_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::event_cache_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::event_session_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::file_checker_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::handler_chain_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::host_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::job_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::job_observer_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::mesh_host_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::log_sink_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::lane_user_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::lane_owner_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::networks_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::peer_owner_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::peer_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::mesh_user_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::node_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::output_sink_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::process_launcher_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::process_owner_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::sensor_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::sensor_desk_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::sensor_reader_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::server_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::spool_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::topology_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::usage_actor))
  CAF_ADD_TYPE_ID(troupe_actors, (troupe::usage_monitor_actor))

CAF_END_TYPE_ID_BLOCK(troupe_actors)
