#pragma once

#include "actors/jobs/job_plan.hpp"

namespace troupe {

/// The processors of each rank: ranks are dealt in turn to the objects that
/// `map_by` names; each is bound to an object of kind `bind_to` where it
/// landed, the next one at every round. More ranks than objects begin again at
/// the first. A slot is a core.
/// @returns one list per rank, empty where unbound.
/// Source: PMIx Standard v5, PMIX_MAPBY and PMIX_BINDTO.
std::vector<std::vector<uint32_t>> place(uint32_t num_procs,
                                         const job_options& options,
                                         const node_topology& topology);

/// What contains `cpus`, level by level, as clients compare it to find out how
/// near they are: `SK0:L30:L20:L10:CR0:HT0:NM0`.
/// Source: PMIx Standard v5, PMIX_LOCALITY_STRING.
std::string locality_string(const std::vector<uint32_t>& cpus,
                            const node_topology& topology);

/// A set of numbers as ranges: `0-3,8`.
std::string to_ranges(std::vector<uint32_t> numbers);

} // namespace troupe
