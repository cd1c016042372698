// The wheel against a list that is searched from end to end.

#include "actors/monitors/timer_wheel.hpp"

#include "tests/test.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

using namespace troupe;

namespace {

using tick = timer_wheel::tick;
using item = timer_wheel::item;

/// Items by when they are due.
struct model {
  std::map<item, tick> due;
  tick now = 0;

  void set(item x, tick at) {
    due[x] = std::max(at, now + 1);
  }

  std::multiset<std::pair<tick, item>> advance(tick to) {
    auto result = std::multiset<std::pair<tick, item>>{};
    now = std::max(now, to);
    for (auto i = due.begin(); i != due.end();) {
      if (i->second <= now) {
        result.emplace(i->second, i->first);
        i = due.erase(i);
      } else {
        ++i;
      }
    }
    return result;
  }
};

/// Steps of all sizes: within a slot, a level, several levels.
tick any_step() {
  const auto bits = *rc::gen::inRange(0, 40);
  return *rc::gen::inRange<tick>(0, tick{1} << bits);
}

} // namespace

CAF_TEST(P-H1 120 the wheel gives what a search gives) {
  const auto ok = rc::check("wheel and model", [] {
    auto uut = timer_wheel{};
    auto other = model{};
    const auto steps = *rc::gen::inRange(1, 200);
    for (int i = 0; i < steps; ++i) {
      const auto x = *rc::gen::inRange<item>(0, 20);
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          uut.clear(x);
          other.due.erase(x);
          break;
        case 1: {
          const auto to = other.now + any_step();
          const auto expected = other.advance(to);
          auto got = std::vector<item>{};
          uut.advance(to, got);
          RC_ASSERT(got.size() == expected.size());
          // In the order of time; which of those of one tick comes first does
          // not matter.
          auto when = std::map<item, tick>{};
          for (const auto& [at, y] : expected)
            when[y] = at;
          auto last = tick{0};
          for (const auto y : got) {
            RC_ASSERT(when.count(y) == 1u);
            RC_ASSERT(when[y] >= last);
            last = when[y];
          }
          break;
        }
        default: {
          const auto at = other.now + any_step();
          uut.set(x, at);
          other.set(x, at);
        }
      }
      RC_ASSERT(uut.size() == other.due.size());
      RC_ASSERT(uut.holds(x) == (other.due.count(x) == 1));
      // It wants to be called neither late nor for nothing's sake for ever.
      const auto first = std::min_element(
        other.due.begin(), other.due.end(),
        [](const auto& l, const auto& r) { return l.second < r.second; });
      if (other.due.empty()) {
        RC_ASSERT(uut.next() == timer_wheel::never);
      } else {
        RC_ASSERT(uut.next() <= first->second);
        RC_ASSERT(uut.next() > other.now);
      }
    }
  });
  CAF_CHECK(ok);
}

CAF_TEST(LIM7 120 ten thousand items cost a few calls each) {
  auto uut = timer_wheel{};
  const auto items = item{10'000};
  for (item x = 0; x < items; ++x)
    uut.set(x, 100 + x % 100);
  auto out = std::vector<item>{};
  auto calls = 0;
  while (uut.size() > 0) {
    uut.advance(uut.next(), out);
    ++calls;
  }
  CAF_CHECK_EQUAL(out.size(), items);
  // 100 ticks at which something is due, and the slots above them.
  CAF_CHECK(calls <= 104);
}

CAF_TEST(120 one item far away wakes nobody meanwhile) {
  auto uut = timer_wheel{};
  const auto year = tick{100} * 86400 * 365;
  uut.set(0, year);
  auto out = std::vector<item>{};
  auto calls = 0;
  while (out.empty()) {
    uut.advance(uut.next(), out);
    ++calls;
  }
  CAF_CHECK(calls <= 7);
}
