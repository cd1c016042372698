#pragma once

// Whom a process connects to: its connection and its session.

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
  // -- every process --
  // Data of the requester's own job.
  caf::replies_to<job_info_request>::with<job_info_reply>,
  // Keys the process has put.
  caf::replies_to<commit_request>::with<ack>,
  // Joins a fence; answered when all have joined.
  caf::replies_to<fence_request>::with<ack>,
  // Data of another process.
  caf::replies_to<get_request>::with<get_result>,
  // The process leaves.
  caf::replies_to<finalize_request>::with<ack>,
  // Ends processes.
  caf::replies_to<abort_request>::with<ack>,
  // Fresh data of a process.
  caf::replies_to<refresh_cache_request>::with<refresh_cache_result>,
  // Which processes are on a node.
  caf::replies_to<resolve_peers_request>::with<resolve_peers_result>,
  // Which nodes host a namespace.
  caf::replies_to<resolve_nodes_request>::with<resolve_nodes_result>,
  // -- publish --
  // Makes data known under keys.
  caf::replies_to<publish_request>::with<ack>,
  // Data that others published.
  caf::replies_to<lookup_request>::with<lookup_result>,
  // Takes published data back.
  caf::replies_to<unpublish_request>::with<ack>,
  // -- jobs --
  // Starts a job.
  caf::replies_to<spawn_request>::with<spawn_result>,
  // Declares processes connected; answered with the jobs of the others.
  caf::replies_to<connect_procs_request>::with<connect_procs_result>,
  // Ends a connection of processes.
  caf::replies_to<disconnect_procs_request>::with<ack>,
  // -- events --
  // Wants events with some codes.
  caf::replies_to<register_events_request>::with<ack>,
  // No longer wants events with some codes.
  caf::reacts_to<deregister_events_request>,
  // Raises an event.
  caf::replies_to<notify_request>::with<ack>,
  // Events for this process.
  caf::reacts_to<event_batch>,
  // The members of a group that it may name.
  caf::reacts_to<group_known>,
  // Output for this process; answered when its socket has taken it.
  caf::replies_to<io_delivery>::with<ack>,
  // -- questions and logs --
  // Asks for values by key.
  caf::replies_to<query_request>::with<info_result>,
  // Writes to logs, mail or output.
  caf::replies_to<log_request>::with<ack>,
  // -- control --
  // Pauses, signals, ends or cleans up after processes.
  caf::replies_to<job_control_request>::with<info_result>,
  // Has processes or files watched.
  caf::replies_to<monitor_request>::with<info_result>,
  // The process shows that it lives.
  caf::reacts_to<heartbeat>,
  // Asks for more or fewer resources.
  caf::replies_to<allocation_request>::with<info_result>,
  // Controls a session.
  caf::replies_to<session_control_request>::with<info_result>,
  // Defines or changes a block of resources.
  caf::replies_to<resource_block_request>::with<ack>,
  // Asks for a credential.
  caf::replies_to<get_credential_request>::with<get_credential_result>,
  // Has a credential checked.
  caf::replies_to<validate_credential_request>::with<info_result>,
  // -- fabric --
  // Wants information on a fabric.
  caf::replies_to<fabric_register_request>::with<info_result>,
  // Wants fresh information on a fabric.
  caf::replies_to<fabric_update_request>::with<info_result>,
  // How far devices are from processors.
  caf::replies_to<device_distances_request>::with<device_distances_result>,
  // -- groups --
  // Joins the construction of a group.
  caf::replies_to<group_construct_request>::with<group_construct_result>,
  // Joins the end of a group.
  caf::replies_to<group_destruct_request>::with<ack>,
  // Leaves a group.
  caf::replies_to<group_leave_request>::with<ack>,
  // -- input and output --
  // Wants output of processes.
  caf::replies_to<io_pull_request>::with<io_pull_result>,
  // Ends a subscription to output.
  caf::replies_to<io_deregister_request>::with<ack>,
  // Sends input to processes.
  caf::replies_to<io_push_request>::with<ack>,
  // -- from the connection and the server --
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
