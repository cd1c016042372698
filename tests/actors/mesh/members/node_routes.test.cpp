// The ways of node 3 of seven, call by call. The tree has two children each: 1 is
// its parent, 4 a sister, 0 the root; 2 with 5 and 6 is the other branch.

#include "actors/mesh/members/node_routes.hpp"

#include "config/defaults.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;

namespace {

using namespace std::chrono_literals;

peer_key key_of(uint32_t rank) {
  return {rank, 10 + rank};
}

struct routes_fixture {
  explicit routes_fixture(size_t direct_peers = 64)
    : member(settings()),
      routes({3, "a", {{"net", "a", 1}}, direct_peers}, member, effects()) {
    member.tick(100s);
    auto welcome = node_welcome{3, 5, {}, 100s};
    for (auto rank = uint32_t{0}; rank < 7; ++rank) {
      const auto name = std::string(1, static_cast<char>('a' + rank));
      welcome.rows.push_back(
        {rank, name, 10 + rank, node_state::live, 5, {{"net", name, 1}}});
    }
    member.receive(0, 10, welcome, 100s);
    routes.update();
  }

  static node_settings settings() {
    auto x = node_settings{};
    x.name = "d";
    x.incarnation = 13;
    x.radix = 2;
    return x;
  }

  node_routes::effects effects() {
    auto out = node_routes::effects{};
    out.reach = [this](const reach_node& x) { dialled.push_back(x.rank); };
    out.release = [this](uint32_t rank) { released.push_back(rank); };
    out.begin = [this](const peer_key& key) {
      if (!routes.has(routes.find(key)))
        routes.add(key, now);
    };
    out.end = [this](const peer_key& key, const char*) {
      ended.push_back(key);
      routes.remove(key);
    };
    out.open_relay = [this](const peer_key& key, uint32_t via) {
      relays.emplace_back(key.first, via);
    };
    out.close_relays = [this](const peer_key& key) {
      rested.push_back(key.first);
    };
    return out;
  }

  /// Something is said to a node for the first time.
  void meet(uint32_t rank) {
    routes.add(key_of(rank), now);
    routes.use(key_of(rank), now);
  }

  /// The same, and its session has a lane at once.
  void reach(uint32_t rank) {
    if (!routes.has(key_of(rank)))
      meet(rank);
    routes.reached(key_of(rank), peer_state::direct, now);
  }

  void lose(uint32_t rank) {
    member.receive(
      0, 10,
      node_update{5, 6, {{rank, "x", 10 + rank, node_state::lost, 6, {}}}},
      101s);
  }

  std::optional<peer_key> next(uint32_t to, uint32_t via, uint32_t sender) {
    auto x = relayed_frame{};
    x.from = sender;
    x.to = to;
    x.via = via;
    return routes.next_of(x, sender, now);
  }

  steady_time now{1h};
  node_membership member;
  node_routes routes;
  std::vector<uint32_t> dialled;
  std::vector<uint32_t> released;
  std::vector<uint32_t> rested;
  std::vector<peer_key> ended;
  std::vector<std::pair<uint32_t, uint32_t>> relays;
};

using ranks = std::vector<uint32_t>;
using ways = std::vector<std::pair<uint32_t, uint32_t>>;

} // namespace

CAF_TEST(P-N1 the higher of two neighbours dials) {
  auto f = routes_fixture{};
  CAF_CHECK_EQUAL(f.dialled, (ranks{1}));
  CAF_CHECK(f.routes.has(key_of(1)));
  // As often as the list changes: it is dialled already.
  f.routes.update();
  CAF_CHECK_EQUAL(f.dialled, (ranks{1}));
  CAF_CHECK(f.routes.is_seeking());
  f.reach(1);
  CAF_CHECK(!f.routes.is_seeking());
  CAF_CHECK(f.routes.is_connected());
}

CAF_TEST(P-N1 others are dialled when there is something to say) {
  auto f = routes_fixture{1};
  f.reach(1);
  f.meet(5);
  CAF_CHECK_EQUAL(f.dialled, (ranks{1, 5}));
  // No room for a second one until the first has been idle for a while.
  f.meet(6);
  CAF_CHECK_EQUAL(f.dialled, (ranks{1, 5}));
  f.now += defaults::peer_grace;
  f.routes.use(key_of(6), f.now);
  CAF_CHECK_EQUAL(f.dialled, (ranks{1, 5, 6}));
  CAF_CHECK_EQUAL(f.released, (ranks{5}));
  CAF_CHECK_EQUAL(f.rested, (ranks{5}));
  // A neighbour is no guest.
  f.now += defaults::direct_idle;
  f.routes.tend(f.now);
  CAF_CHECK_EQUAL(f.released, (ranks{5, 6}));
  CAF_CHECK_EQUAL(f.rested, (ranks{5, 6}));
}

CAF_TEST(LIM24 without room beyond the tree nobody else is dialled) {
  auto f = routes_fixture{0};
  f.reach(1);
  f.meet(5);
  CAF_CHECK_EQUAL(f.dialled, (ranks{1}));
  f.routes.reached(key_of(5), peer_state::stranded, f.now);
  CAF_CHECK(f.relays == (ways{{5, via_tree}, {5, 1}}));
  // One that has dialled us is let go, and none takes its place.
  f.reach(6);
  f.now += defaults::peer_grace;
  f.routes.use(key_of(5), f.now);
  CAF_CHECK_EQUAL(f.dialled, (ranks{1}));
  f.routes.tend(f.now);
  CAF_CHECK_EQUAL(f.rested, (ranks{6}));
  CAF_CHECK_EQUAL(f.dialled, (ranks{1}));
}

CAF_TEST(LINK-4 who is not reached directly is looked for through others) {
  auto f = routes_fixture{};
  f.reach(1);
  f.meet(5);
  CAF_CHECK(f.relays.empty());
  // The networks may need a moment, unless they have failed already.
  f.routes.tend(f.now);
  CAF_CHECK(f.relays.empty());
  f.routes.note_trouble(5, "nobody answers");
  f.routes.note_trouble(6, "is not dialled");
  CAF_CHECK_EQUAL(f.routes.trouble_of(5), "nobody answers");
  CAF_CHECK_EQUAL(f.routes.trouble_of(6), "");
  f.routes.reached(key_of(5), peer_state::stranded, f.now);
  // Along the tree, and through the own parent; the root is not reached.
  CAF_CHECK(f.relays == (ways{{5, via_tree}, {5, 1}}));
  f.routes.tend(f.now + defaults::relay_retry / 2);
  CAF_CHECK_EQUAL(f.relays.size(), 2u);
  f.reach(0);
  f.relays.clear();
  f.routes.tend(f.now + defaults::relay_retry);
  CAF_CHECK(f.relays == (ways{{5, via_tree}, {5, 0}, {5, 1}}));
  f.reach(5);
  CAF_CHECK_EQUAL(f.routes.trouble_of(5), "");
}

CAF_TEST(LINK-4 without a way along the tree anybody may know one) {
  auto f = routes_fixture{};
  f.reach(5);
  f.reach(6);
  f.routes.note_trouble(1, "nobody answers");
  f.routes.reached(key_of(1), peer_state::stranded, f.now);
  CAF_CHECK(f.relays == (ways{{1, 5}, {1, 6}}));
}

CAF_TEST(LINK-4 frames of others go along the tree and never back) {
  auto f = routes_fixture{};
  CAF_CHECK(!f.next(5, via_tree, 3));
  f.reach(1);
  CAF_CHECK(f.next(5, via_tree, 3) == key_of(1));
  // What begins here never goes straight to its end.
  CAF_CHECK(!f.next(1, 1, 3));
  CAF_CHECK(!f.next(5, 6, 3));
  f.reach(6);
  CAF_CHECK(f.next(5, 6, 3) == key_of(6));
  // The parent asks, and the tree leads back to it: it is dialled instead.
  CAF_CHECK(!f.next(5, via_tree, 1));
  CAF_CHECK_EQUAL(f.dialled.back(), 5u);
  f.reach(5);
  CAF_CHECK(f.next(5, via_tree, 1) == key_of(5));
}

CAF_TEST(P-M1 a session of no member ends once it is idle) {
  auto f = routes_fixture{};
  f.meet(5);
  f.lose(5);
  f.routes.update();
  CAF_CHECK_EQUAL(f.released, (ranks{5}));
  f.now += defaults::direct_idle;
  f.routes.tend(f.now);
  CAF_CHECK(f.ended == (std::vector<peer_key>{key_of(5)}));
  CAF_CHECK(!f.routes.has(key_of(5)));
  CAF_CHECK_EQUAL(f.routes.live(5), 0u);
  // Nobody looks for it.
  f.meet(5);
  CAF_CHECK_EQUAL(std::count(f.dialled.begin(), f.dialled.end(), 5u), 1);
}

CAF_TEST(a session is found by its node until its incarnation is known) {
  auto f = routes_fixture{};
  CAF_CHECK(f.routes.find({5, 0}) == (peer_key{5, 0}));
  f.routes.add({5, 0}, f.now);
  CAF_CHECK(f.routes.find({5, 0}) == (peer_key{5, 0}));
  f.routes.rename({5, 0}, key_of(5));
  CAF_CHECK(f.routes.find({5, 0}) == key_of(5));
  f.routes.add({5, 99}, f.now);
  CAF_CHECK(f.routes.find({5, 0}) == (peer_key{5, 99}));
  CAF_CHECK_EQUAL(f.routes.count(5), 2u);
  CAF_CHECK_EQUAL(f.routes.count(4), 0u);
}

CAF_TEST(a node that leaves dials nobody any more) {
  auto f = routes_fixture{};
  f.meet(5);
  f.routes.stop();
  CAF_CHECK_EQUAL(f.released, (ranks{1, 5}));
  f.meet(6);
  CAF_CHECK_EQUAL(f.dialled, (ranks{1, 5}));
}
