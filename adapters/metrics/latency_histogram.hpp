#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// How many of the times that were measured are at most so long. Plain data.
class latency_histogram {
public:
  /// Bounds of the buckets, in seconds; what is longer is in none. A loop that
  /// is not busy is at the first of them; beyond the last a node is taken for
  /// lost.
  static constexpr std::array<double, 12> bounds = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.5, 5.5};

  void note(std::chrono::nanoseconds x) noexcept {
    const auto seconds = std::chrono::duration<double>{x}.count();
    sum_ += seconds;
    ++count_;
    for (size_t i = 0; i < bounds.size(); ++i)
      if (seconds <= bounds[i])
        ++at_most_[i];
  }

  /// Times of at most `bounds[i]`.
  uint64_t at_most(size_t i) const {
    return at_most_.at(i);
  }

  uint64_t count() const noexcept {
    return count_;
  }

  /// In seconds.
  double sum() const noexcept {
    return sum_;
  }

private:
  std::array<uint64_t, bounds.size()> at_most_{};
  uint64_t count_ = 0;
  double sum_ = 0;
};

} // namespace troupe
