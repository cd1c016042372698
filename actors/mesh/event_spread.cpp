#include "actors/mesh/event_spread.hpp"

#include "actors/events/range_filter.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

std::optional<std::vector<proc_id>> event_spread::audience(const event& what) {
  if (const auto* custom = find(what.infos, attr::event_custom_range))
    return procs_of(*custom);
  switch (what.range) {
    case data_range::nspace:
      return std::vector<proc_id>{{what.source.nspace, rank_wildcard}};
    case data_range::rm:
    case data_range::custom:
    case data_range::invalid:
      return std::vector<proc_id>{};
    default:
      return std::nullopt;
  }
}

std::vector<uint32_t> event_spread::nodes_for(const event& what) const {
  auto result = std::vector<uint32_t>{};
  const auto procs = audience(what);
  const auto live = out_.live();
  if (!procs) {
    result = live;
  } else if (what.range == data_range::rm && procs->empty()) {
    result.push_back(0);
  } else {
    result = places_.nodes_of(*procs);
    // A tool may be on any node.
    for (const auto& proc : *procs)
      if (!places_.knows(proc.nspace) && proc.nspace != what.source.nspace)
        result = live;
  }
  result.erase(std::remove_if(result.begin(), result.end(),
                              [&](uint32_t rank) {
                                return rank == self_
                                       || !std::binary_search(live.begin(),
                                                              live.end(), rank);
                              }),
               result.end());
  return result;
}

void event_spread::notify(const proc_id& source, notify_request what,
                          completion then) {
  auto x = entry{};
  x.what.what = event{what.code, source, what.range, std::move(what.infos)};
  x.then = std::move(then);
  if (!range_filter{x.what.what}.leaves_node()) {
    x.then(ack{});
    return;
  }
  auto& queue = queues_[source];
  queue.push_back(std::move(x));
  if (queue.size() == 1)
    go_on(source);
}

/// Sends the events of a source up to the first that has to wait.
void event_spread::go_on(const proc_id& source) {
  for (auto i = queues_.find(source); i != queues_.end();
       i = queues_.find(source)) {
    auto& queue = i->second;
    auto unknown = std::optional<std::string>{};
    if (const auto procs = audience(queue.front().what.what))
      for (const auto& proc : *procs)
        if (!places_.knows(proc.nspace)
            && queue.front().unknown.count(proc.nspace) == 0)
          unknown = proc.nspace;
    if (unknown) {
      out_.locate(*unknown,
                  [this, source, nspace = *unknown](const caf::error& why) {
                    const auto j = queues_.find(source);
                    if (why && j != queues_.end())
                      j->second.front().unknown.insert(nspace);
                    go_on(source);
                  });
      return;
    }
    auto x = std::move(queue.front());
    queue.pop_front();
    if (queue.empty())
      queues_.erase(i);
    send(std::move(x));
  }
}

void event_spread::send(entry x) {
  struct progress {
    size_t pending = 1;
    bool is_partial = false;
    completion then;
  };
  auto all = std::make_shared<progress>();
  all->then = std::move(x.then);
  const auto finish_one = [all] {
    if (--all->pending > 0)
      return;
    if (all->is_partial)
      all->then(
        make_error(status::partial_success, "a node has not taken the event"));
    else
      all->then(ack{});
  };
  for (const auto rank : nodes_for(x.what.what)) {
    ++all->pending;
    out_.deliver(rank, x.what, [all, finish_one](const caf::expected<ack>& y) {
      // Whoever is lost has no processes that are owed it.
      if (!y && status_of(y.error()) != status::unreach)
        all->is_partial = true;
      finish_one();
    });
  }
  finish_one();
}

size_t event_spread::waiting() const {
  auto result = size_t{0};
  for (const auto& [source, queue] : queues_)
    result += queue.size();
  return result;
}

} // namespace troupe
