#pragma once

// Who tells of the memory of a daemon. Not in messages/actors.hpp: two files
// need it.

#include "messages/gauge.hpp"

#include <caf/atom.hpp>
#include <caf/typed_actor.hpp>

namespace troupe {

/// The MEMORY interface: what the memory of this daemon holds.
using memory_actor =
  caf::typed_actor<caf::replies_to<get_gauges>::with<gauge_list>>;

/// Under this name it is in the registry of the actor system, if there is one.
inline constexpr auto memory_name = caf::atom("memory");

} // namespace troupe
