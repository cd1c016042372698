#include "adapters/c_host/input_gate.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Whether all that `inner` names are among those that `outer` names.
bool covers(const proc_id& outer, const proc_id& inner) {
  return (outer.nspace.empty() || outer.nspace == inner.nspace)
         && (outer.rank == rank_wildcard || outer.rank == inner.rank);
}

} // namespace

void input_gate::set(const proc_id& source, bool is_stopped) {
  said_.erase(
    std::remove_if(said_.begin(), said_.end(),
                   [&](const auto& x) { return covers(source, x.first); }),
    said_.end());
  // Where nothing is said nobody is stopped.
  if (is_stopped || !said_.empty())
    said_.emplace_back(source, is_stopped);
  auto ready = std::vector<std::function<void()>>{};
  auto kept = std::vector<std::pair<proc_id, std::function<void()>>>{};
  for (auto& x : waiting_)
    if (this->is_stopped(x.first))
      kept.push_back(std::move(x));
    else
      ready.push_back(std::move(x.second));
  waiting_ = std::move(kept);
  for (const auto& done : ready)
    done();
}

void input_gate::when_open(const proc_id& who, std::function<void()> done) {
  if (is_stopped(who))
    waiting_.emplace_back(who, std::move(done));
  else
    done();
}

bool input_gate::is_stopped(const proc_id& who) const {
  const auto last =
    std::find_if(said_.rbegin(), said_.rend(),
                 [&](const auto& x) { return covers(x.first, who); });
  return last != said_.rend() && last->second;
}

} // namespace troupe
