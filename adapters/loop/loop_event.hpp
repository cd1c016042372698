#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

struct event_base; // libevent's

namespace troupe {

/// One event of libevent and what to do when it fires. The callback may do
/// anything, also destroy the object it belongs to. It must not throw; only for
/// want of memory it may, and then it has done what it has done.
///
/// What adapters use is built from this: `fd_watch`, `timer`, and the queues of
/// the loop. It has to end before the loop does, on the thread of the loop or
/// while the loop is not running.
class loop_event {
public:
  using callback = std::function<void()>;

  /// @param fd   Descriptor or signal number; -1 for an event that only fires
  ///             after a delay or when told to. Not owned.
  /// @param what Flags of libevent, such as `EV_READ | EV_PERSIST`.
  loop_event(event_base* base, int fd, short what, callback on_fire);

  /// Waits for the descriptor or the signal.
  /// @returns whether that is possible; the kernel refuses to watch regular
  ///          files, for example.
  bool add() noexcept;

  /// Fires once `delay` has passed, never earlier; a negative one counts as
  /// zero. Even with zero the sockets have their turn first. An earlier call
  /// that is still pending is replaced. Safe on any thread.
  void fire_after(std::chrono::nanoseconds delay);

  /// Fires in the pass of the loop that is under way, after all that is ready
  /// already. Allocates nothing. Safe on any thread, but only the loop's own
  /// should call it often: what other threads add to a pass makes it longer.
  void fire_now() noexcept;

  /// Waits no longer. Safe on any thread; on others than the loop's the
  /// callback may be running when this returns.
  void remove() noexcept;

  /// @returns whether it is waiting, or has fired and not been called yet.
  bool is_pending() const noexcept;

  /// The descriptor that it waits for; -1 if it waits for none.
  int fd() const noexcept;

  /// How often an event has fired on this thread.
  static uint64_t fired() noexcept;

private:
  struct state;

  struct deleter {
    void operator()(state* x) const noexcept;
  };

  std::unique_ptr<state, deleter> state_;
};

} // namespace troupe
