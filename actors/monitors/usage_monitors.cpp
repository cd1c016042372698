#include "actors/monitors/usage_monitors.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// Removes the entries for which a predicate holds.
template <class Map, class F>
size_t erase_if(Map& from, F predicate) {
  const auto before = from.size();
  for (auto i = from.begin(); i != from.end();)
    i = predicate(i->second) ? from.erase(i) : std::next(i);
  return before - from.size();
}

} // namespace

caf::expected<uint64_t> usage_monitors::add(requester who, monitor_request what,
                                            usage_request request, time now) {
  auto of_client = size_t{0};
  for (const auto& [number, x] : entries_) {
    if (x.who.proc != who.proc)
      continue;
    ++of_client;
    if (request.id && x.request.id == request.id)
      return make_error(status::exists, "the monitor " + *request.id
                                          + " exists: cancel it, or give "
                                            "another PMIX_MONITOR_ID");
  }
  if (of_client >= limits_.per_client)
    return make_error(status::out_of_resource,
                      "a process may have " + std::to_string(limits_.per_client)
                        + " monitors of resources: cancel some");
  if (entries_.size() >= limits_.all)
    return make_error(status::out_of_resource, "a node may have "
                                                 + std::to_string(limits_.all)
                                                 + " monitors of resources");
  auto x =
    entry{std::move(who), std::move(what), std::move(request), now, false};
  x.due += std::chrono::seconds{x.request.rate};
  entries_.emplace(next_, std::move(x));
  return next_++;
}

size_t usage_monitors::cancel(const proc_id& who,
                              const std::optional<std::string>& id) {
  return erase_if(entries_, [&](const entry& x) {
    return x.who.proc == who && (!id || x.request.id == id);
  });
}

void usage_monitors::disconnect(uint32_t index) {
  erase_if(entries_, [&](const entry& x) { return x.who.index == index; });
}

std::vector<uint64_t> usage_monitors::take_due(time now) {
  auto result = std::vector<uint64_t>{};
  for (auto& [number, x] : entries_) {
    if (x.due > now)
      continue;
    const auto interval = time{std::chrono::seconds{x.request.rate}};
    x.due += interval * ((now - x.due) / interval + 1);
    if (!std::exchange(x.is_sampling, true))
      result.push_back(number);
  }
  return result;
}

std::optional<usage_monitors::time> usage_monitors::next_due() const {
  auto result = std::optional<time>{};
  for (const auto& [number, x] : entries_)
    if (!result || x.due < *result)
      result = x.due;
  return result;
}

void usage_monitors::finish(uint64_t number) {
  if (const auto i = entries_.find(number); i != entries_.end())
    i->second.is_sampling = false;
}

const usage_monitors::entry* usage_monitors::find(uint64_t number) const {
  const auto i = entries_.find(number);
  return i != entries_.end() ? &i->second : nullptr;
}

} // namespace troupe
