#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe {

/// Which of many items are due, to a tick: setting, clearing and coming due
/// cost the same however many there are, and nothing happens at ticks at which
/// nothing is due. Items are small numbers of the owner's. Time is whatever the
/// owner counts in ticks.
/// Source: guarantees 5.9; G. Varghese and T. Lauck, "Hashed and Hierarchical
/// Timing Wheels", 1987.
class timer_wheel {
public:
  using tick = uint64_t;
  using item = uint32_t;

  static constexpr tick never = UINT64_MAX;

  /// The furthest tick that an item can be set to; later ones come then.
  static constexpr tick horizon = (tick{1} << 42) - 1;

  timer_wheel();

  /// Has an item come at `due`, in place of what was set before; at the next
  /// tick if that is over.
  void set(item x, tick due);

  /// The item does not come any more.
  void clear(item x);

  bool holds(item x) const {
    return x < nodes_.size() && nodes_[x].slot != nowhere;
  }

  /// When `advance` has to be called next: at the latest when the first item
  /// is due; `never` if there is none.
  tick next() const;

  /// Appends the items that are due at `now` to `out`, the earlier first, and
  /// lets go of them. Time that goes back is taken for time that stands.
  void advance(tick now, std::vector<item>& out);

  size_t size() const {
    return size_;
  }

  /// Bytes for each item.
  static constexpr size_t bytes_per_item() {
    return sizeof(node);
  }

private:
  /// Each level has 64 slots of 64 times the width of those below it.
  static constexpr unsigned bits = 6;
  static constexpr size_t levels = 7;
  static constexpr size_t slots = size_t{1} << bits;
  static constexpr item none = UINT32_MAX;
  static constexpr uint16_t nowhere = UINT16_MAX;

  struct node {
    tick due = 0;
    item prev = none;
    item next = none;
    uint16_t slot = nowhere;
  };

  void link(item x);
  void unlink(item x);

  std::vector<node> nodes_;
  std::array<item, levels * slots> heads_;
  std::array<uint64_t, levels> used_{};
  tick now_ = 0;
  size_t size_ = 0;
};

} // namespace troupe
