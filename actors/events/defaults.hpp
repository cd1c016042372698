#pragma once

#include <chrono>
#include <cstddef>

// Bounds and times of actors/events/ that several of its files use.

namespace troupe::defaults {

using namespace std::chrono_literals;

/// Bytes of an event that a process raises (L8).
inline constexpr size_t event_bytes = size_t{1} << 20;

/// Bytes of the events of a namespace in memory, those of them that wait to be
/// read back from disk, those on disk, and those on disk that connections have
/// registered for and not taken; those of a node in memory and on disk; those of
/// events of the environment, and of the state table of a namespace (L9).
inline constexpr size_t event_log_memory = size_t{4} << 20;
inline constexpr size_t event_log_loaded = size_t{1} << 20;
inline constexpr size_t event_log_spool = size_t{2} << 30;
inline constexpr size_t event_log_backlog = size_t{64} << 20;
inline constexpr size_t event_node_bytes = size_t{256} << 20;
inline constexpr size_t event_node_spool = size_t{4} << 30;
inline constexpr size_t event_ring_bytes = size_t{4} << 20;
inline constexpr size_t event_state_bytes = size_t{4} << 20;

/// Sensors of a node, and how many events of one sensor and code are told
/// within `sensor_event_window`: of more, the newest and their number.
inline constexpr size_t sensors = 256;
inline constexpr size_t sensor_events = 100;
inline constexpr auto sensor_event_window = 1s;

} // namespace troupe::defaults
