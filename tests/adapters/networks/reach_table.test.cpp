#include "adapters/networks/reach_table.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/timer.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// A path that can be dialled while it has no lane, to a node that may be there.
struct fixture {
  loop_system sys;
  std::vector<own_network> own = {
    {"eth0", 1, false, {"10.0.0.1"}, {"10.0.0.1"}}};
  bool is_there = false;
  bool has_lane = false;
  size_t dials = 0;
  reach_table uut;

  static reach_times times() {
    auto result = reach_times{};
    result.retry_first = 5ms;
    result.retry_most = 60'000ms;
    result.retry_lost = 10ms;
    return result;
  }

  reach_table::means means() {
    auto result = reach_table::means{};
    result.may_dial = [this](uint32_t, const reach_path&) { return !has_lane; };
    result.dial = [this](dial_id id, const std::string&, const reach_end&,
                         node_identity, std::chrono::milliseconds) {
      ++dials;
      has_lane = is_there;
      if (is_there)
        uut.on_lane(id);
      else
        uut.on_dial_failed(id, make_error(status::unreach, "nobody there"));
    };
    result.give_up = [](dial_id, const std::string&) {};
    result.report = [](lane_failed) {};
    result.route = [](const std::string&) -> caf::expected<network_route> {
      return network_route{1, "10.0.0.1", false};
    };
    result.random = [] { return uint64_t{0}; };
    return result;
  }

  fixture() : uut(sys.loop(), times(), means()) {
    // nop
  }

  void reach() {
    uut.reach({2, "n2", {{"a", "10.0.0.2", 1}}}, own);
  }

  void lose_lane(std::chrono::nanoseconds lived) {
    is_there = false;
    has_lane = false;
    dials = 0;
    uut.on_lane_end(2, "eth0", lived);
  }

  /// Runs until there were so many attempts, or `most` has passed.
  bool dials_come(size_t count, std::chrono::milliseconds most) {
    auto is_over = false;
    timer limit{sys.loop(), [&] { is_over = true; }};
    limit.start(most);
    while (dials < count && !is_over)
      sys.loop().run_once();
    return dials >= count;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(reach_table_tests, fixture)

// Doubling from 5 ms, 13 attempts take 20 s.
CAF_TEST(MND-X72 a way that was never there is tried more and more rarely) {
  reach();
  CAF_CHECK_EQUAL(dials, 1u);
  CAF_CHECK(!dials_come(13, 500ms));
}

CAF_TEST(MND-X72 a way that was lost is tried again and again soon) {
  is_there = true;
  reach();
  CAF_REQUIRE(has_lane);
  lose_lane(5s);
  CAF_CHECK(dials_come(13, 15s));
}

CAF_TEST(MND-X72 a way that never lives long is tried more and more rarely) {
  is_there = true;
  reach();
  CAF_REQUIRE(has_lane);
  lose_lane(1s);
  CAF_CHECK(!dials_come(13, 500ms));
}

CAF_TEST_FIXTURE_SCOPE_END()
