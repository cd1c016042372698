// Who is connected to whom, and who ends with whom.

#include "actors/groups/connected_sets.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

using procs = std::vector<proc_id>;
using texts = std::vector<std::string>;

constexpr auto all = rank_wildcard;

struct fixture {
  connected_sets uut;
  std::set<std::string> survivors;

  texts ended_with(const proc_id& failed) {
    return uut.ended_with(failed, [this](const std::string& nspace) {
      return survivors.count(nspace) > 0;
    });
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(connected_sets_tests, fixture)

CAF_TEST(G2 a set is connected until it is disconnected as often) {
  const auto both = procs{{"a", all}, {"b", 0}};
  CAF_CHECK(!uut.contains(both));
  CAF_CHECK(!uut.disconnect(both));
  CAF_CHECK(uut.connect(both));
  CAF_CHECK(uut.connect(both));
  CAF_CHECK_EQUAL(uut.size(), 1u);
  CAF_CHECK(uut.disconnect(both));
  CAF_CHECK(uut.contains(both));
  CAF_CHECK(uut.disconnect(both));
  CAF_CHECK(!uut.contains(both));
  CAF_CHECK_EQUAL(uut.num_procs(), 0u);
}

CAF_TEST(G2 neither order nor repeats make another set) {
  CAF_CHECK(uut.connect({{"b", 0}, {"a", 1}, {"b", 0}}));
  CAF_CHECK(uut.contains({{"a", 1}, {"b", 0}}));
  CAF_CHECK(!uut.contains({{"a", all}, {"b", 0}}));
  // A wildcard stands for the ranks beside it.
  CAF_CHECK(uut.connect({{"c", 1}, {"c", all}, {"d", 0}}));
  CAF_CHECK(uut.contains({{"d", 0}, {"c", all}}));
  CAF_CHECK_EQUAL(uut.num_procs(), 4u);
}

CAF_TEST(G2 a set that several nodes report goes when the last takes it back) {
  const auto both = procs{{"a", all}, {"b", all}};
  uut.connect(both, 1);
  uut.connect(both, 2);
  CAF_CHECK(!uut.disconnect(both, 3));
  CAF_CHECK(uut.disconnect(both, 1));
  CAF_CHECK(!uut.disconnect(both, 1));
  CAF_CHECK(uut.contains(both));
  uut.node_lost(2);
  CAF_CHECK(!uut.contains(both));
  CAF_CHECK_EQUAL(uut.size(), 0u);
}

CAF_TEST(G2 the peers of a process are those of other jobs in its sets) {
  uut.connect({{"a", 0}, {"b", all}});
  uut.connect({{"a", all}, {"c", 1}});
  uut.connect({{"a", 1}, {"d", 0}});
  CAF_CHECK((uut.peers_of({"a", 0}) == procs{{"b", all}, {"c", 1}}));
  CAF_CHECK((uut.peers_of({"a", 1}) == procs{{"c", 1}, {"d", 0}}));
  CAF_CHECK((uut.peers_of({"b", 7}) == procs{{"a", 0}}));
  CAF_CHECK(uut.peers_of({"c", 0}).empty());
  CAF_CHECK(uut.peers_of({"e", 0}).empty());
}

CAF_TEST(G2 jobs end with those that they are connected to) {
  uut.connect({{"a", 0}, {"b", all}});
  uut.connect({{"b", 1}, {"c", 0}});
  uut.connect({{"d", 0}, {"e", 0}});
  CAF_CHECK((ended_with({"a", 0}) == texts{"b", "c"}));
  // It is not in the set.
  CAF_CHECK(ended_with({"a", 1}).empty());
  CAF_CHECK((ended_with({"b", 0}) == texts{"a"}));
  CAF_CHECK((ended_with({"c", 0}) == texts{"a", "b"}));
  survivors = {"b"};
  CAF_CHECK(ended_with({"a", 0}).empty());
}

CAF_TEST(G2 a job that is over leaves nobody behind) {
  uut.connect({{"a", 0}, {"b", 0}});
  uut.connect({{"a", 0}, {"b", 0}, {"c", all}});
  uut.connect({{"a", all}});
  uut.forget("b");
  CAF_CHECK_EQUAL(uut.size(), 2u);
  CAF_CHECK((uut.peers_of({"a", 0}) == procs{{"c", all}}));
  uut.forget("c");
  CAF_CHECK_EQUAL(uut.size(), 1u);
  uut.forget("a");
  uut.forget("a");
  CAF_CHECK_EQUAL(uut.size(), 0u);
  CAF_CHECK_EQUAL(uut.num_procs(), 0u);
}

CAF_TEST(LIM17 G2 sets and their processes are bounded) {
  auto small = connected_sets{connection_limits{2, 9, 5}};
  CAF_CHECK(small.connect({{"a", 0}, {"b", 0}}));
  CAF_CHECK(!small.has_room({{"a", 0}, {"b", 1}, {"c", 0}, {"d", 0}}));
  CAF_CHECK(small.connect({{"a", 0}, {"b", 1}}));
  CAF_CHECK(!small.has_room({{"c", 0}}));
  CAF_CHECK(!small.connect({{"c", 0}}));
  // One more of what is there costs nothing.
  CAF_CHECK(small.has_room({{"a", 0}, {"b", 0}}));
  CAF_CHECK(small.connect({{"a", 0}, {"b", 0}}));
  // No job takes what others need.
  auto fair = connected_sets{connection_limits{9, 1, 9}};
  CAF_CHECK(fair.connect({{"a", 0}, {"b", 0}}));
  CAF_CHECK(!fair.connect({{"a", 0}, {"c", 0}}));
  CAF_CHECK(fair.connect({{"c", 0}, {"d", 0}}));
}

CAF_TEST_FIXTURE_SCOPE_END()
