#pragma once

#include "actors/events/kept_event.hpp"
#include "actors/events/number_set.hpp"
#include "actors/events/range_filter.hpp"
#include "messages/event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  kept_event::pointer what;

  std::shared_ptr<const range_filter> filter;

  /// The event; null while it is only on disk, and if its bytes cannot be read.
  std::shared_ptr<const event> get() const {
    return what != nullptr ? what->get(code, filter->source()) : nullptr;
  }
};

/// What an event counts for in a budget: its values and what goes with them;
/// and what one counts for that is kept as bytes.
size_t cost_of(const event& x);
size_t cost_of(const kept_event& x);

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
  /// The events with a code.
  struct code_list {
    number_set numbers;
    size_t count = 0;
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

/// Events in order, and the connections that read them, each at its own pace.
/// What is kept, and for how long, is up to the log that this is a part of.
/// Source: guarantees 5.1.
class event_shelf {
public:
  /// A connection, by its index.
  using client_id = uint32_t;

  /// The index of no connection.
  static constexpr client_id no_client = UINT32_MAX;

  explicit event_shelf(std::string nspace)
    : nspace_(std::move(nspace)), gaps_(nspace_) {
    // nop
  }

  virtual ~event_shelf() = default;

  event_shelf(const event_shelf&) = delete;
  event_shelf& operator=(const event_shelf&) = delete;

  const std::string& nspace() const noexcept {
    return nspace_;
  }

  const event_index& index() const noexcept {
    return index_;
  }

  const event_gaps& gaps() const noexcept {
    return gaps_;
  }

  /// Null if the connection has registered nothing.
  const event_reader* reader(client_id id) const;

  /// Registers codes for a connection; `default_events` stands for its default
  /// handlers. Costs as much as there are events with these codes (CACHE-7).
  /// @param most Codes that it may register: cursors of as many are kept.
  void subscribe(client_id id, const proc_id& proc,
                 const std::vector<status>& codes, size_t most);

  void unsubscribe(client_id id, const std::vector<status>& codes);

  /// The next event for a connection; null if there is none. Its payload is no
  /// bytes, if it is in memory.
  event_entry* next(client_id id);

  /// Hands it over.
  void hand(client_id id, event_entry& x);

  /// What a connection has missed and has not been told.
  missed_events take_missed(client_id id);

  /// The codes that are registered now; `default_events` for default handlers.
  /// Nothing if they are the same as when this was asked last.
  std::optional<std::set<status>> take_wanted();

  /// Whether a connection would get `x` if it came to this now.
  bool is_anybody_interested(const event_entry& x) const;

  /// Events that some connection has not taken.
  size_t owed() const noexcept {
    return owed_;
  }

  /// Connections that events have been compared with so far.
  uint64_t considered() const noexcept {
    return considered_;
  }

protected:
  /// Adds an event. Costs as much as there are connections that have registered
  /// its code, or default handlers (CACHE-7).
  /// @returns the connections that are to get it.
  std::vector<client_id> add(event_entry x);

  /// A connection has taken, or will not take, `x`.
  void release(event_entry& x);

  /// A connection is gone: it is owed nothing any more.
  void remove_reader(client_id id);

  /// Drops an event, so that it is counted as missed by whoever has not had it.
  void drop(event_entry& x);

  event_reader* find_reader(client_id id);

  /// Somebody is owed `x`, nobody was.
  virtual void on_owed(event_entry& x) = 0;

  /// Nobody is owed `x` any more. May erase it.
  virtual void on_settled(event_entry& x) = 0;

  /// `x` is to be erased.
  virtual void on_erased(const event_entry& x) = 0;

  void erase(event_entry& x);

  event_index index_;

private:
  friend struct event_log_audit;

  void begin_owing(event_entry& x);
  void leave_code(status code, client_id id);
  void want(status code);
  void want_no_more(status code);

  /// Those who have a cursor that `x` may move, in order.
  std::vector<client_id> concerned(const event_entry& x) const;

  std::string nspace_;
  event_gaps gaps_;
  std::map<client_id, event_reader> readers_;
  std::map<status, std::set<client_id>> by_code_;

  /// Registrations in force by code.
  std::map<status, size_t> wanted_;
  bool has_wanted_changed_ = false;

  size_t owed_ = 0;
  uint64_t considered_ = 0;
};

} // namespace troupe
