// Processes on three nodes that write, with the real desks and channels, in an
// order drawn from a seed: sinks of all kinds and patterns on any node, slow
// ones, those that refuse, die, leave, and come back where they were; a node is
// lost. At any time:
//   IO-1  what a sink gets is contiguous or says how much it missed, byte by
//         byte; whoever blocks from the beginning misses nothing,
//   IO-3  the end comes after the last byte, once,
//   I4    a byte crosses to a node once,
//   I13   nobody gets what he did not ask for,
//   I18   a process goes on when all have it that block.
// When all is quiet:
//   I8    no process waits for a sink that has gone,
//   IO-4  all have got everything there was, and its end,
//   IO-5  whoever comes late gets what is kept,
//   I17   nothing is left of a job that is over.
//
// TROUPE_SEED=n replays one seed; TROUPE_SEEDS=n runs so many.

#include "tests/fixtures/io_world.hpp"
#include "tests/fixtures/seed_options.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

CAF_TEST(I1 I2 I4 I8 I13 I17 I18 IO-1 IO-3 IO-4 IO-5 seeds keep streams whole) {
  const auto first = seed_option("TROUPE_SEED", 0);
  const auto count = first > 0 ? 1 : seed_option("TROUPE_SEEDS", 400);
  auto sum = io_world::counters{};
  for (auto seed = first; seed < first + count; ++seed) {
    const auto options = io_world_options::of(seed);
    auto world = io_world{options};
    const auto violation = world.run();
    if (!violation.empty())
      CAF_FAIL(violation << "; " << options.to_string()
                         << "; replay with TROUPE_SEED=" << seed);
    const auto& x = world.count();
    sum.fragments += x.fragments;
    sum.crossings += x.crossings;
    sum.gaps += x.gaps;
    sum.resumed += x.resumed;
    sum.dropped += x.dropped;
    sum.lost += x.lost;
    sum.fetches += x.fetches;
    sum.ends += x.ends;
  }
  CAF_MESSAGE(count << " seeds, " << sum.fragments << " fragments, "
                    << sum.crossings << " crossings, " << sum.gaps << " gaps, "
                    << sum.resumed << " resumed, " << sum.dropped
                    << " sinks dropped, " << sum.fetches << " fetches, "
                    << sum.lost << " nodes lost, " << sum.ends << " ends");
  if (count >= 200) {
    // The runs are about something.
    CAF_CHECK(sum.fragments > 50 * count);
    CAF_CHECK(sum.crossings > 10 * count);
    CAF_CHECK(sum.gaps > count);
    CAF_CHECK(sum.resumed > count / 2);
    CAF_CHECK(sum.dropped > count / 2);
    CAF_CHECK(sum.fetches > count / 8);
    CAF_CHECK(sum.lost > count / 20);
    CAF_CHECK(sum.ends > 5 * count);
  }
}

CAF_TEST(I4 I18 IO-1 IO-3 IO-4 every planted error is found) {
  const auto most = seed_option("TROUPE_SEEDS", 400);
  for (auto i = 1; i <= static_cast<int>(last_io_mutant); ++i) {
    auto seed = uint32_t{0};
    auto violation = std::string{};
    for (; seed < most && violation.empty(); ++seed)
      violation =
        io_world{io_world_options::of(seed), static_cast<io_mutant>(i)}.run();
    CAF_MESSAGE("mutant " << i << ": " << seed << " seeds, " << violation);
    if (violation.empty())
      CAF_ERROR("mutant " << i << " survives " << most << " seeds");
  }
}
