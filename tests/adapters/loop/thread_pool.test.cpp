#include "adapters/loop/thread_pool.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/timer.hpp"
#include "tests/test.hpp"

#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

using namespace std::chrono_literals;
using namespace troupe;

CAF_TEST(work runs on another thread and done on the loop) {
  event_loop loop;
  thread_pool pool{loop};
  CAF_CHECK_EQUAL(pool.threads(), 0u);
  auto worker = std::make_shared<std::thread::id>();
  CAF_CHECK(pool.post([worker] { *worker = std::this_thread::get_id(); },
                      [&] {
                        CAF_CHECK(loop.in_loop_thread());
                        loop.stop();
                      }));
  loop.run();
  CAF_CHECK(*worker != std::thread::id{});
  CAF_CHECK(*worker != std::this_thread::get_id());
}

CAF_TEST(one thread serves work that comes one after another) {
  event_loop loop;
  thread_pool pool{loop};
  auto workers = std::make_shared<std::set<std::thread::id>>();
  auto left = 100;
  std::function<void()> next = [&] {
    if (--left == 0)
      loop.stop();
    else
      pool.post([workers] { workers->insert(std::this_thread::get_id()); },
                next);
  };
  next();
  loop.run();
  CAF_CHECK_EQUAL(workers->size(), 1u);
}

CAF_TEST(threads and waiting work are bounded) {
  event_loop loop;
  thread_pool::limits bounds;
  bounds.threads = 2;
  bounds.waiting = 3;
  thread_pool pool{loop, bounds};
  std::promise<void> gate;
  const auto open =
    std::make_shared<std::shared_future<void>>(gate.get_future().share());
  auto begun = std::make_shared<std::atomic<int>>(0);
  auto done = 0;
  const auto work = [open, begun] {
    ++*begun;
    open->wait();
  };
  const auto count = [&] {
    if (++done == 5)
      loop.stop();
  };
  CAF_CHECK(pool.post(work, count));
  CAF_CHECK(pool.post(work, count));
  while (*begun < 2)
    std::this_thread::yield();
  CAF_CHECK_EQUAL(pool.threads(), 2u);
  CAF_CHECK(pool.post(work, count));
  CAF_CHECK(pool.post(work, count));
  CAF_CHECK(pool.post(work, count));
  CAF_CHECK(!pool.post(work, count));
  CAF_CHECK_EQUAL(pool.threads(), 2u);
  gate.set_value();
  loop.run();
  CAF_CHECK_EQUAL(done, 5);
  CAF_CHECK_EQUAL(*begun, 5);
}

CAF_TEST(work that throws is done all the same) {
  event_loop loop;
  thread_pool pool{loop};
  const auto found = std::make_shared<std::optional<int>>();
  pool.post(
    [found] {
      throw std::runtime_error{"no"};
      *found = 1;
    },
    [&] { loop.stop(); });
  loop.run();
  CAF_CHECK(!*found);
}

CAF_TEST(idle threads end) {
  event_loop loop;
  thread_pool::limits bounds;
  bounds.idle = 5ms;
  thread_pool pool{loop, bounds};
  std::optional<timer> look;
  look.emplace(loop, [&] {
    if (pool.threads() == 0)
      loop.stop();
    else
      look->start(1ms);
  });
  pool.post([] {}, [&] { look->start(1ms); });
  CAF_CHECK_EQUAL(pool.threads(), 1u);
  loop.run();
  CAF_CHECK_EQUAL(pool.threads(), 0u);
  pool.post([] {}, [&] { loop.stop(); });
  loop.run();
}

CAF_TEST(threads of the pool block all signals) {
  event_loop loop;
  thread_pool pool{loop};
  const auto blocked = std::make_shared<bool>(false);
  pool.post(
    [blocked] {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      *blocked =
        sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGCHLD) == 1;
    },
    [&] { loop.stop(); });
  loop.run();
  CAF_CHECK(*blocked);
  sigset_t mine;
  pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  CAF_CHECK_EQUAL(sigismember(&mine, SIGINT), 0);
}

CAF_TEST(a closed pool drops what comes) {
  event_loop loop;
  thread_pool pool{loop};
  pool.close();
  const auto owned = std::make_shared<int>(0);
  CAF_CHECK(pool.post([owned] { CAF_FAIL("called"); }, [] {}));
  CAF_CHECK_EQUAL(owned.use_count(), 1);
  CAF_CHECK_EQUAL(pool.threads(), 0u);
}

CAF_TEST(the end of the pool drops what waits and leaves stuck work behind) {
  event_loop loop;
  thread_pool::limits bounds;
  bounds.threads = 1;
  bounds.grace = 5ms;
  auto pool = std::make_unique<thread_pool>(loop, bounds);
  const auto begun = std::make_shared<std::promise<void>>();
  const auto gate = std::make_shared<std::promise<void>>();
  const auto left = std::make_shared<std::promise<void>>();
  const auto owned = std::make_shared<int>(0);
  pool->post(
    [begun, gate, left] {
      begun->set_value();
      gate->get_future().wait();
      left->set_value();
    },
    [owned] { CAF_FAIL("called"); });
  pool->post([] {}, [owned] { CAF_FAIL("called"); });
  begun->get_future().wait();
  pool.reset();
  CAF_CHECK_EQUAL(owned.use_count(), 1); // Dropped here, not over there.
  gate->set_value();
  left->get_future().wait();
}
