#pragma once

#include "messages/sensor.hpp"

namespace troupe {

/// How many percent of the last ten seconds some task has waited for memory.
/// @param text `some avg10=1.53 avg60=0.87 avg300=0.73 total=4192`, and more.
/// @returns nothing if it says something else.
/// Source: Linux, Documentation/accounting/psi.
std::optional<double> pressure_in(std::string_view text);

/// @param file /proc/pressure/memory, or the memory.pressure of a control
///             group.
/// @param device What is under pressure.
sensor_readings read_memory_pressure(const std::string& file,
                                     const std::string& device);

} // namespace troupe
