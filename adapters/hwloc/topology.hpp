#pragma once

#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace troupe {

class thread_pool;

/// Asks hwloc for the processors of the node; takes milliseconds.
/// @param allowed Operating-system numbers of the processors to keep.
/// @returns nothing if the hardware cannot be discovered.
std::optional<node_topology>
read_topology(const std::vector<uint32_t>& allowed);

/// What is known, and who waits for it; shared with a discovery under way.
struct topology_cache {
  std::optional<node_topology> result;
  std::vector<caf::typed_response_promise<node_topology>> waiting;
};

/// The state of a TOPOLOGY actor.
struct topology_state {
  static inline const char* name = "topology";

  std::shared_ptr<topology_cache> cache = std::make_shared<topology_cache>();
};

/// Discovers the processors that the process may use, on a thread of `pool`,
/// when asked for the first time. Refused with `resource_busy` if the pool is
/// full, `error` if hwloc fails; the next request tries again.
topology_actor::behavior_type
topology(topology_actor::stateful_pointer<topology_state> self,
         thread_pool* pool);

} // namespace troupe
