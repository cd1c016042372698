// Data and events of processes on several nodes; connect and disconnect.

#include "tests/fixtures/exchange.hpp"

#include <caf/send.hpp>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

CAF_TEST_FIXTURE_SCOPE(mesh_exchange_tests, exchange)

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
  caf::anon_send(
    mesh[0].host,
    member_message{2, 1002, host_call{1000, 0, 0, {}, {}, forged}});
  consume_messages();
  CAF_CHECK_EQUAL(events_of({nspace, 0}), 0u);
  forged.what.source = {nspace, 4};
  caf::anon_send(
    mesh[0].host,
    member_message{2, 1002, host_call{1001, 0, 0, {}, {}, forged}});
  consume_messages();
  CAF_CHECK_EQUAL(events_of({nspace, 0}), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
