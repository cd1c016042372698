#pragma once

#include <optional>
#include <string>

namespace troupe {

/// Where the control group of a process is seen.
struct control_group {
  /// The directory of the topmost group that is shown.
  std::string top;

  /// The directory of the group itself: `top`, or below it.
  std::string folder;
};

/// The control group of a process.
/// @param controller Of version 1, such as `memory`; empty: version 2.
/// @param process A directory like /proc/PID.
/// @returns nothing if there is no such hierarchy, or it is not mounted.
/// Source: cgroups(7), /proc/pid/cgroup; proc(5), /proc/pid/mountinfo.
std::optional<control_group>
find_control_group(const std::string& controller,
                   const std::string& process = "/proc/self");

} // namespace troupe
