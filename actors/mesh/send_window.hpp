#pragma once

#include "messages/peer_frames.hpp"

#include <deque>
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

} // namespace troupe
