#include "adapters/sensors/memory_pressure.hpp"

#include "adapters/sensors/sensor_file.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

std::optional<double> pressure_in(std::string_view text) {
  constexpr std::string_view begin = "some avg10=";
  constexpr auto whole = 100.0;
  if (text.substr(0, begin.size()) != begin)
    return std::nullopt;
  text.remove_prefix(begin.size());
  text = text.substr(0, text.find(' '));
  auto result = 0.0;
  const auto* const end = text.data() + text.size();
  const auto [rest, code] =
    std::from_chars(text.data(), end, result, std::chars_format::fixed);
  if (code != std::errc{} || rest != end || !(result >= 0 && result <= whole))
    return std::nullopt;
  return result;
}

sensor_readings read_memory_pressure(const std::string& file,
                                     const std::string& device) {
  const auto text = read_sensor_file(file);
  const auto value = text ? pressure_in(*text) : std::nullopt;
  if (!value)
    return {{},
            "cannot read the pressure on memory from " + file
              + "; the kernel needs CONFIG_PSI"};
  auto x = sensor_reading{};
  x.of = sensor_quantity::memory_pressure;
  x.device = device;
  x.value = *value;
  return {{x}, {}};
}

} // namespace troupe
