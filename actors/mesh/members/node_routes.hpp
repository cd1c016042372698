#pragma once

#include "actors/mesh/members/defaults.hpp"
#include "actors/mesh/members/node_membership.hpp"
#include "actors/mesh/sessions/lane_table.hpp"
#include "messages/lane.hpp"
#include "messages/mesh_payload.hpp"

#include <chrono>
#include <functional>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// Beyond the tree, a peer whose lanes have carried nothing for as long is let
/// go; one that does not answer when it is dialled is looked for through others
/// after `relay_delay`, and again after `relay_retry`.
inline constexpr auto direct_idle = 30s;
inline constexpr auto relay_delay = 500ms;
inline constexpr auto relay_retry = 1s;

} // namespace defaults

/// One incarnation of a node: 0 for one that is not known yet.
using peer_key = std::pair<uint32_t, uint64_t>;

/// The ways of a node to others: which sessions it has and how each is reached,
/// whom its networks dial, and who passes frames on.
///
/// Tree neighbours are always dialled, by the higher rank. Others are dialled
/// when there is something to say to them, as long as few sessions have lanes,
/// and let go when they are idle. Whoever is not reached directly is looked for
/// through others, see `relayed_frame`.
///
/// A plain class: what it wants done are calls of `effects`, which come before
/// its own calls return.
/// Source: guarantees 5.3, 7; P-N1, LINK-4.
class node_routes {
public:
  struct settings {
    /// This node.
    uint32_t rank = 0;

    /// For who joins: the root, and where it takes lanes.
    std::string root_name;
    std::vector<node_address> root_addresses;

    /// Sessions beyond the tree with lanes of their own.
    size_t direct_peers = defaults::direct_peers;
  };

  struct effects {
    /// For the networks: keep lanes to a node, or close all.
    std::function<void(reach_node)> reach;
    std::function<void(uint32_t rank)> release;

    /// Begins the session with an incarnation, unless there is one: `add` comes
    /// before this returns. Ends one: `remove` does.
    std::function<void(const peer_key&)> begin;
    std::function<void(const peer_key&, const char* why)> end;

    /// Opens the lane of a session through another node, or closes all these.
    std::function<void(const peer_key&, uint32_t via)> open_relay;
    std::function<void(const peer_key&)> close_relays;
  };

  /// @param membership Of this node; outlives this.
  node_routes(settings options, const node_membership& membership, effects out);

  // -- sessions ---------------------------------------------------------------

  void add(const peer_key& key, steady_time now);

  /// A session is over; its node is let go if it was the last.
  void remove(const peer_key& key);

  /// The other side of a session without incarnation has said which it is.
  void rename(const peer_key& from, const peer_key& to);

  bool has(const peer_key& key) const {
    return sessions_.count(key) > 0;
  }

  /// The session for an incarnation; for an unknown one the latest of the node.
  /// @returns `key` if there is none.
  peer_key find(const peer_key& key) const;

  /// Sessions with incarnations of a node.
  size_t count(uint32_t rank) const;

  /// Something is said to an incarnation: looks for a way if there is none.
  void use(const peer_key& to, steady_time now);

  /// The other side of a session has said something.
  void heard(const peer_key& key, steady_time now);

  /// A session says how it is reached now.
  void reached(const peer_key& key, peer_state how, steady_time now);

  // -- the DVM ----------------------------------------------------------------

  /// The list of nodes has changed: dials the neighbours that are ours to dial,
  /// and lets go of who is none any more.
  void update();

  /// Does what has become due: ways to the unreached, idle sessions, the dead.
  /// To be called about every `node_times::probe` while `is_seeking`.
  void tend(steady_time now);

  /// Keeps lanes to a node from now on, or to where it has moved.
  void dial(uint32_t rank);

  /// This node leaves: nobody is dialled any more.
  void stop();

  /// The networks do not reach a node that they dial.
  void note_trouble(uint32_t rank, std::string why);

  /// Who gets a frame that is for another node.
  /// @param sender The neighbour that it came from; this node if it begins here.
  /// @returns nothing if it is to be dropped.
  std::optional<peer_key> next_of(const relayed_frame& x, uint32_t sender,
                                  steady_time now);

  // -- gauges -----------------------------------------------------------------

  /// The incarnation of a live member; 0 if it is none.
  uint64_t live(uint32_t rank) const;

  /// Whether a member is not reached directly.
  bool is_seeking() const;

  /// Whether any session has a lane.
  bool is_connected() const;

  /// Why a node could not be reached, the latest reason; or empty.
  std::string trouble_of(uint32_t rank) const;

private:
  struct session {
    peer_state reach = peer_state::resting;

    /// When something was last said by either side, since when it has not been
    /// reached directly, and when to look for ways through others next.
    steady_time used_at;
    steady_time unreached_since;
    steady_time next_relay;

    bool is_connected() const {
      return reach == peer_state::direct || reach == peer_state::relayed;
    }
  };

  /// A node that the networks keep lanes to.
  struct dialled_node {
    std::string name;
    std::vector<node_address> addresses;
  };

  bool is_joining() const {
    return membership_.duty() == node_duty::joining;
  }

  const radix_tree& tree() const {
    return membership_.list().tree();
  }

  bool is_neighbour(uint32_t rank) const;
  bool is_direct(uint32_t rank) const;
  bool is_ours_to_dial(uint32_t rank) const;
  std::vector<std::pair<steady_time, peer_key>> guests() const;
  bool has_room(steady_time now);
  void let_go(uint32_t rank);
  void retire(const peer_key& key);
  std::vector<uint32_t> reached_aside(steady_time now) const;
  void open_relays(const peer_key& key, const session& x, steady_time now);
  void look_for_way(const peer_key& to, const peer_key& key, steady_time now);
  void dial_aside(const peer_key& key, steady_time now);

  settings settings_;
  const node_membership& membership_;
  effects out_;
  std::map<peer_key, session> sessions_;
  std::map<uint32_t, dialled_node> dialled_;
  std::map<uint32_t, std::string> trouble_;

  /// Not before then is looked for room for another session with lanes.
  steady_time next_room_;
  bool is_stopped_ = false;
};

} // namespace troupe
