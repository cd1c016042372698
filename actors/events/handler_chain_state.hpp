#pragma once

// The inside of a HANDLER CHAIN actor, for its own source files.

#include "actors/events/handler_chain.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>

namespace troupe::handler_chain_internals {

/// An event under way through its handlers.
struct walk {
  event what;

  /// Those still to run, in order.
  std::deque<uint64_t> rest;

  /// What those that have run reported.
  std::vector<info> results;

  /// Whose turn it is, and how many turns there have been: an answer that comes
  /// after its turn counts for nothing.
  uint64_t current = 0;
  std::string current_name;
  uint64_t turn = 0;

  /// Ticks since the turn began.
  uint32_t waited = 0;

  /// Whether later events wait for this one.
  bool holds = true;
};

using walk_ptr = std::shared_ptr<walk>;

struct handler_chain_state {
  static inline const char* name = "handler-chain";

  handler_chain_options options;
  handler_order order{{}};
  std::map<uint64_t, event_handler_actor> handlers;

  /// Registrations that the server has not acknowledged.
  std::set<uint64_t> pending;

  /// Handlers that have overrun and owe an answer.
  std::set<uint64_t> overdue;

  /// How many handlers want a code, as the server knows it.
  std::map<status, size_t> codes;

  proc_id self;
  event_session_actor session;

  std::deque<event> queue;
  std::vector<walk_ptr> walks;
  bool is_ticking = false;

  /// Events dropped since the log last told of it.
  bool is_dropping = false;

  bool is_held() const {
    return std::any_of(walks.begin(), walks.end(),
                       [](const walk_ptr& x) { return x->holds; });
  }

  void log(severity how, const std::string& what) const {
    if (options.log)
      options.log(how, what);
  }
};

using self_pointer = handler_chain_actor::stateful_pointer<handler_chain_state>;

/// Begins the events that need not wait, in their order.
void begin_events(self_pointer self);

/// Adds a handler, and answers when the server knows of it.
caf::result<handler_registered> add(self_pointer self,
                                    const register_handler& request,
                                    const event_handler_actor& handler);

/// Takes a handler out; the server hears of codes that nobody wants any more.
void drop(self_pointer self, uint64_t id);

/// The server is new: it learns what the handlers want.
void subscribe_all(self_pointer self);

} // namespace troupe::handler_chain_internals
