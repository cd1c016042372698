#include "adapters/loop/timer.hpp"

#include "adapters/loop/event_loop.hpp"
#include "tests/test.hpp"

#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

using clock_type = std::chrono::steady_clock;

} // namespace

CAF_TEST(timers fire in the order of their delays) {
  event_loop loop;
  std::string trace;
  timer c{loop, [&] {
            trace += 'c';
            loop.stop();
          }};
  timer b{loop, [&] { trace += 'b'; }};
  timer a{loop, [&] { trace += 'a'; }};
  c.start(40ms);
  b.start(1ms);
  a.start(-1s);
  loop.run();
  CAF_CHECK_EQUAL(trace, "abc");
}

CAF_TEST(a timer never fires early) {
  event_loop loop;
  auto left = 200;
  auto early = 0;
  clock_type::time_point due;
  std::optional<timer> t;
  const auto start = [&] {
    const auto delay = std::chrono::nanoseconds{1 + left * 997};
    due = clock_type::now() + delay;
    t->start(delay);
  };
  t.emplace(loop, [&] {
    if (clock_type::now() < due)
      ++early;
    if (--left == 0)
      loop.stop();
    else
      start();
  });
  start();
  loop.run();
  CAF_CHECK_EQUAL(early, 0);
}

CAF_TEST(a delay counts from its start however long the pass has taken) {
  event_loop loop;
  auto waited = clock_type::duration{};
  clock_type::time_point begin;
  timer t{loop, [&] {
            waited = clock_type::now() - begin;
            loop.stop();
          }};
  loop.post([&] {
    const auto busy_until = clock_type::now() + 5ms;
    while (clock_type::now() < busy_until) {
      // Busy.
    }
    begin = clock_type::now();
    t.start(5ms);
  });
  loop.run();
  CAF_CHECK(waited >= 5ms);
}

CAF_TEST(a timer starts over and can be cancelled) {
  event_loop loop;
  auto fired = 0;
  timer cancelled{loop, [&] { CAF_FAIL("cancelled"); }};
  timer restarted{loop, [&] { ++fired; }};
  timer end{loop, [&] { loop.stop(); }};
  cancelled.start(1ms);
  CAF_CHECK(cancelled.is_running());
  cancelled.cancel();
  CAF_CHECK(!cancelled.is_running());
  restarted.start(1ms);
  restarted.start(2ms);
  end.start(10ms);
  loop.run();
  CAF_CHECK_EQUAL(fired, 1);
  CAF_CHECK(!restarted.is_running());
}

CAF_TEST(a callback may destroy its timer) {
  event_loop loop;
  const auto owned = std::make_shared<int>(0);
  std::optional<timer> t;
  t.emplace(loop, [&, owned] {
    t.reset();
    CAF_CHECK_EQUAL(owned.use_count(), 2); // Still here while it runs.
    loop.stop();
  });
  t->start(0ms);
  loop.run();
  CAF_CHECK_EQUAL(owned.use_count(), 1);
}
