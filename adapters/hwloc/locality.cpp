#include "adapters/hwloc/locality.hpp"

#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/hwloc/handles.hpp"
#include "messages/status.hpp"

#include <hwloc.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

namespace troupe::hwloc {

namespace {

struct deleter {
  void operator()(hwloc_bitmap_t x) const {
    hwloc_bitmap_free(x);
  }
};

using bitmap_ptr =
  std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, deleter>;

hwloc_topology_t topology_of(const void* x) {
  return static_cast<hwloc_topology_t>(const_cast<void*>(x));
}

hwloc_const_bitmap_t bitmap_of(const void* x) {
  return static_cast<hwloc_const_bitmap_t>(x);
}

struct level {
  hwloc_obj_type_t type;
  std::string_view letters;
  uint16_t bit;
};

constexpr level levels[] = {
  {HWLOC_OBJ_NUMANODE, "NM", share_numa},
  {HWLOC_OBJ_PACKAGE, "SK", share_package},
  {HWLOC_OBJ_L3CACHE, "L3", share_l3cache},
  {HWLOC_OBJ_L2CACHE, "L2", share_l2cache},
  {HWLOC_OBJ_L1CACHE, "L1", share_l1cache},
  {HWLOC_OBJ_CORE, "CR", share_core},
  {HWLOC_OBJ_PU, "HT", share_hwthread},
};

const level* level_of(hwloc_obj_type_t type) {
  for (const auto& x : levels)
    if (x.type == type)
      return &x;
  return nullptr;
}

/// Appends the objects of one depth that share a processor with `cpus`.
void append_level(std::string& out, hwloc_topology_t topology, int depth,
                  hwloc_const_bitmap_t cpus) {
  const auto* kind = level_of(hwloc_get_depth_type(topology, depth));
  const auto found = bitmap_ptr{hwloc_bitmap_alloc()};
  if (kind == nullptr || found == nullptr)
    return;
  hwloc_obj_t x = nullptr;
  while ((x = hwloc_get_next_obj_by_depth(topology, depth, x)) != nullptr)
    if (x->cpuset != nullptr && hwloc_bitmap_intersects(x->cpuset, cpus) != 0)
      hwloc_bitmap_set(found.get(), x->logical_index);
  if (hwloc_bitmap_iszero(found.get()) != 0)
    return;
  if (!out.empty())
    out += ':';
  out += kind->letters;
  out += *list_cpus(found.get());
}

/// The sets of a locality string by their letters; nothing if it is damaged.
std::optional<std::map<std::string_view, bitmap_ptr>>
parse_locality(std::string_view text) {
  constexpr auto prefix = std::string_view{"hwloc:"};
  if (text.size() >= prefix.size()
      && strncasecmp(text.data(), prefix.data(), prefix.size()) == 0)
    text.remove_prefix(prefix.size());
  auto result = std::map<std::string_view, bitmap_ptr>{};
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (part.size() < 3)
      return std::nullopt;
    auto* set = parse_cpus(std::string{part.substr(2)});
    if (set == nullptr)
      return std::nullopt;
    result[part.substr(0, 2)].reset(static_cast<hwloc_bitmap_t>(set));
  }
  return result;
}

// -- devices -----------------------------------------------------------------

struct device_kind {
  hwloc_obj_osdev_type_t type;
  uint64_t bit;
};

/// Source: PMIx Standard v5, `pmix_device_type_t`.
constexpr device_kind device_kinds[] = {
  {HWLOC_OBJ_OSDEV_GPU, 0x2},
  {HWLOC_OBJ_OSDEV_NETWORK, 0x4},
  {HWLOC_OBJ_OSDEV_OPENFABRICS, 0x8},
};

/// An identifier that is unique in the cluster; empty for a device that has
/// none and is therefore not reported.
std::string uuid_of(hwloc_obj_t device, const std::string& host) {
  const auto info = [device](const char* name) {
    const auto* x = hwloc_obj_get_info_by_name(device, name);
    return std::string{x != nullptr ? x : ""};
  };
  switch (device->attr->osdev.type) {
    case HWLOC_OBJ_OSDEV_NETWORK: {
      const auto address = info("Address");
      const auto colons = std::count(address.begin(), address.end(), ':');
      if (colons == 5)
        return "ipv4://" + address;
      return colons == 19 ? "ipv6://" + address : "";
    }
    case HWLOC_OBJ_OSDEV_OPENFABRICS: {
      const auto node = info("NodeGUID");
      const auto image = info("SysImageGUID");
      return node.empty() || image.empty() ? ""
                                           : "fab://" + node + "::" + image;
    }
    case HWLOC_OBJ_OSDEV_GPU:
      // A `card` is another face of a device that has a better name.
      return strncasecmp(device->name, "card", 4) == 0
               ? ""
               : "gpu://" + host + "::" + device->name;
    default:
      return "";
  }
}

/// The smallest object below the machine that has all of `cpus`.
hwloc_obj_t covering(hwloc_topology_t topology, hwloc_const_bitmap_t cpus) {
  auto* x = hwloc_get_obj_covering_cpuset(topology, cpus);
  return x != nullptr && x->depth > 0 ? x : nullptr;
}

/// Levels from the bottom of the tree to what the two have in common; devices
/// of another package are further away than any of the same.
uint16_t distance(hwloc_topology_t topology, hwloc_obj_t x, hwloc_obj_t y) {
  const auto depth = hwloc_topology_get_depth(topology);
  const auto* common = hwloc_get_common_ancestor_obj(topology, x, y);
  const auto result =
    common->depth == 0 ? x->depth + depth : depth - common->depth;
  return static_cast<uint16_t>(result);
}

bool is_wanted(const std::vector<std::string>& ids, const std::string& name,
               const std::string& uuid) {
  return ids.empty()
         || std::any_of(ids.begin(), ids.end(), [&](const auto& id) {
              return strcasecmp(id.c_str(), name.c_str()) == 0
                     || strcasecmp(id.c_str(), uuid.c_str()) == 0;
            });
}

} // namespace

void* bound_cpus(bool whole_process) {
  const auto cpus = allowed_processors(whole_process ? getpid() : 0);
  auto* result = hwloc_bitmap_alloc();
  if (result != nullptr)
    for (const auto cpu : cpus)
      hwloc_bitmap_set(result, cpu);
  return result;
}

std::optional<std::string> locality_of(const void* topology, const void* cpus) {
  if (topology == nullptr || is_unbound(cpus))
    return std::nullopt;
  auto* t = topology_of(topology);
  auto result = std::string{};
  for (auto depth = 1; depth < hwloc_topology_get_depth(t); ++depth)
    append_level(result, t, depth, bitmap_of(cpus));
  append_level(result, t, HWLOC_TYPE_DEPTH_NUMANODE, bitmap_of(cpus));
  if (result.empty())
    return std::nullopt;
  return result;
}

std::optional<std::string> locality_of_all(const void* topology) {
  auto* x = topology_of(topology);
  auto* all = x != nullptr ? hwloc_get_root_obj(x) : nullptr;
  return all != nullptr ? locality_of(topology, all->cpuset) : std::nullopt;
}

std::optional<uint16_t> relative_locality(std::string_view first,
                                          std::string_view second) {
  const auto xs = parse_locality(first);
  const auto ys = parse_locality(second);
  if (!xs || !ys)
    return std::nullopt;
  auto result = uint16_t{share_node};
  for (const auto& level : levels) {
    const auto x = xs->find(level.letters);
    const auto y = ys->find(level.letters);
    if (x != xs->end() && y != ys->end()
        && hwloc_bitmap_intersects(x->second.get(), y->second.get()) != 0)
      result |= level.bit;
  }
  return result;
}

caf::expected<std::vector<device_distance>>
distances(const void* topology, const void* cpus, uint64_t types,
          const std::vector<std::string>& ids, const std::string& host) {
  if (topology == nullptr || cpus == nullptr)
    return make_error(status::bad_param,
                      "there is no topology or no set; load one by "
                      "PMIx_Load_topology()");
  auto* t = topology_of(topology);
  auto* here = covering(t, bitmap_of(cpus));
  if (here == nullptr)
    return make_error(status::not_available,
                      "only the whole machine has all these processors");
  auto result = std::vector<device_distance>{};
  for (const auto& kind : device_kinds) {
    if ((types & kind.bit) == 0)
      continue;
    hwloc_obj_t device = nullptr;
    while ((device = hwloc_get_next_osdev(t, device)) != nullptr) {
      if (device->attr->osdev.type != kind.type || device->name == nullptr)
        continue;
      auto uuid = uuid_of(device, host);
      auto name = std::string{device->name};
      if (uuid.empty() || !is_wanted(ids, name, uuid))
        continue;
      auto* place = hwloc_get_non_io_ancestor_obj(t, device);
      const auto n = distance(t, here, place);
      result.push_back({std::move(uuid), std::move(name), kind.bit, n, n});
    }
  }
  if (result.empty())
    return make_error(status::not_found, "there is no such device");
  return result;
}

} // namespace troupe::hwloc
