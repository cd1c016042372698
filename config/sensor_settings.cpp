#include "config/sensor_settings.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

namespace {

constexpr size_t longest_path = 4096;
constexpr size_t longest_link = 15;
constexpr size_t most_names = 64;

/// Bounds of what makes sense: seconds, degrees, percent.
constexpr double shortest_interval = 0.01;
constexpr double longest_interval = 86400;
constexpr double hottest = 1000;
constexpr double whole = 100;

caf::error wrong(std::string_view setting, const std::string& remedy) {
  // It may have come from anywhere.
  auto shown = std::string{setting.substr(0, longest_path)};
  std::replace_if(
    shown.begin(), shown.end(), [](char x) { return x < ' ' || x > '~'; }, '?');
  return make_error(status::bad_param,
                    "no setting of sensors: " + shown + "; " + remedy);
}

std::optional<double> number(std::string_view text, double least, double most) {
  auto result = 0.0;
  const auto* const end = text.data() + text.size();
  const auto [rest, code] =
    std::from_chars(text.data(), end, result, std::chars_format::fixed);
  if (code != std::errc{} || rest != end
      || !(result >= least && result <= most))
    return std::nullopt;
  return result;
}

bool is_directory_name(std::string_view x) {
  return !x.empty() && x.front() == '/' && x.size() < longest_path
         && x.find('\0') == std::string_view::npos;
}

/// Those that are the name of a directory.
std::string* directory_named(sensor_settings& x, std::string_view name) {
  if (name == "sysfs")
    return &x.sysfs;
  if (name == "procfs")
    return &x.procfs;
  if (name == "cgroup")
    return &x.cgroup;
  return nullptr;
}

} // namespace

caf::error apply_setting(sensor_settings& x, std::string_view setting) {
  if (setting == "off") {
    x.enabled = false;
    return {};
  }
  const auto middle = setting.find('=');
  if (middle == std::string_view::npos)
    return wrong(setting, "write NAME=VALUE, or off");
  const auto name = setting.substr(0, middle);
  const auto value = setting.substr(middle + 1);
  auto* const directory = directory_named(x, name);
  if (directory != nullptr || name == "root" || name == "file-system") {
    if (!is_directory_name(value))
      return wrong(setting, "write the path of a directory, from /");
    if (directory != nullptr) {
      *directory = value;
    } else if (name == "root") {
      x.sysfs = std::string{value} + "/sys";
      x.procfs = std::string{value} + "/proc";
    } else if (x.file_systems.size() >= most_names) {
      return wrong(setting,
                   "there are 64 file systems already, leave this one out");
    } else {
      x.file_systems.emplace_back(value);
    }
    return {};
  }
  if (name == "link") {
    if (value.empty() || value.size() > longest_link
        || x.links.size() >= most_names)
      return wrong(setting, "write the name of an interface, at most 64 times");
    x.links.emplace_back(value);
    return {};
  }
  if (name == "interval") {
    const auto seconds = number(value, shortest_interval, longest_interval);
    if (!seconds)
      return wrong(setting, "write seconds, 0.01 to 86400");
    x.interval = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>{*seconds});
    return {};
  }
  if (name == "temperature") {
    x.limits.temperature = number(value, 0, hottest);
    return x.limits.temperature ? caf::error{}
                                : wrong(setting, "write degrees Celsius");
  }
  if (name != "memory-pressure" && name != "file-systems-full")
    return wrong(setting, "known are root, sysfs, procfs, cgroup, file-system, "
                          "link, interval, temperature, memory-pressure, "
                          "file-systems-full");
  const auto percent = number(value, 0, whole);
  if (!percent)
    return wrong(setting, "write percent, 0 to 100");
  (name == "memory-pressure" ? x.limits.memory_pressure
                             : x.limits.file_system) = *percent;
  return {};
}

caf::error apply_settings(sensor_settings& x,
                          const std::vector<std::string>& settings) {
  for (const auto& setting : settings)
    if (auto err = apply_setting(x, setting))
      return err;
  return {};
}

} // namespace troupe
