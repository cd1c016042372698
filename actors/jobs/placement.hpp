#pragma once

#include "actors/jobs/job_plan.hpp"
#include "actors/jobs/number_list.hpp"

#include <set>
#include <string>
#include <vector>

namespace troupe {

/// The processes of a job on this node.
struct local_share {
  /// Of the processes, ascending.
  std::vector<uint32_t> ranks;

  /// For errors.
  std::string hostname;

  /// Processors that other jobs have bound processes to, as the operating
  /// system numbers them.
  std::set<uint32_t> taken;
};

/// The processors of each process: processes are dealt in turn to the objects
/// that `map_by` names; each is bound to an object of kind `bind_to` where it
/// landed, the next one at every round. More processes than objects begin again
/// at the first. A slot is a core. A level that the node does not have is the
/// node.
///
/// Cores that other jobs are bound to are left to them as long as there are
/// enough others.
/// @param options As `settle` left them.
/// @returns one list per process, empty where unbound; or
///   - `job_insufficient_resources` if more processes would be bound to an
///     object than it has processors, and neither the options allow that nor
///     is it a default,
///   - `bad_param` for processors that the node does not have.
/// Source: PMIx Standard v5, PMIX_MAPBY, PMIX_RANKBY and PMIX_BINDTO; for what
/// is too many, Open MPI.
caf::expected<std::vector<std::vector<uint32_t>>>
place(const local_share& share, const job_options& options,
      const node_topology& topology);

/// How many objects of a kind there are; a level that does not exist is one.
uint32_t count_objects(const node_topology& topology, resource_kind kind);

/// What contains `cpus`, level by level, as clients compare it to find out how
/// near they are: `SK0:L30:L20:L10:CR0:HT0:NM0`.
/// Source: PMIx Standard v5, PMIX_LOCALITY_STRING.
std::string locality_string(const std::vector<uint32_t>& cpus,
                            const node_topology& topology);

} // namespace troupe
