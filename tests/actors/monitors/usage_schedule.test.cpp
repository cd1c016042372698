// When the use of resources is told next.

#include "actors/monitors/usage_schedule.hpp"

#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

struct fixture {
  usage_schedule uut;

  std::vector<usage_schedule::item> due(usage_schedule::time now) {
    auto result = std::vector<usage_schedule::item>{};
    uut.advance(now, result);
    return result;
  }
};

using items = std::vector<usage_schedule::item>;

} // namespace

CAF_TEST_FIXTURE_SCOPE(usage_schedule_tests, fixture)

CAF_TEST(M27 each is due one interval after it was due before) {
  CAF_CHECK(!uut.next());
  uut.add(7, 3s, 10s);
  uut.add(2, 5s, 10s);
  CAF_CHECK(uut.next() == 13s);
  CAF_CHECK(due(12999ms).empty());
  CAF_CHECK(due(13s) == items{7});
  CAF_CHECK(due(13s).empty());
  CAF_CHECK(uut.next() == 15s);
  CAF_CHECK(uut.due_at(7) == 16s);
  CAF_CHECK(due(16s) == (items{2, 7}));
  CAF_CHECK(uut.next() == 19s);
}

CAF_TEST(M27 intervals that have passed are skipped) {
  uut.add(1, 2s, 0s);
  CAF_CHECK(due(7s) == items{1});
  CAF_CHECK(uut.next() == 8s);
  CAF_CHECK(due(8s) == items{1});
  CAF_CHECK(uut.next() == 10s);
}

CAF_TEST(C11.10 what has ended is not due and its number is free) {
  uut.add(1, 2s, 0s);
  uut.add(2, 2s, 0s);
  uut.remove(1);
  uut.remove(1);
  uut.remove(3);
  CAF_CHECK(!uut.holds(1));
  CAF_CHECK(uut.holds(2));
  CAF_CHECK(due(2s) == items{2});
  uut.add(1, 1s, 2s);
  CAF_CHECK(uut.next() == 3s);
  uut.remove(1);
  uut.remove(2);
  CAF_CHECK(!uut.next());
  CAF_CHECK(due(100s).empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
