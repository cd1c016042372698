// Processors, locality and devices, of this machine and of made up ones.

#include "adapters/c_values/convert.hpp"
#include "adapters/hwloc/handles.hpp"
#include "adapters/hwloc/locality.hpp"
#include "tests/test.hpp"

#include <pmix.h>
#include <pmix_server.h>

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// Two packages with two cores of two threads, a network card on each package.
constexpr auto xml = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0xff" complete_cpuset="0xff"
  allowed_cpuset="0xff" nodeset="0x1" complete_nodeset="0x1"
  allowed_nodeset="0x1" gp_index="1">
  <object type="NUMANode" os_index="0" cpuset="0xff" complete_cpuset="0xff"
   nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="1024"/>
  PACKAGE0
  PACKAGE1
 </object>
</topology>
)";

std::string set(unsigned bits) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "0x%x", bits);
  const auto x = std::string{buffer};
  return " cpuset=\"" + x + "\" complete_cpuset=\"" + x
         + "\" nodeset=\"0x1\" complete_nodeset=\"0x1\"";
}

std::string object(const std::string& type, unsigned os_index, unsigned id,
                   const std::string& rest, const std::string& inside) {
  return "<object type=\"" + type + "\" os_index=\"" + std::to_string(os_index)
         + "\" gp_index=\"" + std::to_string(id) + "\"" + rest + ">" + inside
         + "</object>";
}

std::string package(unsigned index) {
  auto inside = std::string{};
  for (auto core = 2 * index; core < 2 * index + 2; ++core) {
    auto units = std::string{};
    for (auto pu = 2 * core; pu < 2 * core + 2; ++pu)
      units += object("PU", pu, 100 + pu, set(1u << pu), "");
    inside += object("Core", core, 50 + core, set(3u << 2 * core), units);
  }
  const auto bus = std::to_string(index + 1);
  const auto card =
    "<object type=\"Bridge\" gp_index=\"" + std::to_string(200 + index)
    + "\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[0" + bus + "-0"
    + bus + "]\"><object type=\"PCIDev\" gp_index=\""
    + std::to_string(210 + index) + "\" pci_busid=\"0000:0" + bus
    + ":00.0\" pci_type=\"0200 [8086:1533] [8086:1533] 00\" "
      "pci_link_speed=\"1.0\"><object type=\"OSDev\" gp_index=\""
    + std::to_string(220 + index) + "\" name=\"eth" + std::to_string(index)
    + "\" osdev_type=\"2\"><info name=\"Address\" value=\"00:00:00:00:00:0"
    + std::to_string(index) + "\"/></object></object></object>";
  return object("Package", index, 10 + index, set(0xfu << 4 * index),
                inside + card);
}

/// The topology above behind a structure of the C API.
struct made_up {
  pmix_topology_t x{};

  made_up() {
    auto text = std::string{xml};
    for (auto i = 0u; i < 2; ++i) {
      const auto name = "PACKAGE" + std::to_string(i);
      text.replace(text.find(name), name.size(), package(i));
    }
    x.source = to_c_text("hwloc");
    x.topology = hwloc::import_topology(text);
    CAF_REQUIRE(x.topology != nullptr);
  }

  made_up(const made_up&) = delete;

  made_up& operator=(const made_up&) = delete;

  ~made_up() {
    PMIx_Topology_destruct(&x);
  }
};

struct cpuset {
  pmix_cpuset_t x{};

  explicit cpuset(const char* text) {
    CAF_REQUIRE_EQUAL(PMIx_Parse_cpuset_string(text, &x), PMIX_SUCCESS);
  }

  cpuset(const cpuset&) = delete;

  cpuset& operator=(const cpuset&) = delete;

  ~cpuset() {
    PMIx_Cpuset_destruct(&x);
  }
};

std::string locality_of(const made_up& topology, const char* cpus) {
  const auto set = cpuset{cpus};
  return hwloc::locality_of(topology.x.topology, set.x.bitmap).value_or("");
}

pmix_locality_t shared(const std::string& x, const std::string& y) {
  auto result = pmix_locality_t{};
  CAF_CHECK_EQUAL(PMIx_Get_relative_locality(x.c_str(), y.c_str(), &result),
                  PMIX_SUCCESS);
  return result;
}

} // namespace

CAF_TEST(C2.6 the topology is the machine and is found once) {
  auto one = pmix_topology_t{};
  auto two = pmix_topology_t{};
  CAF_REQUIRE_EQUAL(PMIx_Load_topology(&one), PMIX_SUCCESS);
  CAF_REQUIRE_EQUAL(PMIx_Load_topology(&two), PMIX_SUCCESS);
  CAF_CHECK(one.topology != nullptr);
  CAF_CHECK(one.topology == two.topology);
  CAF_CHECK_EQUAL(std::string{one.source}.substr(0, 6), "hwloc:");
  PMIx_Topology_destruct(&one);
  CAF_CHECK(hwloc::export_topology(two.topology).has_value());
  PMIx_Topology_destruct(&two);
  auto other = pmix_topology_t{const_cast<char*>("other"), nullptr};
  CAF_CHECK_EQUAL(PMIx_Load_topology(&other), PMIX_ERR_NOT_SUPPORTED);
  CAF_CHECK_EQUAL(PMIx_Load_topology(nullptr), PMIX_ERR_BAD_PARAM);
}

CAF_TEST(C2.6 the processors of a process travel as text) {
  auto x = pmix_cpuset_t{};
  CAF_REQUIRE_EQUAL(PMIx_Get_cpuset(&x, PMIX_CPUBIND_THREAD), PMIX_SUCCESS);
  auto* text = static_cast<char*>(nullptr);
  CAF_REQUIRE_EQUAL(PMIx_server_generate_cpuset_string(&x, &text),
                    PMIX_SUCCESS);
  CAF_CHECK_EQUAL(std::string{text}.substr(0, 6), "hwloc:");
  auto y = pmix_cpuset_t{};
  CAF_REQUIRE_EQUAL(PMIx_server_generate_cpuset(text, &y), PMIX_SUCCESS);
  CAF_CHECK(hwloc::list_cpus(x.bitmap) == hwloc::list_cpus(y.bitmap));
  std::free(text);
  PMIx_Cpuset_destruct(&x);
  PMIx_Cpuset_destruct(&y);
  PMIx_Cpuset_destruct(&y);
}

CAF_TEST(C2.6 damaged sets of processors are refused in bounded memory) {
  auto x = pmix_cpuset_t{};
  CAF_CHECK_EQUAL(PMIx_Parse_cpuset_string("0-3", &x), PMIX_ERR_BAD_PARAM);
  for (const auto* text : {"hwloc:x", "hwloc:1-x", "hwloc:0-99999999999"})
    CAF_CHECK_EQUAL(PMIx_Parse_cpuset_string(text, &x), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Parse_cpuset_string("other:1", &x),
                  PMIX_ERR_NOT_SUPPORTED);
  CAF_CHECK_EQUAL(PMIx_Parse_cpuset_string(nullptr, &x), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Get_cpuset(&x, 9), PMIX_ERR_BAD_PARAM);
  CAF_CHECK(x.bitmap == nullptr);
}

CAF_TEST(C2.6 locality says what two processes share) {
  const auto topology = made_up{};
  const auto first = locality_of(topology, "hwloc:0");
  CAF_CHECK_EQUAL(first, "SK0:CR0:HT0:NM0");
  CAF_CHECK_EQUAL(locality_of(topology, "hwloc:0-5"), "SK0-1:CR0-2:HT0-5:NM0");
  CAF_CHECK_EQUAL(shared(first, locality_of(topology, "hwloc:1")),
                  PMIX_LOCALITY_SHARE_NODE | PMIX_LOCALITY_SHARE_NUMA
                    | PMIX_LOCALITY_SHARE_PACKAGE | PMIX_LOCALITY_SHARE_CORE);
  CAF_CHECK_EQUAL(shared(first, locality_of(topology, "hwloc:2")),
                  PMIX_LOCALITY_SHARE_NODE | PMIX_LOCALITY_SHARE_NUMA
                    | PMIX_LOCALITY_SHARE_PACKAGE);
  CAF_CHECK_EQUAL(shared("hwloc:" + first, locality_of(topology, "hwloc:7")),
                  PMIX_LOCALITY_SHARE_NODE | PMIX_LOCALITY_SHARE_NUMA);
  auto none = pmix_locality_t{};
  for (const auto* text : {"SK", "SKx", "SK0:Q", "other"})
    CAF_CHECK_EQUAL(PMIx_Get_relative_locality(text, first.c_str(), &none),
                    PMIX_ERR_BAD_PARAM);
}

CAF_TEST(C2.6 the own locality is the one of the machine) {
  auto x = pmix_cpuset_t{};
  auto* text = static_cast<char*>(nullptr);
  CAF_CHECK_EQUAL(PMIx_server_generate_locality_string(&x, &text),
                  PMIX_SUCCESS);
  CAF_CHECK(text == nullptr); // Not bound.
  CAF_REQUIRE_EQUAL(PMIx_Get_cpuset(&x, PMIX_CPUBIND_PROCESS), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_server_generate_locality_string(&x, &text),
                  PMIX_SUCCESS);
  CAF_REQUIRE(text != nullptr);
  CAF_CHECK(shared(text, text) & PMIX_LOCALITY_SHARE_HWTHREAD);
  std::free(text);
  PMIx_Cpuset_destruct(&x);
}

CAF_TEST(C2.6 a card on the own package is closer than one on the other) {
  auto topology = made_up{};
  const auto here = cpuset{"hwloc:0-3"};
  auto* found = static_cast<pmix_device_distance_t*>(nullptr);
  auto n = size_t{0};
  CAF_REQUIRE_EQUAL(PMIx_Compute_distances(&topology.x,
                                           const_cast<pmix_cpuset_t*>(&here.x),
                                           nullptr, 0, &found, &n),
                    PMIX_SUCCESS);
  CAF_REQUIRE_EQUAL(n, 2u);
  CAF_CHECK_EQUAL(std::string{found[0].osname}, "eth0");
  CAF_CHECK_EQUAL(std::string{found[0].uuid}, "ipv4://00:00:00:00:00:00");
  CAF_CHECK_EQUAL(found[0].type, uint64_t{PMIX_DEVTYPE_NETWORK});
  CAF_CHECK_LESS(found[0].maxdist, found[1].mindist);
  PMIx_Device_distance_free(found, n);
  auto wanted = pmix_info_t{};
  PMIx_Info_load(&wanted, PMIX_DEVICE_ID, "eth1", PMIX_STRING);
  CAF_CHECK_EQUAL(PMIx_Compute_distances(&topology.x,
                                         const_cast<pmix_cpuset_t*>(&here.x),
                                         &wanted, 1, &found, &n),
                  PMIX_SUCCESS);
  CAF_CHECK_EQUAL(n, 1u);
  PMIx_Device_distance_free(found, n);
  PMIx_Info_destruct(&wanted);
  const auto gpus = uint64_t{PMIX_DEVTYPE_GPU};
  PMIx_Info_load(&wanted, PMIX_DEVICE_TYPE, &gpus, PMIX_DEVTYPE);
  CAF_CHECK_EQUAL(PMIx_Compute_distances(&topology.x,
                                         const_cast<pmix_cpuset_t*>(&here.x),
                                         &wanted, 1, &found, &n),
                  PMIX_ERR_NOT_FOUND);
  CAF_CHECK(found == nullptr && n == 0);
}

CAF_TEST(C2.6 a topology travels as a value) {
  auto topology = made_up{};
  auto x = pmix_value_t{};
  CAF_REQUIRE_EQUAL(PMIx_Value_load(&x, &topology.x, PMIX_TOPO), PMIX_SUCCESS);
  CAF_CHECK(x.data.topo->topology != topology.x.topology);
  const auto y = to_value(x);
  CAF_REQUIRE(y);
  auto again = pmix_value_t{};
  CAF_REQUIRE_EQUAL(to_c(*y, again), PMIX_SUCCESS);
  CAF_CHECK(hwloc::export_topology(again.data.topo->topology)
            == hwloc::export_topology(topology.x.topology));
  PMIx_Value_destruct(&x);
  PMIx_Value_destruct(&again);
}
