#pragma once

#include <optional>
#include <string>

// hwloc's objects behind pointers to void, as programs hold them: sets of
// processors (`hwloc_bitmap_t`) and topologies (`hwloc_topology_t`). Null is
// accepted everywhere. Any thread may call these functions.

namespace troupe::hwloc {

// -- sets of processors -------------------------------------------------------

void* duplicate_cpus(const void* cpus);
void release_cpus(void* cpus);

/// Reads a list such as `0-3,8`; null if it is none.
void* parse_cpus(const std::string& list);

/// Writes a list such as `0-3,8`; nothing for null.
std::optional<std::string> list_cpus(const void* cpus);

/// Whether the set stands for no binding: null or full.
bool is_unbound(const void* cpus);

// -- topologies ---------------------------------------------------------------

/// The topology of this node. The first call discovers it, which takes
/// milliseconds; all calls give the same one, which is never freed.
/// @returns null if hwloc fails.
void* shared_topology();

/// A copy; the shared topology itself for the shared one.
void* duplicate_topology(const void* topology);

/// Frees a topology, unless it is the shared one.
void release_topology(void* topology);

/// The topology as XML of hwloc 2; nothing for null, or if hwloc fails.
std::optional<std::string> export_topology(const void* topology);

/// Reads XML as the topology of this node; null if it is damaged.
void* import_topology(const std::string& xml);

/// `hwloc:` and the version that this library was built with.
std::string source();

} // namespace troupe::hwloc
