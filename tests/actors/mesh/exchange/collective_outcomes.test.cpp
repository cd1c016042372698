#include "actors/mesh/exchange/collective_outcomes.hpp"

#include "actors/mesh/exchange/defaults.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

using procs = std::vector<proc_id>;

collective_key key_of(uint64_t generation, procs xs,
                      collective_kind kind = collective_kind::fence) {
  return {generation, kind, std::make_shared<const procs>(std::move(xs))};
}

mesh_collective_id id_of(const collective_key& x) {
  return {x.kind, *x.procs, x.generation};
}

const auto job = procs{{"job", rank_wildcard}};

} // namespace

CAF_TEST(COLL-2 the first outcome of an operation counts) {
  auto uut = collective_outcomes{};
  CAF_CHECK(uut.find(key_of(1, job)) == nullptr);
  uut.add(key_of(1, job), {status::timeout, "late", 3});
  uut.add(key_of(1, job), {status::success, "", 4});
  const auto* x = uut.find(key_of(1, job));
  CAF_REQUIRE(x != nullptr);
  CAF_CHECK(x->code == status::timeout);
  CAF_CHECK_EQUAL(x->reason, "late");
  CAF_CHECK_EQUAL(x->root, 3u);
  // Each of these is another operation.
  CAF_CHECK(uut.find(key_of(2, job)) == nullptr);
  CAF_CHECK(uut.find(key_of(1, {{"job", 0}})) == nullptr);
  CAF_CHECK(uut.find(key_of(1, job, collective_kind::connect)) == nullptr);
  CAF_CHECK_EQUAL(uut.size(), 1u);
}

CAF_TEST(COLL-2 of old operations it is known that they are over) {
  auto uut = collective_outcomes{};
  const auto most = uint64_t{defaults::collective_outcomes};
  for (auto i = uint64_t{1}; i <= most + 3; ++i)
    uut.add(key_of(i, job), {});
  CAF_CHECK_EQUAL(uut.size(), most);
  CAF_CHECK(uut.find(key_of(3, job)) == nullptr);
  CAF_CHECK(uut.is_forgotten(id_of(key_of(1, job))));
  CAF_CHECK(uut.is_forgotten(id_of(key_of(3, job))));
  CAF_CHECK(!uut.is_forgotten(id_of(key_of(4, job))));
  // Others count for themselves: participants, kinds, groups and jobs.
  CAF_CHECK(!uut.is_forgotten(id_of(key_of(1, {{"job", 0}}))));
  CAF_CHECK(!uut.is_forgotten(id_of(key_of(1, job, collective_kind::connect))));
  CAF_CHECK(!uut.is_forgotten(id_of(key_of((uint64_t{1} << 32) + 1, job))));
  uut.add(key_of(1, {{"other", 0}}), {});
  CAF_CHECK_EQUAL(uut.size(), most + 1);
}

CAF_TEST(nothing is kept of a job that is over) {
  auto uut = collective_outcomes{};
  const auto both = procs{{"a", 0}, {"b", 0}};
  for (auto i = uint64_t{1}; i <= defaults::collective_outcomes + 1; ++i)
    uut.add(key_of(i, both), {});
  uut.add(key_of(1, {{"a", 0}}), {});
  uut.forget_job("b");
  CAF_CHECK_EQUAL(uut.size(), 1u);
  CAF_CHECK(!uut.is_forgotten(id_of(key_of(1, both))));
  CAF_CHECK(uut.find(key_of(1, {{"a", 0}})) != nullptr);
}
