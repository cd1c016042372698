// Requests for control: their ids, their states, and how long they are known.

#include "actors/control/control_table.hpp"

#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

const auto alice = control_owner{{"a", 0}, 1000};
const auto bob = control_owner{{"a", 1}, 1000};

control_scope of(const control_owner& x) {
  return {x, std::nullopt};
}

struct fixture {
  control_limits bounds{3, 5, 4, 60s};
  control_table table{bounds};
  control_table::time now{0};

  caf::expected<uint64_t> open(const control_owner& who,
                               std::optional<std::string> id) {
    return table.open(who, std::move(id), "pause", now);
  }

  void close(uint64_t number, status code = status::success) {
    auto x = control_result{};
    x.code = code;
    table.close(number, std::move(x), now);
  }

  control_state state(const control_owner& who, const std::string& id) {
    const auto found = table.list(of(who), id, now);
    if (found.size() != 1)
      CAF_FAIL(id << " is known " << found.size() << " times");
    return found.front()->state;
  }

  size_t count(const control_owner& who, std::optional<std::string> id = {}) {
    return table.list(of(who), id, now).size();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(control_table_tests, fixture)

CAF_TEST(J5 J20 an id is outstanding once for each requester) {
  const auto first = open(alice, "x");
  CAF_REQUIRE(first.engaged());
  const auto again = open(alice, "x");
  CAF_REQUIRE(!again);
  CAF_CHECK_EQUAL(status_of(again.error()), status::err_exists);
  CAF_CHECK(reason_of(again.error()).find("\"x\"") != std::string::npos);
  // Another requester's is another.
  CAF_CHECK(open(bob, "x").engaged());
  CAF_CHECK(open(alice, "y").engaged());
  CAF_CHECK_EQUAL(count(alice), 2u);
  CAF_CHECK_EQUAL(count(bob), 1u);
  close(*first);
  CAF_CHECK(open(alice, "x").engaged());
  CAF_CHECK(state(alice, "x") == control_state::running);
}

CAF_TEST(J20 J25 states are known while it runs and after the end) {
  const auto done = *open(alice, "done");
  const auto failed = *open(alice, "failed");
  const auto partial = *open(alice, "partial");
  CAF_CHECK(state(alice, "done") == control_state::running);
  close(done);
  close(failed, status::unreach);
  close(partial, status::partial_success);
  CAF_CHECK(state(alice, "done") == control_state::done);
  CAF_CHECK(state(alice, "failed") == control_state::failed);
  CAF_CHECK(state(alice, "partial") == control_state::partial);
  const auto cancelled = *open(alice, "cancelled");
  close(cancelled, status::job_canceled);
  CAF_CHECK(state(alice, "cancelled") == control_state::cancelled);
  now += 61s;
  CAF_CHECK_EQUAL(count(alice), 0u);
}

CAF_TEST(J20 what is remembered has a bound) {
  for (int i = 0; i < 20; ++i)
    close(*open(alice, std::to_string(i)));
  CAF_CHECK_EQUAL(table.remembered(), 4u);
  CAF_CHECK_EQUAL(count(alice, "19"), 1u);
  CAF_CHECK_EQUAL(count(alice, "15"), 0u);
  // Nobody can ask for those without an id.
  close(*open(alice, std::nullopt));
  CAF_CHECK_EQUAL(table.remembered(), 4u);
}

CAF_TEST(J5 outstanding requests have bounds) {
  for (int i = 0; i < 3; ++i)
    CAF_CHECK(open(alice, std::nullopt).engaged());
  CAF_CHECK_EQUAL(status_of(open(alice, std::nullopt).error()),
                  status::out_of_resource);
  CAF_CHECK(open(bob, std::nullopt).engaged());
  const auto last = open(bob, std::nullopt);
  CAF_REQUIRE(last.engaged());
  CAF_CHECK_EQUAL(status_of(open(bob, std::nullopt).error()),
                  status::out_of_resource);
  close(*last);
  CAF_CHECK(open(bob, std::nullopt).engaged());
}

CAF_TEST(J8 J21 a cancel finds the requests of its requester) {
  const auto x = *open(alice, "x");
  const auto unnamed = *open(alice, std::nullopt);
  const auto other = *open(bob, "x");
  using numbers = std::vector<uint64_t>;
  CAF_CHECK(*table.find_outstanding(of(alice), "x") == numbers{x});
  CAF_CHECK(
    (*table.find_outstanding(of(alice), std::nullopt) == numbers{x, unnamed}));
  CAF_CHECK(
    (*table.find_outstanding({std::nullopt, 1000}, "x") == numbers{x, other}));
  const auto unknown = table.find_outstanding(of(alice), "z");
  CAF_CHECK_EQUAL(status_of(unknown.error()), status::not_found);
  close(x);
  const auto over = table.find_outstanding(of(alice), "x");
  CAF_CHECK_EQUAL(status_of(over.error()), status::not_found);
  CAF_CHECK(reason_of(over.error()).find("over already") != std::string::npos);
  close(unnamed);
  CAF_CHECK(table.find_outstanding(of(alice), std::nullopt)->empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
