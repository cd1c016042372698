#pragma once

#include "messages/value.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::c_api {

/// What a host's registration of a namespace comes to.
struct registered_job {
  std::vector<info> infos;

  /// The ranks on this node; empty if the host does not say.
  std::vector<uint32_t> local_ranks;
};

/// Completes what a host says of a job: from the node map and the process map
/// come the nodes, their ranks and their arrays, where each rank is, and the
/// sizes, as far as the host has not given them. The maps themselves go to
/// nobody. A map may be a list, or any compact form, as a text, a REGEX or
/// bytes.
/// @param hostname   The name of this node.
/// @param num_local  How many processes the host says are here; negative: it
///                   does not say.
/// @param nspace     The job's name; empty: processes are not named by it.
/// @returns `bad_param` that names the map that cannot be read.
/// Source: PMIx Standard v5, `PMIx_server_register_nspace`, PMIX_NODE_MAP,
/// PMIX_PROC_MAP; OpenPMIx, which derives the same.
caf::expected<registered_job> complete_job(std::vector<info> infos,
                                           const std::string& hostname,
                                           int num_local,
                                           const std::string& nspace = {});

} // namespace troupe::c_api
