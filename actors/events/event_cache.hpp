#pragma once

#include "messages/actors.hpp"

namespace troupe {

struct event_cache_options {
  host_actor host;

  /// Events kept for late registrations.
  size_t ring_size = 0;

  /// Whether events that leave the node go to the host only, which gives them
  /// back in the order of their namespaces.
  bool host_orders_events = false;
};

/// Gives events to the processes of this node that registered for them: once,
/// in the order in which they arrived, those that arrived before the
/// registration included, as far as the ring remembers them.
/// Source: RFC0002, "Server Registration"; PMIx Standard v5, "Notification".
event_cache_actor spawn_event_cache(caf::actor_system& sys,
                                    event_cache_options options);

} // namespace troupe
