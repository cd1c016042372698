#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <variant>

// What two peer sessions say to each other. Frames are plain structs; whoever
// carries them adds length and checksum, authenticates the node before the
// first one, and keeps those of one connection in order.

namespace troupe {

/// Traffic between nodes, by priority: each class is a stream of its own, so
/// that none waits behind another. Source: guarantees 2.
enum class traffic_class : uint8_t {
  membership,
  control,
  collectives,
  job_events,
  actors,
  io,
  environment,
};

inline constexpr size_t traffic_classes = 7;

/// One value per class, indexed by `index_of`.
template <class T>
using per_class = std::array<T, traffic_classes>;

constexpr size_t index_of(traffic_class x) {
  return static_cast<size_t>(x);
}

/// Bulk never takes what is in reserve for membership and control.
constexpr bool is_bulk(traffic_class x) {
  return x != traffic_class::membership && x != traffic_class::control;
}

/// One life of a daemon.
struct incarnation {
  uint32_t node = 0;

  /// Larger for a later start on the same node; 0 if not known.
  uint64_t boot = 0;
};

inline bool operator==(const incarnation& x, const incarnation& y) {
  return x.node == y.node && x.boot == y.boot;
}

inline bool operator!=(const incarnation& x, const incarnation& y) {
  return !(x == y);
}

/// Random bytes that nobody else can know.
using session_token = std::array<uint8_t, 16>;

/// One side of a session. An incarnation that ends a session begins the next
/// one with a larger number and another token.
struct session_name {
  incarnation of;

  /// 0 if not known.
  uint64_t number = 0;

  session_token token{};
};

inline bool operator==(const session_name& x, const session_name& y) {
  return x.of == y.of && x.number == y.number && x.token == y.token;
}

inline bool operator!=(const session_name& x, const session_name& y) {
  return !(x == y);
}

/// Whether `x` began before `y`, on the same node.
inline bool is_older(const session_name& x, const session_name& y) {
  return std::tie(x.of.boot, x.number) < std::tie(y.of.boot, y.number);
}

/// A connection to a peer over one network. A new connection has a new number.
using lane_id = uint64_t;

/// Lanes through other nodes have numbers of their own, which no connection
/// has: the node they lead through, and a count that tells apart the lanes of
/// one session through the same node.
inline constexpr lane_id relay_lane_mark = lane_id{1} << 63;

constexpr lane_id relay_lane(uint32_t via, uint32_t count = 0) {
  return relay_lane_mark | lane_id{count & 0x7fffffffU} << 32 | via;
}

constexpr bool is_relay_lane(lane_id x) {
  return (x & relay_lane_mark) != 0;
}

constexpr uint32_t via_of(lane_id x) {
  return static_cast<uint32_t>(x);
}

/// A message as the session sees it.
struct peer_payload {
  std::shared_ptr<const void> data;
  size_t size = 0;

  /// The text that `data` keeps, if the payload is all of it; else null.
  const std::string* text = nullptr;
};

/// What a message counts beyond its payload, on both sides.
inline constexpr size_t message_overhead = 64;

constexpr size_t cost_of(size_t payload_size) {
  return payload_size + message_overhead;
}

/// How far a receiver is, for some classes.
struct acknowledgement {
  /// Classes that the other fields speak of, a bit each.
  uint8_t classes = 0;

  /// All smaller numbers have arrived.
  per_class<uint64_t> next{};

  /// How many bytes the sender may have sent, from number 1 on, by `cost_of`.
  per_class<uint64_t> limit{};

  bool speaks_of(size_t index) const {
    return (classes >> index & 1U) != 0;
  }
};

inline constexpr uint8_t all_classes = (1U << traffic_classes) - 1;

/// Says who speaks, to whom, and how far it is; first on every connection.
struct hello_frame {
  session_name sender;

  /// As far as the sender knows.
  session_name receiver;

  acknowledgement received;

  /// The sender's number of this connection; 0 if it does not say.
  lane_id lane = 0;
};

/// A message.
struct data_frame {
  /// Made of the tokens of both sides: a frame of another session is dropped.
  uint64_t session = 0;
  traffic_class of = traffic_class::membership;

  /// 1, 2, 3 ... per class and session.
  uint64_t number = 0;
  acknowledgement received;
  peer_payload payload;
};

/// Nothing but an acknowledgement.
struct ack_frame {
  uint64_t session = 0;
  acknowledgement received;
};

/// Asks for an answer on the same connection, or is one.
struct probe_frame {
  uint64_t session = 0;
  uint64_t number = 0;
  bool is_answer = false;
  acknowledgement received;
};

/// The sender has lost another connection than the one that this comes on: what
/// the receiver sends there does not arrive.
struct gone_frame {
  uint64_t session = 0;

  /// As in the sender's hello there.
  lane_id lane = 0;
  acknowledgement received;
};

using lane_frame =
  std::variant<hello_frame, data_frame, ack_frame, probe_frame, gone_frame>;

/// Whether other frames may overtake it: streams and the environment hold nobody
/// up, nor does a question, which shows what was lost before it and so comes
/// behind all of it. Answers hurry: who waits for one takes the lane for silent.
bool may_be_overtaken(const lane_frame& frame) noexcept;

/// The class in which a third node passes a frame on: streams, the environment and
/// questions go with the streams, what actors say as such, and all else with the
/// collectives, which wait for none of it.
traffic_class class_on_relays(const lane_frame& frame) noexcept;

} // namespace troupe
