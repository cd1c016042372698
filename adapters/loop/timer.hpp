#pragma once

#include "adapters/loop/loop_event.hpp"

namespace troupe {

class event_loop;

/// Calls back once after a delay. The callback may start the timer again or
/// destroy it; it must not throw. For the thread of the loop only.
class timer {
public:
  timer(event_loop& loop, std::function<void()> on_expiry);

  /// Starts the timer, or starts it over if it is running.
  /// @param delay Time to wait, to the microsecond; the callback comes after
  /// it,
  ///              never before. Negative counts as zero.
  void start(std::chrono::nanoseconds delay);

  /// Stops the timer; the callback will not come. No effect if not running.
  void cancel() noexcept;

  /// @returns whether the callback is still to come.
  bool is_running() const noexcept;

private:
  loop_event event_;
};

} // namespace troupe
