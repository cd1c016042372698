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

} // namespace troupe
