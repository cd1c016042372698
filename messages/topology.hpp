#pragma once

#include "messages/inspect.hpp"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace troupe {

/// A processor (hardware thread) that the daemon may use, and the logical
/// numbers of what contains it. `UINT32_MAX` where a level does not exist.
struct processing_unit {
  /// The operating system's number, as in `sched_setaffinity`.
  uint32_t os_index = 0;

  uint32_t hwthread = 0;
  uint32_t core = 0;
  uint32_t l1 = 0;
  uint32_t l2 = 0;
  uint32_t l3 = 0;
  uint32_t numa = 0;
  uint32_t package = 0;
};

TROUPE_MESSAGE(processing_unit, x.os_index, x.hwthread, x.core, x.l1, x.l2,
               x.l3, x.numa, x.package)

/// The processors of a node.
struct node_topology {
  /// In logical order.
  std::vector<processing_unit> units;

  /// A text equal on nodes with equal hardware. Source:
  /// PMIX_TOPOLOGY_SIGNATURE.
  std::string signature;
};

TROUPE_MESSAGE(node_topology, x.units, x.signature)

/// Asks for the topology of the node.
struct discover_topology {};

TROUPE_EMPTY_MESSAGE(discover_topology)

} // namespace troupe
