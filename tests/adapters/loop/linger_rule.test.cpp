// When the loop looks for tasks before it sleeps.

#include "adapters/loop/linger_rule.hpp"

#include "tests/test.hpp"

using namespace std::chrono_literals;
using namespace troupe;

namespace {

const auto start = linger_rule::time_point{};

/// Occasions until the rule says that one is due.
int skipped(linger_rule& uut) {
  auto result = 0;
  for (; !uut.is_due(start); ++result)
    uut.note_idle(start);
  return result;
}

} // namespace

CAF_TEST(a loop does not linger unless it is told to) {
  auto uut = linger_rule{};
  uut.note_idle(start);
  CAF_CHECK(!uut.is_on());
  CAF_CHECK(!uut.is_due(start));
}

CAF_TEST(a loop lingers after tasks in quick succession) {
  auto uut = linger_rule{};
  uut.set_limit(10us);
  CAF_CHECK(!uut.is_due(start));
  uut.note_idle(start);
  CAF_CHECK(uut.is_due(start + 40us));
  CAF_CHECK(!uut.is_due(start + 41us));
}

CAF_TEST(a loop lingers ever less often in vain and again when it pays) {
  auto uut = linger_rule{};
  uut.set_limit(10us);
  uut.note_idle(start);
  for (const auto expected : {1, 3, 7, 15, 31, 63, 127, 255, 255}) {
    uut.learn(false);
    CAF_CHECK_EQUAL(skipped(uut), expected);
  }
  uut.learn(true);
  CAF_CHECK_EQUAL(skipped(uut), 0);
  uut.learn(false);
  CAF_CHECK_EQUAL(skipped(uut), 1);
}
