#pragma once

#include <chrono>
#include <cstddef>

namespace troupe {

/// What one queue may do before the sockets have their turn: a number of items,
/// or a millisecond if that is over earlier. A queue that is not empty when its
/// turn ends goes on in the next pass of the loop.
class turn {
public:
  /// Items of one turn.
  static constexpr size_t max_items = 128;

  /// Time of one turn; an item that has begun is not interrupted.
  static constexpr auto max_time = std::chrono::milliseconds{1};

  /// @returns whether one more item may be run.
  bool next() noexcept {
    if (items_ == max_items || (items_ > 0 && clock::now() >= end_))
      return false;
    ++items_;
    return true;
  }

private:
  using clock = std::chrono::steady_clock;

  clock::time_point end_ = clock::now() + max_time;
  size_t items_ = 0;
};

} // namespace troupe
