#pragma once

#include "actors/events/defaults.hpp"
#include "config/sensor_settings.hpp"
#include "messages/sensor.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Whether an interest is in a code.
inline bool wants(const environment_interest& x, status code) {
  return x.all
         || std::find(x.codes.begin(), x.codes.end(), code) != x.codes.end();
}

/// Who wants which events of the environment. A code is wanted as long as
/// somebody wants it.
/// @tparam User Somebody: an actor, a node.
template <class User>
class sensor_interest {
public:
  /// @param x In place of what the user wanted before; nothing: it is gone.
  void set(const User& user, environment_interest x) {
    std::sort(x.codes.begin(), x.codes.end());
    x.codes.erase(std::unique(x.codes.begin(), x.codes.end()), x.codes.end());
    if (x.all || !x.codes.empty())
      users_[user] = std::move(x);
    else
      users_.erase(user);
  }

  /// What somebody wants, in order.
  environment_interest of(const User& user) const {
    const auto i = users_.find(user);
    return i != users_.end() ? i->second : environment_interest{};
  }

  const std::map<User, environment_interest>& users() const {
    return users_;
  }

  /// Everybody who wants a code.
  std::vector<User> users_of(status code) const {
    auto result = std::vector<User>{};
    for (const auto& [user, x] : users_)
      if (wants(x, code))
        result.push_back(user);
    return result;
  }

  /// What anybody wants, in order and each once.
  environment_interest all() const {
    auto codes = std::set<status>{};
    auto result = environment_interest{};
    for (const auto& [user, x] : users_) {
      codes.insert(x.codes.begin(), x.codes.end());
      result.all |= x.all;
    }
    result.codes.assign(codes.begin(), codes.end());
    return result;
  }

private:
  std::map<User, environment_interest> users_;
};

/// Where a measured value stands.
enum class sensor_level : uint8_t { normal, high, critical };

/// Tells when a value passes its limits, and not that it is beyond them: a
/// value that trembles around a limit passes it once.
class level_rule {
public:
  /// @param limit From here on it is high; absent: never.
  /// @param critical Likewise.
  /// @param hysteresis How far below a limit it has to fall again.
  /// @returns the new level, if it is another. Begins at normal.
  std::optional<sensor_level> judge(double value, std::optional<double> limit,
                                    std::optional<double> critical,
                                    double hysteresis);

  sensor_level level() const {
    return level_;
  }

private:
  sensor_level level_ = sensor_level::normal;
};

/// Tells how much a counter has grown. One that has become smaller has begun
/// anew, at 0.
class counter_rule {
public:
  /// @returns the growth since the last time, if there is any; nothing the
  ///          first time.
  std::optional<uint64_t> judge(uint64_t value);

private:
  std::optional<uint64_t> last_;
};

/// Tells when something goes on or off.
class switch_rule {
public:
  /// @returns the new state, if it is another; nothing the first time.
  std::optional<bool> judge(bool is_on);

private:
  std::optional<bool> last_;
};

/// Makes events of readings: one for each crossing of a limit, each change of a
/// state, each growth of a counter. Bounded: remembers `sensor_devices` devices
/// and is deaf to more.
class sensor_rules {
public:
  explicit sensor_rules(sensor_limits limits = {}) : limits_(limits) {
    // nop
  }

  /// @returns the event that the reading makes, if any.
  std::optional<environment_event> judge(const sensor_reading& x);

  /// Codes of the events that readings of a quantity can make.
  static std::vector<status> codes_of(sensor_quantity x);

  /// Forgets all devices.
  void reset() {
    devices_.clear();
  }

private:
  struct device {
    level_rule level;
    counter_rule counter;
    switch_rule state;
  };

  std::optional<environment_event> judge_level(device& x,
                                               const sensor_reading& y) const;
  static std::optional<environment_event> judge_counter(device& x,
                                                        const sensor_reading&);
  static std::optional<environment_event> judge_switch(device& x,
                                                       const sensor_reading&);

  sensor_limits limits_;
  std::map<std::pair<sensor_quantity, std::string>, device> devices_;
};

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
