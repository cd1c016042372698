#pragma once

#include "actors/monitors/timer_wheel.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

/// Which processes have been silent for too long. A monitor is due its window
/// after the last beat of its process, and silent only if nothing has come once
/// what was under way has been read. A beat feeds all monitors of its process
/// and costs the same however many these are.
///
/// A process may show its beats where nobody has to read a message of them
/// (`beat_source`): there we look when a monitor is due.
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

  /// Beats without a message.
  struct beat_source {
    /// When a process has beaten last, by its own clock; 0: never. May be
    /// anything: what cannot be true counts as a beat of now when it changes.
    std::function<uint64_t(uint32_t process)> last;

    /// Whether a process is to beat by a message as well, since its silence was
    /// noticed.
    std::function<void(uint32_t process, bool is_wanted)> want;
  };

  /// How a monitor is.
  struct state {
    /// Since the last beat, and until an alert; an alert that was raised is
    /// not due.
    time since_beat{0};
    std::optional<time> due;
  };

  heartbeat_watch() = default;

  explicit heartbeat_watch(beat_source beats) : beats_(std::move(beats)) {
    // nop
  }

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

  /// @pre `holds(x)`
  state state_of(item x, time now);

  size_t size() const {
    return size_;
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

  // With its place in the `monitor_table` at most 128 bytes.
  static_assert(sizeof(monitor) + timer_wheel::bytes_per_item() <= 48);

  struct process {
    time last{0};

    /// What its source said when we looked there, and when that was.
    uint64_t shown = 0;
    time looked{0};

    /// What was left unread when it last seemed silent.
    uint64_t unread = 0;
    item first = none;
    uint32_t silent = 0;
    bool is_paused = false;
  };

  /// Time in which we stood still.
  struct standstill {
    time begin{0};
    time end{0};
  };

  time counted(time now);

  /// The same of a time that is over.
  time counted_at(time x) const;

  /// Takes beats that came without a message.
  void hear(uint32_t process, time now);

  /// The process has beaten, at a counted time.
  void note_beat(uint32_t process, time at);

  void arm(item x);
  void arm_all(process& of, phase which);
  void arm_alike(const process& of, time window);

  beat_source beats_;
  timer_wheel wheel_;
  std::vector<monitor> monitors_;
  std::vector<process> processes_;
  std::vector<item> due_;
  std::optional<time> expected_;
  time excused_{0};

  /// The newest last, and the end of the last one that is not kept.
  std::deque<standstill> standstills_;
  time forgotten_{0};
  size_t size_ = 0;
};

} // namespace troupe
