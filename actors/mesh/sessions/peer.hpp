#pragma once

#include "actors/mesh/sessions/message_queue.hpp"
#include "actors/mesh/sessions/peer_session.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <functional>

namespace troupe {

/// What a PEER needs to know.
struct peer_settings {
  /// This node, and the other one; a boot of 0 stands for any, until the first
  /// one speaks.
  incarnation self;
  incarnation peer;

  /// Of the other node, for the log.
  std::string name;

  peer_options session;
  message_limits limits;

  /// Steady time.
  std::function<steady_time()> clock;

  /// 16 random bytes that nobody can guess.
  session_handshake::token_source make_token;

  /// See `session_handshake`.
  uint64_t first_number = 1;

  journal log;
};

/// Owns the session between two incarnations of nodes: takes messages for the
/// other one and brings its messages, exactly once and in order per class, over
/// the lanes that it is told of and the lanes through other nodes that it is
/// asked to open (`lane_opened` with a `relay_lane`).
///
/// Says to its owner how the node is reached at each change. A lane on which
/// another incarnation speaks goes back to the owner with its first frame.
/// Without a lane, and with nothing to send, it rests: silence counts from when
/// it has something to do.
/// Source: guarantees 5.3; LINK-1 to LINK-7, P-N1.
peer_actor spawn_peer(caf::actor_system& sys, networks_actor networks,
                      peer_owner_actor owner, peer_settings settings);

} // namespace troupe
