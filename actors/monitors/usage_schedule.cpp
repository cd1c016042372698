#include "actors/monitors/usage_schedule.hpp"

namespace troupe {

void usage_schedule::add(item x, time interval, time now) {
  const auto due = now + interval;
  entries_[x] = {interval, due};
  order_.emplace(due, x);
}

void usage_schedule::remove(item x) {
  const auto i = entries_.find(x);
  if (i == entries_.end())
    return;
  order_.erase({i->second.due, x});
  entries_.erase(i);
}

std::optional<usage_schedule::time> usage_schedule::next() const {
  if (order_.empty())
    return std::nullopt;
  return order_.begin()->first;
}

void usage_schedule::advance(time now, std::vector<item>& out) {
  while (!order_.empty() && order_.begin()->first <= now) {
    const auto x = order_.begin()->second;
    order_.erase(order_.begin());
    auto& it = entries_[x];
    it.due += it.interval * ((now - it.due) / it.interval + 1);
    order_.emplace(it.due, x);
    out.push_back(x);
  }
}

} // namespace troupe
