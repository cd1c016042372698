// How a peer session uses its lanes, one rule at a time.

#include "config/defaults.hpp"
#include "tests/fixtures/frame_size.hpp"
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

CAF_TEST(LINK-7 idle lanes are probed about once a second and seldom) {
  connect({1, 2});
  const auto before = puts;
  elapse(60s);
  // Two sides, a question and its answer: the lane in use, and the other one.
  const auto idle = options.probe_idle + options.probe;
  const auto most = 60s / idle + 60s / options.probe_standby;
  CAF_CHECK(puts - before <= static_cast<uint64_t>(4 * most));
  CAF_CHECK(puts - before >= static_cast<uint64_t>(4 * (most - 4)));
}

CAF_TEST(LINK-7 a lane whose messages are acknowledged is seldom probed) {
  connect({1});
  const auto probes = [this](size_t i) {
    return sides[i].session->counters().probes;
  };
  const auto before = probes(0) + probes(1);
  for (auto second = 0; second < 60; ++second) {
    send(0, control);
    pass();
    send(1, control);
    elapse(1s);
  }
  const auto seldom = static_cast<uint64_t>(60s / options.probe_standby);
  CAF_CHECK(probes(0) + probes(1) - before <= 2 * (seldom + 1));
  CAF_CHECK(probes(0) + probes(1) - before >= 2 * (seldom - 2));
}

CAF_TEST(LINK-7 L8 lanes in stand-by are asked once the one in use is in doubt) {
  connect({1, 2});
  elapse(options.probe_idle);
  silent = {{1, 0}, {2, 0}}; // Nobody hears side 0 any more.
  send(0, io);
  CAF_REQUIRE_EQUAL(lane_of(0, io), 1u);
  // Both are known to be silent `probe` after the first one.
  elapse(options.silence + options.probe - 1ms);
  CAF_CHECK(sides[0].session->is_connected());
  elapse(1ms);
  CAF_CHECK(!sides[0].session->is_connected());
}

CAF_TEST(L8 lanes that fail one after another cost one silence together) {
  connect({1, 2, 3});
  elapse(options.probe_idle);
  silent = {{1, 0}};
  send(0, io);
  elapse(options.probe); // The others are asked, and answer.
  silent = {{1, 0}, {2, 0}, {3, 0}};
  elapse(options.silence + options.probe - 1ms);
  CAF_CHECK(sides[0].session->is_connected());
  elapse(1ms);
  CAF_CHECK(!sides[0].session->is_connected());
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
  silent = {{1, 0}}; // One direction only; nobody is told.
  send(0, io);
  CAF_REQUIRE_EQUAL(lane_of(0, io), 1u);
  elapse(options.silence - 1ms);
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 0u);
  elapse(1ms);
  CAF_CHECK_EQUAL(sides[1].numbers(), std::vector<uint64_t>{1});
  CAF_CHECK_EQUAL(lane_of(0, io), 2u);
  CAF_CHECK_EQUAL(sides[0].count(change::suspected), 0u);
  // A lane that stays silent is given up, so that another can be made.
  elapse(options.grace + 1s);
  CAF_CHECK_EQUAL(sides[0].closed,
                  std::vector<std::string>{"lane was silent for too long"});
}

CAF_TEST(O4 O14 P-N1 LINK-1 who loses a lane tells the other side) {
  connect({1, 2});
  for (auto n = 0; n < 3; ++n)
    send(1, io);
  pass(1, 0, 2); // Two arrive.
  down_at(0, 1);
  CAF_CHECK_EQUAL(lane_of(1, io), 1u);
  // No time passes.
  pass();
  CAF_CHECK_EQUAL(sides[1].closed,
                  std::vector<std::string>{"the peer has lost it"});
  CAF_CHECK_EQUAL(lane_of(1, io), 2u);
  CAF_CHECK_EQUAL(sides[0].numbers(), (std::vector<uint64_t>{1, 2, 3}));
  // With the word comes what has arrived: only the rest is sent again.
  CAF_CHECK_EQUAL(sides[1].session->counters().resent, 1u);
  CAF_CHECK_EQUAL(sides[0].session->counters().duplicates, 0u);
  CAF_CHECK_EQUAL(sides[0].session->counters().told_gone, 0u);
  CAF_CHECK_EQUAL(sides[1].session->counters().told_gone, 1u);
  // All classes leave it, at once.
  CAF_CHECK_EQUAL(sides[0].session->counters().failovers, 1u);
  CAF_CHECK_EQUAL(sides[1].session->counters().failovers, 1u);
  elapse(10s);
  CAF_CHECK_EQUAL(sides[1].completed[3], arrived);
  CAF_CHECK_EQUAL(sides[1].count(change::suspected), 0u);
}

CAF_TEST(O5 O14 O16 lanes of the lowest tier are used while there is one) {
  const auto up_in_tier = [this](lane_id lane, uint8_t tier) {
    for (size_t i : {0, 1})
      drive(i, [&](auto& x, auto& out) { x.on_lane_up(lane, now, out, tier); });
    pass();
    elapse(options.probe_idle);
  };
  const auto used_by_both = [this] {
    for (size_t i : {0, 1})
      send(i, io);
    elapse(20ms);
    CAF_CHECK_EQUAL(lane_of(0, io), lane_of(1, io));
    return lane_of(0, io);
  };
  up_in_tier(1, 1);
  CAF_CHECK_EQUAL(used_by_both(), 1u);
  up_in_tier(2, 0); // The oldest of equals would stay.
  CAF_CHECK_EQUAL(used_by_both(), 2u);
  up_in_tier(3, 1);
  CAF_CHECK_EQUAL(used_by_both(), 2u);
  // One that is better takes over from none that has failed.
  CAF_CHECK_EQUAL(sides[0].session->counters().failovers, 0u);
  // What is on its way when it ends arrives over another.
  send(0, io);
  down(2);
  elapse(20ms);
  CAF_CHECK(used_by_both() != 2u);
  up_in_tier(4, 0);
  CAF_CHECK_EQUAL(used_by_both(), 4u);
  CAF_CHECK_EQUAL(sides[1].numbers(),
                  (std::vector<uint64_t>{1, 2, 3, 4, 5, 6}));
  CAF_CHECK_EQUAL(sides[0].numbers(), (std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

CAF_TEST(O4 P-N1 lanes that go one after another are all told) {
  connect({1, 2, 3});
  for (const lane_id lane : {1, 2, 3})
    down_at(0, lane); // What was said over lane 2 and 3 is lost.
  send(1, io);
  pass();
  CAF_CHECK_EQUAL(sides[1].session->lanes().all().size(), 3u);
  up(4);
  pass();
  // Long before the silence tells.
  CAF_CHECK_EQUAL(sides[1].session->counters().told_gone, 3u);
  CAF_CHECK_EQUAL(sides[1].session->lanes().all().size(), 1u);
  CAF_CHECK_EQUAL(sides[0].numbers(), std::vector<uint64_t>{1});
  // Nobody hears of them again.
  elapse(options.silence);
  const auto before = puts;
  up(5);
  down(5);
  pass();
  CAF_CHECK(puts - before <= 10);
  CAF_CHECK_EQUAL(sides[1].session->counters().told_gone, 3u);
}

CAF_TEST(LINK-4 P-N1 what the peer says of lanes that it does not have) {
  connect({1, 2});
  const auto word = [this](lane_id lane) {
    return gone_frame{sides[1].session->names().outgoing(), lane, {}};
  };
  give(0, 1, word(1)); // The one that it comes on.
  give(0, 1, word(0));
  give(0, 1, word(77));
  auto foreign = word(2);
  ++foreign.session;
  give(0, 1, foreign);
  CAF_CHECK_EQUAL(sides[0].session->lanes().all().size(), 2u);
  CAF_CHECK_EQUAL(sides[0].closed.size(), 0u);
  // Lanes have numbers of their own at each end; the peer's count.
  const auto& names = sides[1].session->names();
  give(0, 2, hello_frame{names.own(), names.peer(), {}, 77});
  give(0, 1, word(2));
  CAF_CHECK_EQUAL(sides[0].session->lanes().all().size(), 2u);
  give(0, 1, word(77));
  CAF_CHECK_EQUAL(sides[0].session->lanes().all().size(), 1u);
  CAF_CHECK_EQUAL(sides[0].session->lanes().all().front().id, lane_id{1});
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
  for (size_t side : {0, 1})
    for (size_t i = 0; i < traffic_classes; ++i) {
      send(side, static_cast<traffic_class>(i));
      CAF_CHECK_EQUAL(lane_of(side, static_cast<traffic_class>(i)), 2u);
    }
  down(2);
  for (size_t side : {0, 1})
    CAF_CHECK_EQUAL(lane_of(side, io), 3u);
}

CAF_TEST(O5 LINK-7 of lanes that are alike both sides use the same one) {
  // Opens a lane whose round trip is 100 us for one side, longer for the other.
  const auto open = [this](lane_id lane, size_t fast, steady_duration slow) {
    up(lane);
    for (auto n = 0; n < 4; ++n)
      for (size_t to : {0, 1})
        while (!lanes[lane][to].empty()
               && std::holds_alternative<hello_frame>(lanes[lane][to].front()))
          pass(lane, to, 1);
    now += 100us;
    pass(lane, 1 - fast);
    pass(lane, fast);
    now += slow - 100us;
    pass(lane, 1 - fast);
  };
  const auto begin = [&](steady_duration slow) {
    start(0, 8);
    start(1, 8);
    lanes.clear();
    open(1, 0, slow);
    open(2, 1, slow);
  };
  for (const auto& [slow, lane] :
       {std::pair<steady_duration, lane_id>{500us, 1}, {5ms, 2}}) {
    // By itself each uses the one that is faster for it.
    begin(slow);
    send(0, io);
    send(1, io);
    CAF_REQUIRE_EQUAL(lane_of(0, io), 1u);
    CAF_REQUIRE_EQUAL(lane_of(1, io), 2u);
    begin(slow);
    send(0, io);
    pass(1, 1);
    send(1, io);
    CAF_CHECK_EQUAL(lane_of(0, io), 1u);
    CAF_CHECK_EQUAL(lane_of(1, io), lane);
  }
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
  keeps_losses = true; // The other side's, first.
  start(0, 8);
  start(1, 8);
  connect({1, 2});
  silent = {{2, 0}, {2, 1}};
  // Once lane 2 is silent, each message asks for a probe of it at once. That
  // moves nothing: the lane is given up in time.
  for (auto n = 0; n < 50; ++n) {
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
