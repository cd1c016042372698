#include "actors/groups/connected_sets.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// Equal for equal sets.
connected_sets::procs normal(connected_sets::procs which) {
  std::sort(which.begin(), which.end());
  which.erase(std::unique(which.begin(), which.end()), which.end());
  auto whole = std::set<std::string>{};
  for (const auto& x : which)
    if (x.rank == rank_wildcard)
      whole.insert(x.nspace);
  which.erase(std::remove_if(which.begin(), which.end(),
                             [&](const proc_id& x) {
                               return x.rank != rank_wildcard
                                      && whole.count(x.nspace) > 0;
                             }),
              which.end());
  return which;
}

} // namespace

bool connected_sets::has_room(procs which) const {
  which = normal(std::move(which));
  if (ids_.count(which) > 0)
    return true;
  return sets_.size() < bounds_.sets
         && num_procs_ + which.size() <= bounds_.procs
         && std::all_of(which.begin(), which.end(), [this](const proc_id& x) {
              const auto* ids = of(x.nspace);
              return ids == nullptr || ids->size() < bounds_.sets_of_one;
            });
}

bool connected_sets::connect(procs which, uint32_t node) {
  which = normal(std::move(which));
  const auto i = ids_.find(which);
  if (i != ids_.end()) {
    ++sets_.at(i->second).counts[node];
    return true;
  }
  if (!has_room(which))
    return false;
  const auto id = next_++;
  auto& x = sets_[id];
  x.counts[node] = 1;
  for (const auto& proc : which)
    x.namespaces.insert(proc.nspace);
  for (const auto& nspace : x.namespaces)
    by_namespace_[nspace].insert(id);
  num_procs_ += which.size();
  x.which = which;
  ids_.emplace(std::move(which), id);
  return true;
}

bool connected_sets::disconnect(procs which, uint32_t node) {
  const auto i = ids_.find(normal(std::move(which)));
  if (i == ids_.end())
    return false;
  auto& counts = sets_.at(i->second).counts;
  const auto j = counts.find(node);
  if (j == counts.end())
    return false;
  if (--j->second == 0)
    counts.erase(j);
  if (counts.empty())
    erase(i->second);
  return true;
}

bool connected_sets::contains(procs which) const {
  return ids_.count(normal(std::move(which))) > 0;
}

connected_sets::procs connected_sets::peers_of(const proc_id& proc) const {
  auto result = procs{};
  const auto* ids = of(proc.nspace);
  if (ids == nullptr)
    return result;
  const auto names = [&](const proc_id& x) { return matches(x, proc); };
  for (const auto id : *ids) {
    const auto& x = sets_.at(id);
    if (std::none_of(x.which.begin(), x.which.end(), names))
      continue;
    for (const auto& y : x.which)
      if (y.nspace != proc.nspace && x.namespaces.count(y.nspace) > 0)
        result.push_back(y);
  }
  return normal(std::move(result));
}

std::vector<std::string> connected_sets::ended_with(
  const proc_id& failed,
  const std::function<bool(const std::string&)>& goes_on) const {
  auto ended = std::set<std::string>{};
  auto next = std::vector<std::string>{};
  const auto reach = [&](const std::string& nspace) {
    if (nspace != failed.nspace && ended.count(nspace) == 0
        && !goes_on(nspace)) {
      ended.insert(nspace);
      next.push_back(nspace);
    }
  };
  for (const auto& x : peers_of(failed))
    reach(x.nspace);
  // All processes of these end: whoever is connected to any of them.
  while (!next.empty()) {
    const auto nspace = std::move(next.back());
    next.pop_back();
    for (const auto id : *of(nspace))
      for (const auto& x : sets_.at(id).namespaces)
        reach(x);
  }
  return {ended.begin(), ended.end()};
}

void connected_sets::node_lost(uint32_t node) {
  auto over = std::vector<id>{};
  for (auto& [id, x] : sets_)
    if (x.counts.erase(node) > 0 && x.counts.empty())
      over.push_back(id);
  for (const auto id : over)
    erase(id);
}

void connected_sets::forget(const std::string& nspace) {
  auto node = by_namespace_.extract(nspace);
  if (node.empty())
    return;
  for (const auto id : node.mapped()) {
    auto& namespaces = sets_.at(id).namespaces;
    namespaces.erase(nspace);
    if (namespaces.size() < 2)
      erase(id);
  }
}

void connected_sets::erase(id which) {
  const auto node = sets_.extract(which);
  const auto& x = node.mapped();
  for (const auto& nspace : x.namespaces) {
    const auto i = by_namespace_.find(nspace);
    i->second.erase(which);
    if (i->second.empty())
      by_namespace_.erase(i);
  }
  num_procs_ -= x.which.size();
  ids_.erase(x.which);
}

const std::set<connected_sets::id>*
connected_sets::of(const std::string& nspace) const {
  const auto i = by_namespace_.find(nspace);
  return i != by_namespace_.end() ? &i->second : nullptr;
}

} // namespace troupe
