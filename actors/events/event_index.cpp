#include "actors/events/event_index.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace troupe {

namespace {

/// Dead entries that are not worth a clean-up.
constexpr size_t few = 64;

} // namespace

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

} // namespace troupe
