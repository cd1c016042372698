#include "adapters/process/usage.hpp"

#include "tests/adapters/process/world.hpp"

#include <cstring>

using namespace troupe;

CAF_TEST_FIXTURE_SCOPE(usage_tests, fixtures::world)

CAF_TEST(the memory of processes is sampled in the order asked for) {
  const auto uut = sys.actors().spawn(usage, &sys.pool());
  const auto pid = run(shell(proc(0), "sleep 60")).pid;
  const auto own = static_cast<uint32_t>(getpid());
  const auto result =
    ask<memory_samples>(uut, sample_memory{{0, pid, 0x7ffffffe, own}});
  CAF_REQUIRE(result.value);
  const auto& bytes = result.value->bytes;
  CAF_REQUIRE_EQUAL(bytes.size(), 4u);
  CAF_CHECK(bytes[0] > (1 << 20));
  CAF_CHECK(bytes[1] > 0 && bytes[1] < bytes[0]);
  CAF_CHECK_EQUAL(bytes[2], 0u); // There is none.
  CAF_CHECK(bytes[3] > bytes[0] / 2 && bytes[3] < bytes[0] * 2);
}

CAF_TEST(memory that is used shows) {
  constexpr size_t size = 32 << 20;
  const auto before = memory_of(0);
  const auto block = std::make_unique<char[]>(size);
  std::memset(block.get(), 1, size);
  CAF_CHECK(memory_of(0) >= before + size / 2);
}

CAF_TEST_FIXTURE_SCOPE_END()
