#pragma once

#include "actors/events/event_reader.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe {

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
  void subscribe(client_id id, const proc_id& proc,
                 const std::vector<status>& codes);

  void unsubscribe(client_id id, const std::vector<status>& codes);

  /// The next event for a connection; null if there is none.
  event_entry* next(client_id id);

  /// Hands it over.
  void hand(client_id id, event_entry& x);

  /// What a connection has missed and has not been told.
  missed_events take_missed(client_id id);

  /// The codes that are registered now; `default_events` for default handlers.
  /// Nothing if they are the same as when this was asked last.
  std::optional<std::set<status>> take_wanted();

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

  /// Whether a connection would get `x` if it were added.
  bool is_anybody_interested(const event_entry& x) const;

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
