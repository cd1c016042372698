#pragma once

#include "actors/mesh/embedded/host_offers.hpp"
#include "base/journal.hpp"
#include "config/settings.hpp"
#include "messages/interfaces/host.hpp"

#include <utility>

namespace troupe {

class loop_system;

/// Puts a mesh between a server and its host: what the host does not offer, the
/// servers of each job do among themselves, see `spawn_embedded_mesh`. Each has
/// an authority and a key of its own, so that the resource manager need not
/// hand any out; peers are those whose certificates the host's fence brings. Of
/// the library `troupe_mesh`: OpenSSL comes with it.
/// @param loop     Must outlive what is made.
/// @param settings What holds for its nodes and networks, above what the environment
///                 sets (`TROUPE_...`). If that is wrong there is no mesh.
host_actor mesh_around(loop_system& loop, host_actor host,
                       const host_offers& offers, journal log,
                       const site_settings& settings);

/// The same for `runtime_options::around_host`: spans the nodes of each job.
///
///     options.around_host = troupe::job_meshes({true}); // The host has a fence.
inline auto job_meshes(const host_offers& offers, site_settings settings = {}) {
  return [offers, settings = std::move(settings)](
           loop_system& loop, host_actor host, journal log) {
    return mesh_around(loop, std::move(host), offers, std::move(log), settings);
  };
}

} // namespace troupe
