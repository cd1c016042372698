// What the root of a DVM decides, call by call: who joins, who is lost, who is
// fenced. The whole of it is simulated in node_simulation.test.cpp.

#include "actors/mesh/members/node_membership.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;

namespace {

using namespace std::chrono_literals;

/// A root of five nodes, and what it wants done.
struct root_fixture {
  root_fixture() : root(settings()) {
    tick(0s);
  }

  static node_settings settings() {
    auto x = node_settings{};
    x.name = "a";
    x.incarnation = 10;
    x.radix = 2;
    x.names = {"a", "b", "c", "d", "e"};
    return x;
  }

  void keep(node_effects xs) {
    effects = std::move(xs);
  }

  void tick(node_time now) {
    keep(root.tick(now));
  }

  /// Looks at the time as often as it should.
  void run(node_time from, node_time to) {
    all.clear();
    for (auto now = from; now <= to; now += 250ms) {
      tick(now);
      all.insert(all.end(), effects.begin(), effects.end());
    }
  }

  void join(const std::string& name, uint64_t incarnation, node_time now,
            bool is_predecessor_gone = false) {
    keep(root.join({name, incarnation, is_predecessor_gone, now, {}}, 7, now));
  }

  void join_all() {
    join("b", 11, 1s);
    join("c", 12, 1s);
    join("d", 13, 1s);
    join("e", 14, 1s);
  }

  void hear(uint32_t rank, uint64_t incarnation, node_message what,
            node_time now) {
    keep(root.receive(rank, incarnation, std::move(what), now));
  }

  std::optional<join_refusal> refusal() const {
    for (const auto& x : effects)
      if (const auto* answer = std::get_if<answer_join>(&x))
        if (const auto* why = std::get_if<node_refusal>(&answer->what))
          return why->why;
    return std::nullopt;
  }

  node_state state(uint32_t rank) const {
    return root.list().find(rank)->state;
  }

  template <class T>
  static size_t count(const node_effects& xs) {
    return static_cast<size_t>(
      std::count_if(xs.begin(), xs.end(), [](const auto& x) {
        return std::holds_alternative<T>(x);
      }));
  }

  node_membership root;
  node_effects effects;

  /// What a `run` wanted.
  node_effects all;
};

using ranks = std::vector<uint32_t>;

} // namespace

CAF_TEST(MEM-1 all that join at once share an epoch) {
  auto f = root_fixture{};
  CAF_CHECK_EQUAL(f.root.list().epoch(), 1u);
  f.join("b", 11, 1s);
  f.join("c", 12, 1s);
  f.join("d", 13, 1s);
  CAF_CHECK_EQUAL(f.root.list().epoch(), 1u);
  // Nobody is missing: no reason to wait.
  f.join("e", 14, 1s);
  CAF_CHECK_EQUAL(f.root.list().epoch(), 2u);
  CAF_CHECK_EQUAL(f.count<answer_join>(f.effects), 4u);
  CAF_CHECK_EQUAL(f.root.list().tree().children(0), (ranks{1, 2}));
}

CAF_TEST(MEM-1 a join waits no longer than a probe for others) {
  auto f = root_fixture{};
  f.join("b", 11, 1s);
  f.tick(1s + 249ms);
  CAF_CHECK_EQUAL(f.root.list().epoch(), 1u);
  f.tick(1s + 250ms);
  CAF_CHECK_EQUAL(f.root.list().epoch(), 2u);
  CAF_CHECK(f.root.accepts(1, 11));
  CAF_CHECK(!f.root.accepts(1, 12));
  CAF_CHECK(!f.root.accepts(2, 0));
}

CAF_TEST(X40 who takes a live name is refused and told of) {
  auto f = root_fixture{};
  f.join("z", 1, 1s);
  CAF_CHECK(f.refusal() == join_refusal::unknown_name);
  f.join_all();
  f.join("b", 20, 2s);
  CAF_CHECK(f.refusal() == join_refusal::taken);
  CAF_CHECK_EQUAL(f.count<node_alarm>(f.effects), 1u);
  f.join("b", 9, 2s);
  CAF_CHECK(f.refusal() == join_refusal::stale);
  CAF_CHECK(f.root.accepts(1, 11));
  // The same one asks again: its answer was lost.
  f.join("b", 11, 3s);
  CAF_CHECK(!f.refusal());
  CAF_CHECK_EQUAL(f.count<answer_join>(f.effects), 1u);
  CAF_CHECK_EQUAL(f.root.list().epoch(), 2u);
}

CAF_TEST(MEM-2 MEM-3 a lost node comes back when it is fenced and as another) {
  auto f = root_fixture{};
  f.join_all();
  CAF_CHECK_EQUAL(f.root.list().epoch(), 2u);
  f.keep(f.root.declare_lost(1, false, 10s));
  f.tick(10s + 250ms);
  CAF_CHECK(f.state(1) == node_state::lost);
  CAF_CHECK_EQUAL(f.count<node_report>(f.effects), 1u);
  f.join("b", 11, 11s);
  CAF_CHECK(f.refusal() == join_refusal::stale);
  f.join("b", 20, 11s);
  CAF_CHECK(f.refusal() == join_refusal::too_early);
  // 30 s and their drift, and 5 s.
  f.join("b", 20, 45s + 5ms);
  CAF_CHECK(f.refusal() == join_refusal::too_early);
  f.tick(45s + 6ms);
  CAF_CHECK_EQUAL(f.count<node_fenced>(f.effects), 1u);
  f.join("b", 20, 46s);
  CAF_CHECK(!f.refusal());
  f.tick(46s + 250ms);
  CAF_CHECK(f.root.accepts(1, 20));
  CAF_CHECK(f.root.list().is_dead(1, 11));
}

CAF_TEST(MEM-2 a restarted daemon that knows its predecessor gone comes back) {
  auto f = root_fixture{};
  f.join_all();
  f.join("b", 20, 10s, true);
  CAF_CHECK(!f.refusal());
  // Lost first, then joined, then what follows from it.
  auto states = std::vector<node_state>{};
  auto is_told = false;
  for (const auto& x : f.effects) {
    if (const auto* report = std::get_if<node_report>(&x))
      states.push_back(report->what.state);
    if (std::holds_alternative<node_repair>(x)) {
      CAF_CHECK_EQUAL(states.size(), 2u);
      CAF_CHECK(!is_told);
    }
    is_told |= std::holds_alternative<node_fenced>(x);
  }
  CAF_CHECK(states == (std::vector{node_state::lost, node_state::live}));
  CAF_CHECK(is_told);
}

CAF_TEST(L8 deaths within a probe share an epoch and nobody is lost early) {
  auto f = root_fixture{};
  f.join_all();
  f.run(1s, 5s + 750ms);
  CAF_CHECK_EQUAL(f.root.list().epoch(), 2u);
  // Both children fell silent at 1 s, and nobody answers for them.
  f.run(6s, 8s);
  CAF_CHECK_EQUAL(f.root.list().epoch(), 3u);
  CAF_CHECK_EQUAL(f.count<node_report>(f.all), 2u);
  CAF_CHECK(f.state(1) == node_state::lost);
  CAF_CHECK(f.state(2) == node_state::lost);
}

CAF_TEST(MEM-4 a root that was late itself declares nobody lost) {
  auto f = root_fixture{};
  f.join_all();
  f.run(1s, 2s);
  f.tick(60s);
  CAF_CHECK_EQUAL(f.count<node_report>(f.effects), 0u);
  f.run(60s + 250ms, 63s);
  CAF_CHECK_EQUAL(f.root.list().epoch(), 2u);
  f.run(63s, 67s);
  CAF_CHECK(f.root.list().epoch() > 2u);
}

CAF_TEST(L5 X42 the dead are told so and what they say is not heard) {
  auto f = root_fixture{};
  f.join_all();
  f.keep(f.root.declare_lost(1, false, 2s));
  f.tick(3s);
  f.hear(1, 11, node_suspicion{2, 12, 60s, 3}, 4s);
  CAF_REQUIRE_EQUAL(f.effects.size(), 1u);
  const auto& send = std::get<send_to_node>(f.effects.front());
  CAF_CHECK_EQUAL(send.incarnation, 11u);
  CAF_CHECK(std::holds_alternative<node_dismissal>(send.what));
  f.run(4s, 5s);
  CAF_CHECK_EQUAL(f.root.list().epoch(), 3u);
  // It ends and says so: no need to wait for its lease.
  f.hear(1, 11, node_departure{}, 5s);
  f.tick(5s + 250ms);
  CAF_CHECK_EQUAL(f.count<node_fenced>(f.effects), 1u);
}

CAF_TEST(who leaves is no loss) {
  auto f = root_fixture{};
  f.join_all();
  f.hear(1, 11, node_departure{}, 2s);
  f.run(2s, 3s);
  CAF_CHECK(f.state(1) == node_state::left);
  CAF_CHECK_EQUAL(f.count<node_fenced>(f.all), 1u);
  f.join("b", 20, 4s);
  CAF_CHECK(!f.refusal());
}

CAF_TEST(L5 a report of a node that the root hears has no effect) {
  auto f = root_fixture{};
  f.join_all();
  for (auto now = node_time{1s}; now < 20s; now += 250ms) {
    f.hear(3, 13, node_query{0s, 2}, now);
    f.hear(1, 11, node_suspicion{3, 13, 60s, 3}, now);
    f.hear(2, 12, node_query{0s, 2}, now);
    f.tick(now);
  }
  CAF_CHECK_EQUAL(f.root.list().epoch(), 2u);
}
