#include "adapters/hwloc/handles.hpp"

#include <hwloc.h>

#include <climits>
#include <cstdlib>
#include <mutex>

namespace troupe::hwloc {

namespace {

std::mutex mutex;

hwloc_topology_t shared = nullptr; // guarded by mutex

hwloc_bitmap_t bitmap(void* x) {
  return static_cast<hwloc_bitmap_t>(x);
}

hwloc_const_bitmap_t bitmap(const void* x) {
  return static_cast<hwloc_const_bitmap_t>(x);
}

/// hwloc takes topologies that it only reads as mutable ones.
hwloc_topology_t topology(const void* x) {
  return static_cast<hwloc_topology_t>(const_cast<void*>(x));
}

/// Devices are kept: programs ask how far they are.
bool load(hwloc_topology_t x, unsigned long flags) {
  return hwloc_topology_set_io_types_filter(x, HWLOC_TYPE_FILTER_KEEP_IMPORTANT)
           == 0
         && hwloc_topology_set_flags(x, flags) == 0
         && hwloc_topology_load(x) == 0;
}

bool is_shared(const void* x) {
  const auto guard = std::lock_guard{mutex};
  return x == shared;
}

} // namespace

// -- sets of processors -------------------------------------------------------

void* duplicate_cpus(const void* cpus) {
  return cpus != nullptr ? hwloc_bitmap_dup(bitmap(cpus)) : nullptr;
}

void release_cpus(void* cpus) {
  hwloc_bitmap_free(bitmap(cpus));
}

void* parse_cpus(const std::string& list) {
  // hwloc reads any number and makes the set as large.
  constexpr auto max_digits = 5;
  auto digits = 0;
  for (const auto c : list) {
    if (c >= '0' && c <= '9') {
      if (++digits > max_digits)
        return nullptr;
    } else if (c == ',' || c == '-') {
      digits = 0;
    } else {
      return nullptr;
    }
  }
  auto* result = hwloc_bitmap_alloc();
  if (result != nullptr
      && hwloc_bitmap_list_sscanf(result, list.c_str()) != 0) {
    hwloc_bitmap_free(result);
    return nullptr;
  }
  return result;
}

std::optional<std::string> list_cpus(const void* cpus) {
  if (cpus == nullptr)
    return std::nullopt;
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, bitmap(cpus)) < 0)
    return std::nullopt;
  auto result = std::string{text};
  std::free(text);
  return result;
}

bool is_unbound(const void* cpus) {
  return cpus == nullptr || hwloc_bitmap_isfull(bitmap(cpus)) != 0;
}

// -- topologies ---------------------------------------------------------------

void* shared_topology() {
  const auto guard = std::lock_guard{mutex};
  if (shared != nullptr)
    return shared;
  hwloc_topology_t found = nullptr;
  if (hwloc_topology_init(&found) != 0)
    return nullptr;
  if (!load(found, 0)) {
    hwloc_topology_destroy(found);
    return nullptr;
  }
  shared = found;
  return shared;
}

void* duplicate_topology(const void* x) {
  if (x == nullptr || is_shared(x))
    return topology(x);
  hwloc_topology_t result = nullptr;
  if (hwloc_topology_dup(&result, topology(x)) != 0)
    return nullptr;
  return result;
}

void release_topology(void* x) {
  if (x != nullptr && !is_shared(x))
    hwloc_topology_destroy(topology(x));
}

std::optional<std::string> export_topology(const void* x) {
  if (x == nullptr)
    return std::nullopt;
  char* text = nullptr;
  auto size = 0;
  if (hwloc_topology_export_xmlbuffer(topology(x), &text, &size, 0) != 0)
    return std::nullopt;
  auto result = std::string{text};
  hwloc_free_xmlbuffer(topology(x), text);
  return result;
}

void* import_topology(const std::string& xml) {
  if (xml.size() >= INT_MAX)
    return nullptr;
  hwloc_topology_t result = nullptr;
  if (hwloc_topology_init(&result) != 0)
    return nullptr;
  if (hwloc_topology_set_xmlbuffer(result, xml.c_str(),
                                   static_cast<int>(xml.size()) + 1)
        != 0
      || !load(result, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM)) {
    hwloc_topology_destroy(result);
    return nullptr;
  }
  return result;
}

std::string source() {
#ifdef HWLOC_VERSION
  return "hwloc:" HWLOC_VERSION;
#else
  return "hwloc";
#endif
}

} // namespace troupe::hwloc
