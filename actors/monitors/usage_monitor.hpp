#pragma once

#include "actors/monitors/defaults.hpp"
#include "actors/monitors/usage_request.hpp"
#include "messages/actors.hpp"

#include <functional>
#include <optional>
#include <string>

namespace troupe {

/// What a USAGE MONITOR works with.
struct usage_monitor_options {
  /// The server, which the updates are from, and its node.
  proc_id server;
  std::string hostname;
  std::optional<uint32_t> node_id;

  /// Requests for updates that one process may have, and all (L7).
  size_t per_process = defaults::usage_monitors_per_client;
  size_t all = defaults::usage_monitors;

  /// The user of the server.
  credentials owner;

  usage_actor usage;
  host_actor host;
  event_cache_actor events;

  /// Takes requests of other nodes that are for monitors; empty: nobody does.
  std::function<monitor_desk_actor()> desk;
};

/// Tells processes of the use of resources: of this node by itself, of others
/// with the help of the host. An update is an event for the requester alone.
/// Source: OpenPMIx, "Process & Resource Statistics"; row M27.
usage_monitor_actor spawn_usage_monitor(caf::actor_system& sys,
                                        usage_monitor_options options);

} // namespace troupe
