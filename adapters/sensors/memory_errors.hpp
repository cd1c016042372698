#pragma once

#include "messages/sensor.hpp"

namespace troupe {

/// The errors of memory that its controllers have counted: for each module, or
/// for the controller where modules are not told apart. May block.
/// @param sysfs Such as `/sys`.
/// Source: Linux, Documentation/admin-guide/RAS: EDAC.
sensor_readings read_memory_errors(const std::string& sysfs);

} // namespace troupe
