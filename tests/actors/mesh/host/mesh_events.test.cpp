// Events of processes on several nodes: whom they reach, in which order, and
// what becomes of them when a node is lost.

#include "actors/mesh/exchange/event_spread.hpp"
#include "tests/fixtures/exchange.hpp"

#include <caf/send.hpp>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

struct fixture : exchange {
  void want_events_of(const std::string& name, uint32_t size) {
    for (uint32_t rank = 0; rank < size; ++rank)
      want_events({name, rank});
  }

  pending<ack> raise(const proc_id& who, uint32_t number,
                     data_range range = data_range::nspace,
                     std::vector<info> infos = {}) {
    infos.push_back(with("n", value::uint32(number)));
    return mesh[nodes.at(who)].uut->ask<ack>(
      ranks.at(who), notify_request{code, range, std::move(infos)});
  }

  /// The numbers of the events that a process has heard.
  std::vector<uint32_t> heard(const proc_id& who) {
    auto result = std::vector<uint32_t>{};
    for (const auto& x : ranks.at(who)->wire->events)
      result.push_back(number<uint32_t>(x.infos, "n").value_or(9999));
    return result;
  }

  peer_ptr attach(uint32_t node) {
    auto result = mesh[node].uut->connect(node::tool_greeting());
    consume_messages();
    mesh[node].uut->ask<ack>(result, register_events_request{{code}, {}});
    consume_messages();
    return result;
  }

  using node = fixtures::node;

  std::vector<info> only_for(procs who) {
    return {with(attr::event_custom_range, value::procs(std::move(who)))};
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_events_tests, fixture)

CAF_TEST(P-J1 P-J2 an event reaches the nodes of its namespace and no other) {
  start(nspace, 4);
  want_events_of(nspace, 4);
  const auto x = raise({nspace, 0}, 1);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  for (uint32_t rank = 1; rank < 4; ++rank)
    CAF_CHECK_EQUAL(events_of({nspace, rank}), 1u);
  CAF_CHECK_EQUAL(events_of({nspace, 0}), 0u);
  CAF_CHECK_EQUAL(asked<order_events>(), 1u);
  CAF_CHECK_EQUAL(asked<submit_event>(), 0u);
}

CAF_TEST(P-J1 an event for one process reaches it and nobody else) {
  start(nspace, 6);
  want_events_of(nspace, 6);
  const auto x =
    raise({nspace, 0}, 1, data_range::custom, only_for({{nspace, 5}}));
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  for (uint32_t rank = 0; rank < 6; ++rank)
    CAF_CHECK_EQUAL(events_of({nspace, rank}), rank == 5 ? 1u : 0u);
}

CAF_TEST(E13 E57 ranges name processes) {
  start(nspace, 4);
  start(other, 2, 2);
  want_events_of(nspace, 4);
  want_events_of(other, 2);
  const auto tool = attach(1);
  const auto told = [&](data_range range, std::vector<info> infos = {}) {
    for (const auto& [id, peer] : ranks)
      peer->wire->events.clear();
    tool->wire->events.clear();
    const auto x = raise({nspace, 2}, 1, range, std::move(infos));
    consume_messages();
    CAF_CHECK_EQUAL(x->code, status::success);
    auto result = std::string{};
    for (const auto& [id, peer] : ranks)
      result += std::to_string(peer->wire->events.size());
    return result + " " + std::to_string(tool->wire->events.size());
  };
  // Ranks 0 to 3 of the first job, both of the second, the tool.
  CAF_CHECK_EQUAL(told(data_range::proc_local), "000000 0");
  CAF_CHECK_EQUAL(told(data_range::local), "000100 1");
  CAF_CHECK_EQUAL(told(data_range::nspace), "110100 0");
  CAF_CHECK_EQUAL(told(data_range::session), "110111 1");
  CAF_CHECK_EQUAL(told(data_range::global), "110111 1");
  CAF_CHECK_EQUAL(told(data_range::rm), "000000 0");
  CAF_CHECK_EQUAL(
    told(data_range::custom,
         only_for({{nspace, 0}, {other, 1}, tool->accepted.proc})),
    "100001 1");
  CAF_CHECK_EQUAL(told(data_range::custom, only_for({{other, rank_wildcard}})),
                  "000011 0");
}

CAF_TEST(E2 E57 a range that is not reached is not success) {
  start(nspace, 4);
  const auto outcome = [&](procs who) {
    const auto x =
      raise({nspace, 2}, 1, data_range::custom, only_for(std::move(who)));
    consume_messages();
    return x->code;
  };
  CAF_CHECK_EQUAL(outcome({{nspace, 0}, {nspace, 1}}), status::success);
  CAF_CHECK_EQUAL(outcome({{nspace, 0}, {nspace, 17}}),
                  status::partial_success);
  CAF_CHECK_EQUAL(outcome({{"nobody", 0}}), status::unreach);
  CAF_CHECK_EQUAL(outcome({attach(2)->accepted.proc}), status::success);
}

CAF_TEST(P-J3 events of a process stay in order over nodes) {
  start(nspace, 6);
  want_events({nspace, 4});
  for (uint32_t i = 0; i < 100; ++i)
    raise({nspace, 0}, i);
  consume_messages();
  const auto numbers = heard({nspace, 4});
  CAF_REQUIRE_EQUAL(numbers.size(), 100u);
  for (uint32_t i = 0; i < 100; ++i)
    CAF_CHECK_EQUAL(numbers[i], i);
}

CAF_TEST(P-J3 SEQ-1 events of all processes have one order on all nodes) {
  start(nspace, 6);
  want_events_of(nspace, 6);
  for (uint32_t i = 0; i < 50; ++i)
    for (const auto rank : {5u, 3u, 1u})
      raise({nspace, rank}, 100 * rank + i);
  consume_messages();
  const auto expected = heard({nspace, 0});
  CAF_CHECK_EQUAL(expected.size(), 150u);
  CAF_CHECK(heard({nspace, 2}) == expected);
  CAF_CHECK(heard({nspace, 4}) == expected);
  // Who raised some of them hears the others in the same order.
  for (const auto rank : {1u, 3u, 5u}) {
    auto rest = std::vector<uint32_t>{};
    for (const auto n : expected)
      if (n / 100 != rank)
        rest.push_back(n);
    CAF_CHECK(heard({nspace, rank}) == rest);
  }
}

CAF_TEST(P-J4 notify is answered when all nodes have the event) {
  start(nspace, 6);
  auto held = size_t{0};
  mesh.passes = [&](uint32_t, uint32_t to, const host_message& x) {
    const auto* call = std::get_if<host_call>(&x);
    if (call == nullptr || to != 2
        || !std::holds_alternative<order_events>(call->what))
      return true;
    ++held;
    return false;
  };
  const auto x = raise({nspace, 0}, 1);
  const auto early = raise({nspace, 1}, 2, data_range::nspace,
                           {with(event_accept, value::string("local"))});
  consume_messages();
  CAF_CHECK_EQUAL(held, 2u);
  CAF_CHECK(x->is_pending());
  CAF_CHECK_EQUAL(early->code, status::success);
  // A node that is lost has nobody who is owed it.
  mesh.lose(2);
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(P-J1 P-J2 P-J4 a home that is lost takes no event with it) {
  // The second job has its home on node 1.
  start(nspace, 2);
  start(other, 4, 1);
  want_events_of(other, 4);
  const auto outside = [&](uint32_t n) {
    return raise({nspace, 0}, n, data_range::custom,
                 only_for({{other, rank_wildcard}}));
  };
  const auto first = raise({other, 2}, 1);
  consume_messages();
  CAF_CHECK_EQUAL(first->code, status::success);
  // From now on it gets events, and what it says of them is lost.
  mesh.passes = [&](uint32_t from, uint32_t, const host_message& x) {
    return from != 1 || !std::holds_alternative<host_call>(x);
  };
  auto answers = std::vector<pending<ack>>{};
  for (uint32_t i = 2; i < 20; ++i) {
    answers.push_back(raise({other, 2}, i));
    answers.push_back(outside(100 + i));
  }
  consume_messages();
  CAF_CHECK((heard({other, 3}) == std::vector<uint32_t>{1}));
  for (const auto& x : answers)
    CAF_CHECK(x->is_pending());
  mesh.lose(1);
  for (const auto& x : answers)
    CAF_CHECK_EQUAL(x->code, status::success);
  auto numbers = heard({other, 3});
  CAF_CHECK_EQUAL(numbers.size(), 1u + 2 * 18);
  std::sort(numbers.begin(), numbers.end());
  CAF_CHECK(std::adjacent_find(numbers.begin(), numbers.end())
            == numbers.end());
}

CAF_TEST(P-M1 a node that comes back has no part in the order of before) {
  start(nspace, 2);
  start(other, 4, 1);
  want_events_of(other, 4);
  mesh.lose(1);
  mesh.rejoin(1);
  const auto x = raise({nspace, 0}, 7, data_range::custom,
                       only_for({{other, rank_wildcard}}));
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK((heard({other, 2}) == std::vector<uint32_t>{7}));
}

CAF_TEST(X41 an event of a process comes from its node only) {
  start(nspace, 6);
  want_events({nspace, 0});
  auto forged = submit_event{nspace, 1, {}};
  const auto send = [&](uint64_t call, const proc_id& source) {
    forged.what = deliver_event{event{code, source, data_range::nspace, {}},
                                {{nspace, rank_wildcard}}};
    auto what = host_call{};
    what.number = call;
    what.what = forged;
    caf::anon_send(mesh[0].host, member_message{2, 1002, what});
    consume_messages();
  };
  send(1000, {nspace, 2});
  // Nor does it speak for the system.
  send(1001, {"", rank_undef});
  CAF_CHECK_EQUAL(events_of({nspace, 0}), 0u);
  send(1002, {nspace, 4});
  CAF_CHECK_EQUAL(events_of({nspace, 0}), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
