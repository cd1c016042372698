#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/node_id.hpp>

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Actors of other actor systems of this process, and the ids under which other
/// nodes know them as actors of this one: their own are those of actors of ours,
/// too. Keeps no actor.
class foreign_actors {
public:
  /// @param as An id that no actor of ours has.
  void add(const caf::strong_actor_ptr& x, caf::actor_id as);

  /// The actor has ended, and needs no id any more.
  void remove(caf::actor_id as);

  /// @param node The name of the actor's system.
  /// @param id   Its id there.
  std::optional<caf::actor_id> find(const caf::node_id& node,
                                    caf::actor_id id) const;

  bool has(caf::actor_id as) const {
    return actors_.count(as) > 0;
  }

  /// @returns null if there is no such actor, or it has ended.
  caf::strong_actor_ptr get(caf::actor_id as) const;

  /// @returns all that have not ended.
  std::vector<caf::strong_actor_ptr> all() const;

  size_t size() const {
    return actors_.size();
  }

private:
  struct name {
    caf::node_id node;
    caf::actor_id id = 0;

    friend bool operator==(const name& x, const name& y) {
      return x.id == y.id && x.node == y.node;
    }
  };

  struct name_hash {
    size_t operator()(const name& x) const {
      return std::hash<caf::node_id>{}(x.node) * 31 + x.id;
    }
  };

  std::unordered_map<name, caf::actor_id, name_hash> ids_;
  std::unordered_map<caf::actor_id, caf::weak_actor_ptr> actors_;
};

} // namespace troupe
