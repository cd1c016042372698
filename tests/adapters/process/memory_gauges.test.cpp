// What a daemon says of its memory.

#include "adapters/process/daemon_memory.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/test.hpp"

#include <string>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture : deterministic {
  caf::actor uut = sys.spawn(memory_gauges);

  uint64_t value(const std::string& name) {
    for (const auto& x : request<gauge_list>(uut, get_gauges{}).gauges)
      if (x.name == name)
        return x.value;
    return 0;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(memory_gauges_tests, fixture)

CAF_TEST(MND-A1 what is in use is told and what is free) {
  constexpr auto block = size_t{1} << 10;
  constexpr auto count = size_t{20} << 10;
  const auto before = value("daemon.heap");
  auto blocks = std::vector<std::vector<char>>(count);
  for (auto& x : blocks)
    x.assign(block, 'x');
  const auto during = value("daemon.heap");
  CAF_CHECK(during >= before + block * count);
  CAF_CHECK(value("daemon.resident") >= block * count);
  // Every other one stays, so that the others cannot be given back.
  for (size_t i = 0; i < count; i += 2)
    std::vector<char>{}.swap(blocks[i]);
  CAF_CHECK(value("daemon.heap") <= during - block * count / 2);
  CAF_CHECK(value("daemon.heap_free") >= block * count / 2);
}

CAF_TEST_FIXTURE_SCOPE_END()
