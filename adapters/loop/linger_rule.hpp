#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace troupe {

/// Decides when it pays to look for tasks a little longer instead of sleeping:
/// when they come in quick succession, and the less often the more often that
/// has been in vain.
class linger_rule {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Tasks come in quick succession if the pause between them, in which the
  /// loop is woken as well, is no longer than so many times the limit.
  static constexpr int pause_factor = 4;

  /// The most occasions that are let go by after failures.
  static constexpr uint32_t most_skipped = 255;

  /// @param limit How long to look; 0: never.
  void set_limit(std::chrono::nanoseconds limit) {
    limit_ = limit;
  }

  std::chrono::nanoseconds limit() const noexcept {
    return limit_;
  }

  bool is_on() const noexcept {
    return limit_ > limit_.zero();
  }

  /// The last task is done.
  void note_idle(time_point now) {
    idle_since_ = now;
  }

  /// A task has come while the loop slept.
  /// @returns whether to look for more when it is done.
  bool is_due(time_point now) {
    if (!is_on() || !idle_since_ || now - *idle_since_ > pause_factor * limit_)
      return false;
    if (left_ == 0)
      return true;
    --left_;
    return false;
  }

  /// A look is over.
  /// @param has_paid Whether a task has come.
  void learn(bool has_paid) {
    skipped_ = has_paid ? 0 : std::min(2 * skipped_ + 1, most_skipped);
    left_ = skipped_;
  }

private:
  std::chrono::nanoseconds limit_{0};
  std::optional<time_point> idle_since_;

  /// Occasions that are let go by after the last failure, and those of them
  /// that are left.
  uint32_t skipped_ = 0;
  uint32_t left_ = 0;
};

} // namespace troupe
