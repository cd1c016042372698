#pragma once

#include "adapters/loop/bulk_pace.hpp"
#include "adapters/loop/linger_rule.hpp"
#include "adapters/loop/loop_event.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace troupe {

/// The event loop of a process: one thread, inside `run`, waits for
/// descriptors, timers, signals and work from other threads. With nothing to
/// do it sleeps; it polls only as far as `set_linger` and `set_look` have it.
///
/// Unless a function says otherwise, the loop and everything attached to it is
/// for the thread in `run`, and for any one thread while nobody is in `run`.
class event_loop {
public:
  /// When the loop takes descriptors and memory of the system, and the library
  /// that it is made with.
  enum class start : uint8_t {
    /// When it is made.
    at_once,

    /// When it is needed: for `prepare`, `run`, or whatever is attached to it. Until
    /// then there are tasks alone, which `run_once` runs.
    late,
  };

  /// @throws std::runtime_error if the system gives no descriptors.
  explicit event_loop(start when = start::at_once);

  /// All watches and timers must be gone. Nobody may be in `run`.
  ~event_loop();

  event_loop(const event_loop&) = delete;

  event_loop& operator=(const event_loop&) = delete;

  /// Takes what it needs of the system, if it has not.
  /// @throws std::runtime_error if the system gives no descriptors.
  void prepare();

  /// Makes the calling thread the thread of the loop until somebody calls
  /// `stop`. May be called again afterwards, also by another thread.
  void run();

  /// Makes the calling thread the thread of the loop for one pass: does what is
  /// due and does not wait. For programs that drive progress themselves.
  void run_once();

  /// Ends `run` at once; called before `run`, it ends the next one. What is
  /// ready by then keeps waiting. Safe on any thread and in every callback, but
  /// not in a C signal handler (use `on_signal`).
  void stop() noexcept;

  /// @returns whether the calling thread is inside `run`. Safe on any thread.
  bool in_loop_thread() const noexcept {
    return runner_.load(std::memory_order_relaxed)
           == std::this_thread::get_id();
  }

  /// How often somebody has come into `run` or `run_once`, or gone: odd while
  /// somebody is there. Safe on any thread.
  uint64_t turns() const noexcept {
    return turns_.load(std::memory_order_relaxed);
  }

  /// Runs `task` on the thread of the loop, in the order of the calls. It must
  /// not throw. Safe on any thread.
  /// @returns `false` if the loop is closed; then `task` is not kept.
  bool post(std::function<void()> task);

  /// How long the loop looks for tasks of other threads before it sleeps, after
  /// tasks that have come in quick succession: whoever posts the next one need
  /// not wake it, which takes longer than most tasks. Sockets and timers wait as
  /// long. If nothing comes several times over, it looks ever less often. 0, as
  /// at the begin: never. Only where the thread has a processor to itself.
  void set_linger(std::chrono::nanoseconds x) {
    linger_.set_limit(x);
  }

  /// How long the loop looks for anything that may come, on sockets above all,
  /// before it sleeps: the same for whoever is asked by others and asks them. By the
  /// same rule, and a pass of the loop each time. 0, as at the begin: never.
  void set_look(std::chrono::nanoseconds x);

  /// How often the loop has slept since it looks. Of the thread of the loop.
  uint64_t sleeps() const noexcept {
    return sleeps_;
  }

  /// How often other threads have had to wake the loop for a task. Safe on any
  /// thread.
  uint64_t rings() const noexcept {
    return rings_.load(std::memory_order_relaxed);
  }

  /// Drops all posted tasks, and those posted from now on. For the end of a
  /// process part: tasks own things that must not outlive what they belong to.
  void close();

  /// Calls `handler` on the thread of the loop after signal `number` came in,
  /// instead of what the process did about it before. Replaces an earlier
  /// handler. Only one loop of a process may watch signals, and not in a
  /// library: the signals are the application's.
  /// @returns whether the system lets us catch that signal.
  bool on_signal(int number, std::function<void()> handler);

  /// Gives signal `number` back to what handled it before `on_signal`.
  void forget_signal(int number);

  /// Between what processes of this node wait for together, which is urgent, and
  /// the reading of what they write. Of the thread of the loop.
  bulk_pace& pace() noexcept {
    return pace_;
  }

  /// Of a loop that starts late, see `prepare`.
  event_base* base() {
    prepare();
    return base_.get();
  }

private:
  struct deleter {
    void operator()(event_base* x) const noexcept;
  };

  using clock = std::chrono::steady_clock;

  void enter();
  void leave();
  int run_pass(int flags);
  int run_looking();
  void on_bell();
  void run_tasks();
  void look_for_tasks();

  std::unique_ptr<event_base, deleter> base_;
  std::atomic<std::thread::id> runner_{};
  std::atomic<uint64_t> turns_{0};
  std::optional<loop_event> stop_; // set under mutex_
  std::map<int, loop_event> signals_;
  bool is_running_tasks_ = false; // guarded by mutex_

  std::mutex mutex_;
  std::deque<std::function<void()>> tasks_; // guarded by mutex_
  bool is_closed_ = false;                  // guarded by mutex_
  std::optional<loop_event> tasks_ready_;   // set under mutex_

  bulk_pace pace_;

  linger_rule linger_;
  std::optional<loop_event> linger_begin_;

  /// As `linger_`, for everything.
  linger_rule look_;
  uint64_t sleeps_ = 0;

  /// `stop_` has fired: `run` ends.
  bool is_stopped_ = false;
  std::atomic<bool> is_stopping_{false};

  /// Tasks have been posted since it was set to false.
  std::atomic<bool> has_news_{false};
  std::atomic<uint64_t> rings_{0};
};

} // namespace troupe
