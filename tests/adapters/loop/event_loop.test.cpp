#include "adapters/loop/event_loop.hpp"

#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "tests/test.hpp"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

/// Wake-ups of the calling thread so far: how often it went to sleep.
long wake_ups() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

/// Has the loop run a task.
void post_and_wait(event_loop& loop) {
  const auto done = std::make_shared<std::promise<void>>();
  auto future = done->get_future();
  loop.post([done] { done->set_value(); });
  future.wait();
}

} // namespace

CAF_TEST(tasks run in the order they were posted) {
  event_loop loop;
  std::string trace;
  loop.post([&] { trace += 'a'; });
  loop.post([&] {
    trace += 'b';
    loop.post([&] {
      trace += 'd';
      loop.stop();
    });
  });
  loop.post([&] { trace += 'c'; });
  loop.run();
  CAF_CHECK_EQUAL(trace, "abcd");
}

CAF_TEST(tasks of other threads all arrive and in order) {
  constexpr auto threads = 4;
  constexpr auto each = 5000;
  event_loop loop;
  std::vector<std::vector<int>> seen(threads);
  auto left = threads * each;
  std::vector<std::thread> posters;
  for (auto t = 0; t < threads; ++t)
    posters.emplace_back([&, t] {
      for (auto i = 0; i < each; ++i)
        loop.post([&, t, i] {
          seen[t].push_back(i);
          if (--left == 0)
            loop.stop();
        });
    });
  loop.run();
  for (auto& x : posters)
    x.join();
  for (const auto& xs : seen) {
    CAF_CHECK_EQUAL(xs.size(), static_cast<size_t>(each));
    CAF_CHECK(std::is_sorted(xs.begin(), xs.end()));
  }
}

CAF_TEST(a task that posts itself for ever leaves sockets and timers a turn) {
  event_loop loop;
  const auto fd = eventfd(1, EFD_CLOEXEC);
  auto readable = false;
  fd_watch watch{loop, fd, [&] { readable = true; }};
  CAF_REQUIRE(watch.enable_read());
  std::function<void()> again = [&] { loop.post(again); };
  again();
  timer end{loop, [&] { loop.stop(); }};
  end.start(5ms);
  loop.run();
  CAF_CHECK(readable);
  close(fd);
}

CAF_TEST(a thread that floods the loop leaves sockets and timers a turn) {
  event_loop loop;
  const auto fd = eventfd(1, EFD_CLOEXEC);
  auto readable = false;
  fd_watch watch{loop, fd, [&] { readable = true; }};
  CAF_REQUIRE(watch.enable_read());
  timer end{loop, [&] { loop.stop(); }};
  end.start(5ms);
  std::atomic<bool> enough{false};
  std::thread poster{[&] {
    while (!enough)
      loop.post([] {});
  }};
  loop.run();
  enough = true;
  poster.join();
  CAF_CHECK(readable);
  close(fd);
}

CAF_TEST(a loop that lingers need not be woken for each task) {
  event_loop loop;
  loop.set_linger(10s);
  constexpr auto tasks = uint64_t{200};
  std::thread poster{[&] {
    for (auto i = uint64_t{0}; i < tasks; ++i)
      post_and_wait(loop);
    loop.stop();
  }};
  loop.run();
  poster.join();
  // A few come before it looks for them.
  CAF_CHECK(loop.rings() < tasks / 2);
}

CAF_TEST(stop ends a loop that lingers) {
  event_loop loop;
  loop.set_linger(1h);
  std::thread poster{[&] {
    for (auto i = 0; i < 3; ++i)
      post_and_wait(loop);
    loop.stop();
  }};
  loop.run();
  poster.join();
}

CAF_TEST(a loop that looks need not sleep for each byte of a socket) {
  event_loop loop;
  constexpr auto rounds = 200;
  int ends[2];
  CAF_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const auto mine = unique_fd{ends[0]};
  const auto other = unique_fd{ends[1]};
  auto x = char{0};
  fd_watch echo{loop, mine.get(), [&] {
                  if (::read(mine.get(), &x, 1) == 1)
                    static_cast<void>(!::write(mine.get(), &x, 1));
                }};
  echo.enable_read();
  // Also while it runs already.
  loop.post([&] { loop.set_look(10s); });
  std::thread asker{[&] {
    auto y = char{0};
    for (auto i = 0; i < rounds; ++i)
      if (::write(other.get(), &y, 1) != 1 || ::read(other.get(), &y, 1) != 1)
        break;
    loop.stop();
  }};
  loop.run();
  asker.join();
  CAF_CHECK(loop.sleeps() < rounds / 2);
}

CAF_TEST(stop ends a loop that looks) {
  event_loop loop;
  loop.set_look(1h);
  std::thread poster{[&] {
    for (auto i = 0; i < 3; ++i)
      post_and_wait(loop);
    loop.stop();
  }};
  loop.run();
  poster.join();
  auto ran = false;
  loop.post([&] {
    ran = true;
    loop.stop();
  });
  loop.run();
  CAF_CHECK(ran);
}

CAF_TEST(stop comes from another thread) {
  event_loop loop;
  std::thread other{[&] { loop.stop(); }};
  loop.run();
  other.join();
}

CAF_TEST(stop before run ends the next run only) {
  event_loop loop;
  loop.stop();
  loop.run();
  auto ran = false;
  loop.post([&] {
    ran = true;
    loop.stop();
  });
  loop.run();
  CAF_CHECK(ran);
}

CAF_TEST(a loop that starts late has tasks alone until it is needed) {
  const auto next_descriptor = [] {
    const auto fd = eventfd(0, EFD_CLOEXEC);
    close(fd);
    return fd;
  };
  const auto before = next_descriptor();
  event_loop loop{event_loop::start::late};
  std::string trace;
  loop.post([&] {
    CAF_CHECK(loop.in_loop_thread());
    trace += 'a';
    loop.post([&] { trace += 'b'; });
  });
  loop.run_once();
  loop.run_once();
  CAF_CHECK_EQUAL(trace, "ab");
  CAF_CHECK(!loop.in_loop_thread());
  CAF_CHECK_EQUAL(next_descriptor(), before);
  // What has been posted before is run as well.
  loop.post([&] {
    trace += 'c';
    loop.stop();
  });
  loop.run();
  CAF_CHECK_EQUAL(trace, "abc");
  CAF_CHECK(next_descriptor() != before);
}

CAF_TEST(a loop that starts late is stopped and woken as any other) {
  event_loop loop{event_loop::start::late};
  loop.stop();
  loop.run();
  std::thread poster{[&] {
    post_and_wait(loop);
    loop.stop();
  }};
  loop.run();
  poster.join();
  event_loop other{event_loop::start::late};
  auto has_fired = false;
  timer end{other, [&] {
              has_fired = true;
              other.stop();
            }};
  end.start(1ms);
  other.run();
  CAF_CHECK(has_fired);
}

CAF_TEST(the loop knows its thread) {
  event_loop loop;
  CAF_CHECK(!loop.in_loop_thread());
  auto inside = false;
  loop.post([&] {
    inside = loop.in_loop_thread();
    loop.stop();
  });
  std::thread other{[&] { loop.run(); }};
  other.join();
  CAF_CHECK(inside);
  CAF_CHECK(!loop.in_loop_thread());
}

CAF_TEST(close drops tasks and what they own) {
  event_loop loop;
  const auto owned = std::make_shared<int>(0);
  CAF_CHECK(loop.post([owned] {}));
  CAF_CHECK_EQUAL(owned.use_count(), 2);
  loop.close();
  CAF_CHECK_EQUAL(owned.use_count(), 1);
  CAF_CHECK(!loop.post([owned] {}));
  CAF_CHECK_EQUAL(owned.use_count(), 1);
}

CAF_TEST(a signal calls its handler on the loop) {
  event_loop loop;
  auto calls = 0;
  CAF_CHECK(loop.on_signal(SIGUSR1, [&] { CAF_FAIL("replaced"); }));
  CAF_CHECK(loop.on_signal(SIGUSR1, [&] {
    CAF_CHECK(loop.in_loop_thread());
    if (++calls == 1)
      std::raise(SIGUSR1);
    else
      loop.forget_signal(SIGUSR1); // Destroys the handler that is running.
  }));
  CAF_CHECK(loop.on_signal(SIGUSR2, [&] { loop.stop(); }));
  std::raise(SIGUSR1);
  timer end{loop, [] { std::raise(SIGUSR2); }};
  end.start(10ms);
  loop.run();
  CAF_CHECK_EQUAL(calls, 2);
}

CAF_TEST(a forgotten signal is what it was before) {
  std::signal(SIGUSR1, SIG_IGN);
  event_loop loop;
  CAF_CHECK(loop.on_signal(SIGUSR1, [] {}));
  loop.forget_signal(SIGUSR1);
  CAF_CHECK(std::signal(SIGUSR1, SIG_DFL) == SIG_IGN);
}

CAF_TEST(an idle loop sleeps without waking up) {
  event_loop loop;
  const auto fd = eventfd(0, EFD_CLOEXEC);
  fd_watch watch{loop, fd, [] {}};
  CAF_REQUIRE(watch.enable_read());
  timer cancelled{loop, [] {}};
  timer end{loop, [&] { loop.stop(); }};
  long before = 0;
  loop.post([&] {
    cancelled.start(1ms);
    cancelled.cancel();
    end.start(50ms);
    before = wake_ups();
  });
  loop.run();
  // One sleep, ended by `end`; a page fault or two may add to it.
  CAF_CHECK(wake_ups() - before <= 3);
  close(fd);
}
