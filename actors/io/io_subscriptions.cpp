#include "actors/io/io_subscriptions.hpp"

#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

caf::error io_subscriptions::check(const io_subscription& how,
                                   const output_sink_actor& sink) const {
  if (!sink)
    return make_error(status::bad_param, "a subscription needs a sink");
  if (how.sources.empty())
    return make_error(status::bad_param,
                      "name the processes whose output is wanted");
  if (!has(how.channels, output_channels))
    return make_error(status::bad_param,
                      "name what is wanted: standard output, standard error or "
                      "diagnostics");
  for (const auto& x : how.sources)
    if (x.rank > rank_valid_max && x.rank != rank_wildcard)
      return make_error(status::bad_param,
                        "output comes from a rank or from all, not from "
                          + to_string(x)
                          + "; name a rank or PMIX_RANK_WILDCARD");
  if (all_.size() >= defaults::io_subscriptions)
    return make_error(status::out_of_resource,
                      "this node has "
                        + std::to_string(defaults::io_subscriptions)
                        + " subscriptions of output already: end some");
  const auto i = by_name_.find(how.name);
  if (!how.name.empty() && i != by_name_.end()
      && i->second >= defaults::io_subscriptions_per_requester)
    return make_error(
      status::out_of_resource,
      how.name + " has "
        + std::to_string(defaults::io_subscriptions_per_requester)
        + " subscriptions of output already: end some, or name several "
          "processes in one");
  return {};
}

bool io_subscriptions::add(uint64_t id, io_subscription how,
                           output_sink_actor sink) {
  if (how.window == 0)
    how.window = defaults::io_window;
  how.window = std::min(how.window, window_most_);
  patterns_.add(id, how.sources, how.channels);
  auto& of_sink = by_sink_[sink.address()];
  of_sink.insert(id);
  ++by_name_[how.name];
  all_.emplace(id, subscription{std::move(how), std::move(sink)});
  return of_sink.size() == 1;
}

/// Takes a subscription out of all but the patterns.
io_subscriptions::removed io_subscriptions::take_out(uint64_t id) {
  auto node = all_.extract(id);
  auto result = removed{};
  result.how = std::move(node.mapped().how);
  result.sink = node.mapped().sink.address();
  const auto i = by_sink_.find(result.sink);
  i->second.erase(id);
  result.was_last = i->second.empty();
  if (result.was_last)
    by_sink_.erase(i);
  const auto j = by_name_.find(result.how.name);
  if (--j->second == 0)
    by_name_.erase(j);
  return result;
}

io_subscriptions::removed io_subscriptions::remove(uint64_t id) {
  patterns_.remove(id);
  return take_out(id);
}

std::vector<caf::actor_addr>
io_subscriptions::forget(const std::string& nspace) {
  auto result = std::vector<caf::actor_addr>{};
  for (const auto id : patterns_.forget(nspace))
    if (auto x = take_out(id); x.was_last)
      result.push_back(std::move(x.sink));
  for (auto& [id, x] : all_) {
    auto& sources = x.how.sources;
    sources.erase(
      std::remove_if(sources.begin(), sources.end(),
                     [&](const proc_id& y) { return y.nspace == nspace; }),
      sources.end());
  }
  return result;
}

std::set<uint64_t>
io_subscriptions::of_sink(const caf::actor_addr& sink) const {
  const auto i = by_sink_.find(sink);
  return i != by_sink_.end() ? i->second : std::set<uint64_t>{};
}

bool io_subscriptions::wants_live(const io_stream& stream) const {
  const auto ids = patterns_.of(stream);
  return std::any_of(ids.begin(), ids.end(), [&](uint64_t id) {
    return at(id).how.start == io_start::live;
  });
}

} // namespace troupe
