#pragma once

#include "config/defaults.hpp"

#include <cstddef>

// Bounds and times of actors/mesh/sessions/ that several of its files use.

namespace troupe::defaults {

/// Bytes of a piece of a longer message, and by how much a message may be
/// longer without being cut.
inline constexpr size_t message_piece = 16 * bulk_chunk;
inline constexpr size_t message_slack = size_t{4} << 10;

} // namespace troupe::defaults
