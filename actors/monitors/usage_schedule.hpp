#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

/// Which monitors that tell of the use of resources are due: each one interval
/// after it was due before. Intervals that have passed meanwhile are skipped.
///
/// Monitors are small numbers of the owner's. Time is that of a clock that
/// never goes back, whatever its epoch.
/// Source: OpenPMIx, PMIX_MONITOR_RESOURCE_RATE; row M27.
class usage_schedule {
public:
  using time = std::chrono::nanoseconds;
  using item = uint32_t;

  /// Has a monitor come due from now on, first after one interval.
  /// @pre `interval > 0` and `!holds(x)`
  void add(item x, time interval, time now);

  void remove(item x);

  /// When `advance` wants to be called, if ever.
  std::optional<time> next() const;

  /// Appends the monitors that are due.
  void advance(time now, std::vector<item>& out);

  bool holds(item x) const {
    return entries_.count(x) > 0;
  }

  /// @pre `holds(x)`
  time due_at(item x) const {
    return entries_.at(x).due;
  }

private:
  struct entry {
    time interval{0};
    time due{0};
  };

  std::map<item, entry> entries_;
  std::set<std::pair<time, item>> order_;
};

} // namespace troupe
