#pragma once

#include "actors/mesh/embedded/embedded_mesh.hpp"
#include "adapters/loop/loop_system.hpp"
#include "base/journal.hpp"

#include <string>
#include <vector>

namespace troupe {

struct job_networks_options {
  /// The interfaces to use; none: all that are fit.
  std::vector<std::string> interfaces;

  journal log;
};

/// Makes the networks of a server in the mesh of a job: with an authority and a
/// key of its own, so that the resource manager need not hand any out; peers
/// are those whose certificates it brings. Of the library `troupe_mesh`:
/// OpenSSL comes with it.
/// @param loop Must outlive what is made.
job_mesh_maker job_networks(loop_system& loop, job_networks_options options);

/// Puts a mesh between a server and its host, see `spawn_embedded_mesh`.
host_actor mesh_around(loop_system& loop, host_actor host,
                       const host_offers& offers, journal log);

/// The same for `runtime_options::around_host`.
inline auto job_meshes(const host_offers& offers) {
  return [offers](loop_system& loop, host_actor host, journal log) {
    return mesh_around(loop, std::move(host), offers, std::move(log));
  };
}

} // namespace troupe
