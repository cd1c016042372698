// A stream and its sinks in an order drawn from a seed, beside a model: writes
// of all sizes, sinks of all policies that answer at any time, leave, and come
// back at any offset; tails that are cut; copies whose bytes come twice or
// never, with another node that has more. After every step:
//   IO-1  what a sink gets is contiguous or says how much it missed,
//   IO-2  no more is held than the tail and the windows allow, and the writer
//         is answered exactly when all sinks that block have it,
//   IO-3  the end comes after the last byte, once,
//   IO-5  a new sink gets what is kept, then what comes.
//
// TROUPE_SEED=n replays one seed; TROUPE_SEEDS=n runs so many.

#include "tests/fixtures/seed_options.hpp"
#include "tests/fixtures/stream_world.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

CAF_TEST(IO-1 IO-2 IO-3 IO-5 I4 I8 I18 seeds agree with the model) {
  auto sum = stream_world::counters{};
  const auto note = [&](const stream_world& world,
                        const stream_world_options&) {
    const auto& x = world.count();
    sum.fragments += x.fragments;
    sum.gaps += x.gaps;
    sum.filled += x.filled;
    sum.resumed += x.resumed;
    sum.ends += x.ends;
    sum.bytes += x.bytes;
  };
  const auto count = run_seeds<stream_world, stream_world_options>(4000, note);
  CAF_MESSAGE(count << " seeds, " << sum.bytes << " bytes, " << sum.fragments
                    << " fragments, " << sum.gaps << " gaps, " << sum.filled
                    << " filled, " << sum.resumed << " sinks resumed, "
                    << sum.ends << " ends");
  if (count >= 1000) {
    // The runs are about something.
    CAF_CHECK(sum.fragments > 20 * count);
    CAF_CHECK(sum.gaps > count);
    CAF_CHECK(sum.filled > count / 4);
    CAF_CHECK(sum.resumed > count / 2);
    CAF_CHECK(sum.ends > count);
  }
}

CAF_TEST(IO-1 IO-2 IO-3 IO-5 every planted error is found) {
  find_mutants<stream_world, stream_world_options>(last_stream_mutant, 4000);
}
