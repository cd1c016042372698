#include "adapters/loop/actor_roster.hpp"

#include <caf/abstract_actor.hpp>

namespace troupe {

void actor_roster::add(caf::abstract_actor* x) {
  const auto guard = std::lock_guard{mutex_};
  actors_.insert(x);
}

void actor_roster::remove(caf::abstract_actor* x) {
  const auto guard = std::lock_guard{mutex_};
  actors_.erase(x);
}

std::vector<caf::strong_actor_ptr> actor_roster::all() const {
  const auto guard = std::lock_guard{mutex_};
  std::vector<caf::strong_actor_ptr> result;
  result.reserve(actors_.size());
  for (auto* x : actors_)
    result.emplace_back(x->ctrl());
  return result;
}

} // namespace troupe
