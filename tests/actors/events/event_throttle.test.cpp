// Sensors that flood.

#include "actors/events/sensor_rules.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

environment_event numbered(uint64_t n) {
  return {status::site_event, {{"n", 0, value::uint64(n)}}};
}

uint64_t number_of(const environment_event& x) {
  return number<uint64_t>(x.infos, "n").value_or(0);
}

uint64_t skipped_of(const environment_event& x) {
  return number<uint64_t>(x.infos, event_skipped_key).value_or(0);
}

} // namespace

CAF_TEST(P-E1 what comes slowly is told at once) {
  event_throttle uut{2, 1s};
  for (uint64_t i = 0; i < 10; ++i)
    CAF_CHECK(uut.take(numbered(i), i * 600ms));
  CAF_CHECK(!uut.due());
}

CAF_TEST(P-E1 of a storm the newest is told with the number of the others) {
  event_throttle uut{2, 1s};
  CAF_CHECK(uut.take(numbered(1), 5s));
  CAF_CHECK(uut.take(numbered(2), 5s));
  for (uint64_t i = 3; i <= 10; ++i)
    CAF_CHECK(!uut.take(numbered(i), 5100ms));
  CAF_CHECK(uut.due() == event_throttle::time{6s});
  CAF_CHECK(!uut.flush(5999ms));
  const auto x = uut.flush(6s);
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(number_of(*x), 10u);
  CAF_CHECK_EQUAL(skipped_of(*x), 7u);
  CAF_CHECK(!uut.flush(7s));
  CAF_CHECK(uut.take(numbered(11), 6100ms));
}

CAF_TEST(P-E1 nothing overtakes what is held back) {
  event_throttle uut{1, 1s};
  uut.take(numbered(1), 1s);
  uut.take(numbered(2), 1s);
  // Its timer is late.
  CAF_CHECK(!uut.take(numbered(3), 9s));
  const auto x = uut.flush(9s);
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(number_of(*x), 3u);
  CAF_CHECK_EQUAL(skipped_of(*x), 1u);
}

CAF_TEST(P-E1 told and skipped add up and keep their order) {
  CAF_CHECK(rc::check([](const std::vector<uint8_t>& pauses) {
    event_throttle uut{3, 100ms};
    auto now = event_throttle::time{0};
    auto told = uint64_t{0};
    auto last = uint64_t{0};
    const auto hear = [&](const std::optional<environment_event>& x) {
      if (!x)
        return;
      RC_ASSERT(number_of(*x) > last);
      last = number_of(*x);
      told += 1 + skipped_of(*x);
      RC_ASSERT(told == last);
    };
    auto n = uint64_t{0};
    for (const auto pause : pauses) {
      now += std::chrono::milliseconds{pause % 64};
      if (uut.due() && *uut.due() <= now)
        hear(uut.flush(now));
      hear(uut.take(numbered(++n), now));
    }
    if (uut.due())
      hear(uut.flush(*uut.due()));
    RC_ASSERT(told == n);
  }));
}
