#pragma once

#include "messages/inspect.hpp"
#include "messages/peer_frames.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

// What the networks of a node and its peers say to each other. None of it
// leaves the process.

namespace troupe {

/// Where a node takes lanes on one of its networks.
struct node_address {
  /// The node's own name of the network: that of the interface.
  std::string network;

  /// Numeric, IPv4 or IPv6.
  std::string address;
  uint16_t port = 0;
};

TROUPE_MESSAGE(node_address, x.network, x.address, x.port)

/// Keep lanes open to a node, one per network that reaches it; dial again what
/// is lost. Said anew when its addresses change.
struct reach_node {
  uint32_t rank = 0;
  std::string name;
  std::vector<node_address> addresses;
};

TROUPE_MESSAGE(reach_node, x.rank, x.name, x.addresses)

/// Dial that node no more and close the lanes to it.
struct release_node {
  uint32_t rank = 0;
};

TROUPE_MESSAGE(release_node, x.rank)

/// A lane is there: both ends have proven who they are. Nothing is read from it
/// before somebody adopts it.
struct lane_opened {
  lane_id lane = 0;
  uint32_t rank = 0;
  std::string name;

  /// The user that the node belongs to, as the DVM's authority says.
  std::optional<uint32_t> user{};

  /// Our name of the network, and both ends, for gauges and logs.
  std::string network;
  std::string local;
  std::string remote;
  bool is_dialled = false;
};

TROUPE_MESSAGE(lane_opened, x.lane, x.rank, x.name, x.user, x.network, x.local,
               x.remote, x.is_dialled)

/// Why there is no lane to a node at one of its addresses; the latest reason,
/// at most once a second.
struct lane_failed {
  uint32_t rank = 0;
  std::string address;
  std::string reason;
};

TROUPE_MESSAGE(lane_failed, x.rank, x.address, x.reason)

/// A lane is no more. Comes after all its frames.
struct lane_closed {
  lane_id lane = 0;
  std::string reason;
};

TROUPE_MESSAGE(lane_closed, x.lane, x.reason)

/// Close a lane.
struct drop_lane {
  lane_id lane = 0;
  std::string reason;
};

TROUPE_MESSAGE(drop_lane, x.lane, x.reason)

/// The node's networks have changed: where it takes lanes from now on.
struct networks_changed {
  std::vector<node_address> addresses;
};

TROUPE_MESSAGE(networks_changed, x.addresses)

/// A frame for a lane. A lane that is gone takes it and says nothing: its end
/// has been told.
struct put_lane_frame {
  lane_id lane = 0;
  lane_frame frame;
};

/// A frame that came in on a lane.
struct lane_frame_arrived {
  lane_id lane = 0;
  lane_frame frame;
};

// -- between a peer and its node ----------------------------------------------

/// A message for the peer: stored once, however many peers get it.
struct peer_message {
  traffic_class of = traffic_class::membership;

  /// Only for this incarnation; 0: for whoever answers.
  uint64_t incarnation = 0;
  std::shared_ptr<const std::string> bytes;

  /// Whether it is dropped if it cannot go now: somebody sends it again.
  bool may_drop = false;
};

/// A message of the peer.
struct peer_delivery {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
  traffic_class of = traffic_class::membership;
  std::shared_ptr<const std::string> bytes;

  /// Whether all of it has come over lanes of the node itself: what other nodes
  /// have passed on, they may have made up.
  bool is_direct = false;
};

/// What became of the session with a node.
enum class peer_state : uint8_t {
  begun,     ///< messages get through; the incarnation may be another one
  ended,     ///< the peer has begun another session: what was owed is lost
  suspected, ///< silent on all lanes
  heard,     ///< not silent any more
  lost,      ///< silent for longer than the grace

  // How it is reached, at each change.
  direct,   ///< over a lane of our own
  relayed,  ///< only through other nodes
  stranded, ///< not at all, and messages wait
  resting,  ///< not at all, and nothing waits
};

struct peer_changed {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
  peer_state now = peer_state::begun;
};

TROUPE_MESSAGE(peer_changed, x.rank, x.incarnation, x.now)

/// A frame between two nodes that reach each other only through a third.
struct relay_frame {
  uint32_t from = 0;
  uint32_t to = 0;
  uint32_t relay = 0;
  lane_frame frame;
};

/// The session ends; what is owed will not be sent.
struct close_peer {
  std::string reason;
};

TROUPE_MESSAGE(close_peer, x.reason)

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::peer_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::peer_delivery)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::relay_frame)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::put_lane_frame)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::lane_frame_arrived)
