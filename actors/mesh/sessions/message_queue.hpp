#pragma once

#include "config/defaults.hpp"
#include "messages/mesh_payload.hpp"

#include <cstddef>
#include <deque>
#include <functional>

namespace troupe {

namespace defaults {

/// Bytes of a single message, and of a piece of one.
inline constexpr size_t mesh_message = size_t{256} << 20;
inline constexpr size_t message_piece = size_t{256} << 10;

} // namespace defaults

/// Limits of what waits for a session, and of single messages. All nodes of a
/// DVM have the same.
struct message_limits {
  size_t queue_bytes = defaults::peer_queue;
  size_t message_bytes = defaults::mesh_message;

  /// Of a piece of a longer message, and by how much a message may be longer
  /// without being cut.
  size_t piece_bytes = defaults::message_piece;
  size_t slack_bytes = size_t{4} << 10;
};

/// Messages that wait for a turn with one peer, per class and in order; long
/// ones leave it in pieces. Source: guarantees L22, LOAD-2.
class message_queue {
public:
  explicit message_queue(message_limits limits) : limits_(limits) {
    // nop
  }

  /// @returns whether there is room for it. The first of a class always has.
  bool push(peer_message x);

  /// Takes a payload for the session; says whether it did.
  using taker = std::function<bool(const peer_payload&)>;

  /// Hands over what the session takes, in order.
  /// @param incarnation Of the peer now: what is for another one is dropped.
  /// @returns how many messages were dropped.
  size_t flush(traffic_class of, uint64_t incarnation, const taker& take);

  /// The session has ended: of a message whose first pieces went with it, the
  /// others are dropped.
  /// @returns how many messages were dropped.
  size_t cut();

  /// Forgets everything.
  /// @returns how many messages were dropped.
  size_t clear();

  bool is_empty(traffic_class of) const {
    return waiting_[index_of(of)].empty();
  }

  /// Bytes of all classes.
  size_t bytes() const {
    return bytes_;
  }

private:
  struct entry {
    peer_message what;

    /// How much of it has been handed over.
    size_t sent = 0;
  };

  bool hand_over(entry& x, const taker& take) const;
  void pop(std::deque<entry>& xs);

  message_limits limits_;
  per_class<std::deque<entry>> waiting_;
  size_t bytes_ = 0;
};

/// Puts the pieces of the messages of one session together again.
class message_assembly {
public:
  explicit message_assembly(message_limits limits) : limits_(limits) {
    // nop
  }

  /// @param bytes A payload, maybe a piece of one.
  /// @param out Gets the payload that it completes, if it does.
  /// @returns whether the peer may send this.
  bool add(traffic_class of, peer_payload bytes,
           std::shared_ptr<const std::string>& out);

  /// The session has ended.
  void clear();

private:
  struct part {
    uint64_t total = 0;
    std::string bytes;
  };

  message_limits limits_;
  per_class<part> parts_;
};

} // namespace troupe
