// Collectives, data and events of processes on several nodes.

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/fixtures/mesh_hosts.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

using procs = std::vector<proc_id>;

const auto nspace = std::string{"server@1"};
const auto other = std::string{"server@2"};

/// Where a question stands in `host_question`.
template <class T, size_t I = 0>
constexpr size_t index_of_question() {
  if constexpr (std::is_same_v<std::variant_alternative_t<I, host_question>, T>)
    return I;
  else
    return index_of_question<T, I + 1>();
}

struct fixture : deterministic {
  mesh_hosts mesh{*this, 3};
  std::map<proc_id, peer_ptr> ranks;

  /// Starts a job and connects its processes, two to a node, from `first` on.
  void start(const std::string& name, uint32_t size, uint32_t first = 0) {
    const auto x = mesh.spawn(
      job_host::program(static_cast<int32_t>(size),
                        {with(attr::job_recoverable, value::boolean(true))}));
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    CAF_REQUIRE_EQUAL(x->value.nspace, name);
    for (uint32_t rank = 0; rank < size; ++rank) {
      auto& peer = ranks[{name, rank}];
      peer = mesh.connect(first + rank / 2, name, rank);
      CAF_REQUIRE_EQUAL(peer->code, status::success);
      nodes[{name, rank}] = first + rank / 2;
    }
    mesh.questions.clear();
  }

  template <class T, class Request>
  pending<T> ask(const proc_id& who, Request x) {
    auto result = mesh[nodes.at(who)].uut->ask<T>(ranks.at(who), std::move(x));
    consume_messages();
    return result;
  }

  pending<ack> fence(uint32_t rank, std::vector<info> directives = {},
                     procs named = {}) {
    return ask<ack>({nspace, rank},
                    fence_request{std::move(named), std::move(directives)});
  }

  pending<get_result> get(const proc_id& who, const proc_id& target,
                          std::string_view key,
                          std::vector<info> directives = {}) {
    return ask<get_result>(
      who, get_request{target, std::move(directives), std::string{key}});
  }

  void commit(const proc_id& who, const std::string& key, std::string text) {
    const auto x = ask<ack>(
      who, commit_request{{post(scope::global, key, std::move(text))}});
    CAF_REQUIRE_EQUAL(x->code, status::success);
  }

  void want_events(const proc_id& who) {
    const auto x = ask<ack>(who, register_events_request{{code}, {}});
    CAF_REQUIRE_EQUAL(x->code, status::success);
  }

  size_t events_of(const proc_id& who) {
    return ranks.at(who)->wire->events.size();
  }

  template <class T>
  size_t asked() {
    return mesh.questions[index_of_question<T>()];
  }

  static constexpr auto code = static_cast<status>(-3333);

  std::map<proc_id, uint32_t> nodes;
  const std::vector<info> collect = {with(attr::collect_data)};
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_exchange_tests, fixture)

// -- fences ------------------------------------------------------------------

CAF_TEST(COLL-1 COLL-3 a fence over nodes ends when the last has joined) {
  start(nspace, 6);
  auto calls = std::vector<pending<ack>>{};
  for (uint32_t rank = 0; rank < 5; ++rank)
    calls.push_back(fence(rank));
  for (const auto& x : calls)
    CAF_CHECK(x->is_pending());
  calls.push_back(fence(5));
  for (const auto& x : calls)
    CAF_CHECK_EQUAL(x->code, status::success);
  // Two parts up and two outcomes down.
  CAF_CHECK_EQUAL(asked<collective_part>(), 2u);
  CAF_CHECK_EQUAL(asked<collective_outcome>(), 2u);
}

CAF_TEST(F4.16 a fence that collects data brings it to all nodes) {
  start(nspace, 6);
  for (uint32_t rank = 0; rank < 6; ++rank)
    commit({nspace, rank}, "key", "of " + std::to_string(rank));
  for (uint32_t rank = 0; rank < 6; ++rank)
    fence(rank, collect);
  for (uint32_t rank = 0; rank < 6; ++rank)
    for (uint32_t target = 0; target < 6; ++target) {
      const auto x = get({nspace, rank}, {nspace, target}, "key");
      CAF_REQUIRE_EQUAL(x->code, status::success);
      CAF_CHECK_EQUAL(text_in(x->value, "key"), "of " + std::to_string(target));
    }
  CAF_CHECK_EQUAL(asked<direct_modex>(), 0u);
}

CAF_TEST(F4.16 large data stays at its owner until it is asked for) {
  start(nspace, 4);
  const auto large = std::string(defaults::eager_modex_bytes + 1, 'x');
  commit({nspace, 0}, "key", large);
  for (uint32_t rank = 0; rank < 4; ++rank)
    fence(rank, collect);
  const auto x = get({nspace, 2}, {nspace, 0}, "key");
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text_in(x->value, "key"), large);
  CAF_CHECK_EQUAL(asked<direct_modex>(), 1u);
  // It is here now.
  CAF_CHECK_EQUAL(get({nspace, 3}, {nspace, 0}, "key")->code, status::success);
  CAF_CHECK_EQUAL(asked<direct_modex>(), 1u);
}

CAF_TEST(COLL-5 a fence of some processes bothers no other node) {
  start(nspace, 6);
  const auto some = procs{{nspace, 1}, {nspace, 2}};
  const auto x = fence(1, {}, some);
  const auto y = fence(2, {}, some);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->code, status::success);
  CAF_CHECK_EQUAL(asked<collective_part>(), 1u);
  CAF_CHECK_EQUAL(asked<collective_outcome>(), 1u);
}

CAF_TEST(COLL-2 P-C1 a node that gives up fails the fence for all alike) {
  start(nspace, 6);
  auto calls = std::vector<pending<ack>>{};
  for (uint32_t rank = 0; rank < 5; ++rank)
    calls.push_back(fence(
      rank, {with(attr::timeout, value::integer(rank / 2 == 1 ? 1 : 9))}));
  elapse(1100ms);
  for (const auto& x : calls)
    CAF_CHECK_EQUAL(x->code, status::timeout);
  // Who comes late is told the same, and the next one is the next one.
  CAF_CHECK_EQUAL(fence(5)->code, status::timeout);
  calls.clear();
  for (uint32_t rank = 0; rank < 6; ++rank)
    calls.push_back(fence(rank));
  for (const auto& x : calls)
    CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(P-C2 COLL-2 a process that ends fails the fences it is missed in) {
  start(nspace, 6);
  auto calls = std::vector<pending<ack>>{};
  for (uint32_t rank = 0; rank < 4; ++rank)
    calls.push_back(fence(rank));
  mesh[2].launcher->end(4, 0, SIGKILL);
  consume_messages();
  calls.push_back(fence(5));
  for (const auto& x : calls) {
    CAF_CHECK_EQUAL(x->code, status::lost_connection);
    CAF_CHECK(x->reason.find(nspace + ":4") != std::string::npos);
  }
  // Those that are left can go on.
  auto rest = procs{};
  for (const auto rank : {0u, 1u, 2u, 3u, 5u})
    rest.push_back({nspace, rank});
  calls.clear();
  for (const auto& x : rest)
    calls.push_back(fence(x.rank, {}, rest));
  for (const auto& x : calls)
    CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(P-C2 a node that is lost fails the fence and is named) {
  start(nspace, 6);
  auto calls = std::vector<pending<ack>>{};
  for (uint32_t rank = 0; rank < 4; ++rank)
    calls.push_back(fence(rank));
  mesh.lose(2);
  for (const auto& x : calls) {
    CAF_CHECK_EQUAL(x->code, status::lost_connection);
    CAF_CHECK(x->reason.find(nspace + ":4, " + nspace + ":5")
              != std::string::npos);
  }
  auto rest = procs{{nspace, 0}, {nspace, 1}, {nspace, 2}, {nspace, 3}};
  calls.clear();
  for (const auto& x : rest)
    calls.push_back(fence(x.rank, {}, rest));
  for (const auto& x : calls)
    CAF_CHECK_EQUAL(x->code, status::success);
}

// -- data --------------------------------------------------------------------

CAF_TEST(F4.14 a get finds the node of its process and asks it once) {
  start(nspace, 6);
  const auto x = get({nspace, 4}, {nspace, 0}, "key");
  const auto y = get({nspace, 5}, {nspace, 0}, "key");
  CAF_CHECK(x->is_pending());
  commit({nspace, 0}, "key", "late");
  CAF_CHECK_EQUAL(text_in(x->value, "key"), "late");
  CAF_CHECK_EQUAL(text_in(y->value, "key"), "late");
  CAF_CHECK_EQUAL(asked<direct_modex>(), 1u);
}

CAF_TEST(F4.14 a get waits for a key that comes with a later commit) {
  start(nspace, 4);
  commit({nspace, 0}, "first", "1");
  const auto x = get({nspace, 2}, {nspace, 0}, "second");
  CAF_CHECK(x->is_pending());
  commit({nspace, 0}, "second", "2");
  CAF_CHECK_EQUAL(text_in(x->value, "second"), "2");
  const auto y = get({nspace, 2}, {nspace, 0}, "never");
  elapse(defaults::get_wait + 100ms);
  CAF_CHECK_EQUAL(y->code, status::not_found);
}

CAF_TEST(P-K1 a get of a process whose node is lost fails) {
  start(nspace, 6);
  const auto x = get({nspace, 0}, {nspace, 4}, "key");
  mesh.lose(2);
  CAF_CHECK_EQUAL(x->code, status::unreach);
}

CAF_TEST(F4.26 F6.3 jobs on different nodes connect and see each other) {
  start(nspace, 2);
  start(other, 2, 1);
  commit({other, 1}, "key", "theirs");
  const auto both = procs{{nspace, rank_wildcard}, {other, rank_wildcard}};
  auto calls = std::vector<pending<connect_procs_result>>{};
  for (const auto& [id, unused] : ranks)
    calls.push_back(
      ask<connect_procs_result>(id, connect_procs_request{both, {}, {}}));
  for (const auto& x : calls) {
    CAF_REQUIRE_EQUAL(x->code, status::success);
    CAF_REQUIRE_EQUAL(x->value.jobs.size(), 1u);
    CAF_CHECK_EQUAL(x->value.jobs.front().ranks.size(), 2u);
  }
  CAF_CHECK_EQUAL(calls.front()->value.jobs.front().nspace, other);
  const auto x = get({nspace, 0}, {other, 1}, "key");
  CAF_CHECK_EQUAL(text_in(x->value, "key"), "theirs");
  const auto y = get({nspace, 0}, {other, 0}, std::string{attr::hostname});
  CAF_CHECK_EQUAL(text_in(y->value, std::string{attr::hostname}), "n1");
  // And part again.
  auto ends = std::vector<pending<ack>>{};
  for (const auto& [id, unused] : ranks)
    ends.push_back(ask<ack>(id, disconnect_procs_request{both, {}}));
  for (const auto& x : ends)
    CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(F4.27 processes of other nodes are found by the name of their node) {
  start(nspace, 4);
  const auto peers_on = [&](const std::string& node) {
    const auto x = ask<resolve_peers_result>(
      {nspace, 0}, resolve_peers_request{node, nspace});
    return x->value.procs;
  };
  CAF_CHECK(peers_on("n0") == (procs{{nspace, 0}, {nspace, 1}}));
  CAF_CHECK(peers_on("n1") == (procs{{nspace, 2}, {nspace, 3}}));
  CAF_CHECK(peers_on("n2").empty());
}

CAF_TEST(O18 nothing is kept of a job of other nodes that is over) {
  start(nspace, 2);
  start(other, 2, 1);
  const auto size =
    get({nspace, 0}, {other, rank_wildcard}, std::string{attr::job_size});
  CAF_CHECK_EQUAL(size->reason, "");
  CAF_CHECK_EQUAL(size->code, status::success);
  for (const auto rank : {0u, 1u})
    mesh[1].launcher->end(rank);
  consume_messages();
  const auto x =
    get({nspace, 0}, {other, rank_wildcard}, std::string{attr::job_size});
  CAF_CHECK(x->code != status::success);
  CAF_CHECK(!x->is_pending());
}

CAF_TEST(a namespace that nobody knows is refused) {
  start(nspace, 4);
  const auto x = ask<connect_procs_result>(
    {nspace, 0},
    connect_procs_request{{{nspace, rank_wildcard}, {"none", 0}}, {}, {}});
  CAF_CHECK_EQUAL(x->code, status::invalid_namespace);
}

CAF_TEST(F4.23 F4.24 what is published is found on all nodes or on its own) {
  start(nspace, 4);
  const auto publish = [&](uint32_t rank, const char* key, data_range range) {
    return ask<ack>(
             {nspace, rank},
             publish_request{
               our_uid, {with(key, value::string("v")), with_range(range)}})
      ->code;
  };
  const auto look_up = [&](uint32_t rank, std::vector<std::string> keys) {
    return ask<lookup_result>({nspace, rank},
                              lookup_request{our_uid, std::move(keys), {}});
  };
  CAF_CHECK_EQUAL(publish(2, "all", data_range::session), status::success);
  CAF_CHECK_EQUAL(publish(2, "near", data_range::local), status::success);
  CAF_CHECK_EQUAL(look_up(0, {"all"})->code, status::success);
  CAF_CHECK_EQUAL(look_up(0, {"near"})->code, status::not_found);
  CAF_CHECK_EQUAL(look_up(3, {"near", "all"})->value.found.size(), 2u);
  // Waiting works over nodes.
  const auto x = ask<lookup_result>(
    {nspace, 3}, lookup_request{our_uid, {"late"}, {with(attr::wait)}});
  CAF_CHECK(x->is_pending());
  publish(0, "late", data_range::session);
  CAF_CHECK_EQUAL(x->code, status::success);
  const auto gone =
    ask<ack>({nspace, 2}, unpublish_request{our_uid, {"near"}, {}});
  CAF_CHECK_EQUAL(gone->code, status::success);
  CAF_CHECK_EQUAL(look_up(3, {"near"})->code, status::not_found);
}

// -- events ------------------------------------------------------------------

CAF_TEST(P-J1 P-J2 an event reaches the nodes of its namespace and no other) {
  start(nspace, 4);
  for (uint32_t rank = 0; rank < 4; ++rank)
    want_events({nspace, rank});
  const auto x =
    ask<ack>({nspace, 0}, notify_request{code, data_range::nspace, {}});
  CAF_CHECK_EQUAL(x->code, status::success);
  for (uint32_t rank = 1; rank < 4; ++rank)
    CAF_CHECK_EQUAL(events_of({nspace, rank}), 1u);
  CAF_CHECK_EQUAL(events_of({nspace, 0}), 0u);
  CAF_CHECK_EQUAL(asked<deliver_event>(), 1u);
}

CAF_TEST(P-J1 an event for one process goes to its node) {
  start(nspace, 6);
  for (uint32_t rank = 0; rank < 6; ++rank)
    want_events({nspace, rank});
  const auto x =
    ask<ack>({nspace, 0}, notify_request{code,
                                         data_range::custom,
                                         {with(attr::event_custom_range,
                                               value::procs({{nspace, 5}}))}});
  CAF_CHECK_EQUAL(x->code, status::success);
  for (uint32_t rank = 0; rank < 6; ++rank)
    CAF_CHECK_EQUAL(events_of({nspace, rank}), rank == 5 ? 1u : 0u);
  CAF_CHECK_EQUAL(asked<deliver_event>(), 1u);
}

CAF_TEST(P-J1 ranges name nodes) {
  start(nspace, 4);
  for (uint32_t rank = 0; rank < 4; ++rank)
    want_events({nspace, rank});
  const auto sent_for = [&](data_range range) {
    mesh.questions.clear();
    const auto x = ask<ack>({nspace, 2}, notify_request{code, range, {}});
    CAF_CHECK_EQUAL(x->code, status::success);
    return asked<deliver_event>();
  };
  CAF_CHECK_EQUAL(sent_for(data_range::local), 0u);
  CAF_CHECK_EQUAL(sent_for(data_range::proc_local), 0u);
  CAF_CHECK_EQUAL(sent_for(data_range::session), 2u);
  CAF_CHECK_EQUAL(sent_for(data_range::global), 2u);
  CAF_CHECK_EQUAL(events_of({nspace, 0}), 2u);
  CAF_CHECK_EQUAL(events_of({nspace, 3}), 3u);
}

CAF_TEST(P-J3 events of a process stay in order over nodes) {
  start(nspace, 6);
  want_events({nspace, 4});
  for (uint32_t i = 0; i < 100; ++i)
    mesh[0].uut->ask<ack>(
      ranks[{nspace, 0}],
      notify_request{code, data_range::nspace, {with("n", value::uint32(i))}});
  consume_messages();
  const auto& events = ranks[{nspace, 4}]->wire->events;
  CAF_REQUIRE_EQUAL(events.size(), 100u);
  for (uint32_t i = 0; i < 100; ++i)
    CAF_CHECK(number<uint32_t>(events[i].infos, "n") == i);
}

CAF_TEST(P-J4 notify is answered when all nodes have the event) {
  start(nspace, 6);
  auto held = std::vector<std::pair<uint32_t, uint32_t>>{};
  mesh.passes = [&](uint32_t from, uint32_t to, const host_message& x) {
    const auto* call = std::get_if<host_call>(&x);
    if (call == nullptr || to != 2
        || !std::holds_alternative<deliver_event>(call->what))
      return true;
    held.emplace_back(from, to);
    return false;
  };
  const auto x =
    ask<ack>({nspace, 0}, notify_request{code, data_range::nspace, {}});
  CAF_CHECK_EQUAL(held.size(), 1u);
  CAF_CHECK(x->is_pending());
  // A node that is lost has nobody who is owed it.
  mesh.lose(2);
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(X41 an event of a process comes from its node only) {
  start(nspace, 6);
  want_events({nspace, 0});
  auto forged = deliver_event{};
  forged.what = event{code, {nspace, 2}, data_range::nspace, {}};
  caf::anon_send(mesh[0].host,
                 member_message{2, 1002, host_call{1000, 0, 0, {}, {}, forged}});
  consume_messages();
  CAF_CHECK_EQUAL(events_of({nspace, 0}), 0u);
  forged.what.source = {nspace, 4};
  caf::anon_send(mesh[0].host,
                 member_message{2, 1002, host_call{1001, 0, 0, {}, {}, forged}});
  consume_messages();
  CAF_CHECK_EQUAL(events_of({nspace, 0}), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
