#pragma once

#include "messages/sensor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Files of the kernel with a number or a few lines. What is in them is checked
// like anything from outside: the root of the tree is a setting.

namespace troupe {

namespace defaults {

/// Bytes of a file that a sensor reads.
inline constexpr size_t sensor_file_bytes = size_t{64} << 10;

} // namespace defaults

/// Reads a regular file of at most `defaults::sensor_file_bytes`. May block.
/// @returns nothing if there is none, if it is longer, or cannot be read.
std::optional<std::string> read_sensor_file(const std::string& path);

/// The whole number that is all of a text, but for blanks around it.
std::optional<int64_t> whole_number(std::string_view text);

/// The same of a file.
std::optional<int64_t> read_whole_number(const std::string& path);

/// The first line of a file, without control characters and shortened to what
/// fits into an event; empty if there is none.
std::string read_label(const std::string& path);

/// The number behind a name, in a text with a `name number` a line, such as
/// /proc/vmstat.
std::optional<int64_t> number_named(std::string_view text,
                                    std::string_view name);

/// The entries of a directory whose names are `prefix`, a number, and `suffix`,
/// in the order of their numbers; at most `defaults::sensor_devices`.
std::vector<std::string> numbered_entries(const std::string& directory,
                                          std::string_view prefix,
                                          std::string_view suffix = {});

/// The temperatures that the node's chips measure, and their limits. May block:
/// some chips hang on slow buses.
/// @param sysfs Such as `/sys`.
/// Source: Linux, Documentation/hwmon/sysfs-interface.
sensor_readings read_temperatures(const std::string& sysfs);

/// The errors of memory that its controllers have counted: for each module, or
/// for the controller where modules are not told apart. May block.
/// @param sysfs Such as `/sys`.
/// Source: Linux, Documentation/admin-guide/RAS: EDAC.
sensor_readings read_memory_errors(const std::string& sysfs);

/// How many processes the kernel has killed because there was no memory left.
/// @param file /proc/vmstat, the memory.events of a control group, or the
///             memory.oom_control of one of the first version.
/// @param device Where they were killed.
/// Source: Linux, Documentation/admin-guide/cgroup-v2.
sensor_readings read_memory_kills(const std::string& file,
                                  const std::string& device);

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

/// How full the file system is that holds a path: in percent of the space that
/// users may have, or of the number of files, whichever is worse. May block for
/// as long as a server of files does not answer.
sensor_readings read_file_system(const std::string& path);

} // namespace troupe
