#pragma once

#include "messages/event.hpp"

#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace troupe {

/// About how many bytes an event occupies.
size_t approximate_size(const event& x);

/// The events that a process has had lately, for handlers that come later: each
/// gets those of them that it wants, once, in the order of arrival. The server
/// sends a process an event once, however many handlers it has.
/// Source: RFC0002, "RM Notifications": a registration is matched with all
/// cached events; requirements, reading A12: each handler sees an event once.
class event_history {
public:
  using event_ptr = std::shared_ptr<const event>;

  struct settings {
    /// The most events, and about how many bytes.
    size_t capacity = 0;
    size_t max_bytes = 0;

    /// Functions of handlers that are gone, of which is remembered what they
    /// have had.
    size_t max_functions = 0;
  };

  /// What a handler has not had: whatever came before, but for these.
  struct horizon {
    uint64_t first = 0;
    uint64_t last = 0;
    std::vector<uint64_t> without; // in order
  };

  explicit event_history(settings x) : settings_(x) {
    // nop
  }

  /// An event begins its way through the handlers.
  /// @param bytes Its `approximate_size`.
  /// @returns its number, from 1; 0 if it is not kept.
  uint64_t begin(const event_ptr& what, size_t bytes);

  /// An event is through.
  void end(uint64_t number);

  /// What a handler that is registered now has missed. Not what is under way:
  /// a handler does not see an event during which it was registered.
  /// @param function Stands for the program's function; 0: unknown.
  horizon seen_from(uint64_t function) const;

  /// A handler with this function is gone: it has had what came until now.
  void leave(uint64_t function);

  /// What is kept of what a handler has missed, in the order of arrival.
  std::vector<event_ptr> missed(const horizon& x) const;

  size_t size() const {
    return kept_.size();
  }

private:
  struct entry {
    uint64_t number = 0;
    size_t bytes = 0;
    event_ptr what;
  };

  settings settings_;
  std::deque<entry> kept_;
  size_t bytes_ = 0;
  uint64_t last_ = 0;

  /// In order: most come and go at the end.
  std::vector<uint64_t> under_way_;
  std::map<uint64_t, uint64_t> functions_;
};

} // namespace troupe
