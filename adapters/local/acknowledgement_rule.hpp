#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe {

/// Decides when a peer whose kernel gathers small writes has to be told that what it
/// sent has come: what is sent to it says so anyway. One that has nothing more to send
/// before it has its answer need not be told; one that goes on without waits for it.
class acknowledgement_rule {
public:
  /// Answers in a row that the peer must have waited for until it may wait for the
  /// word; twice as many each time that it goes on all the same.
  static constexpr uint32_t least_waits = 16;
  static constexpr uint32_t most_waits = 4096;

  /// Something was read.
  void note_read() noexcept {
    if (is_unanswered_) {
      if (may_wait())
        needed_ = std::min(2 * needed_, most_waits);
      waits_ = 0;
    }
    is_unanswered_ = is_owed_ = true;
  }

  /// Something was sent.
  void note_sent() noexcept {
    if (is_unanswered_ && waits_ < needed_)
      ++waits_;
    is_unanswered_ = is_owed_ = false;
  }

  /// The peer was told.
  void note_told() noexcept {
    is_owed_ = false;
  }

  /// Whether something has been read since the peer was told, or was sent something.
  bool is_owed() const noexcept {
    return is_owed_;
  }

  /// Whether the peer is likely to wait for its answer in any case.
  bool may_wait() const noexcept {
    return waits_ >= needed_;
  }

private:
  bool is_unanswered_ = false;
  bool is_owed_ = false;
  uint32_t waits_ = 0;
  uint32_t needed_ = least_waits;
};

} // namespace troupe
