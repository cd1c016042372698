#pragma once

#include "actors/monitors/timer_wheel.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace troupe {

/// Which processes have been silent for too long. A monitor is due its window
/// after the last beat of its process, and silent only if nothing has come once
/// what was under way has been read. A beat feeds all monitors of its process
/// and costs the same however many these are.
///
/// What does not count: time in which we were late ourselves, time in which the
/// process was paused on purpose, and beats that we have chosen not to read.
///
/// After an alert a monitor rests until its process beats again: one alert for
/// one silence.
///
/// Monitors and processes are small numbers of the owner's. Time is that of a
/// clock that never goes back, whatever its epoch.
/// Source: RFC0015, "Monitoring"; guarantees 5.9, MON-1 to MON-3, P-H1.
class heartbeat_watch {
public:
  using time = std::chrono::nanoseconds;
  using item = timer_wheel::item;

  /// Unread bytes from which on a process may be unable to send its beats.
  static constexpr uint64_t full = size_t{64} << 10;

  /// A process that no monitor watches yet.
  void add_process(uint32_t process, time now);

  /// Watches a process from now on: the first beat is due within the window.
  void add(item x, uint32_t process, time window, time now);

  /// Watches it no longer.
  void remove(item x);

  void beat(uint32_t process, time now);

  /// The process is stopped on purpose, or goes on: then it has its whole
  /// window again.
  void pause(uint32_t process, bool paused, time now);

  /// When `advance` wants to be called, if ever. Being called later is taken
  /// for our own lateness.
  std::optional<time> next(time now);

  /// Appends the monitors whose processes seem silent: what these have sent has
  /// to be read before `confirm` says so.
  void advance(time now, std::vector<item>& out);

  /// What the process has sent has been read.
  /// @param unread Bytes of it that we have chosen not to read.
  /// @returns whether it is silent: an alert is due.
  bool confirm(item x, uint64_t unread, time now);

  bool holds(item x) const {
    return x < monitors_.size() && monitors_[x].state != phase::free;
  }

  /// Whether an alert was raised and no beat has come since.
  bool is_silent(item x) const {
    return holds(x) && monitors_[x].state == phase::silent;
  }

  size_t size() const {
    return size_;
  }

  /// Time that does not count so far.
  time excused() const {
    return excused_;
  }

  /// Bytes for each monitor.
  static size_t bytes_per_monitor() {
    return sizeof(monitor) + timer_wheel::bytes_per_item();
  }

private:
  static constexpr item none = UINT32_MAX;

  enum class phase : uint8_t {
    free,

    /// Waits for its time.
    armed,

    /// Its time has come; what has been sent is being read.
    asked,

    /// Its time has come while its process was paused.
    held,

    /// An alert was raised.
    silent,
  };

  struct monitor {
    time window{0};
    uint32_t process = 0;
    item next = none;
    phase state = phase::free;
  };

  struct process {
    time last{0};

    /// What was left unread when it last seemed silent.
    uint64_t unread = 0;
    item first = none;
    uint32_t silent = 0;
    bool is_paused = false;
  };

  time counted(time now);
  void arm(item x);
  void arm_all(process& of, phase which);

  timer_wheel wheel_;
  std::vector<monitor> monitors_;
  std::vector<process> processes_;
  std::vector<item> due_;
  std::optional<time> expected_;
  time excused_{0};
  size_t size_ = 0;
};

} // namespace troupe
