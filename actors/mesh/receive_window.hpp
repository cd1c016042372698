#pragma once

#include "messages/peer_frames.hpp"

#include <map>
#include <vector>

namespace troupe {

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
  };

  /// @param size Bytes held at most: early ones, and those delivered that the
  ///             consumer has not taken.
  explicit receive_window(size_t size) : size_(size) {
    // nop
  }

  /// @param deliver Gets the messages whose turn it is, in order.
  arrival accept(uint64_t number, peer_payload payload,
                 std::vector<message>& deliver);

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
  std::map<uint64_t, peer_payload> early_;
  size_t early_bytes_ = 0;
  uint64_t delivered_ = 0;
  uint64_t taken_ = 0;
};

} // namespace troupe
