// One member's part in the membership, call by call. The whole of it is
// simulated in node_simulation.test.cpp.

#include "actors/mesh/members/node_membership.hpp"

#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;

namespace {

using namespace std::chrono_literals;

/// A member of rank 1 in a DVM of four, all live, that joined at 100 s.
struct member_fixture {
  member_fixture() : member(settings()) {
    keep(member.tick(100s));
    auto welcome = node_welcome{1, 5, {}, 100s};
    for (auto rank = uint32_t{0}; rank < 4; ++rank)
      welcome.rows.push_back({rank,
                              std::string(1, static_cast<char>('a' + rank)),
                              10 + rank,
                              node_state::live,
                              5,
                              {}});
    keep(member.receive(0, 10, welcome, 100s));
  }

  static node_settings settings() {
    auto x = node_settings{};
    x.name = "b";
    x.incarnation = 11;
    x.radix = 1;
    return x;
  }

  void keep(node_effects xs) {
    effects = std::move(xs);
  }

  /// An update that changes one row.
  node_update change(uint32_t rank, node_state state, uint64_t incarnation,
                     uint64_t epoch) const {
    return {epoch - 1, epoch, {{rank, "x", incarnation, state, epoch, {}}}};
  }

  /// To whom it sends a message of this kind.
  template <class T>
  std::vector<uint32_t> receivers() const {
    auto result = std::vector<uint32_t>{};
    for (const auto& x : effects)
      if (const auto* send = std::get_if<send_to_node>(&x))
        if (std::holds_alternative<T>(send->what))
          result.push_back(send->rank);
    return result;
  }

  node_membership member;
  node_effects effects;
};

using ranks = std::vector<uint32_t>;

} // namespace

CAF_TEST(a joiner sends nothing but its wish until it has the list) {
  auto x = member_fixture::settings();
  auto member = node_membership{x};
  auto f = member_fixture{};
  f.keep(member.tick(1s));
  CAF_CHECK_EQUAL(f.receivers<node_join>(), (ranks{0}));
  CAF_CHECK(member.receive(2, 12, node_query{1s, 5}, 1s).empty());
  CAF_CHECK(member.receive(2, 12, node_dismissal{5}, 1s).empty());
  CAF_CHECK(member.tick(1s + 500ms).empty());
  // Another as new as we are: come with a larger number, that stays our own.
  member.receive(0, 10, node_refusal{join_refusal::stale, 99}, 2s);
  CAF_CHECK(member.incarnation() > 99u);
  CAF_CHECK_EQUAL(member.incarnation() & UINT32_MAX, 11u);
  member.receive(0, 10, node_refusal{join_refusal::unknown_name, 0}, 2s);
  CAF_CHECK(member.duty() == node_duty::fenced);
}

CAF_TEST(P-M1 a lease runs down step by step and comes back) {
  auto f = member_fixture{};
  CAF_CHECK(f.member.duty() == node_duty::active);
  f.keep(f.member.tick(114s));
  CAF_CHECK(f.member.duty() == node_duty::active);
  f.keep(f.member.tick(115s));
  CAF_CHECK(f.member.duty() == node_duty::suspended);
  f.member.receive(0, 10, node_answer{110s, 0s, 5}, 116s);
  CAF_CHECK(f.member.duty() == node_duty::active);
  f.keep(f.member.tick(139s));
  CAF_CHECK(f.member.duty() == node_duty::suspended);
  // On waking late, time is looked at before anything that waited.
  f.member.receive(0, 10, node_answer{139s, 0s, 5}, 140s);
  CAF_CHECK(f.member.duty() == node_duty::fenced);
  CAF_CHECK(!f.member.accepts(0, 10));
  CAF_CHECK(f.member.tick(141s).empty());
}

CAF_TEST(P-M1 a contact counts from when it was and only in its epoch) {
  auto f = member_fixture{};
  f.member.receive(2, 12, node_answer{105s, 3s, 5}, 106s);
  CAF_CHECK(f.member.contact() == 102s);
  f.member.receive(2, 12, node_answer{105s, 4s, 5}, 106s);
  CAF_CHECK(f.member.contact() == 102s);
  f.keep(f.member.receive(0, 10, node_answer{106s, 0s, 6}, 107s));
  CAF_CHECK(f.member.contact() == 102s);
  CAF_CHECK_EQUAL(f.receivers<node_update_request>(), (ranks{0}));
  // An answer to what was never asked, and one from before we were born.
  f.member.receive(0, 10, node_answer{500s, 0s, 5}, 107s);
  f.member.receive(0, 10, node_answer{106s, -50s, 5}, 107s);
  CAF_CHECK(f.member.contact() == 106s);
}

CAF_TEST(MEM-1 MEM-3 lists are adopted whole and never counted) {
  auto f = member_fixture{};
  f.keep(f.member.receive(0, 10, f.change(3, node_state::lost, 13, 5), 101s));
  CAF_CHECK_EQUAL(f.member.list().epoch(), 5u);
  CAF_CHECK(f.effects.empty());
  // One is missing.
  f.keep(f.member.receive(0, 10, f.change(3, node_state::lost, 13, 7), 101s));
  CAF_CHECK_EQUAL(f.receivers<node_update_request>(), (ranks{0}));
  auto both = f.change(3, node_state::lost, 13, 7);
  both.base = 5;
  f.keep(f.member.receive(0, 10, both, 101s));
  CAF_CHECK_EQUAL(f.member.list().epoch(), 7u);
  CAF_REQUIRE(f.effects.size() >= 2);
  CAF_CHECK(std::holds_alternative<node_report>(f.effects[0]));
  CAF_CHECK(std::holds_alternative<node_repair>(f.effects[1]));
  f.keep(f.member.receive(0, 10, both, 102s));
  CAF_CHECK(f.effects.empty());
}

CAF_TEST(X42 who reads of its own death ends) {
  auto f = member_fixture{};
  f.keep(f.member.receive(0, 10, f.change(1, node_state::lost, 11, 6), 101s));
  CAF_CHECK(f.member.duty() == node_duty::fenced);
  auto g = member_fixture{};
  g.keep(g.member.receive(2, 12, node_dismissal{6}, 101s));
  CAF_CHECK(g.member.duty() == node_duty::fenced);
  auto h = member_fixture{};
  h.keep(h.member.receive(0, 10, h.change(1, node_state::live, 99, 6), 101s));
  CAF_CHECK(h.member.duty() == node_duty::fenced);
}

CAF_TEST(L1 L5 a lost parent is not a lost lifeline) {
  // In a tree of radix 1 the parent of 3 is 2, and the root is 0.
  auto settings = member_fixture::settings();
  settings.name = "d";
  settings.incarnation = 13;
  auto f = member_fixture{};
  auto member = node_membership{settings};
  member.tick(100s);
  auto welcome = node_welcome{3, 5, f.member.list().rows(), 100s};
  member.receive(0, 10, welcome, 100s);
  f.keep(member.tick(100s + 250ms));
  CAF_CHECK_EQUAL(f.receivers<node_query>(), (ranks{2}));
  // No lane to it any more: the next way at once, then the next.
  f.keep(member.lost_route(2, 100s + 300ms));
  CAF_CHECK_EQUAL(f.receivers<node_query>(), (ranks{1}));
  member.tick(100s + 500ms);
  f.keep(member.tick(100s + 750ms));
  CAF_CHECK_EQUAL(f.receivers<node_query>(), (ranks{0}));
  // Any of them will do, and the parent is asked as well.
  member.receive(1, 11, node_answer{100s + 300ms, 100ms, 5}, 100s + 800ms);
  CAF_CHECK(member.contact() == 100s + 200ms);
  CAF_CHECK(member.duty() == node_duty::active);
  f.keep(member.tick(101s));
  CAF_CHECK_EQUAL(f.receivers<node_query>(), (ranks{1, 2}));
  // A lost member that we do not depend on is no news.
  CAF_CHECK(member.lost_route(2, 101s).empty());
}

CAF_TEST(MEM-4 a suspicion is confirmed by others before the root hears it) {
  // Rank 1 watches rank 2, below it.
  auto f = member_fixture{};
  auto asked = ranks{};
  auto reported = ranks{};
  for (auto now = node_time{100s}; now < 103s; now += 250ms) {
    f.member.receive(0, 10, node_answer{now - 1ms, 0s, 5}, now);
    f.keep(f.member.tick(now));
    for (const auto x : f.receivers<node_witness_request>())
      asked.push_back(x);
    reported = f.receivers<node_suspicion>();
    CAF_CHECK(reported.empty());
    if (!asked.empty())
      break;
  }
  std::sort(asked.begin(), asked.end());
  CAF_CHECK_EQUAL(asked, (ranks{0, 3}));
  // One reaches it: not suspected.
  f.member.receive(0, 10, node_witness{2, 12, false}, 102s + 300ms);
  f.member.receive(3, 13, node_witness{2, 12, true}, 102s + 300ms);
  f.keep(f.member.tick(102s + 500ms));
  CAF_CHECK(f.receivers<node_suspicion>().empty());
  CAF_CHECK(f.receivers<node_witness_request>().empty());
}

CAF_TEST(MEM-4 who nobody reaches is reported) {
  auto f = member_fixture{};
  for (auto now = node_time{100s}; now <= 102s; now += 250ms)
    f.keep(f.member.tick(now));
  CAF_CHECK_EQUAL(f.receivers<node_witness_request>().size(), 2u);
  f.member.receive(0, 10, node_witness{2, 12, false}, 102s + 100ms);
  f.member.receive(3, 13, node_witness{2, 12, false}, 102s + 100ms);
  f.keep(f.member.tick(102s + 250ms));
  CAF_CHECK_EQUAL(f.receivers<node_suspicion>(), (ranks{0}));
}

CAF_TEST(a daemon rests until something is due) {
  auto f = member_fixture{};
  const auto hear_all = [&f](node_time now) {
    f.member.receive(0, 10, node_answer{now - 1ms, 0s, 5}, now);
    f.member.receive(2, 12, node_query{now, 5}, now);
  };
  f.keep(f.member.tick(100s));
  hear_all(100s);
  CAF_CHECK(f.member.rest(100s) == 1s);
  CAF_CHECK(f.member.rest(100s + 600ms) == 400ms);
  f.keep(f.member.tick(101s, 101s)); // Asks whether the root is there.
  CAF_CHECK_EQUAL(f.receivers<node_query>(), (ranks{0}));
  f.member.receive(0, 10, node_answer{101s, 0s, 5}, 101s);
  CAF_CHECK(f.member.rest(101s) == 250ms); // Rank 2 has to be heard.
  f.keep(f.member.tick(101s + 250ms, 101s + 250ms));
  CAF_CHECK_EQUAL(f.receivers<node_query>(), (ranks{2}));
  hear_all(101s + 300ms);
  CAF_CHECK(f.member.rest(101s + 300ms) > 250ms);
  // Somebody asks us about another.
  f.member.receive(0, 10, node_witness_request{3, 13}, 101s + 300ms);
  CAF_CHECK(f.member.rest(101s + 300ms) == 250ms);
}

CAF_TEST(MEM-4 who rests as long as it was to excuses nobody) {
  for (const auto& [due, asks] :
       {std::pair<node_time, size_t>{101s + 750ms, 2}, {0s, 0}}) {
    auto f = member_fixture{};
    f.keep(f.member.tick(100s));
    f.keep(f.member.tick(102s, due));
    CAF_CHECK_EQUAL(f.receivers<node_witness_request>().size(), asks);
  }
}

CAF_TEST(a witness says what it finds) {
  auto f = member_fixture{};
  f.keep(f.member.receive(0, 10, node_witness_request{3, 13}, 101s));
  CAF_CHECK_EQUAL(f.receivers<node_query>(), (ranks{3}));
  f.keep(f.member.receive(3, 13, node_answer{101s, 0s, 5}, 101s + 10ms));
  CAF_CHECK_EQUAL(f.receivers<node_witness>(), (ranks{0}));
  f.member.tick(101s + 250ms);
  f.member.receive(0, 10, node_witness_request{3, 13}, 101s + 250ms);
  f.member.tick(101s + 500ms);
  f.keep(f.member.tick(101s + 750ms));
  CAF_CHECK(f.receivers<node_witness>().empty());
  f.keep(f.member.tick(101s + 1000ms));
  CAF_CHECK_EQUAL(f.receivers<node_witness>(), (ranks{0}));
}

CAF_TEST(a daemon that ends says so) {
  auto f = member_fixture{};
  f.keep(f.member.end(101s));
  CAF_CHECK_EQUAL(f.receivers<node_departure>(), (ranks{0}));
  CAF_CHECK(f.member.duty() == node_duty::fenced);
}

CAF_TEST(MND-X72 whatever a member sends is a sign of life) {
  auto f = member_fixture{};
  const auto asks_at = [&f](node_time now) {
    f.keep(f.member.tick(now));
    return !f.receivers<node_witness_request>().empty();
  };
  for (node_time now = 100'250ms; now <= 101'900ms; now += 250ms)
    CAF_CHECK(!asks_at(now));
  f.keep(f.member.note_alive(2, 12, 101'900ms));
  CAF_CHECK(!asks_at(102'150ms));
  for (node_time now = 102'400ms; now <= 103'800ms; now += 250ms)
    CAF_CHECK(!asks_at(now));
  f.keep(f.member.note_alive(2, 11, 103'850ms)); // Another incarnation's.
  CAF_CHECK(asks_at(104'050ms));
}
