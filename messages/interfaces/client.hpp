#pragma once

// Whom a process connects to: its connection and its session.

#include "messages/clause.hpp"
#include "messages/collective.hpp"
#include "messages/connection.hpp"
#include "messages/control.hpp"
#include "messages/data.hpp"
#include "messages/event.hpp"
#include "messages/fwd.hpp"
#include "messages/group.hpp"
#include "messages/group_entry.hpp"
#include "messages/io.hpp"
#include "messages/monitor.hpp"
#include "messages/publish.hpp"
#include "messages/query.hpp"
#include "messages/spawn.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The CONNECTION interface: the socket of one connected process, as its
/// session sees it.
using connection_actor = caf::typed_actor<
  // Pushes events to the process.
  caf::reacts_to<event_batch>,
  // Pushes output to the process; answered when its socket has taken it.
  caf::replies_to<io_delivery>::with<ack>,
  // Takes what the process has sent by now.
  caf::replies_to<read_now>::with<unread>,
  // Closes the socket once what is queued has been written.
  caf::reacts_to<close_connection>>;

/// The CLIENT interface (server side): the session of one connected process or
/// tool. Every request of the process comes in here, decoded; the answer is the
/// reply that goes back on the wire.
using client_actor = caf::typed_actor<
// -- from the process --
#define TROUPE_REQUEST(number, command, request, answer)                       \
  clause<answer, request>,
#include "messages/requests.def"
  // The process shows that it lives.
  caf::reacts_to<heartbeat>,
  // -- from the server --
  // Events for this process.
  caf::reacts_to<event_batch>,
  // The members of a group that it may name.
  caf::reacts_to<group_known>,
  // Output for this process; answered when its socket has taken it.
  caf::replies_to<io_delivery>::with<ack>,
  // -- from the connection, the server and the MONITOR DESK --
  // The kernel has taken events.
  caf::reacts_to<events_taken>,
  // What the process has sent by now is wanted; answered when all of it has
  // passed here.
  caf::replies_to<read_now>::with<unread>,
  // The socket is gone: the session ends.
  caf::reacts_to<connection_lost>,
  // Ends the session and its connection.
  caf::reacts_to<close_connection>>;

} // namespace troupe
