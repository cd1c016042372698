// Whom a request is for.

#include "actors/control/control_targets.hpp"

#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture {
  std::map<std::string, controlled_job> jobs;
  std::map<std::string, std::vector<proc_id>> sets;
  std::set<std::string> over;
  control_lookup lookup;

  /// `a` has ranks 0 to 3 on nodes 0, 0, 1, 1, of which 2 has ended; `b` has 0
  /// on node 1; `c` is another user's.
  fixture() {
    jobs["a"] = {{our_uid, 1}, {{0, true}, {0, true}, {1, false}, {1, true}}};
    jobs["b"] = {{our_uid, 1}, {{1, true}}};
    jobs["c"] = {{our_uid + 1, 1}, {{0, true}}};
    over.insert("old");
    sets["set"] = {{"a", 0}, {"a", 2}, {"b", 0}};
    lookup.job = [this](const std::string& x) -> std::optional<controlled_job> {
      const auto i = jobs.find(x);
      if (i == jobs.end())
        return std::nullopt;
      return i->second;
    };
    lookup.has_ended = [this](const std::string& x) {
      return over.count(x) > 0;
    };
    lookup.set =
      [this](const std::string& x) -> std::optional<std::vector<proc_id>> {
      const auto i = sets.find(x);
      if (i == sets.end())
        return std::nullopt;
      return i->second;
    };
  }

  caf::expected<control_targets> resolve(std::vector<proc_id> named,
                                         uint32_t uid = our_uid,
                                         proc_id who = {"a", 0},
                                         uint32_t node = 0) {
    return resolve_targets(asks(std::move(who), 1, uid), node, named, lookup);
  }

  std::vector<control_share> shares(std::vector<proc_id> named) {
    auto x = resolve(std::move(named));
    if (!x)
      CAF_FAIL("refused: " << reason_of(x.error()));
    return x->shares;
  }

  status refusal(std::vector<proc_id> named, uint32_t uid = our_uid,
                 proc_id who = {"a", 0}) {
    const auto x = resolve(std::move(named), uid, std::move(who));
    if (x)
      return status::success;
    CAF_MESSAGE(reason_of(x.error()));
    return status_of(x.error());
  }

  using found = std::vector<control_share>;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(control_targets_tests, fixture)

CAF_TEST(J2 nobody named is the own job and no other) {
  CAF_CHECK(shares({}) == (found{{"a", 0, {0, 1}}, {"a", 1, {3}}}));
  const auto of_b = resolve({}, our_uid, {"b", 0});
  CAF_REQUIRE(of_b.engaged());
  CAF_CHECK(of_b->shares == (found{{"b", 1, {0}}}));
  CAF_CHECK(of_b->has_whole("b"));
  CAF_CHECK_EQUAL(refusal({}, our_uid, {"tool", 0}), status::bad_param);
}

CAF_TEST(J3 a wildcard is the whole job) {
  const auto x = resolve({{"a", rank_wildcard}, {"b", 0}});
  CAF_REQUIRE(x.engaged());
  CAF_CHECK(x->shares
            == (found{{"a", 0, {0, 1}}, {"a", 1, {3}}, {"b", 1, {0}}}));
  CAF_CHECK(x->has_whole("a"));
  CAF_CHECK(!x->has_whole("b"));
  // Those of a job who have ended are not missed.
  CAF_CHECK(x->absent.empty());
  CAF_CHECK_EQUAL(x->size(), 4u);
}

CAF_TEST(J15 exactly those who are named each once) {
  CAF_CHECK(shares({{"a", 3}, {"a", 1}, {"a", 3}, {"b", 0}})
            == (found{{"a", 0, {1}}, {"a", 1, {3}}, {"b", 1, {0}}}));
  CAF_CHECK(shares({{"a", 1}, {"a", rank_wildcard}})
            == (found{{"a", 0, {0, 1}}, {"a", 1, {3}}}));
}

CAF_TEST(J3 those of the own node) {
  CAF_CHECK(shares({{"a", rank_local_node}}) == (found{{"a", 0, {0, 1}}}));
}

CAF_TEST(J4 who has ended is named and no mistake) {
  const auto x = resolve({{"a", 2}, {"a", 0}, {"old", 5}});
  CAF_REQUIRE(x.engaged());
  CAF_CHECK(x->shares == (found{{"a", 0, {0}}}));
  CAF_CHECK((x->absent == std::vector<proc_id>{{"a", 2}, {"old", 5}}));
}

CAF_TEST(J4 who never was is a mistake and named) {
  CAF_CHECK_EQUAL(refusal({{"a", 0}, {"a", 4}}), status::not_found);
  CAF_CHECK_EQUAL(refusal({{"nothing", rank_wildcard}}), status::not_found);
  const auto x = resolve({{"a", 9}, {"nothing", 3}});
  CAF_CHECK_EQUAL(reason_of(x.error()), "no process a:9, no process nothing:3");
  CAF_CHECK_EQUAL(refusal({{"a", rank_undef}}), status::bad_param);
}

CAF_TEST(X29 J23 processes of another user are refused) {
  CAF_CHECK_EQUAL(refusal({{"a", 0}, {"c", 0}}), status::no_permissions);
  CAF_CHECK_EQUAL(refusal({{"c", rank_wildcard}}), status::no_permissions);
  const auto x = resolve({{"c", 0}});
  CAF_CHECK(reason_of(x.error()).find(std::to_string(our_uid + 1))
            != std::string::npos);
  // Root's word counts.
  CAF_CHECK_EQUAL(refusal({{"c", 0}, {"a", 0}}, 0), status::success);
}

CAF_TEST(J2 a process set is its members) {
  const auto x = resolve({{"set", rank_wildcard}});
  CAF_REQUIRE(x.engaged());
  CAF_CHECK(x->shares == (found{{"a", 0, {0}}, {"b", 1, {0}}}));
  CAF_CHECK((x->absent == std::vector<proc_id>{{"a", 2}}));
  CAF_CHECK_EQUAL(refusal({{"set", 0}}), status::bad_param);
  sets["set"].push_back({"c", 0});
  CAF_CHECK_EQUAL(refusal({{"set", rank_wildcard}}), status::no_permissions);
}

CAF_TEST(J15 whatever is named nobody else is meant) {
  const auto outcome = rc::check([this](const std::vector<uint8_t>& ranks) {
    auto named = std::vector<proc_id>{};
    auto wanted = std::set<uint32_t>{};
    for (const auto x : ranks) {
      named.push_back({"a", static_cast<uint32_t>(x % 4)});
      wanted.insert(x % 4);
    }
    RC_PRE(!named.empty());
    const auto x = resolve(named);
    RC_ASSERT(x.engaged());
    auto found = std::set<uint32_t>{};
    for (const auto& y : x->procs())
      RC_ASSERT(found.insert(y.rank).second);
    for (const auto& y : x->absent)
      RC_ASSERT(found.insert(y.rank).second);
    RC_ASSERT(found == wanted);
  });
  CAF_CHECK(outcome);
}

CAF_TEST_FIXTURE_SCOPE_END()
