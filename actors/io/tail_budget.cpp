#include "actors/io/tail_budget.hpp"

#include <algorithm>

namespace troupe {

void tail_budget::add(uint64_t stream, size_t tail) {
  streams_[stream] = {0, tail, tail};
}

void tail_budget::remove(uint64_t stream) {
  const auto i = streams_.find(stream);
  if (i == streams_.end())
    return;
  held_ -= i->second.held;
  streams_.erase(i);
}

void tail_budget::change(uint64_t stream, ptrdiff_t by) {
  const auto i = streams_.find(stream);
  if (i == streams_.end())
    return;
  // Never below nothing, whatever is told.
  const auto after =
    std::max(ptrdiff_t{0}, static_cast<ptrdiff_t>(i->second.held) + by);
  held_ -= i->second.held;
  i->second.held = static_cast<size_t>(after);
  held_ += i->second.held;
}

std::vector<tail_budget::cut> tail_budget::settle() {
  if (held_ > limit_)
    return shorten();
  if (has_cut_ && held_ <= limit_ / 2)
    return restore();
  return {};
}

/// Finds the length that all may have, with an eighth to spare so that it is
/// not looked for at every byte.
std::vector<tail_budget::cut> tail_budget::shorten() {
  auto lengths = std::vector<size_t>{};
  for (const auto& [id, x] : streams_)
    lengths.push_back(std::min(x.held, x.keep));
  std::sort(lengths.begin(), lengths.end());
  auto left = limit_ - limit_ / 8;
  auto level = left;
  for (size_t i = 0; i < lengths.size(); ++i) {
    level = left / (lengths.size() - i);
    if (lengths[i] > level)
      break;
    left -= lengths[i];
  }
  auto result = std::vector<cut>{};
  for (auto& [id, x] : streams_)
    if (std::min(x.held, x.keep) > level) {
      x.keep = level;
      result.push_back({id, level});
    }
  has_cut_ = has_cut_ || !result.empty();
  return result;
}

/// There is room again, for all of them to be cut at half of it once more.
std::vector<tail_budget::cut> tail_budget::restore() {
  auto result = std::vector<cut>{};
  for (auto& [id, x] : streams_)
    if (x.keep < x.tail) {
      x.keep = x.tail;
      result.push_back({id, x.tail});
    }
  has_cut_ = false;
  return result;
}

} // namespace troupe
