#include "actors/events/event_history.hpp"

#include "messages/attributes.hpp"

#include <algorithm>

namespace troupe {

namespace {

size_t size_of(const value& x);

size_t size_of(const std::vector<info>& xs) {
  auto result = size_t{0};
  for (const auto& x : xs)
    result += sizeof(x) + x.key.size() + size_of(x.val);
  return result;
}

/// What is outside of the value itself.
size_t size_of(const value& x) {
  if (const auto* text = std::get_if<std::string>(&x.data))
    return text->size();
  if (const auto* one = std::get_if<box<info>>(&x.data))
    return sizeof(info) + (*one)->key.size() + size_of((*one)->val);
  const auto* array = x.array();
  if (array == nullptr)
    return 0;
  auto result = sizeof(*array);
  for (const auto& y : array->elements)
    result += sizeof(y) + size_of(y);
  return result;
}

} // namespace

size_t approximate_size(const event& x) {
  return sizeof(x) + x.source.nspace.size() + size_of(x.infos);
}

uint64_t event_history::begin(const event_ptr& what, size_t bytes) {
  // What stays inside a process is not for a server to cache.
  if (what->range == data_range::proc_local || settings_.capacity == 0
      || flag(what->infos, attr::event_do_not_cache))
    return 0;
  if (bytes > settings_.max_bytes)
    return 0;
  while (kept_.size() >= settings_.capacity
         || bytes_ + bytes > settings_.max_bytes) {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
  kept_.push_back({++last_, bytes, what});
  bytes_ += bytes;
  under_way_.push_back(last_);
  return last_;
}

void event_history::end(uint64_t number) {
  const auto i = std::lower_bound(under_way_.begin(), under_way_.end(), number);
  if (i != under_way_.end() && *i == number)
    under_way_.erase(i);
}

event_history::horizon event_history::seen_from(uint64_t function) const {
  const auto i = functions_.find(function);
  return {i != functions_.end() ? i->second : 0, last_, under_way_};
}

void event_history::leave(uint64_t function) {
  if (function == 0)
    return;
  if (functions_.size() >= settings_.max_functions)
    functions_.clear();
  functions_[function] = last_;
}

std::vector<event_history::event_ptr>
event_history::missed(const horizon& x) const {
  auto result = std::vector<event_ptr>{};
  for (const auto& y : kept_)
    if (y.number > x.first && y.number <= x.last
        && !std::binary_search(x.without.begin(), x.without.end(), y.number))
      result.push_back(y.what);
  return result;
}

} // namespace troupe
