#pragma once

#include <cstddef>

// Bounds and times of actors/mesh/members/ that several of its files use.

namespace troupe::defaults {

/// Peers connected directly beyond the tree (L24).
inline constexpr size_t direct_peers = 64;

} // namespace troupe::defaults
