#pragma once

// The inside of a HANDLER CHAIN actor, for its own source files.

#include "actors/events/handler_chain.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

namespace troupe::handler_chain_internals {

/// An event that waits for its handlers.
struct queued_event {
  event_history::event_ptr what;
  size_t bytes = 0;

  /// It is for this handler, which came later; nothing: for all that match.
  std::optional<uint64_t> only;
};

/// An event under way through its handlers.
struct walk {
  uint64_t id = 0;
  event_history::event_ptr what;
  size_t bytes = 0;

  /// Its number in the history; 0: not there.
  uint64_t number = 0;

  /// All that matched, in order, and how many have had their turn.
  std::vector<uint64_t> handlers;
  size_t next = 0;

  /// What those that have run reported.
  std::vector<info> results;

  /// What they decided, if the event is of a group and comes the first time.
  std::optional<handler_verdict> decision;

  /// Whose turn it is, and how many turns there have been: an answer that comes
  /// after its turn counts for nothing.
  uint64_t current = 0;
  std::string current_name;
  uint64_t turn = 0;

  /// Ticks since the turn began.
  uint32_t waited = 0;

  /// Whether later events wait for this one.
  bool holds = true;

  /// Whether it waits for the next turn of the chain, not for a handler.
  bool is_paused = false;
};

using walk_ptr = std::shared_ptr<walk>;

/// What the chain knows of a handler beside its place.
struct registration {
  uint64_t function = 0;
  event_history::horizon missed;

  /// Nobody but us knows of it yet.
  bool is_pending = true;
};

struct handler_chain_state {
  static inline const char* name = "handler-chain";

  handler_chain_options options;
  handler_order order{{}};
  event_history history{{}};
  std::map<uint64_t, registration> registrations;
  size_t pending = 0;

  /// Handlers that have overrun and owe an answer.
  std::set<uint64_t> overdue;

  /// How many handlers want a code, as the server knows it.
  std::map<status, size_t> codes;

  proc_id self;
  event_session_actor session;

  std::deque<queued_event> queue;

  /// Those that wait for a handler, and how many of them hold up later events.
  std::unordered_map<uint64_t, walk_ptr> walks;
  size_t holding = 0;
  uint64_t last_walk = 0;

  /// Bytes of the events that wait or are under way.
  size_t bytes = 0;
  event_intake intake = event_intake::all;

  size_t calls_left = 0;
  bool is_ticking = false;
  bool will_resume = false;

  void log(severity how, const std::string& what) const {
    if (options.log)
      options.log(how, what);
  }
};

TROUPE_SELF_POINTER(handler_chain_actor, handler_chain_state);

/// Begins the events that need not wait, in their order.
void begin_events(self_pointer self);

/// Adds a handler, and answers when the server knows of it.
caf::result<handler_registered> add(self_pointer self,
                                    const register_handler& request);

/// The program knows of a handler: events may reach it, those first that it has
/// missed.
void make_ready(self_pointer self, uint64_t id);

/// Takes a handler out; the server hears of codes that nobody wants any more.
void drop(self_pointer self, uint64_t id);

/// The server is new: it learns what the handlers want.
void subscribe_all(self_pointer self);

} // namespace troupe::handler_chain_internals
