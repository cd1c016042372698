#include "adapters/process/usage.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "tests/adapters/process/world.hpp"

#include <cstring>
#include <ctime>

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

CAF_TEST(M27 a process is sampled as the kernel sees it) {
  const auto uut = sys.actors().spawn(usage, &sys.pool());
  constexpr size_t size = 32 << 20;
  const auto block = std::make_unique<char[]>(size);
  std::memset(block.get(), 1, size);
  auto what = sample_usage{};
  const auto own = static_cast<uint32_t>(getpid());
  const auto other = run(shell(proc(0), "sleep 60")).pid;
  what.pids = {own, 0x7ffffffe, other};
  what.pss = true;
  what.node = true;
  const auto before = std::clock();
  const auto result = ask<usage_samples>(uut, what);
  const auto after = std::clock();
  CAF_REQUIRE(result.value);
  const auto& x = *result.value;
  CAF_REQUIRE_EQUAL(x.procs.size(), 2u); // One is not there.
  CAF_CHECK_EQUAL(x.procs[0].pid, own);
  CAF_CHECK_EQUAL(x.procs[1].pid, other);
  CAF_CHECK(x.procs[1].cmd && !x.procs[1].cmd->empty());
  constexpr auto million = 1e6;
  const auto cpu =
    static_cast<double>(x.procs[0].time.seconds)
    + static_cast<double>(x.procs[0].time.microseconds) / million;
  // The kernel counts in ticks of 10 ms, two kinds of time.
  constexpr auto ticks = 0.03;
  CAF_CHECK(cpu >= static_cast<double>(before) / CLOCKS_PER_SEC - ticks);
  CAF_CHECK(cpu <= static_cast<double>(after) / CLOCKS_PER_SEC + ticks);
  CAF_CHECK(x.procs[0].rss >= 32);
  CAF_CHECK(x.procs[0].pss >= 32 && x.procs[0].pss <= x.procs[0].rss);
  CAF_CHECK(x.procs[0].vsize >= x.procs[0].rss);
  CAF_CHECK(x.procs[0].peak_vsize >= x.procs[0].vsize);
  CAF_CHECK(x.procs[0].num_threads >= 2); // The pool samples.
  CAF_REQUIRE(x.node);
  CAF_CHECK(x.node->total_memory > x.node->free_memory);
  CAF_CHECK(x.taken > 1600000000);
  CAF_CHECK(x.disks.empty() && x.nets.empty());
}

CAF_TEST(M27 devices of the node are sampled when they are asked for) {
  const auto uut = sys.actors().spawn(usage, &sys.pool());
  auto what = sample_usage{};
  what.nets = true;
  what.net_names = {"lo"};
  what.disks = true;
  what.disk_names = {"no such disk"};
  const auto result = ask<usage_samples>(uut, what);
  CAF_REQUIRE(result.value);
  CAF_REQUIRE_EQUAL(result.value->nets.size(), 1u);
  CAF_CHECK(result.value->nets[0].interface_name == "lo");
  CAF_CHECK(result.value->disks.empty());
  CAF_CHECK(!result.value->node);
}

CAF_TEST_FIXTURE_SCOPE_END()
