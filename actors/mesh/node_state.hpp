#pragma once

// What the parts of a NODE share; for nobody else.

#include "actors/answer.hpp"
#include "actors/mesh/node.hpp"
#include "actors/mesh/peer.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <map>

namespace troupe::node_internals {

/// One incarnation of a node: 0 for one that is not known yet.
using peer_key = std::pair<uint32_t, uint64_t>;

/// A session.
struct known_peer {
  peer_actor handle;
  peer_state reach = peer_state::resting;

  /// Whether the session has begun.
  bool has_begun = false;

  /// When something was last said by either side, since when it has not been
  /// reached directly, and when to look for ways through others next.
  steady_time used_at;
  steady_time unreached_since;
  steady_time next_relay;

  /// When the membership was told last that it lives.
  steady_time alive_at;

  /// What it has said before its membership was known here.
  std::deque<peer_delivery> early;
  size_t early_bytes = 0;

  bool is_connected() const {
    return reach == peer_state::direct || reach == peer_state::relayed;
  }
};

/// A node that the networks keep lanes to.
struct dialled_node {
  std::string name;
  std::vector<node_address> addresses;
};

struct node_actor_state {
  static inline const char* name = "node";

  node_options options;
  networks_actor networks;
  mesh_user_actor user;
  std::optional<std::vector<node_address>> addresses;

  /// There once the node has begun.
  std::optional<node_membership> membership;

  std::map<peer_key, known_peer> peers;
  std::map<uint32_t, dialled_node> dialled;

  /// Why a node could not be reached, the latest reason.
  std::map<uint32_t, std::string> trouble;

  /// Who asked to join, by the number that stands for it.
  std::map<uint64_t, peer_key> joiners;
  uint64_t last_joiner = 0;

  /// Not before then is looked for room for another session with lanes.
  steady_time next_room;

  /// Sessions so far.
  uint64_t last_session = 0;

  /// Our incarnation when the sessions began.
  uint64_t incarnation = 0;
  bool has_list = false;

  /// Who waits for our farewell, and how long.
  std::vector<answer<ack>> leavers;
  steady_time leave_until;
  bool has_left = false;

  /// The next tick: by which `deadline` knows it, and when it is due.
  uint64_t tick_number = 0;
  std::optional<node_time> tick_due;

  node_duty duty() const {
    return membership ? membership->duty() : node_duty::joining;
  }

  /// The incarnation of a live member; 0 if it is none.
  uint64_t live(uint32_t rank) const {
    const auto* row = membership ? membership->list().find(rank) : nullptr;
    return row != nullptr && row->state == node_state::live ? row->incarnation
                                                            : 0;
  }

  bool is_neighbour(uint32_t rank) const;

  /// Whether a live member is reached over a lane of our own.
  bool is_direct(uint32_t rank) const;
};

TROUPE_SELF_POINTER(node_actor, node_actor_state);

void note(self_pointer self, severity level, const std::string& what);

/// Sees to it that the membership is told the time when it has something to do.
void set_tick(self_pointer self);

// -- membership (node_membership_effects.cpp) --------------------------------

void carry_out(self_pointer self, node_effects effects);

/// Asks to join anew, or passes a question on to the membership.
void take_node_message(self_pointer self, const peer_key& from,
                       node_message what);

// -- sessions (node_peers.cpp) -----------------------------------------------

/// The session with an incarnation; 0: with whoever answers.
known_peer& obtain(self_pointer self, const peer_key& key);

/// Sends a payload to an incarnation.
void send_to(self_pointer self, const peer_key& to, peer_message what);

/// Ends a session.
void forget(self_pointer self, const peer_key& key, const std::string& why);

/// Of all sessions, or of those that no member has.
void forget_all(self_pointer self, const std::string& why);

void take_lane(self_pointer self, const lane_opened& lane);
void take_strange_lane(self_pointer self, const lane_opened& lane,
                       lane_frame_arrived& first);
void take_change(self_pointer self, const peer_changed& x);
void take_delivery(self_pointer self, peer_delivery& x);

/// Fails the call that a session had no room for.
void take_refusal(self_pointer self, const peer_changed& peer,
                  const peer_message& x);

/// Gives the user what an incarnation said before it was known.
void release_early(self_pointer self, const peer_key& key);

// -- ways (node_routes.cpp) --------------------------------------------------

/// Dials the neighbours that are ours to dial; lets go who is none any more.
void update_routes(self_pointer self);

/// Looks for a way to somebody with whom we have something to talk about.
void look_for_way(self_pointer self, const peer_key& key, known_peer& x);

/// Dials a node, or changes where; lets it go.
void dial(self_pointer self, uint32_t rank);
void let_go(self_pointer self, uint32_t rank);

/// What has become due: ways to the unreached, idle sessions, the dead.
void tend(self_pointer self);

/// Passes a frame on to the next node on its way, or drops it.
/// @param sender The neighbour that it came from; ourselves if it begins here.
void route(self_pointer self, relayed_frame x, uint32_t sender);

// -- gauges (node_status.cpp) ------------------------------------------------

caf::result<mesh_status> describe(self_pointer self);

} // namespace troupe::node_internals
