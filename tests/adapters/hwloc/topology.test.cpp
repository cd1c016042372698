#include "adapters/hwloc/topology.hpp"

#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "tests/adapters/process/world.hpp"

#include <sched.h>

#include <set>

using namespace troupe;

namespace {

std::vector<uint32_t> numbers_of(const node_topology& x) {
  std::vector<uint32_t> result;
  for (const auto& unit : x.units)
    result.push_back(unit.os_index);
  std::sort(result.begin(), result.end());
  return result;
}

} // namespace

CAF_TEST(the allowed processors are those of the kernel) {
  cpu_set_t before;
  CAF_REQUIRE_EQUAL(sched_getaffinity(0, sizeof(before), &before), 0);
  const auto all = allowed_processors();
  CAF_CHECK_EQUAL(all.size(), static_cast<size_t>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(all.back(), &one);
  CAF_REQUIRE_EQUAL(sched_setaffinity(0, sizeof(one), &one), 0);
  CAF_CHECK(allowed_processors() == std::vector{all.back()});
  sched_setaffinity(0, sizeof(before), &before);
}

CAF_TEST(each allowed processor appears once with its containers) {
  const auto allowed = allowed_processors();
  const auto x = read_topology(allowed);
  CAF_REQUIRE(x);
  CAF_CHECK(numbers_of(*x) == allowed);
  for (const auto& unit : x->units) {
    CAF_CHECK(unit.core != UINT32_MAX);
    CAF_CHECK(unit.numa != UINT32_MAX);
  }
  CAF_MESSAGE(x->signature);
  CAF_CHECK(x->signature.find("C:") != std::string::npos);
  const auto again = read_topology(allowed);
  CAF_CHECK(again == x);
}

CAF_TEST(processors that are not allowed do not appear) {
  const auto allowed = allowed_processors();
  const auto x = read_topology({allowed.front()});
  CAF_REQUIRE(x);
  CAF_CHECK(numbers_of(*x) == std::vector{allowed.front()});
  CAF_CHECK(!read_topology({60000}));
}

CAF_TEST_FIXTURE_SCOPE(topology_tests, fixtures::world)

CAF_TEST(the topology is discovered once and all who ask are answered) {
  const auto uut = sys.actors().spawn(topology, &sys.pool());
  const auto first = request<node_topology>(uut, discover_topology{});
  const auto second = request<node_topology>(uut, discover_topology{});
  CAF_REQUIRE(run_until([&] { return first->value && second->value; }));
  CAF_CHECK(*first->value == *second->value);
  CAF_CHECK(first->value == read_topology(allowed_processors()));
  CAF_CHECK(getenv("HWLOC_PLUGINS_PATH") == nullptr); // For our children.
  const auto begin = clock::now();
  const auto third = ask<node_topology>(uut, discover_topology{});
  CAF_CHECK(clock::now() - begin < std::chrono::milliseconds{100});
  CAF_CHECK(third.value == first->value);
}

CAF_TEST_FIXTURE_SCOPE_END()
