#include "actors/mesh/remoting/remote_requests.hpp"

#include "tests/fixtures/deterministic.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

using namespace troupe;

namespace {

struct two_askers : fixtures::deterministic {
  remote_requests open;
  caf::strong_actor_ptr a = make();
  caf::strong_actor_ptr b = make();

  caf::strong_actor_ptr make() {
    return caf::actor_cast<caf::strong_actor_ptr>(
      sys.spawn([] { return caf::behavior{[](int) {}}; }));
  }

  static caf::message_id mid(uint64_t x) {
    return caf::make_message_id(x).with_normal_priority();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(open_request_tests, two_askers)

CAF_TEST(ACT-4 a request ends once) {
  open.add(a->id(), a, mid(1), 5);
  open.add(a->id(), a, mid(2), 5);
  open.add(b->id(), b, mid(1), 6);
  CAF_CHECK(open.end(a->id(), mid(1).response_id()));
  CAF_CHECK(!open.end(a->id(), mid(1).response_id()));
  CAF_CHECK(!open.end(b->id(), mid(2)));
  CAF_CHECK_EQUAL(open.size(), 2u);
  const auto lost = open.drop_node(5);
  CAF_REQUIRE_EQUAL(lost.size(), 1u);
  CAF_CHECK_EQUAL(lost[0].who, a);
  CAF_CHECK_EQUAL(lost[0].mid, mid(2));
  CAF_CHECK(!open.end(a->id(), mid(2)));
  open.drop_actor(b->id());
  CAF_CHECK_EQUAL(open.size(), 0u);
  CAF_CHECK(open.drop_node(6).empty());
}

CAF_TEST(ACT-4 what was passed on ends with any node on its way) {
  const auto pass_on = [&](uint64_t n) {
    open.add(a->id(), a, mid(n), 5);
    CAF_CHECK(!open.move(a->id(), mid(n), 5, 6));
    CAF_CHECK(!open.move(a->id(), mid(n), 6, 7));
    // Only who is to answer passes it on.
    CAF_CHECK(!open.move(a->id(), mid(n), 5, 8));
  };
  for (uint32_t rank : {5, 6, 7}) {
    pass_on(rank);
    CAF_CHECK(open.drop_node(8).empty());
    CAF_CHECK_EQUAL(open.drop_node(rank).size(), 1u);
    CAF_CHECK_EQUAL(open.size(), 0u);
  }
  pass_on(20);
  CAF_CHECK(open.drop_way(5, 7).empty());
  CAF_CHECK(open.drop_way(6, 5).empty());
  CAF_CHECK_EQUAL(open.drop_way(6, 7).size(), 1u);
}

CAF_TEST(ACT-4 nobody waits for a node that was lost meanwhile) {
  open.add(a->id(), a, mid(1), 5);
  open.drop_node(6);
  open.add(a->id(), a, mid(2), 5);
  const auto lost = open.move(a->id(), mid(1), 5, 6);
  CAF_REQUIRE(lost.has_value());
  CAF_CHECK_EQUAL(lost->mid, mid(1));
  CAF_CHECK(!open.move(a->id(), mid(2), 5, 6));
  CAF_CHECK_EQUAL(open.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
