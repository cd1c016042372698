#pragma once

#include <cstddef>

// Bounds and times of actors/server/ that several of its files use.

namespace troupe::defaults {

/// Connections of one rank at a time; forked children share their parent's.
inline constexpr size_t connections_per_rank = 64;

/// Tools of one user at a time (L19).
inline constexpr size_t tools_per_user = 16;

/// Collective operations of a node in flight (L18).
inline constexpr size_t collectives_in_flight = 1024;

} // namespace troupe::defaults
