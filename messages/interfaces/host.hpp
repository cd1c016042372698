#pragma once

// The resource manager, as its server sees it.

#include "messages/clause.hpp"
#include "messages/collective.hpp"
#include "messages/connection.hpp"
#include "messages/control.hpp"
#include "messages/data.hpp"
#include "messages/deadline.hpp"
#include "messages/event.hpp"
#include "messages/fwd.hpp"
#include "messages/group_entry.hpp"
#include "messages/host.hpp"
#include "messages/io.hpp"
#include "messages/proc_id.hpp"
#include "messages/publish.hpp"
#include "messages/query.hpp"
#include "messages/spawn.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The HOST interface: the resource manager. The server asks it for whatever
/// leaves the node or needs authority.
/// Source: PMIx Standard v5, "Server Function Pointers".
using host_actor = caf::typed_actor<
// Requests that sessions pass on.
#define TROUPE_HOST_REQUEST(number, command, request, answer)                  \
  clause<answer, requester, request>,
#include "messages/requests.def"
  // A registered process connects; a refusal keeps it out.
  caf::replies_to<client_connected>::with<ack>,
  // A process has finalized.
  caf::replies_to<client_finalized>::with<ack>,
  // A process lost its connection without finalizing.
  caf::reacts_to<client_lost>,
  // Answers with the identity of the tool.
  caf::replies_to<tool_connected>::with<proc_id>,
  // All local participants of a collective have joined.
  caf::replies_to<host_collective>::with<host_collective_result>,
  // Data of a process on another node.
  caf::replies_to<direct_modex>::with<get_result>,
  // Raises an event.
  caf::replies_to<requester, notify_request>::with<ack>,
  // Local processes want events of the environment with these codes.
  caf::replies_to<requester, register_events_request>::with<ack>,
  // Nobody on this node wants them any more.
  caf::reacts_to<requester, deregister_events_request>,
  // Writes what the server's own logs cannot take.
  caf::replies_to<requester, log_request>::with<ack>,
  // Answers the keys that the server does not know.
  caf::replies_to<requester, query_request>::with<info_result>,
  // Has processes or files watched.
  caf::replies_to<requester, monitor_request>::with<info_result>,
  // Where processes run.
  caf::replies_to<locate_procs>::with<proc_places>,
  // An entry for the log of a group.
  caf::replies_to<order_group_entry>::with<ack>,
  // More nodes keep the log of a group.
  caf::reacts_to<extend_group_log>,
  // The log of a group is over.
  caf::reacts_to<close_group_log>,
  // All local participants have called a collective operation on a group; for
  // hosts that conduct groups themselves.
  caf::replies_to<host_group>::with<info_result>,
  // Sends input to processes.
  caf::replies_to<requester, io_push_request>::with<ack>>;

/// The C HOST interface: a HOST behind the function table of a C program.
using c_host_actor = host_actor::extend<
  // INTERNAL: an up-call has been answered, or has lasted long enough.
  caf::reacts_to<deadline>>;

} // namespace troupe
