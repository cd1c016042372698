#include "adapters/c_host/output_subscriptions.hpp"

#include <algorithm>

namespace troupe {

uint64_t output_subscriptions::add(const requester& who,
                                   const io_pull_request& request) {
  const auto guard = std::lock_guard{mutex_};
  entries_.emplace(next_, entry{who, request});
  return next_++;
}

io_pull_request output_subscriptions::remove(const requester& who,
                                             uint64_t id) {
  const auto guard = std::lock_guard{mutex_};
  const auto i = entries_.find(id);
  if (i == entries_.end() || i->second.who.index != who.index)
    return {};
  auto result = std::move(i->second.request);
  entries_.erase(i);
  return result;
}

void output_subscriptions::remove(const requester& who) {
  const auto guard = std::lock_guard{mutex_};
  for (auto i = entries_.begin(); i != entries_.end();)
    i = i->second.who.index == who.index ? entries_.erase(i) : std::next(i);
}

std::vector<output_subscriptions::subscriber>
output_subscriptions::of(const proc_id& source, io_channels channel) const {
  const auto wanted = static_cast<uint16_t>(channel);
  auto result = std::vector<subscriber>{};
  const auto guard = std::lock_guard{mutex_};
  for (const auto& [id, x] : entries_) {
    const auto& procs = x.request.procs;
    const auto fits =
      std::any_of(procs.begin(), procs.end(),
                  [&](const proc_id& proc) { return matches(proc, source); });
    if (fits && (static_cast<uint16_t>(x.request.channels) & wanted) != 0)
      result.push_back({x.who, x.request.handler.value_or(id)});
  }
  return result;
}

} // namespace troupe
