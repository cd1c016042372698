#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace troupe {

/// A set of numbers that are mostly in rows: costs an entry per row.
class number_ranges {
public:
  bool contains(uint64_t x) const {
    const auto next = rows_.upper_bound(x);
    return next != rows_.begin() && std::prev(next)->second >= x;
  }

  void insert(uint64_t x) {
    if (contains(x))
      return;
    auto next = rows_.upper_bound(x);
    const auto joins_next = next != rows_.end() && next->first == x + 1;
    if (next != rows_.begin() && std::prev(next)->second + 1 == x) {
      const auto row = std::prev(next);
      row->second = joins_next ? next->second : x;
      if (joins_next)
        rows_.erase(next);
    } else if (joins_next) {
      const auto last = next->second;
      rows_.erase(next);
      rows_.emplace(x, last);
    } else {
      rows_.emplace(x, x);
    }
  }

  /// Inserts 1 to `x`.
  void insert_up_to(uint64_t x) {
    if (x == 0)
      return;
    auto last = x;
    auto i = rows_.begin();
    while (i != rows_.end() && i->first <= x + 1) {
      last = i->second > last ? i->second : last;
      i = rows_.erase(i);
    }
    rows_.emplace(1, last);
  }

  size_t rows() const {
    return rows_.size();
  }

private:
  std::map<uint64_t, uint64_t> rows_; // first -> last
};

} // namespace troupe
