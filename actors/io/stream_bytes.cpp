#include "actors/io/stream_bytes.hpp"

#include "config/defaults.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// @returns whether bytes read at `y` are shown with the time `x`. Time is cut
/// into slices, so that what is joined twice is not off by two of them.
bool is_one_moment(int64_t x, int64_t y) {
  constexpr auto slice = stream_bytes::time_resolution;
  return y >= x && y / slice == x / slice;
}

} // namespace

void stream_bytes::append(uint64_t offset, std::string bytes, int64_t read_at) {
  if (bytes.empty())
    return;
  const auto n = bytes.size();
  const auto was_empty = first_ == chunks_.size();
  if (was_empty)
    begin_ = offset;
  if (!join(offset, bytes, read_at)) {
    // Buffers into which was read are often much larger than what was read.
    if (bytes.capacity() > n + n / 4 + 64)
      bytes.shrink_to_fit();
    chunks_.push_back({offset, added_, read_at, std::move(bytes), {}});
  }
  added_ += n;
  end_ = offset + n;
}

bool stream_bytes::join(uint64_t offset, const std::string& bytes,
                        int64_t read_at) {
  if (first_ == chunks_.size() || offset != end_ || bytes.size() > max_joined)
    return false;
  auto& last = chunks_.back();
  const auto size = last.bytes.size() + bytes.size();
  if (size > defaults::io_fragment_bytes)
    return false;
  const auto latest =
    last.marks.empty() ? last.read_at : last.marks.back().read_at;
  if (!is_one_moment(latest, read_at)) {
    auto& marks = last.marks;
    if (marks.size() >= max_marks) {
      if (last.bytes.size() >= max_marks * 2 * sizeof(mark))
        return false;
      // Few bytes and many moments: every second one has to do.
      for (size_t i = 0; i < marks.size() / 2; ++i)
        marks[i] = marks[2 * i + 1];
      marks.resize(marks.size() / 2);
    }
    marks.push_back({static_cast<uint32_t>(last.bytes.size()), read_at});
  }
  if (size > last.bytes.capacity())
    last.bytes.reserve(std::min(std::max(size, 2 * last.bytes.capacity()),
                                defaults::io_fragment_bytes));
  last.bytes += bytes;
  return true;
}

size_t stream_bytes::find(uint64_t offset) const noexcept {
  const auto begin = chunks_.begin() + static_cast<ptrdiff_t>(first_);
  const auto i =
    std::partition_point(begin, chunks_.end(), [offset](const chunk& x) {
      return x.end() <= offset;
    });
  return static_cast<size_t>(i - chunks_.begin());
}

uint64_t stream_bytes::rank_of(uint64_t offset) const noexcept {
  const auto from = std::max(offset, begin_);
  const auto i = find(from);
  if (i == chunks_.size())
    return added_;
  const auto& x = chunks_[i];
  return x.rank + (from > x.offset ? from - x.offset : 0);
}

uint64_t stream_bytes::last(size_t n) const noexcept {
  if (size() <= n)
    return begin_;
  const auto rank = added_ - n;
  const auto begin = chunks_.begin() + static_cast<ptrdiff_t>(first_);
  const auto i =
    std::partition_point(begin, chunks_.end(), [rank](const chunk& x) {
      return x.rank + x.bytes.size() <= rank;
    });
  return i == chunks_.end() ? end_ : i->offset + (rank - i->rank);
}

void stream_bytes::cut_front(uint64_t offset) {
  if (offset <= begin_)
    return;
  for (; first_ < chunks_.size() && chunks_[first_].end() <= offset; ++first_)
    chunks_[first_].forget();
  if (first_ == chunks_.size()) {
    chunks_.clear();
    first_ = 0;
    begin_ = end_;
    return;
  }
  begin_ = std::max(offset, chunks_[first_].offset);
  shorten(chunks_[first_]);
  if (first_ > 8 && 2 * first_ > chunks_.size()) {
    chunks_.erase(chunks_.begin(),
                  chunks_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }
}

/// Gives back what is before the first byte, if that is much beside the rest,
/// and is not done again soon.
void stream_bytes::shorten(chunk& x) const {
  const auto n = static_cast<size_t>(begin_ - x.offset);
  if (n < max_waste || n < (x.bytes.size() - n) / 2 || n < size() / 8)
    return;
  x.bytes.substr(n).swap(x.bytes);
  x.offset += n;
  x.rank += n;
  auto marks = std::vector<mark>{};
  for (const auto& y : x.marks)
    if (y.at <= n)
      x.read_at = y.read_at;
    else
      marks.push_back({static_cast<uint32_t>(y.at - n), y.read_at});
  x.marks.swap(marks);
}

void stream_bytes::cut_back(size_t n) {
  auto excess = size() - std::min(n, size());
  while (excess > 0) {
    auto& x = chunks_.back();
    const auto there = x.end() - std::max(begin_, x.offset);
    if (there <= excess) {
      excess -= there;
      chunks_.pop_back();
      continue;
    }
    x.bytes.resize(x.bytes.size() - excess);
    x.bytes.shrink_to_fit();
    const auto is_cut = [&](const mark& y) { return y.at >= x.bytes.size(); };
    x.marks.erase(std::find_if(x.marks.begin(), x.marks.end(), is_cut),
                  x.marks.end());
    excess = 0;
  }
  if (first_ == chunks_.size()) {
    end_ = begin_;
    return;
  }
  end_ = chunks_.back().end();
  added_ = chunks_.back().rank + chunks_.back().bytes.size();
}

bool stream_bytes::read(uint64_t offset, size_t size,
                        io_fragment& result) const {
  auto from = std::max(offset, begin_);
  auto i = find(from);
  if (i == chunks_.size() || size == 0)
    return false;
  from = std::max(from, chunks_[i].offset);
  result.offset = from;
  result.bytes.clear();
  for (; i < chunks_.size() && size > 0; ++i) {
    const auto& x = chunks_[i];
    const auto at = static_cast<size_t>(from - x.offset);
    auto until = x.bytes.size();
    auto read_at = x.read_at;
    for (const auto& y : x.marks) {
      if (y.at > at) {
        until = y.at;
        break;
      }
      read_at = y.read_at;
    }
    if (result.bytes.empty())
      result.read_at = read_at;
    else if (x.offset != from || !is_one_moment(result.read_at, read_at))
      break;
    const auto n = std::min(size, until - at);
    result.bytes.append(x.bytes, at, n);
    from += n;
    size -= n;
    if (at + n < x.bytes.size())
      break;
  }
  return true;
}

} // namespace troupe
