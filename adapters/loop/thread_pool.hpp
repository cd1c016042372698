#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace troupe {

class event_loop;

/// A few threads for work that blocks: name look-up, hardware discovery, a slow
/// disk, syslog. Threads start when there is work and end when there has been
/// none for a while; they block all signals. For the thread of the loop only.
class thread_pool {
public:
  struct limits {
    /// Threads at any time.
    size_t threads = 4;

    /// Pieces of work that wait for a thread.
    size_t waiting = 1024;

    /// How long a thread waits for more work before it ends.
    std::chrono::milliseconds idle = std::chrono::seconds{5};

    /// How long the destructor waits for work that has begun.
    std::chrono::milliseconds grace = std::chrono::seconds{1};
  };

  explicit thread_pool(event_loop& loop);

  thread_pool(event_loop& loop, const limits& bounds);

  /// Closes the pool.
  ~thread_pool();

  thread_pool(const thread_pool&) = delete;

  thread_pool& operator=(const thread_pool&) = delete;

  /// Drops what has not begun and all `done`s that have not been called, and
  /// whatever is posted from now on: actors may still do so when a system ends.
  /// A thread whose work does not end in time is left behind with it.
  void close();

  /// Runs `work` on a thread of the pool, then `done` on the thread of the
  /// loop.
  /// @param work Shares with `done` what it finds out. What it throws is
  ///             swallowed, so let the shared result begin as a failure.
  ///             Because it may be left behind, it must own no actor handle,
  ///             nor refer to anything that it does not own.
  /// @param done Called once, unless the pool is closed earlier. Must not
  ///             throw.
  /// @returns `false` if too much is waiting already, or no thread can be
  ///          started; then neither is called.
  bool post(std::function<void()> work, std::function<void()> done);

  /// @returns how many threads there are at present.
  size_t threads() const;

private:
  struct shared_state;

  std::shared_ptr<shared_state> state_;
};

} // namespace troupe
