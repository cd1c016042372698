#pragma once

#include "actors/mesh/embedded/job_mesh.hpp"
#include "adapters/loop/loop_system.hpp"
#include "base/journal.hpp"
#include "config/settings.hpp"
#include "messages/value.hpp"

#include <caf/expected.hpp>

#include <pmix_server.h>

#include <string_view>
#include <vector>

namespace troupe::c_api {

/// The attribute of PMIx_server_init that switches our mesh on between the
/// servers of each job (bool); TROUPE_MESH=1 in the environment is its default.
inline constexpr std::string_view mesh_key = "troupe.mesh";

/// Puts the mesh between a server and its host.
using mesh_maker = host_actor (*)(loop_system& loop, host_actor host,
                                  const host_offers& offers, journal log,
                                  const site_settings& settings);

/// Null unless the library has the mesh inside: no client should load OpenSSL
/// for it, so there are two, and `mesh/inside.cpp` is the difference.
extern mesh_maker make_mesh;

/// Whether a server is to have a mesh.
/// @returns `not_supported` if it asks for one that the library has not.
caf::expected<bool> wants_mesh(const std::vector<info>& infos,
                               const journal& log);

/// What the function table of a host has entries for.
host_offers offers_of(const pmix_server_module_t& module);

} // namespace troupe::c_api
