#pragma once

#include "actors/monitors/monitor_kinds.hpp"
#include "actors/monitors/usage_request.hpp"
#include "messages/actors.hpp"

#include <memory>

namespace troupe {

/// What a MONITOR that tells of the use of resources works with.
struct usage_updates_options {
  /// The server, which the updates are from.
  proc_id server;

  /// Samples.
  usage_monitor_actor usage;

  /// Tells.
  event_cache_actor events;

  /// The request, as it came and understood.
  monitor_request what;
  usage_request request;

  /// Says when it has told last; not null.
  std::shared_ptr<monitor_looks> looks;
};

/// A MONITOR that tells its requestor of the use of resources, or the range
/// that the requestor wants told: by an event each time the MONITOR DESK says
/// that one is due, unless the sample before it is still on its way.
/// Source: OpenPMIx, "Process & Resource Statistics"; row M27.
timed_monitor_actor spawn_usage_updates(caf::actor_system& sys,
                                        usage_updates_options options);

} // namespace troupe
