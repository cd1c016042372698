#pragma once

#include "actors/mesh/embedded/job_mesh.hpp"

namespace troupe {

struct embedded_mesh_options {
  /// The resource manager's host.
  host_actor host;
  host_offers offers;

  job_mesh_maker make_means;

  /// See `job_mesh_options`.
  node_options node;

  journal log;
};

/// A HOST between a server and a resource manager's host: what that host does
/// goes to it unchanged; what it does not do, the servers of each job do among
/// themselves, see `spawn_job_mesh`. Gets `server_actor, event_cache_actor`
/// before all else; then `register_nspace` and `deregister_nspace` of each job,
/// beside the server. With `io_desk_actor, host_actor` it joins the desks of
/// the nodes of each job: it tells both that it is their IO MESH, and takes
/// `io_input`.
host_actor spawn_embedded_mesh(caf::actor_system& sys,
                               embedded_mesh_options options);

} // namespace troupe
