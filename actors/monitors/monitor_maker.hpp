#pragma once

#include "actors/monitors/monitor_kinds.hpp"
#include "messages/actors.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

struct monitor_maker_options {
  /// Kinds of this node.
  std::shared_ptr<const monitor_kinds> kinds;

  /// Knows where processes run.
  std::function<server_actor()> server;

  /// Reaches the others; null: this node is alone.
  gateway_actor gateway;

  /// This node among them.
  std::optional<uint32_t> rank;

  /// Whose server this is.
  credentials owner;
};

/// Makes monitors on the nodes of a DVM, see `monitor_peers`.
monitor_maker_actor spawn_monitor_maker(caf::actor_system& sys,
                                        monitor_maker_options options);

/// Lets other nodes have monitors of a kind made here: as many as a node may have
/// of its own, each of which ends with whoever its alerts go to.
/// @param lent How many there are of all kinds.
void lend_monitors(caf::actor_system& sys, const gateway_actor& gateway,
                   const std::string& kind,
                   const std::shared_ptr<const monitor_kinds>& kinds,
                   const std::shared_ptr<size_t>& lent);

} // namespace troupe
