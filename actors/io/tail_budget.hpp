#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace troupe {

/// How much the streams of a node hold, for sinks that come later and for those
/// that drop, and which of them may hold less when it is too much: the longest
/// are cut to the same length. What sinks that block have yet to get cannot be
/// cut; the others make room for it. Plain data.
/// Source: guarantees 5.7; LIM14; A45.
class tail_budget {
public:
  /// What a stream may hold that is not cut.
  static constexpr size_t all = SIZE_MAX;

  /// @param limit Most bytes that all streams hold, unless more is needed.
  explicit tail_budget(size_t limit) : limit_(limit), allowed_(limit) {
    // nop
  }

  /// One stream, and what it may hold now.
  struct cut {
    uint64_t stream = 0;
    size_t keep = 0;
  };

  void add(uint64_t stream);

  void remove(uint64_t stream);

  /// What a stream holds now.
  /// @param needed How much of it cannot be cut.
  void set(uint64_t stream, size_t held, size_t needed);

  /// @returns which streams are to hold less than before, or more again. Costs
  ///          nothing while little has changed.
  std::vector<cut> settle();

  size_t held() const noexcept {
    return held_;
  }

private:
  struct entry {
    size_t held = 0;
    size_t needed = 0;

    /// What it may hold.
    size_t keep = all;

    /// What it holds once it is cut to `level`.
    size_t size_at(size_t level) const noexcept;
  };

  std::vector<cut> shorten();
  std::vector<cut> restore();

  size_t limit_;
  size_t held_ = 0;
  size_t needed_ = 0;

  /// What may be held beyond what is needed, when it was cut last; and how much
  /// there has to be until it is looked at again.
  size_t allowed_;
  size_t due_ = 0;
  bool has_cut_ = false;
  std::map<uint64_t, entry> streams_;
};

} // namespace troupe
