#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace troupe {

/// How much the streams of a node hold, and which of them keep less when it is
/// too much: the longest are cut to the same length. Plain data.
/// Source: guarantees 5.7; LIM14; A45.
class tail_budget {
public:
  /// @param limit Most bytes that all streams keep for later sinks.
  explicit tail_budget(size_t limit) : limit_(limit) {
    // nop
  }

  /// One stream, and what it may keep now.
  struct cut {
    uint64_t stream = 0;
    size_t keep = 0;
  };

  /// @param tail What it may keep while there is room.
  void add(uint64_t stream, size_t tail);

  void remove(uint64_t stream);

  /// What a stream holds has changed by so much.
  void change(uint64_t stream, ptrdiff_t by);

  /// @returns which streams are to keep less than before, or more again.
  std::vector<cut> settle();

  size_t held() const noexcept {
    return held_;
  }

private:
  struct entry {
    size_t held = 0;

    /// What it may keep while there is room, and now.
    size_t tail = 0;
    size_t keep = 0;
  };

  std::vector<cut> shorten();
  std::vector<cut> restore();

  size_t limit_;
  size_t held_ = 0;
  bool has_cut_ = false;
  std::map<uint64_t, entry> streams_;
};

} // namespace troupe
