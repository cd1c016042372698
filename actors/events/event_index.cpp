#include "actors/events/event_index.hpp"

#include "actors/data/datastore.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace troupe {

namespace {

/// Entry, indexes and the structure of an event, about.
constexpr size_t event_overhead = 256;
constexpr size_t info_overhead = 96;

/// Dead entries that are not worth a clean-up.
constexpr size_t few = 64;

} // namespace

size_t cost_of(const event& x) {
  auto result = event_overhead;
  for (const auto& y : x.infos)
    result += info_overhead + y.key.size() + size_of(y.val);
  return result;
}

std::string row_of(const event& x) {
  if (!x.source.nspace.empty())
    return {};
  const auto code = std::to_string(static_cast<int32_t>(x.code)) + ' ';
  if (const auto* y = find(x.infos, attr::event_affected_proc))
    if (const auto* proc = y->proc())
      return code + to_string(*proc);
  if (const auto node = text(x.infos, attr::hostname))
    return code + *node;
  return {};
}

event_entry& event_index::append(event_entry x) {
  tidy();
  last_ = x.number;
  auto& list = codes_[x.code];
  list.numbers.push_back(x.number);
  ++list.alive;
  ++alive_;
  return entries_.emplace_back(std::move(x));
}

std::deque<event_entry>::iterator event_index::place_of(uint64_t number) {
  // Mostly there are no gaps in the numbers.
  if (!entries_.empty() && number >= entries_.front().number) {
    const auto guess = number - entries_.front().number;
    if (guess < entries_.size() && entries_[guess].number == number)
      return entries_.begin() + static_cast<std::ptrdiff_t>(guess);
  }
  return std::lower_bound(
    entries_.begin(), entries_.end(), number,
    [](const event_entry& x, uint64_t n) { return x.number < n; });
}

event_entry* event_index::find(uint64_t number) {
  const auto i = place_of(number);
  return i != entries_.end() && i->number == number && !i->is_dead ? &*i
                                                                   : nullptr;
}

const event_entry* event_index::find(uint64_t number) const {
  return const_cast<event_index*>(this)->find(number);
}

event_entry* event_index::next(uint64_t after) {
  for (auto i = place_of(after + 1); i != entries_.end(); ++i) {
    ++looked_at_;
    if (!i->is_dead)
      return &*i;
  }
  return nullptr;
}

const event_entry* event_index::next(uint64_t after) const {
  return const_cast<event_index*>(this)->next(after);
}

event_entry* event_index::next_of(status code, uint64_t after) {
  const auto list = codes_.find(code);
  if (list == codes_.end())
    return nullptr;
  const auto& numbers = list->second.numbers;
  if (numbers.back() <= after)
    return nullptr;
  for (auto i = std::upper_bound(numbers.begin(), numbers.end(), after);
       i != numbers.end(); ++i) {
    ++looked_at_;
    if (auto* x = find(*i))
      return x;
  }
  return nullptr;
}

void event_index::erase(uint64_t number) {
  auto* x = find(number);
  if (x == nullptr)
    return;
  x->is_dead = true;
  x->what = nullptr;
  x->filter = nullptr;
  --alive_;
  const auto list = codes_.find(x->code);
  if (--list->second.alive == 0) {
    codes_.erase(list);
  } else {
    auto& numbers = list->second.numbers;
    while (find(numbers.front()) == nullptr)
      numbers.pop_front();
  }
  while (!entries_.empty() && entries_.front().is_dead)
    entries_.pop_front();
}

size_t event_index::size_of(status code) const {
  const auto list = codes_.find(code);
  return list != codes_.end() ? list->second.alive : 0;
}

/// Drops what is dead when it has become the greater part.
void event_index::tidy() {
  if (entries_.size() <= 2 * alive_ + few)
    return;
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [](const auto& x) { return x.is_dead; }),
                 entries_.end());
  for (auto& [code, list] : codes_) {
    auto& numbers = list.numbers;
    if (numbers.size() > list.alive)
      numbers.erase(
        std::remove_if(numbers.begin(), numbers.end(),
                       [&](uint64_t n) { return find(n) == nullptr; }),
        numbers.end());
  }
}

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
