#include "actors/mesh/members/radix_tree.hpp"

#include <algorithm>

namespace troupe {

radix_tree::radix_tree(rank size, rank radix)
  : size_(std::max(size, rank{1})), radix_(std::max(radix, rank{1})) {
  // nop
}

void radix_tree::grow(rank size) {
  size_ = std::max(size_, size);
}

bool radix_tree::remove(rank x) {
  return x > 0 && x < size_ && absent_.insert(x).second;
}

bool radix_tree::restore(rank x) {
  return absent_.erase(x) > 0;
}

std::optional<radix_tree::rank> radix_tree::occupant(rank seat) const {
  // Depth first, so that the heir is the first one below; without recursion,
  // since a tree of radix 1 is as deep as it is large.
  auto open = std::vector<rank>{seat};
  while (!open.empty()) {
    const auto x = open.back();
    open.pop_back();
    if (absent_.count(x) == 0)
      return x;
    const auto first = uint64_t{x} * radix_ + 1;
    const auto end = std::min(first + radix_, uint64_t{size_});
    for (auto below = end; below > first; --below)
      open.push_back(static_cast<rank>(below - 1));
  }
  return std::nullopt;
}

radix_tree::rank radix_tree::top_seat(rank x) const {
  auto seat = x;
  while (seat > 0 && absent_.count(up(seat)) > 0 && occupant(up(seat)) == x)
    seat = up(seat);
  return seat;
}

std::optional<radix_tree::rank> radix_tree::parent(rank x) const {
  if (!is_present(x))
    return std::nullopt;
  const auto seat = top_seat(x);
  return seat == 0 ? std::nullopt : occupant(up(seat));
}

std::vector<radix_tree::rank> radix_tree::children(rank x) const {
  auto result = std::vector<rank>{};
  if (!is_present(x))
    return result;
  for (auto seat = uint64_t{top_seat(x)};;) {
    // One of the seats below may be the next of its own.
    auto own = std::optional<rank>{};
    const auto first = seat * radix_ + 1;
    const auto end = std::min(first + radix_, uint64_t{size_});
    for (auto below = first; below < end; ++below) {
      const auto who = occupant(static_cast<rank>(below));
      if (who == x)
        own = static_cast<rank>(below);
      else if (who)
        result.push_back(*who);
    }
    if (!own)
      break;
    seat = *own;
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<radix_tree::rank> radix_tree::lineage(rank x) const {
  auto result = std::vector<rank>{};
  for (auto up = parent(x); up; up = parent(*up))
    result.push_back(*up);
  return result;
}

radix_tree::rank radix_tree::depth(rank x) const {
  return static_cast<rank>(lineage(x).size());
}

std::optional<radix_tree::rank> radix_tree::next_hop(rank from, rank to) const {
  if (from == to || !is_present(from) || !is_present(to))
    return std::nullopt;
  for (auto x = to;;) {
    const auto above = parent(x);
    if (!above)
      return parent(from);
    if (*above == from)
      return x;
    x = *above;
  }
}

bool radix_tree::is_below(rank below, rank x) const {
  if (!is_present(below) || !is_present(x))
    return false;
  for (auto up = std::optional<rank>{below}; up; up = parent(*up))
    if (*up == x)
      return true;
  return false;
}

} // namespace troupe
