#pragma once

#include "messages/sensor.hpp"

namespace troupe {

/// The temperatures that the node's chips measure, and their limits. May block:
/// some chips hang on slow buses.
/// @param sysfs Such as `/sys`.
/// Source: Linux, Documentation/hwmon/sysfs-interface.
sensor_readings read_temperatures(const std::string& sysfs);

} // namespace troupe
