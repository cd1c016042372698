#pragma once

#include "config/defaults.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace troupe {

/// The tree along which the daemons of a DVM pass control, events and fences.
/// Each rank has a *seat*: below seat `s` are the seats `s * radix + 1` to
/// `s * radix + radix`. A rank that is absent (not there yet, dead) leaves its
/// seat to an heir, the first rank present below it, which keeps its own; so a
/// death gives new parents to the children of the dead and to nobody else, and
/// a rank has at most `radix` children per level, however many die.
///
/// The tree follows from the set of the absent alone, in whatever order they
/// went: daemons that know the same epoch have the same tree. Rank 0, the root,
/// is always present. Costs follow the depth and the number of the absent.
/// Source: requirements O16, L3; guarantees, sections 5.4 and 7.
class radix_tree {
public:
  using rank = uint32_t;

  /// @param size  the number of ranks, all present; at least one is assumed.
  /// @param radix  children per seat; 0 counts as 1.
  explicit radix_tree(rank size, rank radix = defaults::tree_radix);

  rank size() const {
    return size_;
  }

  rank radix() const {
    return radix_;
  }

  /// Adds seats at the end, all present; a tree does not shrink.
  void grow(rank size);

  /// Takes a rank out of the tree. The root stays.
  /// @returns whether it was present.
  bool remove(rank x);

  /// Puts a rank back on its seat.
  /// @returns whether it was absent.
  bool restore(rank x);

  bool is_present(rank x) const {
    return x < size_ && absent_.count(x) == 0;
  }

  /// Whom `x` belongs to; nothing for the root and for the absent.
  std::optional<rank> parent(rank x) const;

  /// Those whose parent is `x`, from the first seat to the last.
  std::vector<rank> children(rank x) const;

  /// The parent of `x`, its parent, and so on up to the root.
  std::vector<rank> lineage(rank x) const;

  /// How many steps `x` is from the root.
  rank depth(rank x) const;

  /// Where `from` sends what is for `to`: a child if `to` is below it, else the
  /// parent; nothing if they are the same or one of them is absent.
  std::optional<rank> next_hop(rank from, rank to) const;

  /// Whether `below` is `x` or has `x` among its lineage.
  bool is_below(rank below, rank x) const;

private:
  /// Who sits on `seat`; nothing if all below it are absent too.
  std::optional<rank> occupant(rank seat) const;

  /// The seat nearest to the root that `x` sits on.
  rank top_seat(rank x) const;

  rank up(rank seat) const {
    return (seat - 1) / radix_;
  }

  rank size_;
  rank radix_;
  std::set<rank> absent_;
};

} // namespace troupe
