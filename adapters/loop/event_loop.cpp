#include "adapters/loop/event_loop.hpp"

#include "adapters/loop/memory_reserve.hpp"
#include "adapters/loop/turn.hpp"
#include "adapters/loop/unique_fd.hpp"

#include <event2/event.h>
#include <event2/thread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace troupe {

namespace {

/// What helps if the system gives too little.
const auto remedy =
  std::string{"raise the limits of open files (ulimit -n) and "
              "memory (ulimit -v)"};

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
    throw std::runtime_error{"cannot create an event loop; " + remedy};
  return base;
}

/// Tasks to take from the queue at a time.
constexpr size_t tasks_per_lock = 8;

/// Tells the processor that this thread only looks.
void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// An event that other threads can fire without a lock: libevent's own way
/// wakes the loop while it holds the lock that the loop then waits for. It
/// fires at each write to its descriptor, which nobody has to read.
/// @throws std::runtime_error if the system gives no descriptor.
loop_event new_bell(event_base* base, std::function<void()> on_ring) {
  auto bell =
    std::make_shared<unique_fd>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!*bell)
    throw std::runtime_error{"cannot create an event descriptor; " + remedy};
  const auto fd = bell->get();
  auto result =
    loop_event{base, fd, short{EV_READ | EV_PERSIST | EV_ET},
               [bell = std::move(bell), f = std::move(on_ring)] { f(); }};
  if (!result.add())
    throw std::runtime_error{"cannot watch an event descriptor; " + remedy};
  return result;
}

/// Runs a task, if there is one, and destroys it before the next one runs.
void run_task(std::function<void()> task) {
  if (!task)
    return;
  try {
    task();
  } catch (const std::bad_alloc&) {
    // The others are not to be lost.
    refill_memory_reserve();
  }
}

void ring(const loop_event& bell) {
  const auto one = uint64_t{1};
  // Fails only if the counter is at its end: then it has been rung.
  static_cast<void>(!::write(bell.fd(), &one, sizeof(one)));
}

} // namespace

void event_loop::deleter::operator()(event_base* x) const noexcept {
  event_base_free(x);
}

event_loop::event_loop(start when) {
  if (when == start::at_once)
    prepare();
}

void event_loop::prepare() {
  if (base_)
    return;
  auto fresh = decltype(base_){new_base()};
  auto stopper = loop_event{fresh.get(), -1, 0, [this] {
                              is_stopped_ = true;
                              event_base_loopbreak(base_.get());
                            }};
  auto bell = new_bell(fresh.get(), [this] { on_bell(); });
  auto lingerer = loop_event{fresh.get(), -1, 0, [this] { look_for_tasks(); }};
  const auto guard = std::lock_guard{mutex_};
  base_ = std::move(fresh);
  stop_.emplace(std::move(stopper));
  tasks_ready_.emplace(std::move(bell));
  linger_begin_.emplace(std::move(lingerer));
  // What has been asked for before.
  if (is_stopping_)
    stop_->fire_now();
  if (!tasks_.empty())
    ring(*tasks_ready_);
}

event_loop::~event_loop() {
  assert(runner_.load() == std::thread::id{});
}

void event_loop::enter() {
  assert(runner_.load() == std::thread::id{});
  runner_ = std::this_thread::get_id();
  turns_.fetch_add(1, std::memory_order_relaxed);
}

void event_loop::leave() {
  turns_.fetch_add(1, std::memory_order_relaxed);
  runner_ = std::thread::id{};
  is_stopping_ = is_stopped_ = false;
}

void event_loop::run() {
  prepare();
  enter();
  auto result = 0;
  // `set_look` ends neither, but it changes how to go on.
  while (result >= 0 && !is_stopped_)
    result = look_.is_on() ? run_looking() : run_pass(0);
  leave();
  if (result < 0)
    throw std::runtime_error{"the event loop failed"};
}

int event_loop::run_pass(int flags) {
  return event_base_loop(base_.get(), EVLOOP_NO_EXIT_ON_EMPTY | flags);
}

/// Sleeps until something comes, and looks for more when it is done.
int event_loop::run_looking() {
  ++sleeps_;
  look_.note_idle(clock::now());
  auto result = run_pass(EVLOOP_ONCE);
  auto has_paid = look_.is_due(clock::now());
  while (result >= 0 && has_paid && !is_stopped_) {
    const auto before = loop_event::fired();
    const auto end = clock::now() + look_.limit();
    do {
      result = run_pass(EVLOOP_NONBLOCK);
      has_paid = loop_event::fired() != before;
    } while (result >= 0 && !has_paid && clock::now() < end);
    look_.learn(has_paid);
  }
  return result;
}

void event_loop::set_look(std::chrono::nanoseconds x) {
  look_.set_limit(x);
  if (in_loop_thread() && base_)
    event_base_loopbreak(base_.get());
}

void event_loop::run_once() {
  enter();
  auto result = 0;
  if (base_)
    result = event_base_loop(base_.get(), EVLOOP_NONBLOCK);
  else
    run_tasks();
  leave();
  if (result < 0)
    throw std::runtime_error{"the event loop failed"};
}

void event_loop::stop() noexcept {
  const auto guard = std::lock_guard{mutex_};
  is_stopping_ = true;
  if (stop_)
    stop_->fire_now();
}

bool event_loop::post(std::function<void()> task) {
  {
    const auto guard = std::lock_guard{mutex_};
    if (is_closed_)
      return false;
    const auto was_empty = tasks_.empty();
    tasks_.emplace_back(std::move(task));
    has_news_ = true;
    if (!was_empty || is_running_tasks_ || !tasks_ready_)
      return true; // Somebody has seen to it already, or will.
  }
  if (in_loop_thread()) {
    tasks_ready_->fire_now();
  } else {
    rings_.fetch_add(1, std::memory_order_relaxed);
    ring(*tasks_ready_);
  }
  return true;
}

void event_loop::on_bell() {
  const auto lingers = linger_.is_on() && linger_.is_due(clock::now());
  run_tasks();
  if (lingers)
    linger_begin_->fire_after(std::chrono::nanoseconds::zero());
}

/// Whoever posts a task meanwhile need not ring.
void event_loop::look_for_tasks() {
  // The next look, before somebody waits for what comes of a task.
  linger_begin_->fire_after(std::chrono::nanoseconds::zero());
  {
    const auto guard = std::lock_guard{mutex_};
    has_news_ = !tasks_.empty();
    is_running_tasks_ = true;
  }
  const auto end = clock::now() + linger_.limit();
  while (!has_news_.load(std::memory_order_relaxed)
         && !is_stopping_.load(std::memory_order_relaxed) && clock::now() < end)
    relax();
  const auto has_paid = has_news_.load();
  linger_.learn(has_paid);
  if (!has_paid)
    linger_begin_->remove();
  run_tasks();
}

void event_loop::run_tasks() {
  auto tasks = std::array<std::function<void()>, tasks_per_lock>{};
  for (turn t; t.next();) {
    {
      const auto guard = std::lock_guard{mutex_};
      is_running_tasks_ = !tasks_.empty();
      if (!is_running_tasks_) {
        if (linger_.is_on())
          linger_.note_idle(clock::now());
        return;
      }
      // A few at a time: nobody who posts has to wait for us.
      const auto n = std::min(tasks_.size(), tasks_per_lock);
      for (size_t i = 0; i < n; ++i) {
        tasks[i] = std::move(tasks_.front());
        tasks_.pop_front();
      }
    }
    for (auto& task : tasks)
      run_task(std::move(task));
  }
  {
    const auto guard = std::lock_guard{mutex_};
    is_running_tasks_ = false;
    if (tasks_.empty() || !tasks_ready_)
      return;
  }
  ring(*tasks_ready_);
}

void event_loop::close() {
  std::deque<std::function<void()>> dropped; // Destroyed without the lock.
  const auto guard = std::lock_guard{mutex_};
  is_closed_ = true;
  tasks_.swap(dropped);
}

bool event_loop::on_signal(int number, std::function<void()> handler) {
  auto watch = loop_event{base(), number, short{EV_SIGNAL | EV_PERSIST},
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
