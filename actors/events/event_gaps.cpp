#include "actors/events/event_gaps.hpp"

#include "config/defaults.hpp"

#include <algorithm>

namespace troupe {

void missed_events::add(uint64_t n, uint64_t from, uint64_t to) {
  if (n == 0)
    return;
  first = count == 0 ? from : std::min(first, from);
  last = std::max(last, to);
  count += n;
}

status event_gaps::add(const event_entry& x) {
  ++total_;
  const auto is_told_apart =
    codes_.size() < defaults::event_gap_codes || codes_.count(x.code) > 0;
  const auto code = is_told_apart ? x.code : default_events;
  auto& to = codes_[code][x.admits_default ? 1 : 0];
  if (to.first == 0)
    to.first = x.number;
  to.last = std::max(to.last, x.number);
  const auto audience = x.filter->ranks_of(nspace_);
  if (audience) {
    for (const auto rank : *audience)
      if (to.for_rank.size() < defaults::event_gap_ranks
          || to.for_rank.count(rank) > 0)
        ++to.for_rank[rank];
    return code;
  }
  ++to.for_all;
  for (const auto rank : x.filter->excluded_of(nspace_))
    ++to.own[rank];
  return code;
}

missed_events event_gaps::of(status code, bool for_default,
                             uint32_t rank) const {
  auto result = missed_events{};
  const auto i = codes_.find(code);
  if (i == codes_.end())
    return result;
  const auto& x = i->second[for_default ? 1 : 0];
  auto count = x.for_all;
  if (const auto own = x.own.find(rank); own != x.own.end())
    count -= own->second;
  if (const auto named = x.for_rank.find(rank); named != x.for_rank.end())
    count += named->second;
  result.add(count, x.first, x.last);
  return result;
}

} // namespace troupe
