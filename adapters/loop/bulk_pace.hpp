#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// While two nodes, or processes of one, have had something urgent to say to
/// each other so short a time ago, they probably go on: who is in a fence calls
/// the next one soon.
inline constexpr auto urgent_memory = 2ms;

/// Then streams have so many bytes a millisecond.
inline constexpr size_t bulk_beside_urgent = size_t{32} << 10;

} // namespace defaults

/// When a lane may send more of its streams, and a loop read more of what
/// processes write. That takes processors and queues on every node on its way,
/// of which urgent messages find all the less. So while those come and go,
/// streams have a bounded rate; else they go as fast as they can.
/// Source: guarantees 5.3 and 5.7.
class bulk_pace {
public:
  using time = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  /// Something urgent has come or gone.
  void on_urgent(time now) noexcept {
    urgent_until_ = now + defaults::urgent_memory;
  }

  bool is_urgent(time now) const noexcept {
    return now < urgent_until_;
  }

  void on_sent(time now, size_t bytes) noexcept {
    using nanoseconds = std::chrono::nanoseconds;
    constexpr auto per_byte =
      nanoseconds{std::chrono::milliseconds{1}}.count()
      / static_cast<nanoseconds::rep>(defaults::bulk_beside_urgent);
    next_at_ =
      now + nanoseconds{per_byte * static_cast<nanoseconds::rep>(bytes)};
  }

  /// @returns how long to wait before more is sent.
  duration wait(time now) const noexcept {
    if (!is_urgent(now))
      return duration::zero();
    // What is urgent may be over before.
    return std::max(std::min(next_at_, urgent_until_) - now, duration::zero());
  }

private:
  time urgent_until_{};
  time next_at_{};
};

} // namespace troupe
