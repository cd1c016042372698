#pragma once

#include "messages/value.hpp"

#include <caf/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Where processes and devices are on the node. Sets of processors and
// topologies are those of handles.hpp.

namespace troupe::hwloc {

/// What processes share, as bits.
/// Source: PMIx Standard v5, `pmix_locality_t`.
enum locality : uint16_t {
  share_hwthread = 0x0001,
  share_core = 0x0002,
  share_l1cache = 0x0004,
  share_l2cache = 0x0008,
  share_l3cache = 0x0010,
  share_package = 0x0020,
  share_numa = 0x0040,
  share_node = 0x4000,
};

/// The processors the process or the calling thread is bound to; null if the
/// kernel does not say.
void* bound_cpus(bool whole_process);

/// What the processors `cpus` are part of: for each level that the topology
/// has, two letters and the logical numbers, such as
/// `SK0:L30:L20-1:CR0-1:HT0-3:NM0`; nothing for a process that is not bound.
/// Source: OpenPMIx, whose libraries compare these strings.
std::optional<std::string> locality_of(const void* topology, const void* cpus);

/// The same for all processors of the topology: that of a process that is not bound.
std::optional<std::string> locality_of_all(const void* topology);

/// What two processes of one node share, from their locality strings with or
/// without the prefix `hwloc:`; nothing if one is damaged.
std::optional<uint16_t> relative_locality(std::string_view first,
                                          std::string_view second);

/// How far devices are from the processors `cpus`.
/// @param types Which types (`pmix_device_type_t`), as bits.
/// @param ids Names or identifiers of the devices wanted; empty for all.
/// @returns `not_found` without such a device, `not_available` if only the
///          whole machine has these processors.
/// Source: PMIx Standard v5, PMIx_Compute_distances; the metric, which the
/// Standard leaves open, and the identifiers are OpenPMIx's.
caf::expected<std::vector<device_distance>>
distances(const void* topology, const void* cpus, uint64_t types,
          const std::vector<std::string>& ids, const std::string& host);

} // namespace troupe::hwloc
