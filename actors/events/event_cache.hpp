#pragma once

#include "actors/events/event_log.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <functional>

namespace troupe {

struct event_cache_options {
  /// Hears of events that leave the node, and of which events of the
  /// environment somebody wants.
  host_actor host;

  event_log_options log;

  /// Keeps on disk what memory has no room for; null: nothing does.
  spool_actor spool;

  /// Whether the host gives events of processes back to all nodes that they
  /// are for, this one too, in one order: then they are not delivered before.
  /// Source: guarantees 5.2.
  bool host_orders_events = false;

  /// Whether the connection of a process that takes nothing while others wait
  /// is closed; if not, they wait on. Source: guarantees 5.1.
  bool disconnects_stalled = false;

  /// The process's own log.
  journal lines;

  /// Gets the log of the events when it is made; it lives as long as the actor.
  std::function<void(const event_log&)> on_log;
};

/// Gives events to the processes of this node that registered for them: once,
/// in the order in which they arrived, those before the registration included,
/// and no faster than they take them.
/// Source: RFC0002; PMIx Standard v5, "Notification"; guarantees 5.1.
event_cache_actor spawn_event_cache(caf::actor_system& sys,
                                    event_cache_options options);

} // namespace troupe
