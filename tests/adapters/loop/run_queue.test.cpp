#include "adapters/loop/run_queue.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/turn.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

/// Sends itself messages for ever.
caf::behavior busy(caf::event_based_actor* self, int first) {
  self->send(self, first);
  return {[self](int x) { self->send(self, x + 1); }};
}

struct fixture {
  loop_system sys;

  caf::actor stopper() {
    return sys.actors().spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](int) {
        stopped = true;
        sys.stop();
      }};
    });
  }

  /// Whether `stopper` has had its message.
  bool stopped = false;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(run_queue_tests, fixture)

CAF_TEST(actors that never rest leave sockets a turn) {
  for (auto i = 0; i < 10; ++i)
    sys.actors().spawn(busy, i);
  const auto fd = eventfd(1, EFD_CLOEXEC);
  auto events = 0;
  fd_watch watch{sys.loop(), fd, [&] {
                   if (++events == 100)
                     sys.stop();
                 }};
  CAF_REQUIRE(watch.enable_read());
  sys.run();
  CAF_CHECK_EQUAL(events, 100);
  close(fd);
}

CAF_TEST(actors that never rest leave timers a turn) {
  sys.actors().spawn(busy, 0);
  auto fired = false;
  timer end{sys.loop(), [&] {
              fired = true;
              sys.stop();
            }};
  end.start(5ms);
  sys.run();
  CAF_CHECK(fired);
}

CAF_TEST(actors that never rest leave other threads a turn) {
  sys.actors().spawn(busy, 0);
  const auto end = stopper();
  std::thread other{[&] { caf::anon_send(end, 1); }};
  sys.run();
  other.join();
  CAF_CHECK(stopped);
}

CAF_TEST(a turn is bounded in number) {
  turn t;
  size_t items = 0;
  while (t.next())
    ++items;
  CAF_CHECK(items >= 1);
  CAF_CHECK(items <= turn::max_items);
}

CAF_TEST(a turn is bounded in time) {
  turn t;
  CAF_CHECK(t.next());
  const auto end = std::chrono::steady_clock::now() + turn::max_time;
  while (std::chrono::steady_clock::now() < end) {
    // Busy.
  }
  CAF_CHECK(!t.next());
}

CAF_TEST(messages of other threads all arrive and in order) {
  constexpr auto threads = 4;
  constexpr auto each = 5000;
  std::vector<std::vector<int>> seen(threads);
  auto left = threads * each;
  auto sink = sys.actors().spawn([&](caf::event_based_actor*) -> caf::behavior {
    return {[&](int t, int i) {
      seen[t].push_back(i);
      if (--left == 0)
        sys.stop();
    }};
  });
  std::vector<std::thread> senders;
  for (auto t = 0; t < threads; ++t)
    senders.emplace_back([&, t] {
      for (auto i = 0; i < each; ++i)
        caf::anon_send(sink, t, i);
    });
  sys.run();
  for (auto& x : senders)
    x.join();
  for (const auto& xs : seen) {
    CAF_CHECK_EQUAL(xs.size(), static_cast<size_t>(each));
    CAF_CHECK(std::is_sorted(xs.begin(), xs.end()));
  }
}

CAF_TEST(a callback of the loop wakes an actor in the same pass) {
  std::string trace;
  const auto woken =
    sys.actors().spawn([&](caf::event_based_actor*) -> caf::behavior {
      return {[&](int) { trace += "actor "; }};
    });
  timer next_pass{sys.loop(), [&] {
                    trace += "next pass";
                    sys.stop();
                  }};
  timer begin{sys.loop(), [&] {
                next_pass.start(0ms);
                caf::anon_send(woken, 1);
              }};
  begin.start(1ms);
  sys.run();
  CAF_CHECK_EQUAL(trace, "actor next pass");
}

CAF_TEST_FIXTURE_SCOPE_END()
