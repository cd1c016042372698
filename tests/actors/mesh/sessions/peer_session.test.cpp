// What a peer session promises about each message, one rule at a time.

#include "tests/fixtures/two_peers.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using change = report_peer::change;

constexpr auto control = traffic_class::control;
constexpr auto io = traffic_class::io;

const std::vector<status> arrived{status::success};

const std::vector<uint64_t> one_to_three{1, 2, 3};

} // namespace

CAF_TEST_FIXTURE_SCOPE(peer_session_tests, two_peers)

CAF_TEST(LINK-1 LINK-3 L7 messages arrive in order and complete once) {
  connect({1});
  for (auto n = 0; n < 3; ++n)
    CAF_CHECK_EQUAL(send(0, io), status::success);
  pass();
  CAF_CHECK_EQUAL(sides[1].numbers(), one_to_three);
  elapse(20ms);
  for (uint64_t ticket = 1; ticket <= 3; ++ticket)
    CAF_CHECK_EQUAL(sides[0].completed[ticket], arrived);
  CAF_CHECK_EQUAL(sides[0].session->unacknowledged_bytes(io), 0u);
}

CAF_TEST(LINK-1 each class is a stream of its own) {
  connect({1});
  for (size_t i = 0; i < traffic_classes; ++i)
    send(0, static_cast<traffic_class>(i));
  pass();
  CAF_CHECK_EQUAL(sides[1].numbers(),
                  std::vector<uint64_t>(traffic_classes, 1));
}

CAF_TEST(LINK-1 O2 O4 O14 O15 P-N1 what a lost lane held goes over another) {
  connect({1, 2});
  for (auto n = 0; n < 3; ++n)
    send(0, io);
  CAF_REQUIRE_EQUAL(lane_of(0, io), 1u);
  pass(1, 1, 2); // Two arrive, and their acknowledgement is lost.
  down(1);
  CAF_CHECK_EQUAL(lane_of(0, io), 2u);
  pass();
  elapse(20ms);
  CAF_CHECK_EQUAL(sides[1].numbers(), one_to_three);
  CAF_CHECK_EQUAL(sides[0].completed[3], arrived);
  CAF_CHECK_EQUAL(sides[0].session->counters().resent, 3u);
  CAF_CHECK_EQUAL(sides[1].session->counters().duplicates, 2u);
  CAF_CHECK_EQUAL(sides[0].count(change::suspected), 0u);
  CAF_CHECK_EQUAL(sides[0].count(change::lost), 0u);
}

CAF_TEST(LINK-1 lanes may overtake each other) {
  connect({1, 2});
  for (auto n = 0; n < 3; ++n)
    send(0, io);
  // The sender loses lane 1; its word of that is lost as well.
  drive(0, [&](auto& x, auto& out) { x.on_lane_down(1, now, out); });
  CAF_REQUIRE(std::holds_alternative<gone_frame>(lanes[2][1].front()));
  lanes[2][1].pop_front();
  pass(2, 1, 1); // Number 1, again.
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 1u);
  pass(1, 1); // All three, the old ones.
  CAF_CHECK_EQUAL(sides[1].numbers(), one_to_three);
  pass();
  CAF_CHECK_EQUAL(sides[1].numbers(), one_to_three);
  give(1, 2, forged(0, 6));
  give(1, 2, forged(0, 5));
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 3u);
  CAF_CHECK_EQUAL(sides[1].session->held_bytes(io), 2 * cost_of(100));
  give(1, 2, forged(0, 4));
  CAF_CHECK_EQUAL(sides[1].numbers(),
                  (std::vector<uint64_t>{1, 2, 3, 4, 5, 6}));
  CAF_CHECK_EQUAL(sides[1].session->held_bytes(io), 0u);
}

CAF_TEST(LINK-1 what a relay loses is found by the answer to a probe) {
  connect({1});
  send(0, io);
  lanes[1][1].clear();
  send(0, io);
  pass();
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 0u);
  elapse(options.probe + 1ms);
  CAF_CHECK_EQUAL(sides[1].numbers(), (std::vector<uint64_t>{1, 2}));
  CAF_CHECK_EQUAL(sides[0].count(change::suspected), 0u);
}

CAF_TEST(LINK-2 LIM23 a full window refuses and later has room) {
  connect({1});
  size_t sent = 0;
  while (send(0, io, 10000) == status::success)
    ++sent;
  CAF_CHECK_EQUAL(sent, options.window / cost_of(10000));
  CAF_CHECK(sides[0].session->unacknowledged_bytes(io) <= options.window);
  CAF_CHECK_EQUAL(send(0, io, 10000), status::out_of_resource);
  CAF_CHECK_EQUAL(send(0, control), status::success);
  CAF_CHECK_EQUAL(sides[0].credits.size(), 0u);
  elapse(20ms);
  CAF_CHECK_EQUAL(sides[0].credits, std::vector<traffic_class>{io});
  CAF_CHECK_EQUAL(sides[1].delivered.size(), sent + 1);
  CAF_CHECK_EQUAL(send(0, io, 10000), status::success);
}

CAF_TEST(LINK-2 a message beyond the window closes its lane) {
  connect({1, 2, 3});
  give(1, 1, forged(0, 2 + options.window / message_overhead));
  CAF_CHECK_EQUAL(sides[1].closed.size(), 1u);
  for (uint64_t number = 2; sides[1].closed.size() < 2; ++number) {
    give(1, 2, forged(0, number, 500000));
    CAF_REQUIRE(sides[1].session->held_bytes(io) <= options.window);
  }
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 0u);
}

CAF_TEST(LINK-2 what is not taken stops the sender) {
  options.taken_on_delivery = false;
  start(0, 8);
  start(1, 8);
  connect({1});
  const auto fits = options.window / cost_of(10000);
  for (size_t n = 0; n < fits; ++n)
    send(0, io, 10000);
  elapse(20ms);
  CAF_CHECK_EQUAL(sides[1].delivered.size(), fits);
  for (size_t n = 0; n < 10; ++n)
    CAF_CHECK_EQUAL(send(0, io, 10000), status::success);
  send(0, control);
  elapse(3s);
  CAF_CHECK_EQUAL(sides[1].delivered.size(), fits + 1);
  CAF_CHECK(sides[1].session->held_bytes(io) <= options.window);
  const auto held = sides[1].delivered;
  for (const auto& x : held)
    drive(1, [&](auto& y, auto& out) { y.taken(x, now, out); });
  elapse(20ms);
  CAF_CHECK_EQUAL(sides[1].delivered.size(), fits + 11);
}

CAF_TEST(LIM23 each end may have a window of its own) {
  options.taken_on_delivery = false;
  options.message_bytes = size_t{16} << 10;
  start(0, 8);
  options.window = size_t{64} << 10;
  start(1, 8);
  connect({1});
  const auto fits = options.window / cost_of(10000);
  for (size_t n = 0; n < 3 * fits; ++n)
    CAF_CHECK_EQUAL(send(0, io, 10000), status::success);
  elapse(1s);
  CAF_CHECK_EQUAL(sides[1].delivered.size(), fits);
  CAF_CHECK(sides[1].session->held_bytes(io) <= options.window);
  CAF_CHECK(sides[1].closed.empty());
  const auto held = sides[1].delivered;
  for (const auto& x : held)
    drive(1, [&](auto& y, auto& out) { y.taken(x, now, out); });
  elapse(20ms);
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 2 * fits);
  size_t sent = 0;
  while (send(1, io, 10000) == status::success)
    ++sent;
  CAF_CHECK_EQUAL(sent, fits);
}

CAF_TEST(LINK-3 L5 O13 a peer without lanes is suspected and then lost once) {
  connect({1, 2});
  silent = {{1, 0}, {2, 0}};
  send(0, io);
  const auto ticket = last_ticket;
  down(1);
  down(2);
  elapse(options.suspicion - 1ms);
  CAF_CHECK_EQUAL(sides[0].count(change::suspected), 0u);
  elapse(1ms);
  CAF_CHECK_EQUAL(sides[0].count(change::suspected), 1u);
  elapse(options.grace - options.suspicion - 1ms);
  CAF_CHECK_EQUAL(sides[0].count(change::lost), 0u);
  CAF_CHECK_EQUAL(sides[0].completed.count(ticket), 0u);
  elapse(1ms);
  CAF_CHECK_EQUAL(sides[0].count(change::lost), 1u);
  CAF_CHECK_EQUAL(sides[0].completed[ticket],
                  std::vector<status>{status::unreach});
  CAF_CHECK_EQUAL(send(0, io), status::unreach);
  elapse(1min);
  CAF_CHECK_EQUAL(sides[0].count(change::lost), 1u);
  CAF_CHECK_EQUAL(sides[0].completed[ticket].size(), 1u);
}

CAF_TEST(LINK-3 a peer that is never reached is lost as well) {
  send(0, io);
  elapse(options.grace);
  CAF_CHECK_EQUAL(sides[0].count(change::lost), 1u);
  CAF_CHECK_EQUAL(sides[0].completed[1], std::vector<status>{status::unreach});
}

CAF_TEST(LINK-3 L1 a lane that comes back in time resumes the session) {
  connect({1});
  send(0, io);
  down(1);
  elapse(options.grace - 1ms);
  CAF_CHECK_EQUAL(sides[0].count(change::suspected), 1u);
  connect({2});
  CAF_CHECK_EQUAL(sides[1].numbers(), std::vector<uint64_t>{1});
  CAF_CHECK_EQUAL(sides[0].completed[1], arrived);
  CAF_CHECK_EQUAL(sides[0].count(change::heard), 1u);
  CAF_CHECK_EQUAL(sides[0].count(change::begun), 1u);
  elapse(1min);
  CAF_CHECK_EQUAL(sides[0].count(change::lost), 0u);
}

CAF_TEST(LINK-3 giving up completes everything) {
  connect({1});
  lanes.clear();
  for (auto n = 0; n < 3; ++n)
    send(0, io);
  drive(0, [&](auto& x, auto& out) {
    x.give_up(status::lost_connection, now, out);
  });
  for (uint64_t ticket = 1; ticket <= 3; ++ticket)
    CAF_CHECK_EQUAL(sides[0].completed[ticket],
                    std::vector<status>{status::lost_connection});
  CAF_CHECK_EQUAL(sides[0].closed.size(), 1u);
  CAF_CHECK_EQUAL(send(0, io), status::unreach);
}

CAF_TEST(LINK-3 a message that is too long is refused) {
  CAF_CHECK_EQUAL(send(0, io, options.message_bytes), status::success);
  CAF_CHECK_EQUAL(send(0, io, options.message_bytes + 1), status::bad_param);
  CAF_CHECK_EQUAL(send(0, io, SIZE_MAX), status::bad_param);
  CAF_CHECK_EQUAL(send(0, static_cast<traffic_class>(traffic_classes)),
                  status::bad_param);
}

CAF_TEST(LINK-4 P-M1 another start of the peer ends the session) {
  connect({1});
  send(0, io);
  pass();
  send(0, io); // On its way when node 2 restarts.
  const auto on_its_way = lanes[1][1];
  const auto ticket = last_ticket;
  start(1, 8);
  down(1);
  connect({2});
  CAF_CHECK_EQUAL(sides[0].completed[ticket],
                  std::vector<status>{status::lost_connection});
  CAF_CHECK_EQUAL(
    sides[0].reports,
    (std::vector<change>{change::begun, change::ended, change::begun}));
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 0u);
  for (const auto& x : on_its_way)
    give(1, 2, x);
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 0u);
  CAF_CHECK(sides[1].session->counters().dropped > 0);
  send(0, io);
  elapse(20ms);
  CAF_CHECK_EQUAL(sides[1].numbers(), std::vector<uint64_t>{1});
  CAF_CHECK_EQUAL(sides[0].completed[last_ticket], arrived);
}

CAF_TEST(LINK-4 a session that one side has lost ends on the other) {
  connect({1});
  // Side 0 hears nothing for longer than the grace; side 1 notices nothing.
  silent = {{1, 1}};
  send(1, io);
  pass(1, 0);
  const auto lane_1 = sides[1].session->names().peer().number;
  down(1);
  now += options.grace;
  drive(0, [&](auto& x, auto& out) { x.on_tick(now, out); });
  drive(0, [&](auto& x, auto& out) { x.on_tick(now + 5s, out); });
  CAF_REQUIRE_EQUAL(sides[0].count(change::lost), 1u);
  silent.clear();
  send(1, io);
  connect({2});
  CAF_CHECK_EQUAL(sides[1].count(change::ended), 1u);
  CAF_CHECK_EQUAL(sides[1].completed[last_ticket],
                  std::vector<status>{status::lost_connection});
  CAF_CHECK(sides[1].session->names().peer().number > lane_1);
  // They agree, and do not chase each other.
  const auto before = sides[0].session->counters().hellos;
  send(1, io);
  send(0, io);
  elapse(10s);
  CAF_CHECK_EQUAL(sides[0].session->counters().hellos, before);
  CAF_CHECK_EQUAL(sides[1].completed[last_ticket - 1], arrived);
  CAF_CHECK_EQUAL(sides[0].completed[last_ticket], arrived);
}

CAF_TEST(LINK-4 X38 a hello of another time or node closes its lane) {
  connect({1});
  const auto& names = sides[1].session->names();
  const hello_frame good{names.own(), names.peer(), {}};
  using edit = void (*)(hello_frame&);
  const std::vector<std::pair<const char*, edit>> table{
    {"hello is from an earlier start of the peer",
     [](hello_frame& x) { x.sender.of.boot = 6; }},
    {"hello is from or for another node",
     [](hello_frame& x) { x.sender.of.node = 3; }},
    {"hello is from or for another node",
     [](hello_frame& x) { x.receiver.of.node = 3; }},
    {"hello is for a later start or session",
     [](hello_frame& x) { x.receiver.of.boot = 8; }},
    {"hello is for a later start or session",
     [](hello_frame& x) { ++x.receiver.number; }},
    {"hello does not name its sender",
     [](hello_frame& x) { x.sender.number = 0; }},
    {"hello has another token", [](hello_frame& x) { x.sender.token[15] = 1; }},
  };
  for (const auto& [reason, change_it] : table) {
    auto x = good;
    change_it(x);
    drive(0, [&](auto& y, auto& out) { y.on_lane_up(9, now, out); });
    give(0, 9, x);
    CAF_CHECK_EQUAL(sides[0].closed, std::vector<std::string>{reason});
    sides[0].closed.clear();
    CAF_CHECK(sides[0].session->names().is_agreed());
  }
  // One that a newer session has overtaken means nothing.
  auto x = good;
  ++x.sender.number;
  give(0, 1, x);
  CAF_CHECK_EQUAL(sides[0].count(change::ended), 1u);
  give(0, 1, good);
  CAF_CHECK_EQUAL(sides[0].closed.size(), 0u);
  CAF_CHECK(sides[0].session->names().peer() == x.sender);
}

CAF_TEST(LINK-4 frames without the tokens of the session are dropped) {
  connect({1});
  auto x = forged(0, 1);
  ++x.session;
  give(1, 1, x);
  give(1, 1, forged(1, 1)); // From a mirror.
  give(1, 5, forged(0, 1)); // From a lane that never was.
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 0u);
  CAF_CHECK_EQUAL(sides[1].session->counters().dropped, 2u);
  give(1, 1, forged(0, 1));
  CAF_CHECK_EQUAL(sides[1].delivered.size(), 1u);
}

CAF_TEST(LINK-4 nothing goes out before both sides agree) {
  send(0, io);
  up(1);
  auto& to_peer = lanes[1][1];
  CAF_REQUIRE_EQUAL(to_peer.size(), 1u);
  CAF_CHECK(std::holds_alternative<hello_frame>(to_peer.front()));
  pass(1, 0);
  for (const auto& x : to_peer)
    CAF_CHECK(std::holds_alternative<hello_frame>(x));
}

CAF_TEST(LINK-5 queued before connected) {
  send(0, io);
  elapse(1s);
  connect({1});
  CAF_CHECK_EQUAL(sides[1].numbers(), std::vector<uint64_t>{1});
}

CAF_TEST(LINK-5 connected before queued) {
  connect({1});
  send(0, io);
  pass();
  CAF_CHECK_EQUAL(sides[1].numbers(), std::vector<uint64_t>{1});
}

CAF_TEST_FIXTURE_SCOPE_END()
