#pragma once

#include "actors/events/handler_order.hpp"
#include "config/journal.hpp"
#include "messages/actors.hpp"

#include <caf/timespan.hpp>

namespace troupe {

struct handler_chain_options {
  handler_order::settings order;

  /// Whether results are one flat list, as OpenPMIx has them, instead of one
  /// array for each handler.
  bool flat_results = false;

  /// How long later events wait for a handler that does not complete, and after
  /// how long the handler is passed over. Both are counted in `tick`s.
  caf::timespan tick;
  uint32_t patience_ticks = 0;
  uint32_t answer_ticks = 0;

  /// Events that may wait or be under way; more are dropped.
  size_t max_events = 0;

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
/// sees no event before the registration has been answered: an event that comes
/// earlier waits.
/// @param session Takes registrations and events to the server.
/// Source: RFC0002, "Client Registrations", "RM Notifications", "Client-Based
/// Notifications"; PMIx Standard v5, `PMIx_Register_event_handler`.
handler_chain_actor spawn_handler_chain(caf::actor_system& sys,
                                        event_session_actor session,
                                        handler_chain_options options);

} // namespace troupe
