// A session that is given more than its lane carries, and then is not.

#include "config/defaults.hpp"
#include "tests/fixtures/two_peers.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// A lane that carries some frames each step, and whoever sends so many
/// messages.
struct fixture : two_peers {
  static constexpr auto step = 10ms;
  static constexpr size_t frames_per_step = 16;
  static constexpr size_t size = size_t{1} << 10;

  size_t refused = 0;

  /// @returns how many messages have arrived meanwhile.
  size_t offer(size_t per_step, steady_duration time) {
    const auto before = sides[1].delivered.size();
    for (const auto end = now + time; now < end;) {
      for (size_t i = 0; i < per_step; ++i)
        refused += send(0, traffic_class::io, size) == status::success ? 0 : 1;
      pass(1, 1, frames_per_step);
      pass(1, 0, frames_per_step);
      elapse(step, false);
    }
    return sides[1].delivered.size() - before;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(peer_load_tests, fixture)

CAF_TEST(LOAD-1 ten seconds after an overload a session carries what it is given) {
  connect({1});
  const auto usual = offer(4, 10s);
  CAF_CHECK_EQUAL(refused, 0u);
  CAF_CHECK(usual >= 3'900u);
  // Ten times what the lane carries.
  offer(80, 30s);
  CAF_CHECK(refused > 0);
  offer(4, 10s);
  refused = 0;
  const auto later = offer(4, 10s);
  CAF_CHECK_EQUAL(refused, 0u);
  CAF_CHECK(later * 100 >= usual * 95);
  // And nothing came twice or out of turn.
  auto expected = uint64_t{0};
  for (const auto number : sides[1].numbers())
    CAF_REQUIRE_EQUAL(number, ++expected);
}

CAF_TEST(LOAD-2 what a session holds under load stays below its bound) {
  connect({1});
  auto most = size_t{0};
  for (auto i = 0; i < 300; ++i) {
    offer(80, step);
    most =
      std::max(most, sides[0].session->unacknowledged_bytes(traffic_class::io));
  }
  CAF_CHECK(most > 0);
  CAF_CHECK(most <= defaults::send_window);
}

CAF_TEST_FIXTURE_SCOPE_END()
