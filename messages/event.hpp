#pragma once

#include "messages/enums.hpp"
#include "messages/inspect.hpp"
#include "messages/status.hpp"
#include "messages/value.hpp"

namespace troupe {

/// Wants the events with these codes; none: every event (a default handler).
/// Source: PMIx Standard v5, `PMIx_Register_event_handler`; RFC0002, "Client
/// Registration".
struct register_events_request {
  std::vector<status> codes;
  std::vector<info> directives;
};

TROUPE_MESSAGE(register_events_request, x.codes, x.directives)

/// No longer wants events with these codes; `default_events` stands for the
/// default handlers. Not answered.
struct deregister_events_request {
  std::vector<status> codes;
};

TROUPE_MESSAGE(deregister_events_request, x.codes)

/// The code that stands for all codes in `deregister_events_request`.
inline constexpr auto default_events = static_cast<status>(INT32_MIN);

/// Tells others of an event. Source: PMIx Standard v5, `PMIx_Notify_event`.
struct notify_request {
  status code = status::success;
  data_range range = data_range::undef;
  std::vector<info> infos;
};

TROUPE_MESSAGE(notify_request, x.code, x.range, x.infos)

/// An event on its way to a process.
struct event {
  status code = status::success;

  /// Who raised it; empty namespace and undefined rank for the resource
  /// manager.
  proc_id source;

  data_range range = data_range::undef;
  std::vector<info> infos;
};

TROUPE_MESSAGE(event, x.code, x.source, x.range, x.infos)

/// The kernel has taken events for a process: how many since its connection
/// began. Source: guarantees 5.1.
struct events_taken {
  uint64_t count = 0;
};

TROUPE_MESSAGE(events_taken, x.count)

/// Processes of this node that may connect: what happens before they do is kept
/// for them. Source: RFC0002, "Notifications".
struct expect_procs {
  std::string nspace;
  std::vector<uint32_t> ranks;
};

TROUPE_MESSAGE(expect_procs, x.nspace, x.ranks)

// -- handlers, inside a process
// ----------------------------------------------------

/// Adds a handler to the chain of a process; the actor that runs it follows in
/// the message.
/// Source: PMIx Standard v5, `PMIx_Register_event_handler`; RFC0002, "Event
/// Registration".
struct register_handler {
  /// Codes that call the handler; none: every code (a default handler).
  std::vector<status> codes;

  /// Name, placement, filters: PMIX_EVENT_HDLR_NAME and its neighbours.
  std::vector<info> directives;
};

TROUPE_MESSAGE(register_handler, x.codes, x.directives)

/// The handler will be called from now on, under this number.
struct handler_registered {
  uint64_t id = 0;
};

TROUPE_MESSAGE(handler_registered, x.id)

/// Takes a handler out of the chain.
struct deregister_handler {
  uint64_t id = 0;
};

TROUPE_MESSAGE(deregister_handler, x.id)

/// A handler's turn at an event.
struct handler_call {
  uint64_t id = 0;
  event what;

  /// What the handlers before it reported, an entry each.
  std::vector<info> results;
};

TROUPE_MESSAGE(handler_call, x.id, x.what, x.results)

/// What a handler did about an event. Source: RFC0002, "Description".
struct handler_verdict {
  /// `no_action_taken`, `partial_action_taken`, `action_deferred`, or
  /// `action_complete`, which ends the chain.
  status outcome = status::no_action_taken;

  /// For the handlers after it.
  std::vector<info> results;
};

TROUPE_MESSAGE(handler_verdict, x.outcome, x.results)

} // namespace troupe
