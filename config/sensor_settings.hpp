#pragma once

#include <caf/error.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What is too much where a device does not say so itself, and how far below its
/// limit a value has to fall before it is in order again (hysteresis).
struct sensor_limits {
  /// Of ten seconds, how many percent somebody may wait for memory.
  double memory_pressure = 40;
  double memory_pressure_hysteresis = 20;

  /// How many percent of a file system's space or files may be taken.
  double file_system = 95;
  double file_system_hysteresis = 2;

  /// Degrees Celsius; the limit is for devices that have none of their own.
  std::optional<double> temperature;
  double temperature_hysteresis = 3;
};

/// What a node watches, as far as somebody wants to hear of it.
struct sensor_settings {
  /// Whether it watches anything.
  bool enabled = true;

  /// Where the kernel's trees are.
  std::string sysfs = "/sys";
  std::string procfs = "/proc";

  /// The control group whose memory is watched, as a directory; empty: the
  /// whole node.
  std::string cgroup;

  /// Directories whose file systems may become full.
  std::vector<std::string> file_systems;

  /// Names of network links; none: all but the loopback.
  std::vector<std::string> links;

  /// Between two looks of any sensor; absent: each has its own.
  std::optional<std::chrono::nanoseconds> interval;

  sensor_limits limits;
};

/// Understands a setting, `name=value`: `off`, `root=DIR`, `sysfs=DIR`,
/// `procfs=DIR`, `cgroup=DIR`, `file-system=DIR` and `link=NAME` (both may come
/// again), `interval=SECONDS`, `temperature=DEGREES`,
/// `memory-pressure=PERCENT`, `file-systems-full=PERCENT`.
/// @returns `bad_param` in a sentence for anything else.
caf::error apply_setting(sensor_settings& x, std::string_view setting);

/// The same for several; stops at the first that is wrong.
caf::error apply_settings(sensor_settings& x,
                          const std::vector<std::string>& settings);

} // namespace troupe
