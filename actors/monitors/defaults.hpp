#pragma once

#include <chrono>
#include <cstddef>

// Bounds and times of actors/monitors/ that several of its files use.

namespace troupe::defaults {

using namespace std::chrono_literals;

/// Requests for updates on the use of resources that one requester may have,
/// and all of a node (L7).
inline constexpr size_t usage_monitors_per_client = 64;
inline constexpr size_t usage_monitors = 1024;

/// Monitors of one client and of a node (L7).
inline constexpr size_t monitors_per_client = 64;
inline constexpr size_t monitors_per_node = 10000;

/// Bytes of an identifier of a request.
inline constexpr size_t monitor_id_bytes = 511;

/// How exact monitors are: an alert comes within as much after it is due.
/// Source: guarantees 5.9, P-H1.
inline constexpr auto monitor_tick = 10ms;

/// How long a monitor of a named kind may take to begin, and what of one alert
/// goes into its event: bytes of the reason, and further infos.
inline constexpr auto monitor_start_time = 60s;
inline constexpr size_t monitor_reason_bytes = 1024;
inline constexpr size_t monitor_alert_infos = 64;

} // namespace troupe::defaults
