#include "actors/mesh/exchange/origin_marks.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {

/// @pre `x.count > 0`
uint32_t origin_marks::last_of(const event_origin& x) {
  return x.rank + std::min(x.count - 1, UINT32_MAX - x.rank);
}

/// Has an entry begin with a rank, if that is in the middle of one.
void origin_marks::cut(uint32_t rank) {
  auto i = rows_.lower_bound(rank);
  if (i == rows_.begin() || (i != rows_.end() && i->first == rank))
    return;
  auto& before = std::prev(i)->second;
  if (before.last < rank)
    return;
  rows_.emplace_hint(i, rank, before);
  before.last = rank - 1;
}

void origin_marks::set(const event_origin& x, uint64_t place) {
  if (x.count == 0)
    return;
  const auto what = row{last_of(x), x.incarnation, x.number, place};
  const auto known = rows_.find(x.rank);
  if (known != rows_.end() && known->second.last == what.last) {
    known->second = what;
    return;
  }
  cut(x.rank);
  if (what.last < UINT32_MAX)
    cut(what.last + 1);
  const auto end =
    rows_.erase(rows_.lower_bound(x.rank), rows_.upper_bound(what.last));
  rows_.emplace_hint(end, x.rank, what);
}

/// An entry that says that one of these has a place; null: none does.
const origin_marks::row* origin_marks::find(const event_origin& x) const {
  if (x.count == 0)
    return nullptr;
  const auto last = last_of(x);
  auto i = rows_.upper_bound(x.rank);
  if (i != rows_.begin())
    --i;
  for (; i != rows_.end() && i->first <= last; ++i)
    if (i->second.last >= x.rank && i->second.incarnation == x.incarnation
        && i->second.number >= x.number)
      return &i->second;
  return nullptr;
}

std::optional<uint64_t> origin_marks::place_from(const event_origin& x) const {
  const auto* found = find(x);
  return found != nullptr ? std::optional{found->place} : std::nullopt;
}

} // namespace troupe
