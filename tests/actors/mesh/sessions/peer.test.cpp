#include "actors/mesh/sessions/peer.hpp"

#include "actors/mesh/sessions/session_handshake.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/test.hpp"

#include <caf/typed_event_based_actor.hpp>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

/// What a PEER has told its networks and its owner.
struct record {
  std::vector<put_lane_frame> frames;
  std::vector<lane_id> dropped;
  std::vector<peer_delivery> deliveries;
  std::vector<peer_changed> changes;
  std::vector<relay_frame> relayed;
  std::vector<std::string> refused;
  std::vector<std::pair<lane_opened, lane_frame_arrived>> strange;

  bool has(peer_state x) const {
    return std::any_of(changes.begin(), changes.end(),
                       [x](const auto& y) { return y.now == x; });
  }
};

networks_actor::behavior_type networks(networks_actor::pointer, record* out) {
  return {
    [](const reach_node&) {},
    [](const release_node&) {},
    [](lane_id, const lane_user_actor&) {},
    [=](put_lane_frame& x) { out->frames.push_back(std::move(x)); },
    [=](const drop_lane& x) { out->dropped.push_back(x.lane); },
  };
}

peer_owner_actor::behavior_type owner(peer_owner_actor::pointer, record* out) {
  return {
    [=](peer_delivery& x) { out->deliveries.push_back(std::move(x)); },
    [=](const peer_changed& x) { out->changes.push_back(x); },
    [=](relay_frame& x) { out->relayed.push_back(std::move(x)); },
    [=](const lane_opened& lane, lane_frame_arrived& x) {
      out->strange.emplace_back(lane, std::move(x));
    },
    [=](const peer_changed&, const peer_message& x) {
      out->refused.push_back(*x.bytes);
    },
  };
}

/// Two nodes, 1 and 2, and what goes between their PEERs.
struct fixture : deterministic {
  struct side {
    record out;
    networks_actor net;
    peer_owner_actor boss;
    peer_actor peer;
  };

  side sides[2];
  uint8_t last_token = 0;

  fixture() {
    for (uint32_t i = 0; i < 2; ++i) {
      sides[i].net = sys.spawn(networks, &sides[i].out);
      sides[i].boss = sys.spawn(owner, &sides[i].out);
      sides[i].peer = spawn(i, 100 + i, 101 - i);
    }
    consume_messages();
  }

  ~fixture() override {
    for (auto& x : sides)
      self->send_exit(x.peer, caf::exit_reason::user_shutdown);
    consume_messages();
  }

  peer_actor spawn(uint32_t i, uint64_t boot, uint64_t other) {
    auto settings = peer_settings{};
    settings.self = {i + 1, boot};
    settings.peer = {2 - i, other};
    settings.name = "other";
    settings.limits.queue_bytes = size_t{16} << 20;
    settings.clock = [this] {
      return steady_time{sched.clock().current_time.time_since_epoch()};
    };
    settings.make_token = [this] {
      auto x = session_token{};
      x.fill(++last_token);
      return x;
    };
    return spawn_peer(sys, sides[i].net, sides[i].boss, std::move(settings));
  }

  lane_opened lane(uint32_t i, lane_id id) const {
    auto x = lane_opened{};
    x.lane = id;
    x.rank = 2 - i;
    x.name = "other";
    x.network = "net";
    return x;
  }

  void open(lane_id id) {
    for (uint32_t i = 0; i < 2; ++i)
      self->send(sides[i].peer, lane(i, id));
    exchange();
  }

  /// Carries frames until there are none.
  void exchange() {
    consume_messages();
    for (auto is_quiet = false; !is_quiet;) {
      is_quiet = true;
      for (auto i = 0; i < 2; ++i)
        for (auto& x : std::exchange(sides[i].out.frames, {})) {
          is_quiet = false;
          self->send(sides[1 - i].peer,
                     lane_frame_arrived{x.lane, std::move(x.frame)});
        }
      consume_messages();
    }
  }

  void pass(caf::timespan x) {
    elapse(x);
    exchange();
  }

  void say(int from, std::string text, uint64_t incarnation = 0,
           traffic_class of = traffic_class::io) {
    auto x = peer_message{};
    x.of = of;
    x.incarnation = incarnation;
    x.bytes = std::make_shared<const std::string>(std::move(text));
    self->send(sides[from].peer, std::move(x));
    exchange();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(peer_tests, fixture)

CAF_TEST(LINK-1 LINK-5 messages said before there is a lane arrive in order) {
  say(0, "one");
  CAF_CHECK(sides[0].out.has(peer_state::stranded));
  say(0, "two");
  open(1);
  say(0, "three");
  const auto& got = sides[1].out.deliveries;
  CAF_REQUIRE_EQUAL(got.size(), 3u);
  CAF_CHECK_EQUAL(*got[0].bytes, "one");
  CAF_CHECK_EQUAL(*got[1].bytes, "two");
  CAF_CHECK_EQUAL(*got[2].bytes, "three");
  CAF_CHECK_EQUAL(got[0].rank, 1u);
  CAF_CHECK_EQUAL(got[0].incarnation, 100u);
  CAF_CHECK(got[0].is_direct);
  CAF_CHECK(sides[0].out.has(peer_state::begun));
  CAF_CHECK(sides[0].out.has(peer_state::direct));
}

CAF_TEST(LIM22 a long message comes in one piece) {
  open(1);
  const auto text = std::string(size_t{6} << 20, 'x');
  say(0, text);
  for (auto i = 0; i < 10; ++i)
    pass(10ms);
  CAF_REQUIRE_EQUAL(sides[1].out.deliveries.size(), 1u);
  CAF_CHECK(*sides[1].out.deliveries[0].bytes == text);
}

CAF_TEST(LOAD-2 LIM23 what there is no room for goes back) {
  const auto text = std::string(size_t{5} << 20, 'x');
  for (auto i = 0; i < 5; ++i)
    say(0, text);
  CAF_CHECK(sides[0].out.refused.size() >= 1);
  CAF_CHECK(sides[0].out.refused.size() <= 2);
  CAF_CHECK(sides[0].out.refused.at(0) == text);
}

CAF_TEST(LINK-4 nothing for another incarnation is sent) {
  open(1);
  say(0, "for a former one", 7);
  say(0, "for this one", 100);
  CAF_CHECK(sides[1].out.deliveries.empty());
  say(0, "for this one", 101 - 0);
  CAF_CHECK_EQUAL(sides[1].out.deliveries.size(), 1u);
}

CAF_TEST(LINK-4 X42 a lane of another incarnation goes back with its first frame) {
  open(1);
  auto token = session_token{};
  token.fill(99);
  const auto hello = hello_frame{{{2, 500}, 1, token}, {{1, 0}, 0, {}}, {}};
  self->send(sides[0].peer, lane(0, 2));
  self->send(sides[0].peer, lane_frame_arrived{2, hello});
  consume_messages();
  CAF_REQUIRE_EQUAL(sides[0].out.strange.size(), 1u);
  CAF_CHECK_EQUAL(sides[0].out.strange[0].first.lane, 2u);
  CAF_CHECK(sides[0].out.dropped.empty());
  // The session goes on.
  sides[0].out.frames.clear();
  say(1, "still here");
  CAF_CHECK_EQUAL(sides[0].out.deliveries.size(), 1u);
}

CAF_TEST(LINK-7 however much is said there are few timers) {
  open(1);
  for (auto i = 0; i < 200; ++i)
    say(i % 2, "something");
  CAF_CHECK(sched.clock().schedule().size() <= 8);
}

CAF_TEST(a peer without lanes and with nothing to say rests) {
  open(1);
  say(0, "one");
  for (auto i = 0; i < 3; ++i)
    pass(1s);
  for (auto& x : sides)
    self->send(x.peer, lane_closed{1, "idle"});
  consume_messages();
  CAF_CHECK(sides[0].out.changes.back().now == peer_state::resting);
  sides[0].out.changes.clear();
  elapse(1h);
  CAF_CHECK(sides[0].out.changes.empty());
  CAF_CHECK(!sched.has_pending_timeout());
  // And is there when there is something to do.
  say(0, "two");
  open(2);
  CAF_CHECK_EQUAL(sides[1].out.deliveries.size(), 2u);
  CAF_CHECK(!sides[0].out.has(peer_state::ended));
}

CAF_TEST(O11 O12 O14 a session goes on through another node and comes back) {
  open(1);
  for (auto& x : sides)
    self->send(x.peer, lane_closed{1, "cable pulled"});
  say(0, "while nothing is there");
  self->send(sides[0].peer, lane(0, relay_lane(7)));
  for (auto rounds = 0; rounds < 8; ++rounds) {
    consume_messages();
    for (auto i = 0; i < 2; ++i)
      for (auto& x : std::exchange(sides[i].out.relayed, {})) {
        CAF_CHECK_EQUAL(x.relay, 7u);
        self->send(sides[1 - i].peer, std::move(x));
      }
  }
  CAF_REQUIRE_EQUAL(sides[1].out.deliveries.size(), 1u);
  CAF_CHECK(!sides[1].out.deliveries[0].is_direct);
  CAF_CHECK(sides[0].out.changes.back().now == peer_state::relayed);
  open(2);
  CAF_CHECK(sides[0].out.changes.back().now == peer_state::direct);
  say(0, "over the new lane");
  CAF_REQUIRE_EQUAL(sides[1].out.deliveries.size(), 2u);
  CAF_CHECK(sides[1].out.deliveries[1].is_direct);
  CAF_CHECK(sides[0].out.relayed.empty());
}

CAF_TEST(ACT-16 what another node has passed on is not said to be direct) {
  open(1);
  say(0, "by itself");
  CAF_REQUIRE_EQUAL(sides[1].out.deliveries.size(), 1u);
  CAF_CHECK(sides[1].out.deliveries[0].is_direct);
  // Node 7 has seen a session of both, and speaks for node 1 in a newer one.
  auto token = session_token{};
  token.fill(77);
  auto forger =
    session_handshake{{1, 100}, {2, 101}, [&] { return token; }, 1000};
  auto words = std::vector<lane_frame>{};
  const auto pass_on = [&](lane_frame x) {
    self->send(sides[1].peer, relay_frame{1, 2, 7, std::move(x)});
    consume_messages();
    words.clear();
    for (auto& y : std::exchange(sides[1].out.relayed, {}))
      words.push_back(std::move(y.frame));
  };
  for (auto i = 0; i < 3; ++i) {
    pass_on(hello_frame{forger.own(), forger.peer(), {}});
    for (const auto& x : words)
      if (const auto* hello = std::get_if<hello_frame>(&x))
        forger.hear(hello->sender, hello->receiver);
  }
  CAF_REQUIRE(forger.is_agreed());
  pass_on(
    data_frame{forger.outgoing(),
               traffic_class::io,
               1,
               {},
               make_payload(std::make_shared<const std::string>("made up"))});
  CAF_REQUIRE_EQUAL(sides[1].out.deliveries.size(), 2u);
  CAF_CHECK_EQUAL(*sides[1].out.deliveries[1].bytes, "made up");
  CAF_CHECK(!sides[1].out.deliveries[1].is_direct);
}

CAF_TEST(LINK-3 a peer that is closed closes its lanes) {
  open(1);
  self->send(sides[0].peer, close_peer{"lost"});
  consume_messages();
  CAF_CHECK_EQUAL(sides[0].out.dropped.size(), 1u);
}

CAF_TEST(a peer says how it is) {
  open(1);
  say(0, "one");
  const auto x = request<peer_status>(sides[1].peer, get_mesh_status{});
  CAF_CHECK_EQUAL(x.rank, 1u);
  CAF_CHECK(x.is_connected);
  CAF_CHECK_EQUAL(x.delivered, 1u);
  CAF_REQUIRE_EQUAL(x.lanes.size(), 1u);
  CAF_CHECK_EQUAL(x.lanes[0].network, "net");
  CAF_CHECK(x.lanes[0].is_usable);
}

CAF_TEST_FIXTURE_SCOPE_END()
