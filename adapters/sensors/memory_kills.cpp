#include "adapters/sensors/memory_kills.hpp"

#include "adapters/sensors/sensor_file.hpp"

namespace troupe {

sensor_readings read_memory_kills(const std::string& file,
                                  const std::string& device) {
  const auto text = read_sensor_file(file);
  const auto count = text ? number_named(*text, "oom_kill") : std::nullopt;
  if (!count || *count < 0)
    return {{},
            "cannot read the number of processes killed for memory (oom_kill) "
            "from "
              + file + "; the kernel has it since 4.13"};
  auto x = sensor_reading{};
  x.of = sensor_quantity::memory_kills;
  x.device = device;
  x.value = static_cast<double>(*count);
  return {{x}, {}};
}

} // namespace troupe
