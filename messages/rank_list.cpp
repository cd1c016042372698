#include "messages/rank_list.hpp"

#include <algorithm>

namespace troupe {

rank_list::rank_list(const std::vector<uint32_t>& ranks) {
  for (const auto rank : ranks)
    push_back(rank);
}

rank_list::rank_list(std::initializer_list<uint32_t> ranks) {
  for (const auto rank : ranks)
    push_back(rank);
}

rank_list::operator std::vector<uint32_t>() const {
  auto result = std::vector<uint32_t>{};
  result.reserve(size_);
  for (const auto& x : runs_)
    for (uint32_t i = 0; i < x.count; ++i)
      result.push_back(x.first + i);
  return result;
}

uint32_t rank_list::operator[](size_t place) const {
  auto i = runs_.begin();
  for (; place >= i->count; ++i)
    place -= i->count;
  return i->first + static_cast<uint32_t>(place);
}

std::optional<size_t> rank_list::place_of(uint32_t rank) const {
  auto place = size_t{0};
  for (const auto& x : runs_) {
    if (rank >= x.first && rank - x.first < x.count)
      return place + (rank - x.first);
    place += x.count;
  }
  return std::nullopt;
}

void rank_list::append_run(run x) {
  if (x.count == 0)
    return;
  size_ += x.count;
  if (!runs_.empty()
      && uint64_t{runs_.back().first} + runs_.back().count == x.first)
    runs_.back().count += x.count;
  else
    runs_.push_back(x);
}

void rank_list::push_back(uint32_t rank) {
  append_run({rank, 1});
}

void rank_list::append(const rank_list& other) {
  for (const auto& x : other.runs_)
    append_run(x);
}

rank_list rank_list::part(size_t begin, size_t end) const {
  auto result = rank_list{};
  auto place = size_t{0};
  for (const auto& x : runs_) {
    const auto first = std::max(place, begin);
    const auto last = std::min(place + x.count, end);
    if (first < last)
      result.append_run({x.first + static_cast<uint32_t>(first - place),
                         static_cast<uint32_t>(last - first)});
    place += x.count;
  }
  return result;
}

bool rank_list::assign(const std::vector<run>& runs) {
  *this = {};
  for (const auto& x : runs)
    if (x.count <= max_size - size_ && x.count <= UINT32_MAX - x.first)
      append_run(x);
  return runs_ == runs;
}

} // namespace troupe
