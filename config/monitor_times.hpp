#pragma once

#include <chrono>

namespace troupe::defaults {

/// How long whoever looks for a monitor of a named kind may take, beyond the
/// time of a command; and whoever carries out a reaction to an alert.
inline constexpr auto monitor_look_time = std::chrono::seconds{30};
inline constexpr auto reaction_time = std::chrono::seconds{60};

} // namespace troupe::defaults
