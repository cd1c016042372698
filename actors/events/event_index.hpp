#pragma once

#include "actors/events/range_filter.hpp"
#include "messages/event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

namespace troupe {

/// Where the payload of an event is.
enum class event_place : uint8_t {
  memory,

  /// In memory, on its way to the disk.
  writing,

  disk,

  /// On disk, and in memory for those who are about to get it.
  loaded,
};

/// One event in a log. Source: guarantees 5.1.
struct event_entry {
  /// In the order of arrival at this node.
  uint64_t number = 0;

  status code = status::success;

  /// What it counts for in a budget.
  uint32_t bytes = 0;

  /// Connections that it is for and that have not taken it.
  uint32_t owed = 0;

  /// Processes that it is for, registered and alive, and that have not had it.
  uint32_t awaited = 0;

  event_place place = event_place::memory;

  /// Whether default handlers may see it.
  bool admits_default = true;

  /// Whether registrations after its arrival may have it.
  bool is_kept = true;

  /// Whether it is a row of the state table: raised by the system, and replaced
  /// by the next one about the same.
  bool is_state = false;

  /// Gone already; its place in the sequence is about to go.
  bool is_dead = false;

  /// Null while it is only on disk.
  std::shared_ptr<const event> what;

  std::shared_ptr<const range_filter> filter;
};

/// What an event counts for in a budget: its values and what goes with them.
size_t cost_of(const event& x);

/// Which row of the state table an event of the system is; empty: none.
std::string row_of(const event& x);

/// The events of a log in the order of arrival, found by number and by code.
/// Looking one up costs O(log n); what is erased costs nothing any more.
/// Source: guarantees, CACHE-7.
class event_index {
public:
  /// @param x Its number exceeds those of all before it.
  event_entry& append(event_entry x);

  /// Null if there is none. Stays valid until the next `append`.
  event_entry* find(uint64_t number);
  const event_entry* find(uint64_t number) const;

  /// The first with a number above `after`; null if there is none.
  event_entry* next(uint64_t after);
  const event_entry* next(uint64_t after) const;

  /// The first with this code.
  event_entry* next_of(status code, uint64_t after);

  void erase(uint64_t number);

  size_t size() const noexcept {
    return alive_;
  }

  size_t size_of(status code) const;

  /// The greatest number that ever was.
  uint64_t last() const noexcept {
    return last_;
  }

  /// Entries that `next` and `next_of` have looked at so far.
  uint64_t looked_at() const noexcept {
    return looked_at_;
  }

private:
  struct code_list {
    std::deque<uint64_t> numbers;
    size_t alive = 0;
  };

  std::deque<event_entry>::iterator place_of(uint64_t number);
  void tidy();

  std::deque<event_entry> entries_;
  std::map<status, code_list> codes_;
  size_t alive_ = 0;
  uint64_t last_ = 0;
  uint64_t looked_at_ = 0;
};

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
