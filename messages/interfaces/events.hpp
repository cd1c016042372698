#pragma once

// Who keeps, delivers and raises events.

#include "messages/connection.hpp"
#include "messages/deadline.hpp"
#include "messages/event.hpp"
#include "messages/fwd.hpp"
#include "messages/gauge.hpp"
#include "messages/group_entry.hpp"
#include "messages/host.hpp"
#include "messages/interfaces/client.hpp"
#include "messages/query.hpp"
#include "messages/sensor.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The EVENT SESSION interface: the part of a session that a handler chain
/// needs. Refuses with `unreach` while there is no server.
using event_session_actor = caf::typed_actor<
  // Wants events with some codes.
  caf::replies_to<register_events_request>::with<ack>,
  // No longer wants events with some codes.
  caf::reacts_to<deregister_events_request>>;

/// The HANDLER CHAIN interface: the event handlers of one process.
using handler_chain_actor = caf::typed_actor<
  // Adds a handler; answered when the server knows of it.
  caf::replies_to<register_handler>::with<handler_registered>,
  // Whoever registered the handler knows its number: events may come.
  caf::reacts_to<handler_registered>,
  // Drops a handler: no event begins with it any more.
  caf::replies_to<deregister_handler>::with<ack>,
  // An event for this process, and several in their order.
  caf::reacts_to<event>, caf::reacts_to<event_batch>,
  // A handler that did not complete at once has completed.
  caf::reacts_to<handler_done>,
  // The process is connected to a server that knows nothing of its handlers.
  caf::reacts_to<connect_accepted>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

/// The EVENT CACHE interface: the log of events of a node, and who wants which.
using event_cache_actor = caf::typed_actor<
  // -- from sessions --
  // Wants events with some codes; those kept that match follow the answer.
  caf::replies_to<requester, register_events_request, client_actor>::with<ack>,
  // No longer wants events with some codes.
  caf::reacts_to<requester, deregister_events_request>,
  // A process raises an event; answered when the log has taken it, or when it
  // is stable if the host orders events.
  caf::replies_to<requester, notify_request>::with<ack>,
  // The kernel has taken events for a process.
  caf::reacts_to<requester, events_taken>,
  // -- from the host and the server --
  // An event for local processes; answered when the log has taken it.
  caf::replies_to<deliver_event>::with<ack>,
  // Processes that may connect.
  caf::reacts_to<expect_procs>,
  // One of them has connected.
  caf::reacts_to<connect_accepted>,
  // One of them has ended.
  caf::reacts_to<proc_ended>,
  // A session ended: nothing more for it.
  caf::reacts_to<requester, connection_lost>,
  // A namespace is gone: nothing of it is kept.
  caf::reacts_to<deregister_nspace>,
  // What is kept, and for whom: `troupe.event.counts`,
  // `troupe.event.retained`.
  caf::replies_to<requester, query_request>::with<info_result>,
  // Which processes have registered for a code.
  caf::replies_to<find_listeners>::with<event_listeners>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>,
  // How full it is.
  caf::replies_to<get_gauges>::with<gauge_list>>;

/// The ENVIRONMENT USER interface: hears of the environment.
using environment_user_actor = caf::typed_actor<
  // Something has happened.
  caf::reacts_to<environment_event>>;

/// The SENSOR interface: watches a part of the node, and tells what happens.
/// Sites add their own: see examples/temperature_sensor.cpp.
using sensor_actor = caf::typed_actor<
  // Events with these codes are wanted from now on, and no others: raise them
  // at the user. May come again with other codes.
  caf::reacts_to<start_sensor, environment_user_actor>,
  // Nobody wants anything from now on: rest.
  caf::reacts_to<stop_sensor>>;

/// The SAMPLED SENSOR interface: a SENSOR that has a SENSOR READER.
using sampled_sensor_actor = sensor_actor::extend<
  // INTERNAL: the next sample is due.
  caf::reacts_to<deadline>>;

/// The SENSOR READER interface: what the hardware and the kernel say.
using sensor_reader_actor = caf::typed_actor<
  // What can be read; readers that are told of changes answer once there are
  // some.
  caf::replies_to<read_sensors>::with<sensor_readings>>;

/// The SENSOR DESK interface: runs the sensors that somebody needs.
using sensor_desk_actor = environment_user_actor::extend<
  // A sensor of this node; refused if it offers what is not of the
  // environment.
  caf::replies_to<sensor_offer, sensor_actor>::with<ack>,
  // What this user wants to hear of from now on, in place of what it wanted
  // before.
  caf::reacts_to<environment_interest, environment_user_actor>,
  // INTERNAL: what has been held back is due.
  caf::reacts_to<deadline>>;

} // namespace troupe
