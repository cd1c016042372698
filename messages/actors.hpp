#pragma once

// The protocol of the whole runtime on one page: which actor understands which
// message. Read this file first; actors/README.md draws who talks to whom.

#include "messages/control.hpp"
#include "messages/custom_monitor_actors.hpp"
#include "messages/deadline.hpp"
#include "messages/fwd.hpp"
#include "messages/group.hpp"
#include "messages/group_actors.hpp"
#include "messages/host.hpp"
#include "messages/io_actors.hpp"
#include "messages/job.hpp"
#include "messages/log.hpp"
#include "messages/mesh.hpp"
#include "messages/monitor_actors.hpp"
#include "messages/publish.hpp"
#include "messages/query.hpp"
#include "messages/self.hpp"
#include "messages/sensor.hpp"
#include "messages/spool.hpp"
#include "messages/topology.hpp"
#include "messages/usage.hpp"
#include "messages/usage_actors.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

// -- one connected process
// ---------------------------------------------------------

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

// -- inside a process that uses the library
// ------------------------------------------

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

// -- the node
// ----------------------------------------------------------------------

/// The SERVER interface: what a node knows, and who is connected to it.
using server_actor = caf::typed_actor<
  // -- from connections --
  // A process asks to be served; the session that will take its requests comes
  // back. Refused: the connection closes.
  caf::replies_to<connect_request, connection_actor>::with<connect_accepted,
                                                           client_actor>,
  // -- from sessions --
  // Data of the requester's own job.
  caf::replies_to<requester, job_info_request>::with<job_info_reply>,
  // Keys that a process has put.
  caf::replies_to<requester, commit_request>::with<ack>,
  // Joins a fence.
  caf::replies_to<requester, fence_request>::with<ack>,
  // Declares processes connected; answered with the jobs of the others.
  caf::replies_to<requester, connect_procs_request>::with<connect_procs_result>,
  // Ends a connection of processes.
  caf::replies_to<requester, disconnect_procs_request>::with<ack>,
  // Joins the construction of a group.
  caf::replies_to<requester,
                  group_construct_request>::with<group_construct_result>,
  // Joins the end of a group.
  caf::replies_to<requester, group_destruct_request>::with<ack>,
  // Leaves a group.
  caf::replies_to<requester, group_leave_request>::with<ack>,
  // Raises an event of a group; others are not taken.
  caf::replies_to<requester, notify_request>::with<ack>,
  // Data of a process.
  caf::replies_to<requester, get_request>::with<get_result>,
  // Fresh data of a process.
  caf::replies_to<requester, refresh_cache_request>::with<refresh_cache_result>,
  // Which processes are on a node.
  caf::replies_to<requester, resolve_peers_request>::with<resolve_peers_result>,
  // Which nodes host a namespace.
  caf::replies_to<requester, resolve_nodes_request>::with<resolve_nodes_result>,
  // Asks for values by key.
  caf::replies_to<requester, query_request>::with<info_result>,
  // Writes to logs, mail or output.
  caf::replies_to<requester, log_request>::with<ack>,
  // The process leaves.
  caf::replies_to<requester, finalize_request>::with<ack>,
  // A session ended.
  caf::reacts_to<requester, connection_lost>,
  // -- from the host --
  // A namespace and its local ranks.
  caf::replies_to<register_nspace>::with<ack>,
  // A namespace is gone: nothing of it is kept.
  caf::replies_to<deregister_nspace>::with<ack>,
  // One process after the other, where the host does not know all of them when
  // it registers the namespace.
  caf::replies_to<register_client>::with<ack>,
  // A process of this node is gone.
  caf::replies_to<deregister_client>::with<ack>,
  // Data of a local process, for another node; waits until it is posted.
  caf::replies_to<direct_modex>::with<get_result>,
  // Data that belongs to no namespace.
  caf::replies_to<register_resources>::with<ack>,
  // Forgets such data.
  caf::replies_to<deregister_resources>::with<ack>,
  // Names a set of processes.
  caf::replies_to<define_process_set>::with<ack>,
  // Forgets the name of a set.
  caf::replies_to<delete_process_set>::with<ack>,
  // Output for one of the connected; answered when its socket has taken it, or
  // refused with `unreach` if it is not connected any more.
  caf::replies_to<requester, io_delivery>::with<ack>,
  // What a process needs in its environment to find its server.
  caf::replies_to<setup_fork>::with<client_environment>,
  // What every client needs in its environment: comes once the server listens.
  caf::reacts_to<client_environment>,
  // A local process has ended.
  caf::reacts_to<proc_ended>,
  // Local processes are stopped on purpose, or go on.
  caf::reacts_to<procs_paused>,
  // Closes all connections.
  caf::replies_to<shut_down>::with<ack>,
  // Counts since the server started.
  caf::replies_to<get_statistics>::with<server_statistics>,
  // How full it is.
  caf::replies_to<get_gauges>::with<gauge_list>,
  // The next entry of the log of a group; answered when it is carried out.
  caf::replies_to<group_entry_ordered>::with<ack>,
  // A node is lost.
  caf::reacts_to<host_node_lost>,
  // Which groups have members here.
  caf::replies_to<list_groups>::with<group_list>,
  // -- from its groups --
  // INTERNAL: which local processes are members has changed.
  caf::reacts_to<group_changed>,
  // INTERNAL: nothing of a group is left.
  caf::reacts_to<group_over>,
  // INTERNAL: fills in what local processes have posted for others.
  caf::replies_to<group_data>::with<group_data>,
  // -- from its collectives --
  // INTERNAL: an operation has answered all its participants.
  caf::reacts_to<collective_retired>,
  // INTERNAL: data that a fence brought from other nodes.
  caf::reacts_to<host_collective_result>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

/// The COLLECTIVE interface: one operation of many processes, in flight.
using collective_actor = caf::typed_actor<
  // A local participant joins; answered when the operation is over.
  caf::replies_to<requester, fence_request>::with<ack>,
  // Declares processes connected; answered with the jobs of the others.
  caf::replies_to<requester, connect_procs_request>::with<connect_procs_result>,
  // Ends a connection of processes.
  caf::replies_to<requester, disconnect_procs_request>::with<ack>,
  // All local participants have joined: asks the host and answers everybody.
  caf::reacts_to<collective_ready>,
  // The operation cannot complete any more, for this reason.
  caf::reacts_to<collective_failed>,
  // Nobody is missing in a failed operation: ends.
  caf::reacts_to<collective_retired>>;

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

/// The HOST interface: the resource manager. The server asks it for whatever
/// leaves the node or needs authority.
/// Source: PMIx Standard v5, "Server Function Pointers".
using host_actor = caf::typed_actor<
  // A registered process connects; a refusal keeps it out.
  caf::replies_to<client_connected>::with<ack>,
  // A process has finalized.
  caf::replies_to<client_finalized>::with<ack>,
  // A process lost its connection without finalizing.
  caf::reacts_to<client_lost>,
  // Answers with the identity of the tool.
  caf::replies_to<tool_connected>::with<proc_id>,
  // Ends processes.
  caf::replies_to<requester, abort_request>::with<ack>,
  // All local participants of a collective have joined.
  caf::replies_to<host_collective>::with<host_collective_result>,
  // Data of a process on another node.
  caf::replies_to<direct_modex>::with<get_result>,
  // Makes data known under keys.
  caf::replies_to<requester, publish_request>::with<ack>,
  // Data that others published.
  caf::replies_to<requester, lookup_request>::with<lookup_result>,
  // Takes published data back.
  caf::replies_to<requester, unpublish_request>::with<ack>,
  // Starts a job.
  caf::replies_to<requester, spawn_request>::with<spawn_result>,
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
  // Pauses, signals, ends or cleans up after processes.
  caf::replies_to<requester, job_control_request>::with<info_result>,
  // Has processes or files watched.
  caf::replies_to<requester, monitor_request>::with<info_result>,
  // Asks for more or fewer resources.
  caf::replies_to<requester, allocation_request>::with<info_result>,
  // Controls a session.
  caf::replies_to<requester, session_control_request>::with<info_result>,
  // Defines or changes a block of resources.
  caf::replies_to<requester, resource_block_request>::with<ack>,
  // Asks for a credential.
  caf::replies_to<requester,
                  get_credential_request>::with<get_credential_result>,
  // Has a credential checked.
  caf::replies_to<requester, validate_credential_request>::with<info_result>,
  // Wants information on a fabric.
  caf::replies_to<requester, fabric_register_request>::with<info_result>,
  // Wants fresh information on a fabric.
  caf::replies_to<requester, fabric_update_request>::with<info_result>,
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
  // Wants output of processes.
  caf::replies_to<requester, io_pull_request>::with<io_pull_result>,
  // Ends a subscription to output.
  caf::replies_to<requester, io_deregister_request>::with<ack>,
  // Sends input to processes.
  caf::replies_to<requester, io_push_request>::with<ack>>;

/// The C HOST interface: a HOST behind the function table of a C program.
using c_host_actor = host_actor::extend<
  // INTERNAL: an up-call has been answered, or has lasted long enough.
  caf::reacts_to<deadline>>;

// -- the environment of the node
// ------------------------------------------------------------------

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

// -- whoever starts jobs
// ----------------------------------------------------

/// The JOB OBSERVER interface: a launcher that wants to hear of a job.
using job_observer_actor = caf::typed_actor<
  // Where its processes will run.
  caf::reacts_to<job_mapped>,
  // A process changed its state.
  caf::reacts_to<proc_changed>,
  // The job is over.
  caf::reacts_to<job_ended>>;

/// The PROCESS OWNER interface: hears of the processes it had started.
using process_owner_actor = caf::typed_actor<
  // A process was reaped.
  caf::reacts_to<process_ended>,
  // All output of an ended process has been taken.
  caf::reacts_to<process_drained>>;

// -- the mesh
// -----------------------------------------------------------------------

/// The LANE USER interface: takes what comes in on lanes to one node.
using lane_user_actor = caf::typed_actor<
  // A frame.
  caf::reacts_to<lane_frame_arrived>,
  // No frame of that lane follows.
  caf::reacts_to<lane_closed>>;

/// The LANE OWNER interface: decides what becomes of lanes.
using lane_owner_actor = caf::typed_actor<
  // A lane is there, by dialling or by being dialled.
  caf::reacts_to<lane_opened>,
  // A lane that nobody has adopted is no more.
  caf::reacts_to<lane_closed>,
  // Why there is no lane.
  caf::reacts_to<lane_failed>,
  // Where the node takes lanes from now on. Comes once at the start.
  caf::reacts_to<networks_changed>>;

/// The NETWORKS interface: the lanes of this node, on all its networks.
using networks_actor = caf::typed_actor<
  // Keep lanes open to a node.
  caf::reacts_to<reach_node>,
  // No longer.
  caf::reacts_to<release_node>,
  // What comes in on a lane goes to this user from now on.
  caf::reacts_to<lane_id, lane_user_actor>,
  // A frame for a lane.
  caf::reacts_to<put_lane_frame>,
  // Close a lane.
  caf::reacts_to<drop_lane>>;

/// The PEER OWNER interface: hears of a session with another node.
using peer_owner_actor = caf::typed_actor<
  // A message of the peer, in its turn.
  caf::reacts_to<peer_delivery>,
  // The session began, fell silent, or ended.
  caf::reacts_to<peer_changed>,
  // Frames for lanes that lead through another node.
  caf::reacts_to<relay_frame>,
  // A lane on which another incarnation of the node speaks, and what it said.
  caf::reacts_to<lane_opened, lane_frame_arrived>,
  // A message that there is no room for: it will not be sent.
  caf::reacts_to<peer_changed, peer_message>>;

/// The PEER interface: the session with another node, over all lanes to it.
using peer_actor = lane_user_actor::extend<
  // A lane to the node.
  caf::reacts_to<lane_opened>,
  // A message for it.
  caf::reacts_to<peer_message>,
  // A frame that came through another node.
  caf::reacts_to<relay_frame>,
  // The node is lost, or we leave: nothing of it is owed any more.
  caf::reacts_to<close_peer>,
  // How it is.
  caf::replies_to<get_mesh_status>::with<peer_status>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

/// The MESH USER interface: the host, as its NODE actor sees it.
using mesh_user_actor = caf::typed_actor<
  // From a member.
  caf::reacts_to<member_message>,
  // Who is a member; before the tree changes.
  caf::reacts_to<member_changed>,
  // A lost member surely runs nothing any more.
  caf::reacts_to<member_fenced>,
  // What the node is allowed to do.
  caf::reacts_to<mesh_duty_changed>>;

/// The NODE interface: this node as a member of its DVM.
using node_actor = lane_owner_actor::extend<
  // -- from the host --
  // Who hears of members and gets their messages.
  caf::reacts_to<mesh_user_actor>,
  // For a member.
  caf::reacts_to<send_to_member>,
  // Nothing runs here any more.
  caf::replies_to<leave_mesh>::with<ack>,
  // A member is gone.
  caf::reacts_to<declare_member_lost>,
  // How the mesh is.
  caf::replies_to<get_mesh_status>::with<mesh_status>,
  // -- from its peers --
  // A message of a peer.
  caf::reacts_to<peer_delivery>,
  // A session began, fell silent, or ended.
  caf::reacts_to<peer_changed>,
  // A frame for a lane that leads through another node.
  caf::reacts_to<relay_frame>,
  // A lane on which another incarnation of the node speaks, and what it said.
  caf::reacts_to<lane_opened, lane_frame_arrived>,
  // A message that there is no room for: it will not be sent.
  caf::reacts_to<peer_changed, peer_message>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

// -- the resource manager
// -------------------------------------------------------------------------

/// The MESH HOST interface: a HOST that runs jobs on the nodes of a DVM; alone,
/// on its own. The host of the root decides, those of the others carry out.
using mesh_host_actor = host_actor::extend<
  // The server this host works for: must come before the first spawn.
  caf::reacts_to<server_actor, event_cache_actor>,
  // The node as a member of a DVM: must come before anything of the mesh.
  caf::reacts_to<node_actor>,
  // Starts a job for a launcher of this process: who hears of the job, and who
  // takes its output.
  caf::replies_to<requester, spawn_request, job_observer_actor,
                  output_sink_actor>::with<spawn_result>,
  // Ends all processes of a job; without a name those of all jobs, answered
  // when there is none any more.
  caf::replies_to<end_job>::with<ack>,
  // Which jobs there are, and their processes.
  caf::replies_to<list_jobs>::with<job_list>,
  // Forwards input to processes of a job.
  caf::replies_to<io_input>::with<io_input_taken>,
  // Which streams there are on all nodes.
  caf::replies_to<list_io>::with<io_list>,
  // What is wanted here of the streams of a job on other nodes.
  caf::replies_to<io_interest>::with<ack>,
  // A fragment for another node.
  caf::replies_to<uint32_t, io_fragment>::with<ack>,
  // What the node of a process still has of a stream.
  caf::replies_to<io_fetch>::with<io_fragment>,
  // The sensors of this node.
  caf::reacts_to<sensor_desk_actor>,
  // Who samples this node for others.
  caf::reacts_to<usage_monitor_actor>,
  // Something has happened to this node.
  caf::reacts_to<environment_event>,
  // -- from the shares of its node --
  // Processes changed their state.
  caf::reacts_to<share_progress>,
  // Nothing is left of the share.
  caf::reacts_to<share_ended>,
  // -- from the NODE actor --
  // From a member.
  caf::reacts_to<member_message>,
  // Who is a member; before the tree changes.
  caf::reacts_to<member_changed>,
  // A lost member surely runs nothing any more.
  caf::reacts_to<member_fenced>,
  // What the node is allowed to do.
  caf::reacts_to<mesh_duty_changed>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

/// The JOB interface: the share of one node in a job, from its preparation to
/// its end.
using job_actor = caf::typed_actor<
  // Makes the job known to the server.
  caf::replies_to<prepare_share>::with<job_map>,
  // Starts the processes of this node; answered when all of them run.
  caf::replies_to<start_share>::with<spawn_result>,
  // Ends them.
  caf::replies_to<end_share>::with<ack>,
  // One of them wants processes to end: notes who it was.
  caf::replies_to<requester, abort_request>::with<ack>,
  // Registers what is to be removed at the end of the job.
  caf::replies_to<requester, job_control_request>::with<info_result>,
  // Signals, pauses, resumes or ends some of its processes.
  caf::replies_to<control_procs>::with<procs_controlled>,
  // The job is over everywhere.
  caf::replies_to<forget_job>::with<ack>,
  // A process of the job connected, left, or lost its connection.
  caf::reacts_to<client_connected>,
  // A process has finalized.
  caf::reacts_to<client_finalized>,
  // A process lost its connection without finalizing.
  caf::reacts_to<client_lost>,
  // From the process launcher.
  caf::reacts_to<process_ended>,
  // All output of an ended process has been taken.
  caf::reacts_to<process_drained>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

// -- the node's means (adapters)
// ---------------------------------------------------

/// The PROCESS LAUNCHER interface: starts, signals and reaps local processes.
using process_launcher_actor = caf::typed_actor<
  // The owner hears of the end; the receiver takes what the process writes.
  caf::replies_to<start_process, process_owner_actor,
                  output_receiver_actor>::with<process_started>,
  // Sends a signal.
  caf::reacts_to<signal_process>,
  // Signals, pauses, resumes or ends processes, and whatever they started.
  caf::replies_to<control_procs>::with<procs_controlled>,
  // The number of a process, and when it last wrote.
  caf::replies_to<find_process>::with<local_process>,
  // Ends what a job has left behind.
  caf::replies_to<sweep_job>::with<ack>,
  // Input for a process.
  caf::replies_to<write_stdin>::with<ack>,
  // The input is at its end.
  caf::reacts_to<close_stdin>>;

/// The SPOOL interface: keeps on disk what an event log has no memory for.
using spool_actor = caf::typed_actor<
  // Keeps records; answered when they are there.
  caf::replies_to<write_spool>::with<ack>,
  // Gives them back.
  caf::replies_to<read_spool>::with<spool_content>,
  // Forgets them.
  caf::reacts_to<erase_spool>>;

/// The CLEANER interface: removes what jobs leave on disk.
using cleaner_actor = caf::typed_actor<
  // Removes files and directories.
  caf::replies_to<remove_paths>::with<ack>>;

/// The TOPOLOGY interface: discovers the node's processors, once.
using topology_actor = caf::typed_actor<
  // Processors, caches and their order.
  caf::replies_to<discover_topology>::with<node_topology>>;

/// The LOG SINK interface: writes to the node's logs.
using log_sink_actor = caf::typed_actor<
  // A line for the logs.
  caf::replies_to<log_entry>::with<ack>>;

/// The USAGE interface: which resources processes and the node use.
using usage_actor = caf::typed_actor<
  // How much memory some processes use now.
  caf::replies_to<sample_memory>::with<memory_samples>,
  // What some processes, the node, its disks and its networks do.
  caf::replies_to<sample_usage>::with<usage_samples>>;

} // namespace troupe

#include "messages/actor_ids.hpp"
#include "messages/inspect_extern.hpp"
