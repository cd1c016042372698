// Memberships of 1 to 80 nodes in an order drawn from a seed: daemons join,
// crash alone and with all below them, come back, pause, lose single paths and
// whole sides of the network, and meet others of their name. After every step:
//   MEM-1  epochs grow, and each has one list, the same for all,
//   MEM-2  no two incarnations of a node run processes; who is called fenced
//          runs none,
//   MEM-3  an incarnation once dead stays dead,
//   MEM-4  nobody is declared lost because somebody else was late,
//   MEM-5  when all is quiet everybody has the same epoch in bounded time,
// and each loss is reported once to each member, before the tree changes.
//
// TROUPE_SEED=n replays one seed; TROUPE_SEEDS=n runs so many.

#include "tests/fixtures/node_world.hpp"
#include "tests/fixtures/seed_options.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using namespace std::chrono_literals;

int64_t ms(node_time x) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(x).count();
}

} // namespace

CAF_TEST(MEM-1 MEM-2 MEM-3 MEM-4 MEM-5 P-M1 L5 X42 seeds keep the membership) {
  const auto first = seed_option("TROUPE_SEED", 0);
  const auto count = first > 0 ? 1 : seed_option("TROUPE_SEEDS", 1000);
  auto sum = node_world::counters{};
  for (auto seed = first; seed < first + count; ++seed) {
    const auto options = node_world_options::of(seed);
    auto world = node_world{options};
    const auto violation = world.run();
    if (!violation.empty())
      CAF_FAIL(violation << "; " << options.to_string()
                         << "; replay with TROUPE_SEED=" << seed);
    const auto& x = world.count();
    sum.steps += x.steps;
    sum.faults += x.faults;
    sum.verdicts += x.verdicts;
    sum.false_deaths += x.false_deaths;
    sum.rejoins += x.rejoins;
    sum.epochs += x.epochs;
    sum.fenced += x.fenced;
    if (!options.ends_root)
      sum.agreement = std::max(sum.agreement, x.agreement);
    if (options.is_gentle || !options.has_partitions)
      sum.detection = std::max(sum.detection, x.detection);
    // One in a hundred runs twice and does the same.
    if (seed % 100 == 0) {
      auto again = node_world{options};
      again.run();
      CAF_REQUIRE_EQUAL(again.trace(), world.trace());
    }
  }
  CAF_MESSAGE(count << " seeds, " << sum.steps << " steps, " << sum.faults
                    << " faults, " << sum.epochs << " epochs, " << sum.verdicts
                    << " declared lost, " << sum.rejoins << " rejoins, "
                    << sum.fenced << " fenced; agreement within "
                    << ms(sum.agreement) << " ms, crashes known within "
                    << ms(sum.detection) << " ms");
  if (count >= 1000) {
    // The runs are about something.
    CAF_CHECK(sum.faults > 4 * count);
    CAF_CHECK(sum.verdicts > count);
    CAF_CHECK(sum.rejoins > count / 4);
    CAF_CHECK(sum.fenced > count / 10);
  }
}

CAF_TEST(MEM-1 MEM-2 MEM-3 MEM-4 MEM-5 every planted error is found) {
  const auto most = seed_option("TROUPE_SEEDS", 1000);
  for (auto i = 1; i <= static_cast<int>(last_node_mutant); ++i) {
    auto seed = uint32_t{0};
    auto violation = std::string{};
    for (; seed < most && violation.empty(); ++seed)
      violation =
        node_world{node_world_options::of(seed), static_cast<node_mutant>(i)}
          .run();
    CAF_MESSAGE("mutant " << i << ": " << seed << " seeds, " << violation);
    if (violation.empty())
      CAF_ERROR("mutant " << i << " survives " << most << " seeds");
  }
}

CAF_TEST(L8 MEM-5 one death is known to all in six seconds) {
  auto slowest = node_time{0};
  auto agreed = node_time{0};
  for (const auto radix : {2u, 8u})
    for (const auto size :
         {radix, radix + 1, radix * radix + radix, radix * radix + radix + 1})
      for (auto victim = 1u; victim < size; victim += 1 + size / 8) {
        auto options = node_world_options{};
        options.seed = size * 100 + victim + 1;
        options.size = size;
        options.radix = radix;
        options.duration = 4s;
        options.last_crash = victim;
        auto world = node_world{options};
        CAF_CHECK_EQUAL(world.run(), "");
        CAF_CHECK_EQUAL(world.count().verdicts, 1u);
        CAF_CHECK_EQUAL(world.count().false_deaths, 0u);
        slowest = std::max(slowest, world.count().detection);
        agreed = std::max(agreed, world.count().agreement);
      }
  CAF_MESSAGE("declared lost within " << ms(slowest) << " ms, known to all in "
                                      << ms(agreed) << " ms");
  CAF_CHECK(slowest <= 6s);
  CAF_CHECK(agreed <= 6s + 500ms);
}
