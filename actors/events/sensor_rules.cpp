#include "actors/events/sensor_rules.hpp"

#include "base/make_info.hpp"
#include "config/defaults.hpp"

#include <cmath>
#include <utility>

namespace troupe {

namespace {

/// Counters travel as doubles, which are exact up to here.
constexpr double largest_count = 9007199254740992.0;

info text_info(std::string_view key, std::string x) {
  return make_info(key, value::string(std::move(x)));
}

info number_info(std::string_view key, double x) {
  return make_info(key, value{data_type::double_, x});
}

environment_event event_of(status code, const sensor_reading& x) {
  auto result = environment_event{code, {}};
  result.infos.push_back(text_info(event_device_key, x.device));
  if (!x.label.empty())
    result.infos.push_back(text_info(event_label_key, x.label));
  return result;
}

status code_of(sensor_quantity of, sensor_level level) {
  switch (of) {
    case sensor_quantity::memory_pressure:
      return level == sensor_level::normal ? status::memory_pressure_normal
                                           : status::memory_pressure_high;
    case sensor_quantity::file_system_use:
      return level == sensor_level::normal ? status::file_system_normal
                                           : status::file_system_full;
    default:
      switch (level) {
        case sensor_level::normal:
          return status::temperature_normal;
        case sensor_level::high:
          return status::temperature_high;
        default:
          return status::temperature_critical;
      }
  }
}

} // namespace

std::optional<sensor_level> level_rule::judge(double value,
                                              std::optional<double> limit,
                                              std::optional<double> critical,
                                              double hysteresis) {
  // What it has passed already, it passes only with some distance.
  const auto is_beyond = [&](const std::optional<double>& x, sensor_level y) {
    return x && value >= (level_ >= y ? *x - hysteresis : *x);
  };
  auto level = sensor_level::normal;
  if (is_beyond(critical, sensor_level::critical))
    level = sensor_level::critical;
  else if (is_beyond(limit, sensor_level::high))
    level = sensor_level::high;
  if (level == level_)
    return std::nullopt;
  level_ = level;
  return level;
}

std::optional<uint64_t> counter_rule::judge(uint64_t value) {
  const auto last = std::exchange(last_, value);
  if (!last)
    return std::nullopt;
  const auto growth = value < *last ? value : value - *last;
  return growth > 0 ? std::optional{growth} : std::nullopt;
}

std::optional<bool> switch_rule::judge(bool is_on) {
  const auto last = std::exchange(last_, is_on);
  return last && *last != is_on ? std::optional{is_on} : std::nullopt;
}

std::vector<status> sensor_rules::codes_of(sensor_quantity x) {
  switch (x) {
    case sensor_quantity::corrected_errors:
      return {status::memory_errors_corrected};
    case sensor_quantity::uncorrected_errors:
      return {status::memory_errors_uncorrected};
    case sensor_quantity::temperature:
      return {status::temperature_high, status::temperature_critical,
              status::temperature_normal};
    case sensor_quantity::link:
      return {status::link_down, status::link_up};
    case sensor_quantity::memory_pressure:
      return {status::memory_pressure_high, status::memory_pressure_normal};
    case sensor_quantity::memory_kills:
      return {status::out_of_memory};
    case sensor_quantity::file_system_use:
      return {status::file_system_full, status::file_system_normal};
  }
  return {};
}

std::optional<environment_event>
sensor_rules::judge_level(device& x, const sensor_reading& y) const {
  auto limit = y.limit;
  auto hysteresis = limits_.temperature_hysteresis;
  if (y.of == sensor_quantity::memory_pressure) {
    limit = limit.value_or(limits_.memory_pressure);
    hysteresis = limits_.memory_pressure_hysteresis;
  } else if (y.of == sensor_quantity::file_system_use) {
    limit = limit.value_or(limits_.file_system);
    hysteresis = limits_.file_system_hysteresis;
  } else if (!limit && !y.critical) {
    limit = limits_.temperature;
  }
  const auto before = x.level.level();
  const auto level = x.level.judge(y.value, limit, y.critical, hysteresis);
  if (!level)
    return std::nullopt;
  auto result = event_of(code_of(y.of, *level), y);
  result.infos.push_back(number_info(event_value_key, y.value));
  const auto is_critical = *level == sensor_level::critical
                           || (before == sensor_level::critical && !limit);
  if (const auto& passed = is_critical ? y.critical : limit)
    result.infos.push_back(number_info(event_limit_key, *passed));
  return result;
}

std::optional<environment_event>
sensor_rules::judge_counter(device& x, const sensor_reading& y) {
  if (y.value < 0 || y.value > largest_count)
    return std::nullopt;
  const auto growth = x.counter.judge(static_cast<uint64_t>(y.value));
  if (!growth)
    return std::nullopt;
  auto result = event_of(codes_of(y.of).front(), y);
  result.infos.push_back(make_info(event_count_key, value::uint64(*growth)));
  return result;
}

std::optional<environment_event>
sensor_rules::judge_switch(device& x, const sensor_reading& y) {
  const auto is_on = x.state.judge(y.value != 0);
  if (!is_on)
    return std::nullopt;
  return event_of(*is_on ? status::link_up : status::link_down, y);
}

std::optional<environment_event> sensor_rules::judge(const sensor_reading& x) {
  if (!std::isfinite(x.value))
    return std::nullopt;
  const auto key = std::pair{x.of, x.device};
  auto i = devices_.find(key);
  if (i == devices_.end()) {
    if (devices_.size() >= defaults::sensor_devices)
      return std::nullopt;
    i = devices_.emplace(key, device{}).first;
  }
  switch (x.of) {
    case sensor_quantity::corrected_errors:
    case sensor_quantity::uncorrected_errors:
    case sensor_quantity::memory_kills:
      return judge_counter(i->second, x);
    case sensor_quantity::link:
      return judge_switch(i->second, x);
    default:
      return judge_level(i->second, x);
  }
}

std::optional<environment_event> event_throttle::take(environment_event x,
                                                      time now) {
  if (told_ == 0 || (now >= begin_ + window_ && !newest_)) {
    begin_ = now;
    told_ = 0;
  }
  if (told_ < events_ && !newest_) {
    ++told_;
    return x;
  }
  if (newest_)
    ++skipped_;
  newest_ = std::move(x);
  return std::nullopt;
}

std::optional<event_throttle::time> event_throttle::due() const {
  if (!newest_)
    return std::nullopt;
  return begin_ + window_;
}

std::optional<environment_event> event_throttle::flush(time now) {
  if (!newest_ || now < begin_ + window_)
    return std::nullopt;
  auto result = std::exchange(newest_, std::nullopt);
  if (const auto skipped = std::exchange(skipped_, 0))
    result->infos.push_back(
      make_info(event_skipped_key, value::uint64(skipped)));
  begin_ = now;
  told_ = 1;
  return result;
}

} // namespace troupe
