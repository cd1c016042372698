#pragma once

#include "actors/events/event_index.hpp"

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

/// How far a connection has got in a log: a cursor for each code that it has
/// registered, and one for its default handlers. What waits for it costs it
/// nothing but that. Source: guarantees 5.1; A12.
class event_reader {
public:
  /// Gets entries that the reader begins or ceases to be owed.
  using visitor = std::function<void(event_entry&)>;

  explicit event_reader(proc_id proc) : proc_(std::move(proc)) {
    // nop
  }

  const proc_id& proc() const noexcept {
    return proc_;
  }

  /// Whether the reader is to get `x` and has not.
  bool is_pending(const event_entry& x) const;

  /// Whether it has been handed `x`.
  bool has_had(const event_entry& x) const;

  /// Whether the kernel has taken `x` for it.
  bool has_taken(const event_entry& x) const {
    return has_had(x) && !is_in_flight(x.number);
  }

  /// The codes that it has a cursor for; `default_events` stands for default
  /// handlers.
  std::set<status> codes() const;

  /// Codes registered now, and those whose cursors are kept for another time.
  size_t size() const noexcept {
    return cursors_.size();
  }

  bool wants(status code) const;

  /// Registers a code; nothing happens if it is registered already. The cursor
  /// stays where it was if it was before: nothing comes twice.
  /// @param limit Cursors to have at most; those of codes that are not
  ///              registered any more give way.
  /// @returns the codes of those that gave way.
  std::vector<status> add(status code, event_index& index, size_t limit,
                          const visitor& begin_owing);

  void remove(status code, event_index& index, const visitor& cease_owing);

  /// An entry that is pending for it has come to the log.
  void notice(const event_entry& x);

  /// The next entry to hand to it; null if there is none.
  event_entry* next(event_index& index);

  /// `x`, which is pending, is being handed to it. Cursors never go back
  /// (CACHE-2).
  void hand(const event_entry& x, event_index& index);

  /// The kernel has taken what was handed over.
  void take(uint64_t number);

  /// Whether it has been handed an entry that the kernel has not taken.
  bool is_in_flight(uint64_t number) const;

  /// All of those, by number.
  const std::deque<uint64_t>& in_flight() const noexcept {
    return in_flight_;
  }

  /// An entry that was pending is gone.
  void skip(uint64_t number, event_index& index);

  // -- what it has missed --

  /// `x`, which is not pending, is dropped.
  /// @param counted_as As `event_gaps::add` says.
  void note_drop(const event_entry& x, status counted_as);

  /// `x`, which is pending, is dropped.
  void miss(const event_entry& x, std::optional<status> counted_as);

  /// Finds out what it has missed under a code that it registers.
  void count_missed(status code, const event_gaps& gaps);

  /// What it has missed and has not been told.
  missed_events take_missed() {
    return std::exchange(untold_, {});
  }

private:
  struct cursor {
    /// The last that has been handed over.
    uint64_t handed = 0;

    /// The last in the log at the registration.
    uint64_t since = 0;

    /// The next to hand over; 0: none.
    uint64_t head = 0;

    bool is_active = false;
  };

  const cursor* find(status code) const;
  bool covers(const cursor* x, const event_entry& what) const;
  uint64_t mark(const event_entry& x) const;
  void set_head(status code, cursor& x, uint64_t head);
  void advance(status code, cursor& x, uint64_t after, event_index& index);
  void count_missed(status code, bool for_default, const event_gaps& gaps);
  std::vector<status> make_place(size_t limit);

  proc_id proc_;
  std::map<status, cursor> cursors_;

  /// Those that are not 0, in order: few, and most come and go at the end.
  std::vector<std::pair<uint64_t, status>> heads_;

  /// Handed over, but not taken; in order: mostly it grows at the end and
  /// shrinks at the begin.
  std::deque<uint64_t> in_flight_;

  /// Where cursors begin.
  uint64_t floor_ = 0;

  /// Dropped events of a code that are accounted for; those that default
  /// handlers may see apart.
  std::map<status, std::array<uint64_t, 2>> accounted_;
  missed_events untold_;
};

} // namespace troupe
