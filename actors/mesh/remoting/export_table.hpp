#pragma once

#include "actors/mesh/remoting/known_interface.hpp"

#include <caf/actor_control_block.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Which actors of this node others know, and how often each node was handed
/// each: a node reaches those alone. Keeps them as long as a node has them.
class export_table {
public:
  struct effects {
    /// An actor is in the table from now on: `remove` has to be called when it
    /// ends.
    std::function<void(caf::actor_id, const caf::strong_actor_ptr&)> watch;

    /// No longer.
    std::function<void(caf::actor_id, const caf::strong_actor_ptr&)> forget;

    /// Numbers that nobody can guess.
    std::function<uint64_t()> random;
  };

  explicit export_table(effects out) : out_(std::move(out)) {
    // nop
  }

  /// Hands an actor over to a node once more.
  /// @param id  Under which other nodes know it.
  /// @param key Of an actor that is not in the table; none: a new one.
  /// @returns its key.
  uint64_t give(caf::actor_id id, const caf::strong_actor_ptr& actor,
                uint32_t rank, std::optional<uint64_t> key = std::nullopt);

  /// @returns nothing if the actor is not in the table.
  std::optional<uint64_t> key_of(caf::actor_id id) const;

  /// An actor in the table has a typed handle: nodes hear what that understands.
  /// @param digests Of signatures.
  void announce(caf::actor_id id, const std::vector<uint64_t>& digests);

  /// @returns what nodes were told of an actor; null if it is not in the table.
  const known_interface* interface_of(caf::actor_id id) const;

  /// A node that has the key gets the actor from a third one.
  /// @returns whether there is such an actor.
  bool claim(caf::actor_id id, uint64_t key, uint32_t rank);

  /// A node gives back what it was handed `count` times.
  void release(caf::actor_id id, uint32_t rank, uint64_t count);

  /// A node is gone.
  void drop_node(uint32_t rank);

  /// An actor stays in the table while it is kept, whoever has it.
  void keep(caf::actor_id id, const caf::strong_actor_ptr& actor);
  void unkeep(caf::actor_id id);

  /// An actor has ended.
  /// @returns the nodes that have it.
  std::vector<uint32_t> remove(caf::actor_id id);

  /// @returns null if the node was not handed such an actor.
  caf::strong_actor_ptr find(caf::actor_id id, uint32_t rank) const;

  /// @returns null if there is no such actor with this key.
  caf::strong_actor_ptr find_by_key(caf::actor_id id, uint64_t key) const;

  size_t size() const {
    return rows_.size();
  }

  /// Forgets all.
  void clear();

private:
  struct holder {
    uint32_t rank = 0;
    uint64_t count = 0;
  };

  struct row {
    caf::strong_actor_ptr actor;
    uint64_t key = 0;
    std::vector<holder> holders;
    size_t kept = 0;
    known_interface interface;
  };

  using rows = std::unordered_map<caf::actor_id, row>;

  row& obtain(caf::actor_id id, const caf::strong_actor_ptr& actor,
              std::optional<uint64_t> key = std::nullopt);
  rows::iterator settle(rows::iterator i);
  static void add(row& x, uint32_t rank);

  effects out_;
  rows rows_;
};

} // namespace troupe
