// How late a loop is, in buckets.

#include "adapters/metrics/latency_histogram.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/metrics/loop_probe.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;

CAF_TEST(each bucket has what is at most its bound) {
  auto uut = latency_histogram{};
  uut.note(500us);
  uut.note(501us);
  uut.note(100ms);
  uut.note(1min);
  CAF_CHECK_EQUAL(uut.count(), 4u);
  CAF_CHECK_EQUAL(uut.at_most(0), 1u);
  CAF_CHECK_EQUAL(uut.at_most(1), 2u);
  CAF_CHECK_EQUAL(uut.at_most(6), 2u);
  CAF_CHECK_EQUAL(uut.at_most(7), 3u);
  CAF_CHECK_EQUAL(uut.at_most(11), 3u);
  CAF_CHECK(uut.sum() > 60.101 && uut.sum() < 60.102);
}

CAF_TEST(a probe sees how long a loop was busy) {
  event_loop loop;
  auto uut = loop_probe{loop};
  auto begin = std::chrono::steady_clock::now();
  // Busy from before it is due until long after.
  while (std::chrono::steady_clock::now() < begin + 500ms)
    continue;
  const auto end = begin + 20s;
  while (uut.seen().count() == 0 && std::chrono::steady_clock::now() < end)
    loop.run_once();
  CAF_REQUIRE_EQUAL(uut.seen().count(), 1u);
  // It was due after 300 ms at the latest.
  CAF_CHECK(uut.seen().sum() >= 0.2);
  CAF_CHECK_EQUAL(uut.seen().at_most(7), 0u);
}
