#pragma once

#include <caf/atom.hpp>

namespace troupe {

/// Under this name the registry of an actor system may have who answers
/// `get_gauges` with what the memory of this daemon holds.
inline constexpr auto memory_source = caf::atom("memory");

/// The same for the GATEWAY, the I/O DESK and the MONITOR DESK, where there is
/// one.
inline constexpr auto gateway_source = caf::atom("gateway");
inline constexpr auto stream_source = caf::atom("streams");
inline constexpr auto monitor_source = caf::atom("monitors");

/// All of them.
inline constexpr caf::atom_value gauge_sources[] = {
  memory_source, gateway_source, stream_source, monitor_source};

} // namespace troupe
