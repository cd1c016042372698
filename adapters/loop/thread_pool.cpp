#include "adapters/loop/thread_pool.hpp"

#include "adapters/loop/event_loop.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace troupe {

namespace {

using callback = std::function<void()>;

struct job {
  callback work;
  callback done;
};

struct worker {
  std::thread thread;
  callback done; // of the work that is going on
  bool has_ended = false;
};

/// Starts a thread that no signal is delivered to.
/// @throws std::system_error if the system has no more threads.
template <class F>
std::thread start_thread(F body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    auto result = std::thread{std::move(body)};
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return result;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

} // namespace

/// What the pool and its threads share; outlives the pool if a thread is stuck.
struct thread_pool::shared_state {
  shared_state(event_loop& loop, const limits& bounds)
    : loop(loop), bounds(bounds) {
    // nop
  }

  size_t living() const {
    return static_cast<size_t>(
      std::count_if(workers.begin(), workers.end(),
                    [](const worker& x) { return !x.has_ended; }));
  }

  event_loop& loop;
  const limits bounds;

  // All below is guarded by the mutex.
  std::mutex mutex;
  std::condition_variable work_came;
  std::condition_variable worker_ended;
  std::deque<job> waiting;
  std::list<worker> workers;
  size_t idle = 0;
  bool is_closed = false;
};

namespace {

/// Joins the threads that have ended.
template <class State>
void reap(State& state) {
  std::list<worker> ended;
  {
    const auto guard = std::lock_guard{state.mutex};
    for (auto i = state.workers.begin(); i != state.workers.end();) {
      const auto here = i++;
      if (here->has_ended)
        ended.splice(ended.end(), state.workers, here);
    }
  }
  for (auto& x : ended)
    x.thread.join();
}

/// What a thread of the pool does.
template <class State>
void serve(const std::shared_ptr<State>& state, worker& self) {
  auto lock = std::unique_lock{state->mutex};
  const auto something_to_do = [&] {
    return state->is_closed || !state->waiting.empty();
  };
  for (;;) {
    ++state->idle;
    const auto woken =
      state->work_came.wait_for(lock, state->bounds.idle, something_to_do);
    --state->idle;
    if (!woken || state->is_closed)
      break;
    auto next = std::move(state->waiting.front());
    state->waiting.pop_front();
    self.done = std::move(next.done);
    lock.unlock();
    try {
      next.work();
    } catch (...) {
      // The result that `done` looks at says so.
    }
    next.work = nullptr;
    lock.lock();
    if (state->is_closed)
      break;
    state->loop.post(std::exchange(self.done, nullptr));
  }
  self.has_ended = true;
  state->worker_ended.notify_all();
  if (!state->is_closed)
    state->loop.post([state] { reap(*state); });
}

/// Sees to it that a thread takes the job that was queued last.
/// @returns `false` if there is none and none can be started.
template <class State>
bool staff(const std::shared_ptr<State>& state) {
  const auto living = state->living();
  if (state->idle >= state->waiting.size() || living >= state->bounds.threads) {
    state->work_came.notify_one();
    return true;
  }
  auto& self = state->workers.emplace_back();
  try {
    self.thread = start_thread([state, &self] { serve(state, self); });
    return true;
  } catch (const std::system_error&) {
    state->workers.pop_back();
    return living > 0; // One of those comes to it later.
  }
}

} // namespace

thread_pool::thread_pool(event_loop& loop) : thread_pool(loop, limits{}) {
  // nop
}

thread_pool::thread_pool(event_loop& loop, const limits& bounds)
  : state_(std::make_shared<shared_state>(loop, bounds)) {
  // nop
}

thread_pool::~thread_pool() {
  close();
}

void thread_pool::close() {
  std::deque<job> dropped;
  std::vector<callback> not_called;
  {
    auto lock = std::unique_lock{state_->mutex};
    if (std::exchange(state_->is_closed, true))
      return;
    dropped.swap(state_->waiting);
    for (auto& x : state_->workers)
      not_called.push_back(std::exchange(x.done, nullptr));
    state_->work_came.notify_all();
    state_->worker_ended.wait_for(lock, state_->bounds.grace,
                                  [this] { return state_->living() == 0; });
    for (auto& x : state_->workers)
      if (!x.has_ended)
        x.thread.detach();
  }
  reap(*state_);
}

bool thread_pool::post(callback work, callback done) {
  const auto guard = std::lock_guard{state_->mutex};
  if (state_->is_closed)
    return true;
  if (state_->waiting.size() >= state_->bounds.waiting)
    return false;
  state_->waiting.push_back({std::move(work), std::move(done)});
  if (staff(state_))
    return true;
  state_->waiting.pop_back();
  return false;
}

size_t thread_pool::threads() const {
  const auto guard = std::lock_guard{state_->mutex};
  return state_->living();
}

} // namespace troupe
