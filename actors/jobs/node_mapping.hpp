#pragma once

#include "actors/jobs/job_options.hpp"
#include "messages/mesh.hpp"

namespace troupe {

/// A node, as the mapper sees it.
struct mapping_node {
  uint32_t rank = 0;
  std::string name;

  /// Processes that it takes without being oversubscribed; 0: none at all.
  uint32_t slots = 0;

  /// Those of running jobs.
  uint32_t used = 0;

  /// Processes of all jobs that it never takes more of, oversubscribed or not;
  /// 0: any number.
  uint32_t max_slots = 0;

  /// How many objects it has of the kind that `counted_objects` names.
  uint32_t objects = 1;
};

/// The key of a directive of ours in `spawn_request::job_infos`: nodes as in
/// PMIX_HOST, each with the most processes of the job that it takes,
/// oversubscribed or not.
inline constexpr std::string_view max_slots_key = "troupe.max_slots";

/// Deals the processes of a job to nodes, program after program, each with
/// ranks of its own.
///
/// Slots that no running job uses are taken first; a job may have as many
/// processes as there are slots, whatever else runs. PMIX_HOST limits a job, or
/// a program of it, to some nodes: `n1,n2:4`, where the number is the most
/// slots to take there.
///
/// `seq` and `rankfile` name the node of each process; a name means a node
/// whole or up to its first dot, `localhost` the root, `+n2` the third node. So
/// does PMIX_HOST for `seq` without a file: a process for each entry.
///
/// `wanted_hosts` names the node of each process by rank; it is followed if it
/// names as many as there are and all of these have slots for theirs.
///
/// @param request Where the mapping counts them, a program without a number of
///                processes gets one.
/// @returns the nodes that have processes, in the order of their ranks, or
///   - `bad_param` if the request has no program or no process, or asks for a
///     policy that contradicts itself,
///   - `not_found` for a name that is no node of the DVM,
///   - `job_insufficient_resources` if the processes do not fit and the options
///     do not allow more.
/// Source: PMIx Standard v5, PMIX_MAPBY, PMIX_RANKBY, PMIX_PPR, PMIX_HOST; the
/// policies of PRRTE under their names.
caf::expected<std::vector<node_share>>
map_job(spawn_request& request, const job_options& options,
        const std::vector<mapping_node>& nodes);

} // namespace troupe
