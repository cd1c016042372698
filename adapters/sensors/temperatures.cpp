#include "adapters/sensors/temperatures.hpp"

#include "adapters/sensors/sensor_file.hpp"
#include "config/defaults.hpp"

namespace troupe {

namespace {

constexpr double thousandths = 1000;

/// What a thermometer can say, and what a limit can be: chips without limits
/// show 0, or the largest number that fits.
constexpr double coldest = -273.15;
constexpr double hottest = 1000;
constexpr double lowest_limit = 0;

std::optional<double> degrees(const std::string& file, double above) {
  const auto x = read_whole_number(file);
  if (!x)
    return std::nullopt;
  const auto result = static_cast<double>(*x) / thousandths;
  if (result <= above || result >= hottest)
    return std::nullopt;
  return result;
}

} // namespace

sensor_readings read_temperatures(const std::string& sysfs) {
  auto result = sensor_readings{};
  const auto root = sysfs + "/class/hwmon";
  for (const auto& chip : numbered_entries(root, "hwmon")) {
    const auto path = root + "/" + chip;
    const auto name = read_label(path + "/name");
    for (const auto& entry : numbered_entries(path, "temp", "_input")) {
      if (result.readings.size() >= defaults::sensor_devices)
        return result;
      const auto sensor = entry.substr(0, entry.find('_'));
      const auto file = path + "/" + sensor;
      const auto value = degrees(file + "_input", coldest);
      if (!value)
        continue;
      auto x = sensor_reading{};
      x.of = sensor_quantity::temperature;
      x.device = chip + "/" + sensor;
      x.label = name;
      if (const auto label = read_label(file + "_label"); !label.empty())
        x.label += (name.empty() ? "" : " ") + label;
      x.value = *value;
      x.limit = degrees(file + "_max", lowest_limit);
      x.critical = degrees(file + "_crit", lowest_limit);
      result.readings.push_back(std::move(x));
    }
  }
  return result;
}

} // namespace troupe
