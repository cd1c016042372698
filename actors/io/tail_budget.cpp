#include "actors/io/tail_budget.hpp"

#include <algorithm>

namespace troupe {

size_t tail_budget::entry::size_at(size_t level) const noexcept {
  return std::max(needed, std::min({held, keep, level}));
}

void tail_budget::add(uint64_t stream) {
  streams_.emplace(stream, entry{});
}

void tail_budget::remove(uint64_t stream) {
  const auto i = streams_.find(stream);
  if (i == streams_.end())
    return;
  held_ -= i->second.held;
  needed_ -= i->second.needed;
  streams_.erase(i);
}

void tail_budget::set(uint64_t stream, size_t held, size_t needed) {
  const auto i = streams_.find(stream);
  if (i == streams_.end())
    return;
  auto& x = i->second;
  needed = std::min(needed, held);
  held_ = held_ - x.held + held;
  needed_ = needed_ - x.needed + needed;
  x.held = held;
  x.needed = needed;
}

std::vector<tail_budget::cut> tail_budget::settle() {
  const auto step = limit_ / 8;
  const auto excess = held_ - needed_;
  const auto allowed = std::max(limit_ - std::min(limit_, needed_), step);
  due_ = excess > allowed ? std::min(due_, excess + step) : 0;
  if (excess > std::max(allowed, due_)
      || (excess > allowed && allowed + step <= allowed_)) {
    // Streams take a moment to cut what they hold, and always hold a little.
    due_ = excess + step;
    allowed_ = allowed;
    return shorten();
  }
  allowed_ = std::max(allowed_, allowed);
  if (has_cut_ && held_ <= limit_ / 2)
    return restore();
  return {};
}

/// Finds the length that all may have, with an eighth to spare so that it is
/// not looked for at every byte; an eighth is there for all at any rate.
std::vector<tail_budget::cut> tail_budget::shorten() {
  auto longest = size_t{0};
  for (const auto& [id, x] : streams_)
    longest = std::max(longest, x.size_at(all));
  const auto most = std::max(limit_ - limit_ / 8, needed_ + limit_ / 8);
  const auto fits = [&](size_t level) {
    auto sum = size_t{0};
    for (const auto& [id, x] : streams_)
      sum += x.size_at(level);
    return sum <= most;
  };
  // Fits, and does not, unless all do.
  auto level = size_t{0};
  for (auto above = longest + 1; above - level > 1;) {
    const auto middle = level + (above - level) / 2;
    (fits(middle) ? level : above) = middle;
  }
  auto result = std::vector<cut>{};
  for (auto& [id, x] : streams_)
    if (x.size_at(all) > x.size_at(level)) {
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
    if (x.keep < all) {
      x.keep = all;
      result.push_back({id, all});
    }
  has_cut_ = false;
  return result;
}

} // namespace troupe
