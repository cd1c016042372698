#include "adapters/hwloc/topology.hpp"

#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/loop/thread_pool.hpp"

#include <caf/all.hpp>

#include <hwloc.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace troupe {

namespace {

struct deleter {
  void operator()(hwloc_topology_t x) const {
    hwloc_topology_destroy(x);
  }
};

using topology_ptr =
  std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, deleter>;

/// Keeps hwloc from loading its plugins (XML, OpenCL, X11), which takes three
/// times as long as the discovery and finds nothing we ask for. hwloc knows no
/// other way than the environment: changed on the thread of the loop only, and
/// only as long as the discovery takes.
class plugins_off {
public:
  plugins_off() : is_ours_(std::getenv(name) == nullptr) {
    if (is_ours_)
      setenv(name, "/nonexistent", 0);
  }

  plugins_off(const plugins_off&) = delete;

  plugins_off& operator=(const plugins_off&) = delete;

  ~plugins_off() {
    if (is_ours_)
      unsetenv(name);
  }

private:
  static constexpr auto name = "HWLOC_PLUGINS_PATH";

  bool is_ours_;
};

topology_ptr load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    return nullptr;
  auto result = topology_ptr{raw};
  // Linux tells all we ask for; the cpuid instruction would take a visit to
  // every processor.
  hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                "x86");
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MISC,
                                 HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(raw) != 0)
    return nullptr;
  return result;
}

/// The logical number of what of `type` contains `pu`.
uint32_t container(hwloc_topology_t topology, hwloc_obj_t pu,
                   hwloc_obj_type_t type) {
  const auto* x = hwloc_get_ancestor_obj_by_type(topology, type, pu);
  return x != nullptr ? x->logical_index : UINT32_MAX;
}

/// Memory is not above processors in the tree; it is known by its set.
uint32_t numa_node(hwloc_topology_t topology, hwloc_obj_t pu) {
  const auto first =
    pu->nodeset != nullptr ? hwloc_bitmap_first(pu->nodeset) : -1;
  if (first < 0)
    return UINT32_MAX;
  const auto* x =
    hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(first));
  return x != nullptr ? x->logical_index : UINT32_MAX;
}

/// The counts of what a node has, its architecture and byte order.
/// Source: OpenPMIx, which programs compare with, writes signatures like this.
std::string signature_of(hwloc_topology_t topology) {
  constexpr std::pair<hwloc_obj_type_t, const char*> levels[] = {
    {HWLOC_OBJ_NUMANODE, "N"}, {HWLOC_OBJ_PACKAGE, "S"},
    {HWLOC_OBJ_L3CACHE, "L3"}, {HWLOC_OBJ_L2CACHE, "L2"},
    {HWLOC_OBJ_L1CACHE, "L1"}, {HWLOC_OBJ_CORE, "C"},
    {HWLOC_OBJ_PU, "H"},
  };
  std::string result;
  for (const auto& [type, letters] : levels)
    result +=
      std::to_string(std::max(0, hwloc_get_nbobjs_by_type(topology, type)))
      + letters + ':';
  utsname system{};
  uname(&system);
  result += system.machine;
  result += __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ":le" : ":be";
  return result;
}

void answer_all(topology_cache& state) {
  for (auto& reply : std::exchange(state.waiting, {}))
    if (state.result)
      reply.deliver(*state.result);
    else
      reply.deliver(make_error(status::error,
                               "hwloc cannot discover the processors; try "
                               "lstopo for the reason"));
}

} // namespace

std::optional<node_topology>
read_topology(const std::vector<uint32_t>& allowed) {
  const auto topology = load();
  if (topology == nullptr)
    return std::nullopt;
  node_topology result;
  result.signature = signature_of(topology.get());
  hwloc_obj_t pu = nullptr;
  while ((pu = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_PU, pu))
         != nullptr) {
    if (!std::binary_search(allowed.begin(), allowed.end(), pu->os_index))
      continue;
    const auto in = [&](hwloc_obj_type_t type) {
      return container(topology.get(), pu, type);
    };
    result.units.push_back(
      {pu->os_index, pu->logical_index, in(HWLOC_OBJ_CORE),
       in(HWLOC_OBJ_L1CACHE), in(HWLOC_OBJ_L2CACHE), in(HWLOC_OBJ_L3CACHE),
       numa_node(topology.get(), pu), in(HWLOC_OBJ_PACKAGE)});
  }
  if (result.units.empty())
    return std::nullopt;
  return result;
}

topology_actor::behavior_type
topology(topology_actor::stateful_pointer<topology_state> self,
         thread_pool* pool) {
  return {
    [self, pool](discover_topology) {
      auto& state = *self->state.cache;
      auto reply = self->make_response_promise<node_topology>();
      if (state.result) {
        reply.deliver(*state.result);
        return reply;
      }
      state.waiting.push_back(reply);
      if (state.waiting.size() > 1)
        return reply; // Under way.
      const auto found = std::make_shared<std::optional<node_topology>>();
      const auto work = [found, allowed = allowed_processors()] {
        *found = read_topology(allowed);
      };
      auto guard = std::make_shared<plugins_off>();
      const auto done = [found, guard, cache = self->state.cache]() mutable {
        guard = nullptr;
        cache->result = std::move(*found);
        answer_all(*cache);
      };
      if (!pool->post(work, done)) {
        state.waiting.clear();
        reply.deliver(
          make_error(status::resource_busy,
                     "too much work waits on this node; ask later"));
      }
      return reply;
    },
  };
}

} // namespace troupe
