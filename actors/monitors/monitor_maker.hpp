#pragma once

#include "actors/monitors/defaults.hpp"
#include "actors/monitors/monitor_kinds.hpp"
#include "messages/actors.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

/// Kinds of this node for monitors and nodes that have some made: as many at a
/// time as a node may have of its own.
struct lent_kinds {
  std::shared_ptr<const monitor_kinds> kinds;

  /// How many there are, and may be (L7).
  std::shared_ptr<size_t> count = std::make_shared<size_t>(0);
  size_t most = defaults::monitors_per_node;
};

struct monitor_maker_options {
  lent_kinds here;

  /// Knows where processes run.
  std::function<server_actor()> server;

  /// Reaches the others; null: this node is alone.
  gateway_actor gateway;

  /// This node among them.
  std::optional<uint32_t> rank;

  /// Whose server this is.
  credentials owner;
};

/// Makes monitors on the nodes of a DVM, see `monitor_peers`: each ends with
/// whoever its alerts go to.
monitor_maker_actor spawn_monitor_maker(caf::actor_system& sys,
                                        monitor_maker_options options);

/// Lets other nodes of the same user have monitors of a kind made here.
void lend_monitors(caf::actor_system& sys, const gateway_actor& gateway,
                   const std::string& kind, const lent_kinds& here);

} // namespace troupe
