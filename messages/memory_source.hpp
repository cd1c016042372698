#pragma once

#include <caf/atom.hpp>

namespace troupe {

/// Under this name the registry of an actor system may have who answers
/// `get_gauges` with what the memory of this daemon holds.
inline constexpr auto memory_source = caf::atom("memory");

/// The same for the GATEWAY, if there is one.
inline constexpr auto gateway_source = caf::atom("gateway");

} // namespace troupe
