#pragma once

#include <cstddef>

// Bounds and times of actors/server/ that several of its files use.

namespace troupe::defaults {

/// Connections of one rank at a time; forked children share their parent's.
inline constexpr size_t connections_per_rank = 64;

} // namespace troupe::defaults
