#pragma once

#include "actors/mesh/members/defaults.hpp"
#include "actors/mesh/members/node_membership.hpp"
#include "actors/mesh/sessions/message_queue.hpp"
#include "actors/mesh/sessions/peer_session.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <chrono>
#include <functional>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long a session goes on in silence while the root has not given its node
/// up.
inline constexpr auto session_patience = 60s;

/// How long a silent lane is kept before another connection takes its place: a
/// path that was lost on the way is found anew before its peer is given up.
inline constexpr auto lane_patience = 2500ms;

} // namespace defaults

/// How a NODE uses its sessions: the root says who is lost, not they.
inline peer_options member_sessions() {
  auto result = peer_options{};
  result.grace = defaults::lane_patience;
  result.patience = defaults::session_patience;
  return result;
}

/// What a NODE needs to know.
struct node_options {
  /// Which node this is, as its certificate says.
  uint32_t rank = 0;

  /// Its membership; `addresses` come from its networks.
  node_settings membership;

  /// For who joins: the name of the root, if it is known, and where it takes
  /// lanes.
  std::string root_name;
  std::vector<node_address> root_addresses;

  peer_options session = member_sessions();
  message_limits limits;

  /// Sessions beyond the tree with lanes of their own.
  size_t direct_peers = defaults::direct_peers;

  /// Steady time, and time that goes on while the machine sleeps.
  std::function<steady_time()> clock;
  std::function<node_time()> boot_clock;

  /// 16 random bytes that nobody can guess.
  session_handshake::token_source make_token;

  /// Makes the networks of this node, which bring their lanes to the owner.
  std::function<networks_actor(lane_owner_actor)> make_networks;

  journal log;
};

/// This node as a member of its DVM: joins, knows who is there, keeps a session
/// with each node that it talks to, and finds ways to them.
///
/// It begins once its user (`mesh_user_actor`) and its networks
/// (`networks_changed`) are there. With the first list the user hears of each
/// live member, itself included; then of each change, before a message of the
/// new and after the last of the old. A message for a member arrives exactly
/// once and in the order of its class as long as both incarnations are members.
///
/// Tree neighbours are always connected: the higher rank dials. Others are
/// dialled when there is something to say to them, up to `direct_peers`, and
/// let go when they are idle. Whoever cannot be reached directly is reached
/// through others, session by session, see `relayed_frame`.
/// Source: guarantees 5.3, 5.4, 7; P-N1, P-M1, LINK-4, MEM-1 to MEM-5, X40,
/// X42.
node_actor spawn_node(caf::actor_system& sys, node_options options);

} // namespace troupe
