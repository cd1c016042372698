#include "actors/mesh/remoting/export_table.hpp"

#include "tests/fixtures/deterministic.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

using namespace troupe;

namespace {

struct table_of_two : fixtures::deterministic {
  std::vector<caf::actor_id> watched;
  std::vector<caf::actor_id> forgotten;
  uint64_t last_key = 0;
  export_table table{{
    [this](caf::actor_id x, const caf::strong_actor_ptr&) {
      watched.push_back(x);
    },
    [this](caf::actor_id x, const caf::strong_actor_ptr&) {
      forgotten.push_back(x);
    },
    [this] { return ++last_key; },
  }};
  caf::strong_actor_ptr a = make();
  caf::strong_actor_ptr b = make();

  caf::strong_actor_ptr make() {
    return caf::actor_cast<caf::strong_actor_ptr>(
      sys.spawn([] { return caf::behavior{[](int) {}}; }));
  }

  ~table_of_two() override {
    table.clear();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(export_table_tests, table_of_two)

CAF_TEST(ACT-9 a node reaches what it was given and nothing else) {
  CAF_CHECK(!table.find(a->id(), 1));
  CAF_CHECK_EQUAL(table.give(a->id(), a, 1), 1u);
  CAF_CHECK_EQUAL(table.find(a->id(), 1), a);
  CAF_CHECK(!table.find(a->id(), 2));
  CAF_CHECK(!table.find(b->id(), 1));
  CAF_CHECK(!table.claim(a->id(), 2, 2));
  CAF_CHECK(!table.find(a->id(), 2));
  CAF_CHECK(table.claim(a->id(), 1, 2));
  CAF_CHECK_EQUAL(table.find(a->id(), 2), a);
  CAF_CHECK_EQUAL(watched.size(), 1u);
}

CAF_TEST(ACT-11 what is on its way when a node gives back stays) {
  table.give(a->id(), a, 1);
  table.give(a->id(), a, 1);
  // It has seen the first one only.
  table.release(a->id(), 1, 1);
  CAF_CHECK_EQUAL(table.find(a->id(), 1), a);
  table.release(a->id(), 1, 1);
  CAF_CHECK(!table.find(a->id(), 1));
  CAF_CHECK_EQUAL(table.size(), 0u);
  CAF_CHECK_EQUAL(forgotten, std::vector<caf::actor_id>{a->id()});
  // More than there is, and of whom there is none.
  table.give(a->id(), a, 1);
  table.release(a->id(), 1, 99);
  table.release(a->id(), 1, 1);
  table.release(b->id(), 1, 1);
  CAF_CHECK_EQUAL(table.size(), 0u);
}

CAF_TEST(ACT-11 a node that is lost gives everything back) {
  table.give(a->id(), a, 1);
  table.give(a->id(), a, 2);
  table.give(b->id(), b, 1);
  table.keep(b->id(), b);
  table.drop_node(1);
  CAF_CHECK(!table.find(a->id(), 1));
  CAF_CHECK_EQUAL(table.find(a->id(), 2), a);
  CAF_CHECK_EQUAL(table.size(), 2u);
  table.drop_node(2);
  CAF_CHECK_EQUAL(table.size(), 1u);
  table.unkeep(b->id());
  CAF_CHECK_EQUAL(table.size(), 0u);
}

CAF_TEST(ACT-3 all nodes that have an actor are told of its end) {
  table.give(a->id(), a, 1);
  table.give(a->id(), a, 3);
  CAF_CHECK_EQUAL(table.remove(a->id()), (std::vector<uint32_t>{1, 3}));
  CAF_CHECK_EQUAL(table.remove(a->id()), std::vector<uint32_t>{});
  CAF_CHECK(!table.find_by_key(a->id(), 1));
}

CAF_TEST_FIXTURE_SCOPE_END()
