#pragma once

#include "config/defaults.hpp"
#include "messages/sensor.hpp"

#include <chrono>
#include <optional>

namespace troupe {

/// Slows down the events of one source and code: so many within a window are
/// told, of those that follow the newest, at the end of the window, with their
/// number. Time comes in as it is.
/// Source: guarantees 2, class E, and P-E1.
class event_throttle {
public:
  using time = std::chrono::nanoseconds;

  explicit event_throttle(size_t events = defaults::sensor_events,
                          time window = defaults::sensor_event_window)
    : events_(events), window_(window) {
    // nop
  }

  /// @returns the event, unless it is held back.
  std::optional<environment_event> take(environment_event x, time now);

  /// When `flush` has something to return, if it has.
  std::optional<time> due() const;

  /// @returns what has been held back, if that is due.
  std::optional<environment_event> flush(time now);

private:
  size_t events_;
  time window_;
  time begin_{0};
  size_t told_ = 0;
  std::optional<environment_event> newest_;
  uint64_t skipped_ = 0;
};

} // namespace troupe
