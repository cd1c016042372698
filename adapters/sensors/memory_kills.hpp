#pragma once

#include "messages/sensor.hpp"

namespace troupe {

/// How many processes the kernel has killed because there was no memory left.
/// @param file /proc/vmstat, the memory.events of a control group, or the
///             memory.oom_control of one of the first version.
/// @param device Where they were killed.
/// Source: Linux, Documentation/admin-guide/cgroup-v2.
sensor_readings read_memory_kills(const std::string& file,
                                  const std::string& device);

} // namespace troupe
