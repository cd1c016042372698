// Fences of processes on several nodes.

#include "actors/mesh/exchange/mesh_collectives.hpp"
#include "actors/server/collectives.hpp"
#include "tests/fixtures/exchange.hpp"

#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

CAF_TEST_FIXTURE_SCOPE(mesh_exchange_fences_tests, exchange)

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

CAF_TEST(F4.16 what a fence does not bring is not answered with the old value) {
  start(nspace, 4);
  const auto large = std::string(defaults::eager_modex_bytes + 1, 'x');
  const auto fence_all = [this] {
    for (uint32_t rank = 0; rank < 4; ++rank)
      fence(rank, collect);
  };
  const auto seen = [this](const std::string& key) {
    return text_in(get({nspace, 2}, {nspace, 0}, key)->value, key);
  };
  commit({nspace, 0}, "key", "1");
  fence_all();
  CAF_CHECK_EQUAL(seen("key"), "1");
  CAF_CHECK_EQUAL(asked<direct_modex>(), 0u);
  commit({nspace, 0}, "key", "2");
  commit({nspace, 0}, "large", large);
  fence_all();
  CAF_CHECK_EQUAL(seen("key"), "2");
  CAF_CHECK_EQUAL(seen("large"), large);
  CAF_CHECK_EQUAL(asked<direct_modex>(), 1u);
  // Nobody has posted anything since.
  fence_all();
  CAF_CHECK_EQUAL(seen("key"), "2");
  CAF_CHECK_EQUAL(asked<direct_modex>(), 1u);
  commit({nspace, 0}, "key", "3");
  fence_all();
  CAF_CHECK_EQUAL(seen("key"), "3");
  CAF_CHECK_EQUAL(asked<direct_modex>(), 2u);
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

CAF_TEST(F4.16 COLL-2 who waits for a process of its node hears of a failure) {
  start(nspace, 6);
  auto calls = std::vector<pending<ack>>{};
  // Nodes 0 and 2 miss a process of their own, and node 1 one that ends.
  for (const auto rank : {0u, 2u, 4u})
    calls.push_back(fence(rank));
  mesh[1].launcher->end(3, 0, SIGKILL);
  consume_messages();
  elapse(2 * defaults::collective_watch);
  for (const auto& x : calls)
    CAF_CHECK_EQUAL(x->code, status::lost_connection);
  for (const auto rank : {1u, 5u})
    CAF_CHECK_EQUAL(fence(rank)->code, status::lost_connection);
}

CAF_TEST(COLL-1 COLL-4 fences follow each other with the same actors) {
  start(nspace, 6);
  auto running = size_t{0};
  for (auto round = 0; round < 20; ++round) {
    for (uint32_t rank = 0; rank < 6; ++rank)
      commit({nspace, rank}, "key", std::to_string(round));
    auto calls = std::vector<pending<ack>>{};
    for (uint32_t rank = 0; rank < 6; ++rank)
      calls.push_back(fence(rank, collect));
    for (const auto& x : calls)
      CAF_REQUIRE_EQUAL(x->code, status::success);
    CAF_CHECK_EQUAL(text_in(get({nspace, 0}, {nspace, 5}, "key")->value, "key"),
                    std::to_string(round));
    if (round == 0)
      running = sys.registry().running();
    CAF_REQUIRE_EQUAL(sys.registry().running(), running);
  }
  // A failure is that of one operation, not of the next one.
  auto calls = std::vector<pending<ack>>{};
  for (uint32_t rank = 0; rank < 5; ++rank)
    calls.push_back(fence(rank, {with(attr::timeout, value::integer(1))}));
  elapse(1100ms);
  for (const auto& x : calls)
    CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK_EQUAL(fence(5)->code, status::timeout);
  calls.clear();
  for (uint32_t rank = 0; rank < 6; ++rank)
    calls.push_back(fence(rank));
  for (const auto& x : calls)
    CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST_FIXTURE_SCOPE_END()
