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
  const auto first = seed_option("TROUPE_SEED", 0);
  const auto count = first > 0 ? 1 : seed_option("TROUPE_SEEDS", 4000);
  auto sum = stream_world::counters{};
  for (auto seed = first; seed < first + count; ++seed) {
    const auto options = stream_world_options::of(seed);
    auto world = stream_world{options};
    const auto violation = world.run();
    if (!violation.empty())
      CAF_FAIL(violation << "; " << options.to_string()
                         << "; replay with TROUPE_SEED=" << seed);
    const auto& x = world.count();
    sum.fragments += x.fragments;
    sum.gaps += x.gaps;
    sum.filled += x.filled;
    sum.resumed += x.resumed;
    sum.ends += x.ends;
    sum.bytes += x.bytes;
  }
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
  const auto most = seed_option("TROUPE_SEEDS", 4000);
  for (auto i = 1; i <= static_cast<int>(last_stream_mutant); ++i) {
    auto seed = uint32_t{0};
    auto violation = std::string{};
    for (; seed < most && violation.empty(); ++seed)
      violation = stream_world{stream_world_options::of(seed),
                               static_cast<stream_mutant>(i)}
                    .run();
    CAF_MESSAGE("mutant " << i << ": " << seed << " seeds, " << violation);
    if (violation.empty())
      CAF_ERROR("mutant " << i << " survives " << most << " seeds");
  }
}
