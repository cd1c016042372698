#pragma once

#include "actors/mesh/members/node.hpp"

#include <cstdint>

namespace troupe {

/// Clocks and random numbers for a NODE, and its incarnation: seconds in the
/// upper half, chance in the lower.
node_options node_with_sources();

/// Any number that nobody can guess.
uint64_t random_number();

} // namespace troupe
