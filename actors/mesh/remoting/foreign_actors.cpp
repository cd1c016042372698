#include "actors/mesh/remoting/foreign_actors.hpp"

namespace troupe {

void foreign_actors::add(const caf::strong_actor_ptr& x, caf::actor_id as) {
  ids_[{x->nid, x->aid}] = as;
  actors_[as] = caf::weak_actor_ptr{x.get()};
}

void foreign_actors::remove(caf::actor_id as) {
  const auto i = actors_.find(as);
  if (i == actors_.end())
    return;
  ids_.erase({i->second->nid, i->second->aid});
  actors_.erase(i);
}

std::optional<caf::actor_id> foreign_actors::find(const caf::node_id& node,
                                                  caf::actor_id id) const {
  const auto i = ids_.find({node, id});
  if (i == ids_.end())
    return std::nullopt;
  return i->second;
}

caf::strong_actor_ptr foreign_actors::get(caf::actor_id as) const {
  const auto i = actors_.find(as);
  return i == actors_.end() ? nullptr : i->second.lock();
}

std::vector<caf::strong_actor_ptr> foreign_actors::all() const {
  auto result = std::vector<caf::strong_actor_ptr>{};
  for (const auto& [id, x] : actors_)
    if (auto actor = x.lock())
      result.push_back(std::move(actor));
  return result;
}

} // namespace troupe
