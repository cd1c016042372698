#pragma once

#include "messages/enums.hpp"
#include "messages/inspect.hpp"
#include "messages/status.hpp"
#include "messages/value.hpp"

#include <caf/none.hpp>

#include <memory>
#include <utility>
#include <vector>

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

/// Events on their way to a process, in their order. They are shared: many
/// processes get the same.
struct event_batch {
  std::vector<std::shared_ptr<const event>> events;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, event_batch& x) {
  auto copies = std::vector<event>{};
  for (const auto& y : x.events)
    copies.push_back(*y);
  if constexpr (Inspector::writes_state) {
    if (auto err = f(copies))
      return err;
    x.events.clear();
    for (auto& y : copies)
      x.events.push_back(std::make_shared<const event>(std::move(y)));
    return caf::none;
  } else {
    return f(caf::meta::type_name("troupe.event_batch"), copies);
  }
}

/// A single event as a batch.
inline event_batch batch_of(event x) {
  auto result = event_batch{};
  result.events.push_back(std::make_shared<const event>(std::move(x)));
  return result;
}

/// Whether events with this code are of the environment: a server hears of them
/// only if it asks its host. Those of the Standard, and our own, which
/// docs/events.md lists.
/// Source: RFC0002, "Description"; PMIx Standard v5, "System error codes";
/// OpenPMIx, -230 to -330.
constexpr bool is_of_environment(status code) {
  const auto number = static_cast<int32_t>(code);
  return (number <= -230 && number >= -330)
         || (number <= -32230 && number >= -32330);
}

/// Whether events with this code are of a group: its servers see them first.
/// `group_verdict` is ours: what a library's handlers decided about an event
/// that asked them, for its server alone.
/// Source: RFC0033.
constexpr bool is_of_group(status code) {
  const auto number = static_cast<int32_t>(code);
  return (number <= -159 && number >= -170) || code == status::group_verdict;
}

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

  /// Whether no process of the namespace is on another node.
  bool is_whole = false;
};

TROUPE_MESSAGE(expect_procs, x.nspace, x.ranks, x.is_whole)

// -- handlers, inside a process -----------------------------------------------

/// Adds a handler to the chain of a process.
/// Source: PMIx Standard v5, `PMIx_Register_event_handler`; RFC0002, "Event
/// Registration".
struct register_handler {
  /// Codes that call the handler; none: every code (a default handler).
  std::vector<status> codes;

  /// Name, placement, filters: PMIX_EVENT_HDLR_NAME and its neighbours.
  std::vector<info> directives;

  /// Stands for the program's function: who registers the same one again is
  /// not given again what it has had. 0: unknown.
  uint64_t function = 0;
};

TROUPE_MESSAGE(register_handler, x.codes, x.directives, x.function)

/// A handler is registered under this number. Its first event comes once
/// whoever registered it has sent this back: the program knows the number
/// before.
struct handler_registered {
  uint64_t id = 0;
};

TROUPE_MESSAGE(handler_registered, x.id)

/// Takes a handler out of the chain.
struct deregister_handler {
  uint64_t id = 0;
};

TROUPE_MESSAGE(deregister_handler, x.id)

/// What a handler did about an event. Source: RFC0002, "Description".
struct handler_verdict {
  /// `no_action_taken`, `partial_action_taken`, `action_deferred`, or
  /// `action_complete`, which ends the chain.
  status outcome = status::no_action_taken;

  /// For the handlers after it.
  std::vector<info> results;
};

TROUPE_MESSAGE(handler_verdict, x.outcome, x.results)

/// A handler that did not complete at once has completed.
struct handler_done {
  uint64_t handler = 0;

  /// Which event, and whose turn it was: as the handler's turn said.
  uint64_t walk = 0;
  uint64_t turn = 0;

  handler_verdict verdict;
};

TROUPE_MESSAGE(handler_done, x.handler, x.walk, x.turn, x.verdict)

} // namespace troupe
