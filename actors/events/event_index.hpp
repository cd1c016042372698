#pragma once

#include "actors/events/event_entry.hpp"

#include <deque>
#include <map>

namespace troupe {

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

} // namespace troupe
