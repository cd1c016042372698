// Which processors ranks get, on made-up nodes.

#include "actors/jobs/placement.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

using kind = resource_kind;

/// A node whose operating system numbers the first threads of all cores, then
/// the second ones, as Linux on x86 does.
node_topology make_node(uint32_t packages, uint32_t numas, uint32_t cores,
                        uint32_t threads) {
  node_topology result;
  const auto all_cores = packages * numas * cores;
  for (uint32_t core = 0; core < all_cores; ++core)
    for (uint32_t thread = 0; thread < threads; ++thread) {
      processing_unit x;
      x.os_index = core + all_cores * thread;
      x.hwthread = core * threads + thread;
      x.core = x.l1 = x.l2 = core;
      x.numa = core / cores;
      x.package = x.l3 = core / cores / numas;
      result.units.push_back(x);
    }
  return result;
}

/// Two packages of two cores with two threads each.
const auto smt = make_node(2, 1, 2, 2);

/// Two packages of two numa nodes of two cores each.
const auto numa = make_node(2, 2, 2, 1);

/// The processors of each rank as ranges, ranks separated by a blank.
std::string placed(uint32_t num_procs, kind map_by, kind bind_to,
                   const node_topology& node) {
  job_options options;
  options.map_by = map_by;
  options.bind_to = bind_to;
  std::string result;
  for (const auto& cpus : place(num_procs, options, node))
    result +=
      (result.empty() ? "" : " ") + (cpus.empty() ? "free" : to_ranges(cpus));
  return result;
}

} // namespace

CAF_TEST(F5.4 nobody is bound unless asked) {
  CAF_CHECK_EQUAL(placed(3, kind::slot, kind::none, smt), "free free free");
  CAF_CHECK_EQUAL(placed(2, kind::package, kind::none, smt), "free free");
  CAF_CHECK_EQUAL(placed(2, kind::core, kind::core, {}), "free free");
  CAF_CHECK_EQUAL(placed(0, kind::core, kind::core, smt), "");
}

CAF_TEST(F5.3 F5.4 cores are dealt one after the other) {
  CAF_CHECK_EQUAL(placed(4, kind::core, kind::core, smt), "0,4 1,5 2,6 3,7");
  CAF_CHECK_EQUAL(placed(4, kind::slot, kind::core, smt), "0,4 1,5 2,6 3,7");
  CAF_CHECK_EQUAL(placed(4, kind::slot, kind::slot, smt), "0,4 1,5 2,6 3,7");
  CAF_CHECK_EQUAL(placed(3, kind::core, kind::core, numa), "0 1 2");
}

CAF_TEST(F5.3 F5.4 more ranks than cores begin again) {
  CAF_CHECK_EQUAL(placed(6, kind::core, kind::core, smt),
                  "0,4 1,5 2,6 3,7 0,4 1,5");
}

CAF_TEST(F5.3 F5.4 threads are dealt in their logical order) {
  CAF_CHECK_EQUAL(placed(4, kind::hwthread, kind::hwthread, smt), "0 4 1 5");
  CAF_CHECK_EQUAL(placed(2, kind::hwthread, kind::core, smt), "0,4 0,4");
}

CAF_TEST(F5.3 F5.4 ranks mapped by core take its second thread second) {
  CAF_CHECK_EQUAL(placed(9, kind::core, kind::hwthread, smt),
                  "0 1 2 3 4 5 6 7 0");
}

CAF_TEST(F5.3 F5.4 packages are dealt in turn) {
  CAF_CHECK_EQUAL(placed(3, kind::package, kind::package, smt),
                  "0-1,4-5 2-3,6-7 0-1,4-5");
}

CAF_TEST(F5.3 F5.4 ranks of one package get cores of their own) {
  CAF_CHECK_EQUAL(placed(5, kind::package, kind::core, smt),
                  "0,4 2,6 1,5 3,7 0,4");
  CAF_CHECK_EQUAL(placed(4, kind::package, kind::hwthread, smt), "0 2 4 6");
}

CAF_TEST(F5.3 F5.4 numa nodes are dealt in turn) {
  CAF_CHECK_EQUAL(placed(5, kind::numa, kind::numa, numa),
                  "0-1 2-3 4-5 6-7 0-1");
  CAF_CHECK_EQUAL(placed(4, kind::package, kind::numa, numa),
                  "0-1 4-5 2-3 6-7");
  CAF_CHECK_EQUAL(placed(5, kind::numa, kind::core, numa), "0 2 4 6 1");
}

CAF_TEST(F5.4 binding to more than was mapped by takes all of it) {
  CAF_CHECK_EQUAL(placed(4, kind::core, kind::package, smt),
                  "0-1,4-5 0-1,4-5 2-3,6-7 2-3,6-7");
  CAF_CHECK_EQUAL(placed(2, kind::core, kind::l3, numa), "0-3 0-3");
}

CAF_TEST(F5.3 F5.4 a level that the node does not have is the node) {
  auto node = numa;
  for (auto& x : node.units)
    x.l3 = UINT32_MAX;
  CAF_CHECK_EQUAL(placed(2, kind::l3, kind::l3, node), "0-7 0-7");
  CAF_CHECK_EQUAL(placed(2, kind::l3, kind::core, node), "0 1");
}

CAF_TEST(F5.3 a daemon that may use a part of the node uses that part) {
  auto node = numa;
  node.units.erase(node.units.begin(), node.units.begin() + 3);
  CAF_CHECK_EQUAL(placed(6, kind::core, kind::core, node), "3 4 5 6 7 3");
  CAF_CHECK_EQUAL(placed(3, kind::numa, kind::numa, node), "3 4-5 6-7");
}

CAF_TEST(F4.14 a locality names every level) {
  CAF_CHECK_EQUAL(locality_string({0}, smt), "SK0:L30:L20:L10:CR0:HT0:NM0");
  CAF_CHECK_EQUAL(locality_string({0, 4}, smt),
                  "SK0:L30:L20:L10:CR0:HT0-1:NM0");
  CAF_CHECK_EQUAL(locality_string({2, 3, 6, 7}, smt),
                  "SK1:L31:L22-3:L12-3:CR2-3:HT4-7:NM1");
  CAF_CHECK_EQUAL(locality_string({5}, numa), "SK1:L31:L25:L15:CR5:HT5:NM2");
}

CAF_TEST(F4.14 a locality leaves out levels that do not exist) {
  auto node = numa;
  for (auto& x : node.units)
    x.l3 = x.l1 = UINT32_MAX;
  CAF_CHECK_EQUAL(locality_string({1}, node), "SK0:L21:CR1:HT1:NM0");
  CAF_CHECK_EQUAL(locality_string({99}, node), "");
}

CAF_TEST(numbers become ranges) {
  CAF_CHECK_EQUAL(to_ranges({}), "");
  CAF_CHECK_EQUAL(to_ranges({7}), "7");
  CAF_CHECK_EQUAL(to_ranges({0, 1, 2, 3}), "0-3");
  CAF_CHECK_EQUAL(to_ranges({8, 3, 2, 0, 1, 3}), "0-3,8");
  CAF_CHECK_EQUAL(to_ranges({0, 2, 4}), "0,2,4");
  CAF_CHECK_EQUAL(to_ranges({4294967294, 4294967295}), "4294967294-4294967295");
}
