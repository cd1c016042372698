#pragma once

#include "messages/peer_frames.hpp"

#include <deque>
#include <map>
#include <vector>

namespace troupe {

/// The messages of one class that the peer has not acknowledged. They have
/// consecutive numbers from 1; a cursor parts those that are on their way from
/// those that wait for a turn.
/// Source: guarantees 5.3, LINK-2, LINK-3.
class send_window {
public:
  struct message {
    uint64_t number = 0;

    /// The sender's name for it.
    uint64_t ticket = 0;

    peer_payload payload;
  };

  /// @param size Bytes that are kept at most, by `cost_of`.
  explicit send_window(size_t size) : size_(size) {
    // nop
  }

  bool has_room(size_t cost) const {
    return cost <= size_ && bytes_ <= size_ - cost;
  }

  /// Keeps a message; it gets the next number.
  void push(uint64_t ticket, peer_payload payload);

  /// Drops what has arrived and learns how much may be sent.
  /// @param tickets Gets the messages that have arrived, in order.
  /// @returns whether the peer can mean this: it cannot have what was not sent.
  bool acknowledge(uint64_t next, uint64_t limit,
                   std::vector<uint64_t>& tickets);

  /// Picks the next message to send and moves the cursor behind it.
  /// @param flight Bytes that may be on their way; one message may exceed it if
  ///               it is alone.
  /// @returns nothing if there is none or its turn has not come. The pointer is
  ///          valid until the next call.
  const message* take(size_t flight);

  /// Moves the cursor back to the first message that has not arrived.
  void rewind();

  /// Gives all messages back; numbers begin at 1 again.
  std::deque<message> clear();

  /// Bytes kept.
  size_t bytes() const {
    return bytes_;
  }

  /// Bytes before the cursor.
  size_t in_flight() const {
    return in_flight_;
  }

  /// Messages kept.
  size_t size() const {
    return messages_.size();
  }

  /// The number at the cursor: all smaller ones have been sent since the last
  /// `rewind`, or have arrived.
  uint64_t cursor() const {
    return first_ + sent_;
  }

  /// Whether the message at the cursor has been sent before.
  bool is_repeating() const {
    return cursor() < unsent_;
  }

private:
  size_t size_;
  std::deque<message> messages_;

  /// Number of the first message kept, or of the next one if there is none.
  uint64_t first_ = 1;

  /// How many messages are before the cursor.
  size_t sent_ = 0;

  /// The smallest number that has never been sent.
  uint64_t unsent_ = 1;

  size_t bytes_ = 0;
  size_t in_flight_ = 0;

  /// Bytes of all messages that have arrived, and how many may be sent.
  uint64_t arrived_ = 0;
  uint64_t limit_ = 0;
};

/// What has arrived of one class: delivers it once and in order, keeps what
/// came too early, and says how much more the peer may send.
/// Source: guarantees 5.3, LINK-1, LINK-2.
class receive_window {
public:
  enum class arrival {
    /// Delivered, perhaps with others that waited for it.
    in_order,
    /// Kept until those before it are here.
    early,
    /// Here before.
    duplicate,
    /// Beyond what the peer may send.
    beyond,
  };

  struct message {
    uint64_t number = 0;
    peer_payload payload;

    /// Whether it came over a lane of the node itself.
    bool is_direct = false;
  };

  /// @param size Bytes held at most: early ones, and those delivered that the
  ///             consumer has not taken.
  explicit receive_window(size_t size) : size_(size) {
    // nop
  }

  /// @param deliver Gets the messages whose turn it is, in order.
  arrival accept(message x, std::vector<message>& deliver);

  /// The consumer is done with `bytes` of what was delivered, by `cost_of`.
  void taken(size_t bytes);

  /// All smaller numbers have arrived.
  uint64_t next() const {
    return next_;
  }

  /// How many bytes the peer may have sent, from number 1 on.
  uint64_t limit() const {
    return taken_ + size_;
  }

  /// Bytes that came too early.
  size_t early_bytes() const {
    return early_bytes_;
  }

  /// Bytes delivered that the consumer has not taken.
  size_t untaken_bytes() const {
    return static_cast<size_t>(delivered_ - taken_);
  }

private:
  size_t size_;
  uint64_t next_ = 1;
  std::map<uint64_t, message> early_;
  size_t early_bytes_ = 0;
  uint64_t delivered_ = 0;
  uint64_t taken_ = 0;
};

} // namespace troupe
