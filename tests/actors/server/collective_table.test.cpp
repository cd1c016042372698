// Which operation a call belongs to, and who is missing.

#include "actors/server/collective_table.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

using procs = std::vector<proc_id>;

const auto all = procs{{"job", rank_wildcard}};

struct fixture {
  collective_table uut;

  /// Joins an operation whose local participants are ranks 0 to 2 of `job`.
  std::pair<uint64_t, bool>
  join(uint32_t rank, const procs& named = all,
       collective_kind kind = collective_kind::fence) {
    const auto [x, is_new] = uut.join(kind, {"job", rank}, named, [] {
      return std::set<proc_id>{{"job", 0}, {"job", 1}, {"job", 2}};
    });
    return {x->id, is_new};
  }

  bool is_settled(uint64_t id) {
    return uut.find(id)->members.is_settled();
  }
};

} // namespace

// -- joiners -----------------------------------------------------------

CAF_TEST(COLL-3 an operation is settled when nobody is missing) {
  joiners uut{{{"job", 0}, {"job", 1}}};
  CAF_CHECK(!uut.is_settled());
  CAF_CHECK(uut.join({"job", 0}));
  CAF_CHECK(!uut.is_settled());
  CAF_CHECK(uut.missing() == (procs{{"job", 1}}));
  CAF_CHECK(uut.join({"job", 1}));
  CAF_CHECK(uut.is_settled());
  CAF_CHECK(uut.missing().empty());
}

CAF_TEST(COLL-3 all can join at once) {
  joiners uut{{{"job", 0}, {"job", 1}}};
  uut.join_all();
  CAF_CHECK(uut.is_settled());
  CAF_CHECK_EQUAL(uut.joined().size(), 2u);
  CAF_CHECK(!uut.join({"job", 1}));
}

CAF_TEST(RST-1 who begins anew is missing again) {
  joiners uut{{{"job", 0}, {"job", 1}}};
  uut.join({"job", 0});
  uut.drop({"job", 1});
  uut.renew({"job", 0});
  uut.renew({"job", 1});
  CAF_CHECK(uut.missing() == (procs{{"job", 0}, {"job", 1}}));
  CAF_CHECK(uut.join({"job", 0}));
}

CAF_TEST(COLL-1 joining twice counts once) {
  joiners uut{{{"job", 0}, {"job", 1}}};
  CAF_CHECK(uut.join({"job", 0}));
  CAF_CHECK(!uut.join({"job", 0}));
  CAF_CHECK(!uut.is_settled());
  CAF_CHECK_EQUAL(uut.joined().size(), 1u);
}

CAF_TEST(COLL-5 a stranger changes nothing) {
  joiners uut{{{"job", 0}}};
  CAF_CHECK(!uut.join({"job", 1}));
  CAF_CHECK(!uut.drop({"other", 0}));
  CAF_CHECK(!uut.is_settled());
  CAF_CHECK(uut.joined().empty());
  CAF_CHECK(uut.gone().empty());
}

CAF_TEST(COLL-3 who is gone is not waited for) {
  joiners uut{{{"job", 0}, {"job", 1}}};
  uut.join({"job", 0});
  CAF_CHECK(!uut.drop({"job", 0})); // It has joined: nothing is lost.
  CAF_CHECK(uut.drop({"job", 1}));
  CAF_CHECK(!uut.drop({"job", 1}));
  CAF_CHECK(uut.is_settled());
  CAF_CHECK(uut.missing().empty());
}

CAF_TEST(COLL-3 who has gone and comes back is not counted twice) {
  joiners uut{{{"job", 0}, {"job", 1}, {"job", 2}}};
  uut.join({"job", 0});
  uut.drop({"job", 1});
  CAF_CHECK(!uut.join({"job", 1}));
  CAF_CHECK(!uut.is_settled());
  CAF_CHECK(uut.missing() == (procs{{"job", 2}}));
}

CAF_TEST(an operation without participants is settled) {
  CAF_CHECK(joiners{{}}.is_settled());
}

// -- the table ---------------------------------------------------------------

CAF_TEST_FIXTURE_SCOPE(collective_table_tests, fixture)

CAF_TEST(F4.16 calls over the same set belong together) {
  const auto [id, is_new] = join(0);
  CAF_CHECK(is_new);
  CAF_CHECK(join(1) == std::make_pair(id, false));
  CAF_CHECK(!is_settled(id));
  CAF_CHECK(join(2) == std::make_pair(id, false));
  CAF_CHECK(is_settled(id));
  CAF_CHECK_EQUAL(uut.size(), 1u);
}

CAF_TEST(F4.17 the order of names and repeats make no difference) {
  const auto first = join(0, {{"job", 0}, {"job", 1}, {"job", 2}}).first;
  const auto second = join(1, {{"job", 2}, {"job", 0}, {"job", 1}}).first;
  const auto third =
    join(2, {{"job", 1}, {"job", 1}, {"job", 0}, {"job", 2}, {"job", 0}}).first;
  CAF_CHECK_EQUAL(first, second);
  CAF_CHECK_EQUAL(first, third);
}

CAF_TEST(F4.17 different sets and kinds are different operations) {
  const auto fence = join(0).first;
  const auto pair = join(0, {{"job", 0}, {"job", 1}}).first;
  const auto connect = join(0, all, collective_kind::connect).first;
  const auto disconnect = join(0, all, collective_kind::disconnect).first;
  CAF_CHECK_EQUAL((std::set<uint64_t>{fence, pair, connect, disconnect}.size()),
                  4u);
  CAF_CHECK_EQUAL(join(1, {{"job", 1}, {"job", 0}}).first, pair);
  CAF_CHECK_EQUAL(join(1).first, fence);
}

CAF_TEST(F4.17 names that look alike when joined are different) {
  const auto one = join(0, {{"a:1\nb", 2}}).first;
  const auto other = join(0, {{"a", 1}, {"b", 2}}).first;
  // A namespace holds printable bytes only; still, nothing must break.
  CAF_CHECK(uut.find(one) != nullptr);
  CAF_CHECK(uut.find(other) != nullptr);
}

CAF_TEST(COLL-1 an operation can begin when all of this node have joined) {
  auto& x = uut.begin_joined(collective_kind::fence, all,
                             {{"job", 0}, {"job", 1}, {"job", 2}});
  const auto first = x.id;
  CAF_CHECK_EQUAL(x.generation, 1u);
  CAF_CHECK(is_settled(first));
  CAF_CHECK(uut.has_fence(all));
  const auto [second, is_new] = join(0);
  CAF_CHECK(is_new);
  CAF_CHECK(second != first);
  uut.retire(first);
  uut.retire(second);
  CAF_CHECK(!uut.has_fence(all));
  CAF_CHECK_EQUAL(uut
                    .begin_joined(collective_kind::fence, all,
                                  {{"job", 0}, {"job", 1}, {"job", 2}})
                    .generation,
                  2u);
}

CAF_TEST(COLL-1 F4.17 the second call of a process begins the next generation) {
  const auto first = join(0).first;
  const auto second = join(0);
  CAF_CHECK(second.second);
  CAF_CHECK(second.first != first);
  // The others catch up one generation after the other.
  CAF_CHECK_EQUAL(join(1).first, first);
  CAF_CHECK_EQUAL(join(1).first, second.first);
  CAF_CHECK_EQUAL(join(2).first, first);
  CAF_CHECK(is_settled(first));
  CAF_CHECK(!is_settled(second.first));
  CAF_CHECK_EQUAL(join(2).first, second.first);
  CAF_CHECK(is_settled(second.first));
}

CAF_TEST(COLL-4 a retired operation is forgotten) {
  const auto id = join(0).first;
  const auto next = join(0).first;
  uut.retire(id);
  CAF_CHECK(uut.find(id) == nullptr);
  CAF_CHECK_EQUAL(uut.size(), 1u);
  CAF_CHECK_EQUAL(join(1).first, next);
  uut.retire(next);
  uut.retire(next); // Harmless.
  CAF_CHECK_EQUAL(uut.size(), 0u);
  CAF_CHECK(uut.list().empty());
  CAF_CHECK(join(1).second);
}

CAF_TEST(F4.19 who drops out is reported for every operation that missed it) {
  const auto first = join(0).first;
  const auto second = join(0).first;
  join(1); // Joins the first.
  const auto missed = uut.drop({"job", 1});
  CAF_REQUIRE_EQUAL(missed.size(), 1u);
  CAF_CHECK_EQUAL(missed.front()->id, second);
  CAF_CHECK_EQUAL(uut.drop({"job", 2}).size(), 2u);
  CAF_CHECK(uut.drop({"job", 2}).empty());
  CAF_CHECK(is_settled(first));
  CAF_CHECK(is_settled(second));
  CAF_CHECK(uut.drop({"job", 9}).empty());
}

CAF_TEST(F4.19 a failed operation is still joined by those it waits for) {
  const auto id = join(0).first;
  uut.find(id)->failed = true;
  CAF_CHECK_EQUAL(join(1).first, id);
  CAF_CHECK(uut.find(id)->failed);
  // The next call of the same process is a new attempt.
  const auto next = join(0);
  CAF_CHECK(next.second);
  CAF_CHECK(!uut.find(next.first)->failed);
}

CAF_TEST(operations are listed oldest first) {
  const auto first = join(0).first;
  const auto second = join(0).first;
  const auto listed = uut.list();
  CAF_REQUIRE_EQUAL(listed.size(), 2u);
  CAF_CHECK_EQUAL(listed[0]->id, first);
  CAF_CHECK_EQUAL(listed[1]->id, second);
}

CAF_TEST_FIXTURE_SCOPE_END()

// -- groups ------------------------------------------------------------------

CAF_TEST(G53 A33 a fence over a group is another than one of its processes) {
  const auto group = group_key{"grp", 7, 1};
  const auto local = [] {
    return std::set<proc_id>{{"job", 0}, {"job", 1}, {"job", 2}};
  };
  const auto is_counted = [] { return true; };
  collective_table uut;
  const auto join = [&](uint32_t rank, const std::optional<group_key>& of) {
    return uut
      .join(collective_kind::fence, {"job", rank}, all, local, is_counted, of)
      .first;
  };
  const auto named = join(0, group)->id;
  const auto plain = join(0, {})->id;
  CAF_CHECK(named != plain);
  CAF_CHECK_EQUAL(join(1, group)->id, named);
  CAF_CHECK_EQUAL(uut.find(plain)->generation, 1u);
  CAF_CHECK_EQUAL(uut.find(named)->generation,
                  uint64_t{collective_table::salt_of(group)} << 32 | 1);
  CAF_CHECK_EQUAL(uut.counted(), 2u);
  // A member that has not joined leaves: only that of the group is hit.
  const auto failed = uut.reduce(group, {{"job", 2}});
  CAF_CHECK((failed.failing == std::vector<uint64_t>{named}));
  CAF_CHECK(failed.remaining.empty());
  CAF_CHECK(uut.find(plain)->members.is_missing({"job", 2}));
  uut.forget(group);
  CAF_CHECK_EQUAL(uut.counted(), 1u);
}

CAF_TEST(G53 A33 who calls a tolerant fence later means that without who left) {
  const auto group = group_key{"grp", 7, 1};
  collective_table uut;
  auto* x = uut
              .join(
                collective_kind::fence, {"job", 0}, all,
                [] {
                  return std::set<proc_id>{{"job", 0}, {"job", 1}, {"job", 2}};
                },
                nullptr, group)
              .first;
  x->is_fault_tolerant = true;
  CAF_CHECK(uut.join_reduced(group, {"job", 1}) == nullptr);
  const auto found = uut.reduce(group, {{"job", 2}});
  CAF_CHECK((found.remaining == std::vector<uint64_t>{x->id}));
  CAF_CHECK(!x->members.is_settled());
  CAF_CHECK(uut.join_reduced(group, {"job", 1}) == x);
  CAF_CHECK(x->members.is_settled());
  // Who has joined may leave.
  CAF_CHECK(uut.reduce(group, {{"job", 1}}).remaining.empty());
  CAF_CHECK(uut.join_reduced({"other", 7, 1}, {"job", 0}) == nullptr);
}
