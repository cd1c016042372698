#include "actors/mesh/exchange/collective_outcomes.hpp"

#include "actors/mesh/exchange/defaults.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

bool names(const std::vector<proc_id>& procs, const std::string& nspace) {
  return std::any_of(procs.begin(), procs.end(), [&](const proc_id& proc) {
    return proc.nspace == nspace;
  });
}

/// Operations of one kind and group have the upper half of the generation in
/// common.
uint32_t salt_of(uint64_t generation) {
  return static_cast<uint32_t>(generation >> 32);
}

} // namespace

const collective_outcomes::outcome*
collective_outcomes::find(const collective_key& key) const {
  const auto i = outcomes_.find(key);
  return i != outcomes_.end() ? &i->second : nullptr;
}

bool collective_outcomes::is_forgotten(const mesh_collective_id& id) const {
  const auto i = forgotten_.find({id.kind, id.procs, salt_of(id.generation)});
  return i != forgotten_.end() && id.generation <= i->second;
}

void collective_outcomes::add(const collective_key& key, outcome how) {
  if (!outcomes_.emplace(key, std::move(how)).second)
    return;
  const auto& procs = *key.procs;
  auto& keys = order_[procs.empty() ? std::string{} : procs.front().nspace];
  keys.push_back(key);
  if (keys.size() <= defaults::collective_outcomes)
    return;
  const auto& oldest = keys.front();
  auto& limit =
    forgotten_[{oldest.kind, *oldest.procs, salt_of(oldest.generation)}];
  limit = std::max(limit, oldest.generation);
  outcomes_.erase(oldest);
  keys.pop_front();
}

void collective_outcomes::forget_job(const std::string& nspace) {
  for (auto i = outcomes_.begin(); i != outcomes_.end();)
    i = names(*i->first.procs, nspace) ? outcomes_.erase(i) : std::next(i);
  for (auto i = order_.begin(); i != order_.end();) {
    auto& keys = i->second;
    keys.erase(std::remove_if(keys.begin(), keys.end(),
                              [&](const collective_key& key) {
                                return names(*key.procs, nspace);
                              }),
               keys.end());
    i = keys.empty() ? order_.erase(i) : std::next(i);
  }
  for (auto i = forgotten_.begin(); i != forgotten_.end();)
    i =
      names(std::get<1>(i->first), nspace) ? forgotten_.erase(i) : std::next(i);
}

} // namespace troupe
