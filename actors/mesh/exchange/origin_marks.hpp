#pragma once

#include "messages/event_order.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace troupe {

/// The last event of each node that has a place in an order, so that repeats
/// are told. Nodes in a row whose events came together are one entry, so there
/// are never more entries than nodes that have submitted something. All costs
/// O(log n) for each entry that it is about.
/// Source: guarantees 5.2, SEQ-2.
class origin_marks {
public:
  /// The event of one node, or those of several in a row, have this place.
  void set(const event_origin& x, uint64_t place);

  /// Whether one of these, or a later one of the same node, has a place.
  bool has(const event_origin& x) const {
    return find(x) != nullptr;
  }

  /// The place of the last event of such a node; it is not before that of `x`.
  std::optional<uint64_t> place_from(const event_origin& x) const;

  /// Entries.
  size_t size() const {
    return rows_.size();
  }

private:
  struct row {
    /// The last rank.
    uint32_t last = 0;
    uint64_t incarnation = 0;
    uint64_t number = 0;
    uint64_t place = 0;
  };

  static uint32_t last_of(const event_origin& x);
  const row* find(const event_origin& x) const;
  void cut(uint32_t rank);

  /// By the first rank; none has one of another.
  std::map<uint32_t, row> rows_;
};

} // namespace troupe
