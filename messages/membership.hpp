#pragma once

#include "messages/inspect.hpp"
#include "messages/lane.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

// What the daemons of a DVM tell each other about who belongs to it. A daemon
// is known by its rank, the number of its node, and its *incarnation*: the time
// of its start and a number drawn by chance, so that a daemon started anew on
// the same node has a larger one. Who sent a message is known from its session.
// Source: guarantees, sections 1 and 5.4.

namespace troupe {

enum class node_state : uint8_t {
  expected, ///< named by the list of nodes; no daemon has joined yet
  live,
  lost, ///< declared unreachable by the root; this incarnation stays dead
  left, ///< has said that it ends
};

/// One line of the list of members.
struct node_row {
  uint32_t rank = 0;
  std::string name;
  uint64_t incarnation = 0;
  node_state state = node_state::expected;

  /// The epoch that brought this line.
  uint64_t changed = 0;

  /// Where the daemon takes lanes.
  std::vector<node_address> addresses{};
};

TROUPE_MESSAGE(node_row, x.rank, x.name, x.incarnation, x.state, x.changed,
               x.addresses)

/// To the root: a daemon wants to become a member.
struct node_join {
  std::string name;
  uint64_t incarnation = 0;

  /// Whether the daemon knows, by the lock of the session directory, that the
  /// former daemon of the node and its processes are gone.
  bool is_predecessor_gone = false;

  /// When it was sent, by the clock of the sender; comes back in the answer.
  std::chrono::nanoseconds stamp{0};

  /// Where the daemon takes lanes.
  std::vector<node_address> addresses{};
};

TROUPE_MESSAGE(node_join, x.name, x.incarnation, x.is_predecessor_gone, x.stamp,
               x.addresses)

/// The root's answer: the rank, and all there is to know.
struct node_welcome {
  uint32_t rank = 0;
  uint64_t epoch = 0;
  std::vector<node_row> rows;
  std::chrono::nanoseconds stamp{0};
};

TROUPE_MESSAGE(node_welcome, x.rank, x.epoch, x.rows, x.stamp)

enum class join_refusal : uint8_t {
  unknown_name, ///< the list of nodes does not have it
  taken,        ///< a live daemon has this name
  too_early,    ///< the former daemon may still be running; ask again
  stale,        ///< another incarnation is as new; come with a larger number
};

/// The root's other answer.
struct node_refusal {
  join_refusal why = join_refusal::unknown_name;

  /// A new incarnation of the node has to be larger than this.
  uint64_t incarnation = 0;
};

TROUPE_MESSAGE(node_refusal, x.why, x.incarnation)

/// The lines that changed after epoch `base`, up to `epoch`. Says nothing to
/// who knows less than `base`.
struct node_update {
  uint64_t base = 0;
  uint64_t epoch = 0;
  std::vector<node_row> rows;
};

TROUPE_MESSAGE(node_update, x.base, x.epoch, x.rows)

/// Asks for the lines that changed after `epoch`.
struct node_update_request {
  uint64_t epoch = 0;
};

TROUPE_MESSAGE(node_update_request, x.epoch)

/// Asks for a sign of life, and when the receiver last had contact to the root.
struct node_query {
  std::chrono::nanoseconds stamp{0};
  uint64_t epoch = 0;
};

TROUPE_MESSAGE(node_query, x.stamp, x.epoch)

/// The answer. `age` is how long ago the sender surely was in contact with the
/// root, which had issued no later epoch than `epoch`.
struct node_answer {
  std::chrono::nanoseconds stamp{0};
  std::chrono::nanoseconds age{0};
  uint64_t epoch = 0;
};

TROUPE_MESSAGE(node_answer, x.stamp, x.age, x.epoch)

/// Tells an incarnation that it is dead since `epoch` or before.
struct node_dismissal {
  uint64_t epoch = 0;
};

TROUPE_MESSAGE(node_dismissal, x.epoch)

/// Asks another member whether it reaches `suspect`.
struct node_witness_request {
  uint32_t suspect = 0;
  uint64_t incarnation = 0;
};

TROUPE_MESSAGE(node_witness_request, x.suspect, x.incarnation)

/// The answer.
struct node_witness {
  uint32_t suspect = 0;
  uint64_t incarnation = 0;
  bool is_reachable = false;
};

TROUPE_MESSAGE(node_witness, x.suspect, x.incarnation, x.is_reachable)

/// To the root: `suspect` has been silent this long, and nobody who was asked
/// and answered reaches it.
struct node_suspicion {
  uint32_t suspect = 0;
  uint64_t incarnation = 0;
  std::chrono::nanoseconds silence{0};
  uint32_t witnesses = 0;
};

TROUPE_MESSAGE(node_suspicion, x.suspect, x.incarnation, x.silence, x.witnesses)

/// To the root: the sender has no processes left and ends.
struct node_departure {};

TROUPE_EMPTY_MESSAGE(node_departure)

using node_message =
  std::variant<node_join, node_welcome, node_refusal, node_update,
               node_update_request, node_query, node_answer, node_dismissal,
               node_witness_request, node_witness, node_suspicion,
               node_departure>;

} // namespace troupe
