#pragma once

#include <chrono>
#include <cstddef>

namespace troupe {

/// Decides when a pipe that a process writes to is read again.
///
/// What comes after a silence is read at once, and so are large pieces. Who
/// writes many small pieces in a row is busy: his bytes gather in the pipe
/// until a reading is worth its messages, so that small pieces cost what large
/// ones cost. How long that takes is told from how fast they came.
class output_pace {
public:
  using time = std::chrono::steady_clock::time_point;

  using duration = std::chrono::nanoseconds;

  /// Least and most that a busy writer's bytes gather.
  static constexpr auto least_time = std::chrono::microseconds{500};
  static constexpr auto most_time = std::chrono::milliseconds{4};

  /// A pipe of less is not worth gathering in.
  static constexpr size_t least_capacity = size_t{64} << 10;

  /// @param capacity What the pipe holds; 0 for what is not a pipe: nothing
  ///                 gathers there.
  explicit output_pace(size_t capacity) : capacity_(capacity) {
    // nop
  }

  void set_capacity(size_t bytes) noexcept {
    capacity_ = bytes;
  }

  /// @returns whether bytes gather: the more the pipe holds the better.
  bool is_busy() const noexcept {
    return is_busy_;
  }

  /// Something has been read.
  /// @param is_all Whether as much came as was asked for: there may be more.
  /// @returns how long to wait before the pipe is read again; zero: until
  ///          something is there.
  duration on_read(time now, size_t bytes, bool is_all);

private:
  duration gathering_time(duration took) const;

  size_t capacity_;
  time read_at_;

  /// Small pieces in quick succession.
  size_t quick_ = 0;
  bool is_busy_ = false;

  /// Since when, and how much has been read since then.
  time begin_;
  size_t gathered_ = 0;
};

} // namespace troupe
