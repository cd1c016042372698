#pragma once

#include "actors/monitors/usage_request.hpp"
#include "messages/actors.hpp"

#include <functional>
#include <optional>
#include <string>

namespace troupe {

/// What a USAGE MONITOR works with.
struct usage_monitor_options {
  /// The server, and its node.
  proc_id server;
  std::string hostname;
  std::optional<uint32_t> node_id;

  /// The user of the server.
  credentials owner;

  usage_actor usage;
  host_actor host;

  /// Takes requests of other nodes that are for monitors; empty: nobody does.
  std::function<monitor_desk_actor()> desk;
};

/// Samples the use of resources: of this node by itself, of others with the
/// help of the host. A rate is the matter of a MONITOR (`spawn_usage_updates`).
/// Source: OpenPMIx, "Process & Resource Statistics"; row M27.
usage_monitor_actor spawn_usage_monitor(caf::actor_system& sys,
                                        usage_monitor_options options);

} // namespace troupe
