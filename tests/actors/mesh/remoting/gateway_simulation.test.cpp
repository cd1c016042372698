#include "tests/fixtures/remoting_sim.hpp"
#include "tests/fixtures/seed_options.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

CAF_TEST(ACT-1 ACT-3 ACT-4 ACT-11 ACT-13 actors of three nodes in any order) {
  size_t asked = 0;
  const auto runs = run_seeds<remoting_sim, remoting_sim_options>(
    1000, [&](const auto& world, const auto&) { asked += world.asked(); });
  CAF_MESSAGE(runs << " runs, " << asked << " requests");
  CAF_CHECK(runs == 1 || asked > 15 * runs);
}

CAF_TEST(ACT-1 ACT-3 ACT-4 ACT-11 every planted error is found) {
  find_mutants<remoting_sim, remoting_sim_options>(
    remoting_error::tells_no_loss, 1000);
}
