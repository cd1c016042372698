// Who waits for whom over the nodes of a DVM.

#include "actors/mesh/host/defaults.hpp"
#include "actors/server/wait_report.hpp"
#include "tests/fixtures/exchange.hpp"

#include <string>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

struct fixture : exchange {
  /// What a process is told: a line for each operation.
  std::vector<std::string> waits(const proc_id& who) {
    auto question = query_request{};
    question.queries.emplace_back().keys.emplace_back(waits_key);
    const auto x = ask<info_result>(who, std::move(question));
    // A node that does not answer is not waited for any longer.
    elapse(3 * defaults::net_wait);
    CAF_REQUIRE_EQUAL(x->code, status::success);
    const auto* found = find(x->value.infos, waits_key);
    CAF_REQUIRE(found != nullptr);
    auto result = std::vector<std::string>{};
    for (const auto& item : infos_of(*found)) {
      const auto infos = infos_of(item.val);
      const auto amount = [&](const char* key) {
        return std::to_string(number<uint64_t>(infos, key).value_or(99));
      };
      auto line = amount("joined") + " of " + amount("size") + ":";
      for (const auto& y : infos_of(*find(infos, "missing"))) {
        const auto missing = infos_of(y.val);
        line += " " + text(missing, "proc").value_or("?") + "@"
                + text(missing, "host").value_or("?");
      }
      age = number<uint64_t>(infos, "age_ms").value_or(0);
      result.push_back(line + " ?" + amount("unknown"));
    }
    return result;
  }

  uint64_t age = 0;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_waits_tests, fixture)

CAF_TEST(PAGE-10 who has not come is named with its node wherever one asks) {
  start(nspace, 6);
  fence(0);
  fence(1);
  fence(2);
  elapse(2s);
  const auto expected = std::vector<std::string>{
    "3 of 6: server@1:3@n1 server@1:4@n2 server@1:5@n2 ?0"};
  CAF_CHECK(waits({nspace, 0}) == expected);
  CAF_CHECK(age >= 2000);
  CAF_CHECK(waits({nspace, 4}) == expected);
  for (uint32_t rank = 3; rank < 6; ++rank)
    fence(rank);
  CAF_CHECK(waits({nspace, 4}).empty());
}

CAF_TEST(PAGE-10 processes of other jobs are told nothing) {
  start(nspace, 2);
  start(other, 2, 1);
  fence(0);
  CAF_CHECK_EQUAL(waits({nspace, 1}).size(), 1u);
  CAF_CHECK(waits({other, 0}).empty());
}

CAF_TEST(PAGE-10 of a node that does not answer nothing is said) {
  start(nspace, 6);
  fence(0);
  mesh.passes = [](uint32_t, uint32_t to, const host_message&) {
    return to != 2;
  };
  CAF_CHECK((waits({nspace, 0})
             == std::vector<std::string>{
               "1 of 6: server@1:1@n0 server@1:2@n1 server@1:3@n1 ?2"}));
}

CAF_TEST_FIXTURE_SCOPE_END()
