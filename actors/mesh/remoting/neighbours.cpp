#include "actors/mesh/remoting/neighbours.hpp"

#include <caf/actor_system.hpp>
#include <caf/node_id.hpp>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

struct neighbourhood {
  std::mutex mutex;
  std::vector<caf::actor_system*> systems; // guarded by mutex
};

neighbourhood& all() {
  static auto result = neighbourhood{};
  return result;
}

} // namespace

void add_neighbour(caf::actor_system& sys) {
  auto& xs = all();
  const auto guard = std::lock_guard{xs.mutex};
  xs.systems.push_back(&sys);
}

void remove_neighbour(caf::actor_system& sys) {
  auto& xs = all();
  const auto guard = std::lock_guard{xs.mutex};
  auto& systems = xs.systems;
  systems.erase(std::remove(systems.begin(), systems.end(), &sys),
                systems.end());
}

held_neighbour::held_neighbour(const caf::node_id& node) {
  auto& xs = all();
  guard_ = std::unique_lock{xs.mutex};
  const auto i = std::find_if(xs.systems.begin(), xs.systems.end(),
                              [&](auto* x) { return x->node() == node; });
  if (i == xs.systems.end())
    guard_.unlock();
  else
    system_ = *i;
}

} // namespace troupe
