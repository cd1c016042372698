// How a peer session uses its lanes, one rule at a time.

#include "tests/fixtures/two_peers.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using change = report_peer::change;

constexpr auto control = traffic_class::control;
constexpr auto io = traffic_class::io;

const std::vector<status> arrived{status::success};

} // namespace

CAF_TEST_FIXTURE_SCOPE(peer_session_lanes_tests, two_peers)

CAF_TEST(LINK-6 bulk leaves a reserve for control) {
  connect({1});
  while (send(0, io, 10000) == status::success)
    continue;
  const auto before = lanes[1][1].size();
  CAF_CHECK(before * cost_of(10000) <= options.bulk_in_flight);
  send(0, control);
  send(0, traffic_class::membership);
  CAF_CHECK_EQUAL(lanes[1][1].size(), before + 2);
}

CAF_TEST(LINK-6 after a lane is lost the most important goes first) {
  connect({1, 2});
  for (auto of :
       {traffic_class::environment, io, control, traffic_class::membership})
    send(0, of);
  down(1);
  pass();
  std::vector<traffic_class> order;
  for (const auto& x : sides[1].delivered)
    order.push_back(x.of);
  CAF_CHECK_EQUAL(
    order, (std::vector<traffic_class>{traffic_class::membership, control, io,
                                       traffic_class::environment}));
}

CAF_TEST(LINK-7 an idle lane is probed once a second by each side) {
  connect({1, 2});
  const auto before = puts;
  elapse(60s);
  // Two lanes, two sides, a question and its answer.
  CAF_CHECK(puts - before <= 60 * 2 * 2 * 2);
  CAF_CHECK(puts - before >= 50 * 2 * 2 * 2);
}

CAF_TEST(LINK-7 many messages share an acknowledgement) {
  connect({1});
  const auto before = sides[1].session->counters().acknowledgements;
  for (auto n = 0; n < 1000; ++n) {
    send(0, io, 1000);
    pass();
  }
  elapse(20ms);
  const auto acknowledgements =
    sides[1].session->counters().acknowledgements - before;
  CAF_CHECK(acknowledgements <= 40);
  CAF_CHECK_EQUAL(sides[0].session->unacknowledged_bytes(io), 0u);
}

CAF_TEST(LINK-7 an acknowledgement rides on messages of the other direction) {
  connect({1});
  const auto before = sides[1].session->counters().acknowledgements;
  send(0, io);
  pass();
  send(1, control);
  pass();
  CAF_CHECK_EQUAL(sides[0].completed[1], arrived);
  CAF_CHECK_EQUAL(sides[1].session->counters().acknowledgements, before);
}

CAF_TEST(LINK-7 LIM23 a peer that does not read gets no more) {
  connect({1});
  for (auto i : {io, control})
    while (send(0, i, 1000) == status::success)
      continue;
  elapse(options.grace - 1s, false);
  size_t bytes = 0;
  for (const auto& x : lanes[1][1])
    bytes += wire_size(x);
  CAF_CHECK(bytes <= options.bulk_in_flight + options.reserve_in_flight + 8192);
}

CAF_TEST(O4 P-N1 L8 silence moves the messages within a second) {
  connect({1, 2});
  CAF_REQUIRE(sides[0].session->lane_of(io) == lane_id{1});
  silent = {{1, 0}}; // One direction only; nobody is told.
  send(0, io);
  elapse(options.silence - 1ms);
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 0u);
  elapse(1ms);
  CAF_CHECK_EQUAL(sides[1].numbers(), std::vector<uint64_t>{1});
  CAF_CHECK(sides[0].session->lane_of(io) == lane_id{2});
  CAF_CHECK_EQUAL(sides[0].count(change::suspected), 0u);
  // A lane that stays silent is given up, so that another can be made.
  elapse(options.grace + 1s);
  CAF_CHECK_EQUAL(sides[0].closed,
                  std::vector<std::string>{"lane was silent for too long"});
}

CAF_TEST(O5 a class rides the lane with the lowest round trip) {
  for (const auto& [lane, delay] :
       {std::pair<lane_id, steady_duration>{1, 10ms}, {2, 1ms}, {3, 5ms}}) {
    up(lane);
    for (auto n = 0; n < 5; ++n) {
      now += delay;
      const auto here = std::exchange(lanes[lane], {});
      for (size_t to : {0, 1})
        for (const auto& x : here[to])
          give(to, lane, x);
    }
  }
  for (const auto& x : sides)
    for (size_t i = 0; i < traffic_classes; ++i)
      CAF_CHECK(x.session->lane_of(static_cast<traffic_class>(i))
                == lane_id{2});
  down(2);
  for (const auto& x : sides)
    CAF_CHECK(x.session->lane_of(io) == lane_id{3});
}

CAF_TEST(MEM-4 who was late itself excuses the peer) {
  connect({1});
  now += options.grace * 2;
  drive(0, [&](auto& x, auto& out) { x.on_tick(now, out); });
  CAF_CHECK_EQUAL(sides[0].count(change::suspected), 0u);
  CAF_CHECK_EQUAL(sides[0].count(change::lost), 0u);
  CAF_CHECK(sides[0].session->is_connected());
  pass();
  elapse(10s);
  CAF_CHECK_EQUAL(sides[0].count(change::suspected), 0u);
}

CAF_TEST(MEM-4 what a message makes due at once is not our lateness) {
  options.probe = 50ms;
  start(0, 8);
  connect({1, 2});
  silent = {{2, 0}, {2, 1}};
  // Once lane 2 is silent, each message asks for a probe of it at once. That
  // moves nothing: the lane is given up in time.
  for (auto n = 0; n < 25; ++n) {
    elapse(240ms);
    send(0, io);
  }
  CAF_CHECK_EQUAL(sides[0].closed,
                  std::vector<std::string>{"lane was silent for too long"});
}

CAF_TEST(L4 frames that mean nothing close their lane) {
  const std::vector<std::pair<const char*, void (*)(data_frame&)>> table{
    {"message has no valid class, number or size",
     [](data_frame& x) { x.of = static_cast<traffic_class>(200); }},
    {"message has no valid class, number or size",
     [](data_frame& x) { x.number = 0; }},
    {"message has no valid class, number or size",
     [](data_frame& x) { x.payload.size = SIZE_MAX; }},
    {"peer acknowledges what was not sent",
     [](data_frame& x) {
       x.received.classes = 1;
       x.received.next[0] = 2;
     }},
  };
  lane_id lane = 0;
  for (const auto& [reason, change_it] : table) {
    connect({++lane});
    auto x = forged(0, 1);
    change_it(x);
    give(1, lane, x);
    CAF_CHECK_EQUAL(sides[1].closed, std::vector<std::string>{reason});
    CAF_CHECK_EQUAL(sides[1].delivered.size(), 0u);
    sides[1].closed.clear();
  }
}

CAF_TEST(L4 a peer has a bounded number of lanes) {
  for (lane_id lane = 1; lane <= defaults::lanes_per_peer; ++lane)
    up(lane);
  CAF_CHECK_EQUAL(sides[0].closed.size(), 0u);
  up(defaults::lanes_per_peer + 1);
  CAF_CHECK_EQUAL(sides[0].closed,
                  std::vector<std::string>{"too many lanes of one peer"});
  CAF_CHECK_EQUAL(sides[0].session->lanes().all().size(),
                  defaults::lanes_per_peer);
}

CAF_TEST_FIXTURE_SCOPE_END()
