#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

struct event;      // libevent's
struct event_base; // libevent's

namespace troupe {

/// The delays of a loop's events, to the microsecond. The kernel is told of the first
/// of them when that comes sooner than what it was told before: libevent, asked for
/// as much precision, tells it in each pass of the loop, a fifth of all calls of a
/// server. What is cancelled may thus wake the loop in vain.
///
/// Safe on any thread; an entry ends on the thread of the loop, or while that is not
/// running.
class loop_timers {
public:
  using clock = std::chrono::steady_clock;

private:
  /// When, and in the order of the calls.
  using key = std::pair<clock::time_point, uint64_t>;

public:
  /// The delay of one event, which has it as a member.
  class entry {
  public:
    /// Whether it waits.
    bool is_running() const noexcept {
      return is_running_.load(std::memory_order_relaxed);
    }

  private:
    friend class loop_timers;

    ::event* ev_ = nullptr;
    key when_;
    std::map<key, entry*>::node_type place_; ///< While it does not wait.
    std::atomic<bool> is_running_{false};
    bool has_come_ = false;
  };

  /// @throws std::runtime_error if the system gives no descriptor.
  explicit loop_timers(event_base* base);

  ~loop_timers();

  loop_timers(const loop_timers&) = delete;

  loop_timers& operator=(const loop_timers&) = delete;

  /// Has an event fire (`EV_TIMEOUT`) once so much time has passed, in the place of
  /// an earlier call; without any, or less, in the next pass of the loop.
  /// @throws std::bad_alloc the first time for this event.
  void start(entry& x, ::event* ev, std::chrono::nanoseconds delay);

  void cancel(entry& x) noexcept;

  /// An event fires as its time has come.
  /// @returns whether that is still so: it may have been started over since.
  bool take(entry& x) noexcept;

  /// How often the kernel was told of a time.
  uint64_t told() const noexcept {
    return told_.load(std::memory_order_relaxed);
  }

private:
  struct deleter {
    void operator()(::event* x) const noexcept;
  };

  using owned_event = std::unique_ptr<::event, deleter>;

  owned_event make_event(event_base* base, int fd, short what);

  void on_time() noexcept;

  // -- with the lock held --
  void remove(entry& x) noexcept;
  void tell(clock::time_point when) noexcept;

  unique_fd fd_;
  owned_event watch_;
  owned_event next_pass_;
  std::atomic<uint64_t> told_{0};

  std::mutex mutex_;
  std::map<key, entry*> schedule_; // guarded by mutex_
  uint64_t last_ = 0;              // guarded by mutex_

  /// What the kernel was told last, until it has come.
  clock::time_point told_of_ = clock::time_point::max(); // guarded by mutex_

  /// Whether the next pass looks anyway.
  bool is_due_ = false; // guarded by mutex_
};

} // namespace troupe
