#pragma once

#include <caf/atom.hpp>

namespace troupe {

/// Under this name the registry of an actor system may have who answers
/// `get_gauges` with what the memory of this daemon holds.
inline constexpr auto memory_source = caf::atom("memory");

} // namespace troupe
