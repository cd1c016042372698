#pragma once

#include "messages/host.hpp"
#include "messages/mesh.hpp"

#include <optional>

namespace troupe {

/// Where a registered job runs.
struct registered_map {
  job_map map;

  /// The place of this node in the map.
  uint32_t own = 0;
};

/// Reads from a registration which processes are on which nodes. The nodes have
/// their places in the job's list.
/// @returns nothing if the registration does not say it.
/// Source: PMIx Standard v5, PMIX_PROC_INFO_ARRAY, PMIX_NODE_INFO_ARRAY,
/// PMIX_NODEID.
std::optional<registered_map> map_of(const register_nspace& what);

/// The name of a job as a DVM has it: letters, digits and few other characters,
/// 64 at the most; different for different jobs.
std::string mesh_name(const std::string& nspace);

/// The name of a node, with what names must not have replaced.
std::string mesh_node_name(const std::string& hostname);

} // namespace troupe
