#pragma once

#include "actors/events/event_history.hpp"
#include "actors/events/handler_order.hpp"
#include "config/journal.hpp"
#include "messages/actors.hpp"

#include <caf/timespan.hpp>

#include <functional>
#include <optional>

namespace troupe {

/// A handler's turn at an event.
struct handler_turn {
  uint64_t handler = 0;

  /// Which event, and which of its turns: a verdict that comes later names
  /// them.
  uint64_t walk = 0;
  uint64_t turn = 0;

  /// The event's code as the handler knows it.
  status code = status::success;

  const event& what;

  /// What the handlers before it reported, an entry each; grows from turn to
  /// turn of an event, nothing else changes.
  const std::vector<info>& results;
};

/// What a process has room for.
enum class event_intake : uint8_t {
  /// Everything.
  all,

  /// Answers, and the events that come before them.
  answers,

  /// Nothing.
  nothing,
};

struct handler_chain_options {
  handler_order::settings order;

  event_history::settings history;

  /// Whether results are one flat list, as OpenPMIx has them, instead of one
  /// array for each handler.
  bool flat_results = false;

  /// How long later events wait for a handler that does not complete, and after
  /// how long the handler is passed over. Both are counted in `tick`s.
  caf::timespan tick;
  uint32_t patience_ticks = 0;
  uint32_t answer_ticks = 0;

  /// Events, and about how many bytes, that wait or are under way until less is
  /// taken in; `hard_factor` times that until nothing is. None is dropped.
  size_t max_events = 0;
  size_t max_bytes = 0;
  size_t hard_factor = 0;

  /// Handlers that run before others of the process have their turn.
  size_t calls_per_turn = 0;

  /// Runs a handler on the calling thread.
  /// @returns its verdict, if it has completed; else `handler_done` follows.
  std::function<std::optional<handler_verdict>(const handler_turn&)> run;

  /// An event has been through all its handlers; what was kept for its turns
  /// may go.
  std::function<void(uint64_t walk)> on_end;

  /// What the handlers of an event of a group decided: the last status, unless
  /// one of them aborts, and all their results, also of the one that ended the
  /// chain. Once for each such event, also if nobody handles it.
  /// Source: RFC0033; requirements, readings A31 and A32.
  std::function<void(const event&, handler_verdict)> on_decided;

  /// There is less room for events from outside, or more again.
  std::function<void(event_intake)> on_intake;

  journal log;

  /// The bounds of config/defaults.hpp.
  static handler_chain_options with_defaults();
};

/// Runs the event handlers of one process: the handlers of an event one after
/// another, each given what those before it reported, until one reports
/// `action_complete`; the events one after another in the order of their
/// arrival. A handler that overruns `patience_ticks` is named in the log and
/// holds up only its own event from then on, until it completes something;
/// after `answer_ticks` that event goes on without it.
///
/// A registration counts from its place in the chain's mailbox, but its handler
/// sees no event before whoever registered it has heard of it: an event that
/// comes earlier waits. First it gets what the process has had lately.
/// @param session Takes registrations and events to the server.
/// Source: RFC0002, "Client Registrations", "RM Notifications", "Client-Based
/// Notifications"; PMIx Standard v5, `PMIx_Register_event_handler`.
handler_chain_actor spawn_handler_chain(caf::actor_system& sys,
                                        event_session_actor session,
                                        handler_chain_options options);

/// Whether the process itself is among those whom its event is for.
/// Source: PMIx Standard v5, `pmix_data_range_t`.
bool is_for_notifier(const notify_request& request, const proc_id& notifier);

} // namespace troupe
