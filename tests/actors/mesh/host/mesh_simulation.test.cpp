// NODE and PEER actors of 2 to 73 daemons over 1 to 3 networks, in an order and
// with faults drawn from a seed: they join, send messages of all classes to
// each other, lose lanes, networks and each other, pause, crash, come back.
// What their users are told has to be right at every step:
//   LINK-1  messages come once and in order per class and pair of incarnations,
//   LINK-3  all of them arrive where both ends stay members,
//   LINK-4  nothing of an incarnation that is no member,
//   MEM-1 to MEM-5, P-M1  see node_simulation.test.cpp.
//
// TROUPE_SEED=n replays one seed with all that is said; TROUPE_SEEDS=n runs so
// many.

#include "tests/fixtures/mesh_world.hpp"
#include "tests/fixtures/seed_options.hpp"
#include "tests/test.hpp"

#include <cstdlib>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

int64_t ms(world_time x) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(x).count();
}

/// Runs a seed once more and says what happened.
void explain(const mesh_world_options& options) {
  auto world = mesh_world{options};
  world.keeps_log = true;
  const auto violation = world.run();
  const auto is_alone = std::getenv("TROUPE_SEED") != nullptr;
  const auto most = size_t{60};
  const auto first =
    is_alone || world.log.size() < most ? 0 : world.log.size() - most;
  for (auto i = first; i < world.log.size(); ++i)
    CAF_MESSAGE(world.log[i]);
  if (!violation.empty())
    CAF_ERROR(violation << "; " << options.to_string()
                        << "; replay with TROUPE_SEED=" << options.seed);
}

void simulate(uint32_t first, uint32_t last) {
  if (const auto seed = seed_option("TROUPE_SEED", 0); seed > 0) {
    explain(mesh_world_options::of(seed));
    return;
  }
  if (const auto seeds = seed_option("TROUPE_SEEDS", 0); seeds > 0)
    last = first + seeds;
  auto sum = mesh_world::counters{};
  auto frames = uint64_t{0};
  auto swallowed = uint64_t{0};
  for (auto seed = first; seed < last; ++seed) {
    const auto options = mesh_world_options::of(seed);
    auto world = mesh_world{options};
    if (!world.run().empty()) {
      explain(options);
      return;
    }
    const auto& x = world.count();
    sum.jobs += x.jobs;
    sum.faults += x.faults;
    sum.sent += x.sent;
    sum.delivered += x.delivered;
    sum.verdicts += x.verdicts;
    sum.rejoins += x.rejoins;
    sum.fenced += x.fenced;
    sum.relayed += x.relayed;
    sum.agreement = std::max(sum.agreement, x.agreement);
    frames += world.medium().count.frames;
    swallowed += world.medium().count.swallowed;
  }
  CAF_MESSAGE(last - first << " seeds, " << sum.jobs << " messages of actors, "
                           << sum.faults << " faults, " << frames << " frames, "
                           << swallowed << " of them lost, " << sum.delivered
                           << " of " << sum.sent << " delivered, "
                           << sum.verdicts << " declared lost, " << sum.rejoins
                           << " rejoins, " << sum.fenced << " fenced, "
                           << sum.relayed
                           << " lanes through others; agreement within "
                           << ms(sum.agreement) << " ms");
  // The runs are about something.
  CAF_CHECK(sum.faults > last - first);
  CAF_CHECK(sum.delivered > 20 * (last - first));
  CAF_CHECK(swallowed > last - first);
}

} // namespace

CAF_TEST(LINK-1 LINK-3 LINK-4 MEM-1 MEM-2 MEM-3 O2 O4 O5 O11 members talk) {
  simulate(1, 300);
}

CAF_TEST(MEM-4 MEM-5 P-N1 P-M1 O12 O13 O14 O15 O16 members talk on) {
  simulate(300, 650);
}

CAF_TEST(L1 L3 L5 L7 X42 faults of others do not matter) {
  simulate(650, 1000);
}

CAF_TEST(a seed of the mesh replays exactly) {
  for (uint32_t seed = 0; seed < 100; seed += 20) {
    const auto options = mesh_world_options::of(seed);
    auto one = mesh_world{options};
    auto other = mesh_world{options};
    CAF_CHECK_EQUAL(one.run(), "");
    CAF_CHECK_EQUAL(other.run(), "");
    CAF_CHECK_EQUAL(one.trace(), other.trace());
    CAF_CHECK_EQUAL(one.count().jobs, other.count().jobs);
  }
}

CAF_TEST(LINK-1 LINK-3 LINK-4 MEM-2 MEM-4 every planted error of the mesh is found) {
  for (auto i = 1; i <= static_cast<int>(last_mesh_mutant); ++i) {
    auto violation = std::string{};
    auto seed = uint32_t{1};
    for (; seed < 300 && violation.empty(); ++seed)
      violation =
        mesh_world{mesh_world_options::of(seed), static_cast<mesh_mutant>(i)}
          .run();
    CAF_MESSAGE("mutant " << i << ": " << seed << " seeds, "
                          << violation.substr(0, 160));
    if (violation.empty())
      CAF_ERROR("mutant " << i << " survives");
  }
}
