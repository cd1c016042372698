#include "adapters/process/output_pace.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// A piece that is worth a message of its own, at any rate.
constexpr size_t large_piece = size_t{16} << 10;

/// Less than this after a time of gathering: the writer is not busy any more.
constexpr size_t small_piece = 256;

/// Less than this does not become much in a longer time either.
constexpr size_t least_gathered = size_t{4} << 10;

/// What gathers for one reading, if nothing gets faster.
constexpr size_t one_reading = size_t{60} << 10;

/// Small pieces in a row, each so soon after the last one, make a busy writer.
constexpr size_t quick_pieces = 4;
constexpr auto soon = std::chrono::microseconds{150};

/// Sooner than this: reading on at once is as good.
constexpr auto at_once = std::chrono::microseconds{100};

} // namespace

/// The pipe is read when there is about as much as one reading takes. If that
/// is soon, when it is half full: a writer that gets faster, or a timer that is
/// late, does not fill it.
output_pace::duration output_pace::gathering_time(duration took) const {
  if (gathered_ < least_gathered)
    return least_time;
  const auto time_of = [&](size_t bytes) {
    const auto share =
      static_cast<double>(bytes) / static_cast<double>(gathered_);
    return std::chrono::duration_cast<duration>(
      std::chrono::duration<double, std::nano>{took} * share);
  };
  const auto half = capacity_ / 2;
  auto result = time_of(std::min(one_reading, half));
  if (result < least_time)
    result = time_of(half);
  if (result < at_once)
    return duration::zero();
  return std::min<duration>(result, most_time);
}

output_pace::duration output_pace::on_read(time now, size_t bytes,
                                           bool is_all) {
  const auto gap = now - std::exchange(read_at_, now);
  if (capacity_ < least_capacity)
    return duration::zero();
  gathered_ += bytes;
  if (is_all || (!is_busy_ && bytes >= large_piece))
    return duration::zero();
  const auto took = now - std::exchange(begin_, now);
  auto result = duration::zero();
  if (is_busy_ && gathered_ >= small_piece) {
    result = gathering_time(took);
  } else {
    quick_ = !is_busy_ && gap < soon ? quick_ + 1 : 0;
    is_busy_ = quick_ >= quick_pieces;
    if (is_busy_)
      result = least_time;
  }
  gathered_ = 0;
  return result;
}

} // namespace troupe
