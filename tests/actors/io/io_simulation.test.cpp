// Processes on three nodes that write, with the real desks and channels, in an
// order drawn from a seed: sinks of all kinds and patterns on any node, slow
// ones, those that refuse, die, leave, and come back where they were; what a
// node wants changes with them while fragments are on their way; a node is
// lost; jobs end before all have everything. At any time:
//   IO-1  what a sink gets is contiguous or says how much it missed, byte by
//         byte; whoever blocks from the beginning misses nothing,
//   IO-3  the end comes after the last byte, once,
//   I4    a byte crosses to a node once, and only if it wants it,
//   IO-5  a sink begins where it asked, with all of that that is kept,
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
  auto sum = io_world::counters{};
  const auto note = [&](const io_world& world, const io_world_options&) {
    sum += world.count();
  };
  const auto count = run_seeds<io_world, io_world_options>(2500, note);
  CAF_MESSAGE(count << " seeds, " << sum.fragments << " fragments, "
                    << sum.crossings << " crossings, " << sum.gaps << " gaps, "
                    << sum.resumed << " resumed, " << sum.restarts
                    << " restarts, " << sum.dropped << " sinks dropped, "
                    << sum.fetches << " fetches, " << sum.lost
                    << " nodes lost, " << sum.ends << " ends");
  if (count >= 200) {
    // The runs are about something.
    CAF_CHECK(sum.fragments > 50 * count);
    CAF_CHECK(sum.crossings > 10 * count);
    CAF_CHECK(sum.gaps > count);
    CAF_CHECK(sum.resumed > count / 2);
    CAF_CHECK(sum.restarts > count / 20);
    CAF_CHECK(sum.dropped > count / 2);
    CAF_CHECK(sum.fetches > count / 8);
    CAF_CHECK(sum.lost > count / 20);
    CAF_CHECK(sum.ends > 5 * count);
  }
}

CAF_TEST(I4 I18 IO-1 IO-3 IO-4 every planted error is found) {
  find_mutants<io_world, io_world_options>(last_io_mutant, 400);
}
