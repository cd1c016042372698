#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/hwloc/handles.hpp"
#include "adapters/hwloc/locality.hpp"
#include "base/directives.hpp"
#include "c_api/helpers/failure.hpp"
#include "messages/attributes.hpp"

#include <pmix.h>
#include <pmix_server.h>
#include <strings.h>
#include <unistd.h>

#include <array>
#include <exception>

// The hardware of this node, through hwloc: nothing is discovered before a
// program asks.

using namespace troupe;

namespace {

bool is_hwloc(const char* source) {
  return source != nullptr && strncasecmp(source, "hwloc", 5) == 0;
}

/// Nothing said means hwloc.
bool may_be_hwloc(const char* source) {
  return source == nullptr || is_hwloc(source);
}

pmix_status_t give(const std::string& text, char** to) {
  *to = c_api::duplicate(text);
  return *to != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

std::string host_name() {
  auto name = std::array<char, 256>{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Puts hwloc as the source of `x` unless there is one.
pmix_status_t set_source(char*& x, const std::string& source) {
  return x != nullptr ? pmix_status_t{PMIX_SUCCESS} : give(source, &x);
}

/// Which devices somebody asks for; all if he does not say.
struct device_filter {
  uint64_t types = 0;
  std::vector<std::string> ids;
};

device_filter filter_of(const std::vector<info>& infos) {
  auto result = device_filter{};
  for (const auto& x : infos) {
    if (x.key == attr::device_type)
      result.types |= x.val.number<uint64_t>().value_or(0);
    else if (x.key == attr::device_id && x.val.text() != nullptr)
      result.ids.push_back(*x.val.text());
  }
  if (result.types == 0)
    result.types = UINT64_MAX;
  return result;
}

caf::expected<c_api::c_distances> compute(const pmix_topology_t* topology,
                                          const pmix_cpuset_t* cpuset,
                                          const pmix_info_t* infos,
                                          size_t ninfo) {
  const auto directives = c_api::to_infos(infos, ninfo);
  if (!directives)
    return directives.error();
  if (auto why = check_required(pmix_call::compute_distances, *directives,
                                next_host::ours))
    return why;
  const auto filter = filter_of(*directives);
  // Null is this node and what the process is bound to.
  auto* cpus = cpuset != nullptr ? hwloc::duplicate_cpus(cpuset->bitmap)
                                 : hwloc::bound_cpus(true);
  const auto found = hwloc::distances(
    topology != nullptr ? topology->topology : hwloc::shared_topology(), cpus,
    filter.types, filter.ids, host_name());
  hwloc::release_cpus(cpus);
  if (!found)
    return found.error();
  return c_api::to_c_distances(*found);
}

/// Runs `f`, which gives a status; exceptions become one.
template <class F>
pmix_status_t guarded(F f) {
  try {
    return f();
  } catch (const std::exception&) {
    return PMIX_ERR_NOMEM;
  }
}

} // namespace

/// The topology is the library's: PMIx_Topology_destruct leaves it alone.
/// Not supported: what comes from another library than hwloc, or a node
/// whose topology hwloc cannot read.
pmix_status_t PMIx_Load_topology(pmix_topology_t* topology) try {
  if (topology == nullptr)
    return PMIX_ERR_BAD_PARAM;
  if (!may_be_hwloc(topology->source))
    return PMIX_ERR_NOT_SUPPORTED;
  return guarded([&]() -> pmix_status_t {
    auto* found = hwloc::shared_topology();
    if (found == nullptr)
      return PMIX_ERR_NOT_SUPPORTED;
    topology->topology = found;
    return set_source(topology->source, hwloc::source());
  });
} catch (...) {
  return c_api::status_of_exception();
}

// Not supported: what comes from another library than hwloc.
pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t* cpuset,
                              pmix_bind_envelope_t ref) try {
  if (cpuset == nullptr
      || (ref != PMIX_CPUBIND_PROCESS && ref != PMIX_CPUBIND_THREAD))
    return PMIX_ERR_BAD_PARAM;
  if (!may_be_hwloc(cpuset->source))
    return PMIX_ERR_NOT_SUPPORTED;
  return guarded([&]() -> pmix_status_t {
    cpuset->bitmap = hwloc::bound_cpus(ref == PMIX_CPUBIND_PROCESS);
    if (cpuset->bitmap == nullptr)
      return PMIX_ERR_NOT_FOUND;
    return set_source(cpuset->source, "hwloc");
  });
} catch (...) {
  return c_api::status_of_exception();
}

// Not supported: what comes from another library than hwloc.
pmix_status_t PMIx_Parse_cpuset_string(const char* text,
                                       pmix_cpuset_t* cpuset) try {
  if (text == nullptr || cpuset == nullptr)
    return PMIX_ERR_BAD_PARAM;
  const auto* colon = std::strchr(text, ':');
  if (colon == nullptr)
    return PMIX_ERR_BAD_PARAM;
  if (!is_hwloc(text))
    return PMIX_ERR_NOT_SUPPORTED;
  return guarded([&]() -> pmix_status_t {
    auto* cpus = hwloc::parse_cpus(colon + 1);
    if (cpus == nullptr)
      return PMIX_ERR_BAD_PARAM;
    *cpuset = {nullptr, cpus};
    return set_source(cpuset->source, "hwloc");
  });
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_server_generate_cpuset(const char* text,
                                          pmix_cpuset_t* cpuset) try {
  return PMIx_Parse_cpuset_string(text, cpuset);
} catch (...) {
  return c_api::status_of_exception();
}

// Not supported: what comes from another library than hwloc.
pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t* cpuset,
                                                 char** text) try {
  if (text == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *text = nullptr;
  if (cpuset == nullptr || cpuset->bitmap == nullptr)
    return PMIX_ERR_BAD_PARAM;
  if (!is_hwloc(cpuset->source))
    return PMIX_ERR_NOT_SUPPORTED;
  return guarded([&]() -> pmix_status_t {
    const auto list = hwloc::list_cpus(cpuset->bitmap);
    return list ? give("hwloc:" + *list, text) : PMIX_ERR_NOMEM;
  });
} catch (...) {
  return c_api::status_of_exception();
}

/// A process that is not bound has no locality: success, with null.
/// Not supported: what comes from another library than hwloc, or a node
/// whose topology hwloc cannot read.
pmix_status_t PMIx_server_generate_locality_string(const pmix_cpuset_t* cpuset,
                                                   char** text) try {
  if (text == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *text = nullptr;
  if (cpuset == nullptr)
    return PMIX_ERR_BAD_PARAM;
  if (!may_be_hwloc(cpuset->source))
    return PMIX_ERR_NOT_SUPPORTED;
  if (hwloc::is_unbound(cpuset->bitmap))
    return PMIX_SUCCESS;
  return guarded([&]() -> pmix_status_t {
    const auto* topology = hwloc::shared_topology();
    if (topology == nullptr)
      return PMIX_ERR_NOT_SUPPORTED;
    const auto locality = hwloc::locality_of(topology, cpuset->bitmap);
    return locality ? give(*locality, text) : PMIX_SUCCESS;
  });
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Get_relative_locality(const char* first, const char* second,
                                         pmix_locality_t* locality) try {
  if (locality == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *locality = PMIX_LOCALITY_UNKNOWN;
  if (first == nullptr || second == nullptr)
    return PMIX_ERR_BAD_PARAM;
  return guarded([&]() -> pmix_status_t {
    const auto shared = hwloc::relative_locality(first, second);
    if (!shared)
      return PMIX_ERR_BAD_PARAM;
    *locality = *shared;
    return PMIX_SUCCESS;
  });
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Compute_distances(pmix_topology_t* topology,
                                     pmix_cpuset_t* cpuset, pmix_info_t* infos,
                                     size_t ninfo,
                                     pmix_device_distance_t** distances,
                                     size_t* ndist) try {
  if (distances == nullptr || ndist == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *distances = nullptr;
  *ndist = 0;
  if ((topology != nullptr && !is_hwloc(topology->source))
      || (cpuset != nullptr && !is_hwloc(cpuset->source)))
    return PMIX_ERR_BAD_PARAM;
  return guarded([&]() -> pmix_status_t {
    auto found = compute(topology, cpuset, infos, ninfo);
    if (!found)
      return c_api::to_c(found.error());
    *ndist = found->size();
    *distances = found->release();
    return PMIX_SUCCESS;
  });
} catch (...) {
  return c_api::status_of_exception();
}
