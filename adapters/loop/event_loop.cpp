#include "adapters/loop/event_loop.hpp"

#include "adapters/loop/turn.hpp"

#include <event2/event.h>
#include <event2/thread.h>

#include <cassert>
#include <new>
#include <stdexcept>
#include <utility>

namespace troupe {

namespace {

/// @throws std::runtime_error if the system gives no descriptors.
event_base* new_base() {
  // Has to come before the first base of the process that needs it; a second
  // time does no harm.
  static const auto has_threads = evthread_use_pthreads() == 0;
  const auto config =
    std::unique_ptr<event_config, decltype(&event_config_free)>{
      event_config_new(), event_config_free};
  if (!has_threads || config == nullptr)
    throw std::bad_alloc{};
  // Without the first flag timers are off by milliseconds. Without the second
  // they count from the begin of the pass, thus fire early. The third keeps the
  // user's environment from choosing another backend.
  event_config_set_flag(config.get(), EVENT_BASE_FLAG_PRECISE_TIMER);
  event_config_set_flag(config.get(), EVENT_BASE_FLAG_NO_CACHE_TIME);
  event_config_set_flag(config.get(), EVENT_BASE_FLAG_IGNORE_ENV);
  auto* base = event_base_new_with_config(config.get());
  if (base == nullptr)
    throw std::runtime_error{"cannot create an event loop"};
  return base;
}

} // namespace

void event_loop::deleter::operator()(event_base* x) const noexcept {
  event_base_free(x);
}

event_loop::event_loop()
  : base_(new_base()),
    stop_(base_.get(), -1, 0, [this] { event_base_loopbreak(base_.get()); }),
    tasks_ready_(base_.get(), -1, 0, [this] { run_tasks(); }) {
  // nop
}

event_loop::~event_loop() {
  assert(runner_.load() == std::thread::id{});
}

void event_loop::run() {
  assert(runner_.load() == std::thread::id{});
  runner_ = std::this_thread::get_id();
  const auto result = event_base_loop(base_.get(), EVLOOP_NO_EXIT_ON_EMPTY);
  runner_ = std::thread::id{};
  if (result < 0)
    throw std::runtime_error{"the event loop failed"};
}

void event_loop::run_once() {
  assert(runner_.load() == std::thread::id{});
  runner_ = std::this_thread::get_id();
  const auto result = event_base_loop(base_.get(), EVLOOP_NONBLOCK);
  runner_ = std::thread::id{};
  if (result < 0)
    throw std::runtime_error{"the event loop failed"};
}

void event_loop::stop() noexcept {
  stop_.fire_now();
}

bool event_loop::post(std::function<void()> task) {
  const auto here = in_loop_thread();
  {
    const auto guard = std::lock_guard{mutex_};
    if (is_closed_)
      return false;
    const auto was_empty = tasks_.empty();
    tasks_.emplace_back(std::move(task));
    if (!was_empty || (here && is_running_tasks_))
      return true; // Somebody has seen to it already.
  }
  if (here)
    tasks_ready_.fire_now();
  else
    tasks_ready_.fire_after(std::chrono::nanoseconds::zero());
  return true;
}

void event_loop::run_tasks() {
  is_running_tasks_ = true;
  for (turn t; t.next();) {
    std::function<void()> task;
    {
      const auto guard = std::lock_guard{mutex_};
      if (tasks_.empty()) {
        is_running_tasks_ = false;
        return;
      }
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
  is_running_tasks_ = false;
  tasks_ready_.fire_after(std::chrono::nanoseconds::zero());
}

void event_loop::close() {
  std::deque<std::function<void()>> dropped; // Destroyed without the lock.
  const auto guard = std::lock_guard{mutex_};
  is_closed_ = true;
  tasks_.swap(dropped);
}

bool event_loop::on_signal(int number, std::function<void()> handler) {
  auto watch = loop_event{base_.get(), number, short{EV_SIGNAL | EV_PERSIST},
                          std::move(handler)};
  if (!watch.add())
    return false;
  signals_.insert_or_assign(number, std::move(watch));
  return true;
}

void event_loop::forget_signal(int number) {
  signals_.erase(number);
}

} // namespace troupe
