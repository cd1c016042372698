// Data of processes on several nodes; connect and disconnect.

#include "actors/server/gets.hpp"
#include "tests/fixtures/exchange.hpp"

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

CAF_TEST_FIXTURE_SCOPE_END()
