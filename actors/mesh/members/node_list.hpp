#pragma once

#include "actors/mesh/members/radix_tree.hpp"
#include "config/defaults.hpp"
#include "messages/membership.hpp"

namespace troupe {

/// One change of the list, told once: something happened to this incarnation.
struct node_change {
  uint32_t rank = 0;
  std::string name;
  uint64_t incarnation = 0;

  /// `live` for who joined, else `lost` or `left`.
  node_state state = node_state::live;
};

/// What a daemon knows of who belongs to the DVM: the list of one epoch, and
/// the tree that follows from it. Epochs are absolute: a list adopts what it is
/// told and never counts.
/// Source: guarantees, section 5.4, MEM-1 and MEM-3.
class node_list {
public:
  explicit node_list(uint32_t radix = defaults::tree_radix);

  uint64_t epoch() const {
    return epoch_;
  }

  const std::vector<node_row>& rows() const {
    return rows_;
  }

  const radix_tree& tree() const {
    return tree_;
  }

  /// The line of a rank; null if there is none.
  const node_row* find(uint32_t rank) const {
    return rank < rows_.size() ? &rows_[rank] : nullptr;
  }

  /// Whether that incarnation is a live member.
  bool is_live(uint32_t rank, uint64_t incarnation) const;

  /// Whether that incarnation has been declared dead, or has a successor.
  bool is_dead(uint32_t rank, uint64_t incarnation) const;

  /// Whether an update can be adopted, is old, or leaves a gap.
  enum class fit : uint8_t { next, old, gap };

  fit check(const node_update& x) const;

  /// Adopts a later epoch.
  /// @pre `check(x) == fit::next`
  /// @returns what changed: first who was lost, then who left, then who joined.
  std::vector<node_change> adopt(const node_update& x);

  /// What someone lacks who knows `epoch`.
  node_update changes_since(uint64_t epoch) const;

private:
  uint64_t epoch_ = 0;
  std::vector<node_row> rows_;
  radix_tree tree_;
};

} // namespace troupe
