#pragma once

#include <chrono>
#include <cstddef>

// Bounds and times of actors/control/ that several of its files use.

namespace troupe::defaults {

/// Targets of one request of job control; outstanding requests of one
/// requester, and of all; requests that are over which are remembered, and for
/// how long.
inline constexpr size_t control_targets = size_t{1} << 20;
inline constexpr size_t control_requests_per_owner = 256;
inline constexpr size_t control_requests = 4096;
inline constexpr size_t control_outcomes = 4096;
inline constexpr auto control_memory = std::chrono::minutes{10};

/// Ways to save its state that a process may declare, and processes that may
/// declare anything.
inline constexpr size_t checkpoint_methods_per_process = 16;
inline constexpr size_t checkpoint_declarers = size_t{1} << 20;

/// Checkpoints that a DVM remembers for a restart; one more, and the oldest is
/// forgotten.
inline constexpr size_t checkpoints_kept = 256;

/// Bytes that they take as they are kept, the newest in any case: it is how to
/// start a job again, with all that its programs are given.
inline constexpr size_t checkpoints_bytes = size_t{32} << 20;

/// How long whoever asks for a checkpoint waits until it is on disk.
inline constexpr auto checkpoint_keep_time = std::chrono::seconds{30};

} // namespace troupe::defaults
