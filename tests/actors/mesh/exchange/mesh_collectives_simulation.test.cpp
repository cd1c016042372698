// Collective operations of 1 to 21 nodes in an order drawn from a seed: random
// participants, overlapping rounds, delays with long tails, repeats, jobs that
// a node has not heard of yet, nodes lost, processes that end, nodes that give
// up. After every step:
//   COLL-1  one completion per call, and none is left open at the end,
//   COLL-2  all nodes are told the same, reason included,
//   COLL-3  nobody succeeds before all participants have called,
//   COLL-4  nothing is kept open when all is quiet,
//   COLL-5  what comes twice, or from strangers, changes nothing.
//
// TROUPE_SEED=n replays one seed; TROUPE_SEEDS=n runs so many.

#include "tests/fixtures/collective_world.hpp"
#include "tests/fixtures/seed_options.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

CAF_TEST(COLL-1 COLL-2 COLL-3 COLL-4 COLL-5 G53 P-C1 P-C2 seeds agree on outcomes) {
  const auto first = seed_option("TROUPE_SEED", 0);
  const auto count = first > 0 ? 1 : seed_option("TROUPE_SEEDS", 5000);
  auto sum = collective_world::counters{};
  for (auto seed = first; seed < first + count; ++seed) {
    const auto options = collective_world_options::of(seed);
    auto world = collective_world{options};
    const auto violation = world.run();
    if (!violation.empty())
      CAF_FAIL(violation << "; " << options.to_string()
                         << "; replay with TROUPE_SEED=" << seed);
    const auto& x = world.count();
    sum.messages += x.messages;
    sum.successes += x.successes;
    sum.failures += x.failures;
    sum.faults += x.faults;
    if (seed % 100 == 0) {
      auto again = collective_world{options};
      again.run();
      CAF_REQUIRE_EQUAL(again.trace(), world.trace());
    }
  }
  CAF_MESSAGE(count << " seeds, " << sum.messages << " messages, " << sum.faults
                    << " faults, " << sum.successes << " successes, "
                    << sum.failures << " failures");
  if (count >= 1000) {
    // The runs are about something.
    CAF_CHECK(sum.faults > count);
    CAF_CHECK(sum.successes > 10 * count);
    CAF_CHECK(sum.failures > 2 * count);
  }
}

CAF_TEST(COLL-1 COLL-2 COLL-3 G53 every planted error is found) {
  const auto most = seed_option("TROUPE_SEEDS", 2000);
  for (auto i = 1; i <= static_cast<int>(last_collective_mutant); ++i) {
    auto seed = uint32_t{0};
    auto violation = std::string{};
    for (; seed < most && violation.empty(); ++seed)
      violation = collective_world{collective_world_options::of(seed),
                                   static_cast<collective_mutant>(i)}
                    .run();
    CAF_MESSAGE("mutant " << i << ": " << seed << " seeds, " << violation);
    if (violation.empty())
      CAF_ERROR("mutant " << i << " survives " << most << " seeds");
  }
}
