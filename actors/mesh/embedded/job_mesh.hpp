#pragma once

#include "actors/mesh/embedded/host_offers.hpp"
#include "actors/mesh/embedded/registered_map.hpp"
#include "actors/mesh/members/node.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <caf/actor.hpp>
#include <caf/expected.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace troupe {

/// Who a server is among those of its job.
struct mesh_seat {
  /// The name of the job's mesh, see `mesh_name`.
  std::string mesh;
  uint32_t rank = 0;
  std::string name;
};

/// What a server needs to meet the others of its job.
struct job_mesh_means {
  /// The certificate that its networks show, as DER.
  std::string certificate;

  networks_actor networks;

  /// Lets a node in, with this certificate only.
  std::function<caf::error(uint32_t rank, std::string_view certificate)> trust;
};

/// Makes them; lanes and addresses come to `owner`.
using job_mesh_maker = std::function<caf::expected<job_mesh_means>(
  const mesh_seat& seat, const lane_owner_actor& owner)>;

struct job_mesh_options {
  registered_map where;

  /// The resource manager's host.
  host_actor host;
  host_offers offers;

  server_actor server;
  event_cache_actor events;

  /// Hears which logs of groups are of this job, before the server does:
  /// `nspace, log name`.
  caf::actor keeper;

  /// The standard streams of this node; none: it has none.
  io_desk_actor desk;

  /// What the desk takes the first node of the job for.
  uint32_t first_node = 0;

  job_mesh_maker make_means;

  /// Clocks, random numbers and times of the node; the rest is filled in.
  node_options node;

  journal log;
};

/// The mesh of one job whose processes a resource manager has started: what the
/// host does not do, the servers of the job do among themselves. They find each
/// other by greetings in the first fence of the whole job that goes through the
/// host; what is asked before waits for it, for a bounded time. Understands of
/// the HOST's messages those that it may take over, those of an IO MESH for the
/// streams of this job, `io_input`, and `deregister_nspace`: leaves the others
/// and ends.
///
/// A lost node fails what is asked of it and nothing else: what becomes of the
/// job is up to the resource manager.
host_actor spawn_job_mesh(caf::actor_system& sys, job_mesh_options options);

} // namespace troupe
