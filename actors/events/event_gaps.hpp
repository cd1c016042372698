#pragma once

#include "actors/events/event_entry.hpp"

#include <array>
#include <map>

namespace troupe {

/// What somebody has missed. Source: guarantees, section 1, "gap record".
struct missed_events {
  uint64_t count = 0;

  /// The first and the last number that may be among them.
  uint64_t first = 0;
  uint64_t last = 0;

  void add(uint64_t n, uint64_t from, uint64_t to);
};

/// Counts what a log has dropped, so exactly that each process can be told what
/// it has missed. Counts only grow (CACHE-5).
class event_gaps {
public:
  /// @param nspace Whose log it is.
  explicit event_gaps(std::string nspace) : nspace_(std::move(nspace)) {
    // nop
  }

  /// Counts `x` as dropped.
  /// @returns the code under which it is counted: that of `x`, or
  ///          `default_events` if there are too many to tell them apart.
  status add(const event_entry& x);

  /// Events with this code that were for `rank` and are dropped.
  /// @param for_default Of those that default handlers may see, or of the
  ///                    others.
  missed_events of(status code, bool for_default, uint32_t rank) const;

  /// Calls `f` with each code of which something is dropped.
  template <class F>
  void each_code(F f) const {
    for (const auto& [code, x] : codes_)
      f(code);
  }

  uint64_t total() const noexcept {
    return total_;
  }

private:
  struct tally {
    /// Events for all processes, and those of them that a rank has raised
    /// itself.
    uint64_t for_all = 0;
    std::map<uint32_t, uint64_t> own;

    /// Events for single ranks.
    std::map<uint32_t, uint64_t> for_rank;

    uint64_t first = 0;
    uint64_t last = 0;
  };

  std::string nspace_;
  std::map<status, std::array<tally, 2>> codes_;
  uint64_t total_ = 0;
};

} // namespace troupe
