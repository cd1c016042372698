// Events of processes on 1 to 64 nodes for one to three jobs, in an order drawn
// from a seed: bursts and floods, slow servers, delays with long tails, nodes
// lost at every step, homes first of all, with what they had sent half arrived;
// some of the lost run on for a while. After every step:
//   SEQ-1 P-J3  the logs of live nodes are prefixes of one another,
//   SEQ-2       a place is never given to two events,
//   SEQ-3 P-J4  what is answered is in the log of every live node,
//   SEQ-4       all events of live origins are answered,
//   SEQ-5       the events of a source stay in their order,
//   P-J2        no node has an event twice.
//
// TROUPE_SEED=n replays one seed; TROUPE_SEEDS=n runs so many.

#include "tests/fixtures/order_world.hpp"
#include "tests/fixtures/seed_options.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

CAF_TEST(SEQ-1 SEQ-2 SEQ-3 SEQ-4 SEQ-5 P-J2 P-J3 P-J4 seeds keep one order) {
  const auto first = seed_option("TROUPE_SEED", 0);
  const auto count = first > 0 ? 1 : seed_option("TROUPE_SEEDS", 2000);
  auto sum = order_world::counters{};
  for (auto seed = first; seed < first + count; ++seed) {
    const auto options = order_world_options::of(seed);
    auto world = order_world{options};
    const auto violation = world.run();
    if (!violation.empty())
      CAF_FAIL(violation << "; " << options.to_string()
                         << "; replay with TROUPE_SEED=" << seed);
    const auto& x = world.count();
    sum.messages += x.messages;
    sum.accepted += x.accepted;
    sum.faults += x.faults;
    sum.lost_homes += x.lost_homes;
    sum.resent += x.resent;
    sum.merged += x.merged;
    sum.risen += x.risen;
    sum.passed += x.passed;
    if (seed % 100 == 0) {
      auto again = order_world{options};
      again.run();
      CAF_REQUIRE_EQUAL(again.trace(), world.trace());
    }
  }
  CAF_MESSAGE(count << " seeds, " << sum.messages << " messages, " << sum.faults
                    << " nodes lost, " << sum.lost_homes << " homes aimed at, "
                    << sum.resent << " events submitted again, " << sum.merged
                    << " calls merged, " << sum.risen << " went up the tree, "
                    << sum.passed << " of several nodes, " << sum.accepted
                    << " accepted");
  if (count >= 1000) {
    // The runs are about something.
    CAF_CHECK(sum.faults > count / 2);
    CAF_CHECK(sum.lost_homes > count / 2);
    CAF_CHECK(sum.resent > count);
    CAF_CHECK(sum.merged > count / 2);
    CAF_CHECK(sum.risen > count);
    CAF_CHECK(sum.passed > count / 8);
    CAF_CHECK(sum.accepted > 20 * count);
  }
}

CAF_TEST(SEQ-1 SEQ-3 SEQ-5 P-J2 every planted error is found) {
  const auto most = seed_option("TROUPE_SEEDS", 2000);
  for (auto i = 1; i <= static_cast<int>(last_order_mutant); ++i) {
    auto seed = uint32_t{0};
    auto violation = std::string{};
    for (; seed < most && violation.empty(); ++seed)
      violation =
        order_world{order_world_options::of(seed), static_cast<order_mutant>(i)}
          .run();
    CAF_MESSAGE("mutant " << i << ": " << seed << " seeds, " << violation);
    if (violation.empty())
      CAF_ERROR("mutant " << i << " survives " << most << " seeds");
  }
}
