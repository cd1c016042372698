#pragma once

#include "messages/actors.hpp"

namespace troupe {

/// Gives events to the processes of this node that registered for them: once,
/// in the order in which they arrived, those that arrived before the
/// registration included, as far as the ring remembers them.
/// @param ring_size Events kept for late registrations.
/// Source: RFC0002, "Server Registration"; PMIx Standard v5, "Notification".
event_cache_actor spawn_event_cache(caf::actor_system& sys, host_actor host,
                                    size_t ring_size);

} // namespace troupe
