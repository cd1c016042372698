#pragma once

// What the parts of a PEER share; for nobody else.

#include "actors/mesh/peer.hpp"

#include <map>

namespace troupe::peer_internals {

struct peer_actor_state {
  static inline const char* name = "peer";

  peer_settings settings;
  networks_actor networks;
  peer_owner_actor owner;
  std::optional<peer_session> session;
  std::optional<message_queue> queue;
  std::optional<message_assembly> assembly;

  /// The incarnation that the session is with: who was meant, or has spoken
  /// first.
  uint64_t pinned = 0;

  /// What is known of lanes to the node, and which lane leads through whom.
  std::map<lane_id, lane_opened> lanes;
  std::map<uint32_t, lane_id> relays;
  uint32_t relay_count = 0;

  peer_state reach = peer_state::resting;

  /// When timers that have been set will fire, the next one last.
  std::vector<steady_time> timers;

  uint64_t last_ticket = 0;
  uint64_t uncertain = 0;
};

/// For gauges.
peer_status describe(const peer_actor_state& state);

} // namespace troupe::peer_internals
