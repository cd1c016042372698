#pragma once

// The nodes of a DVM, the lanes between them, and the host that runs jobs on
// them.

#include "messages/connection.hpp"
#include "messages/deadline.hpp"
#include "messages/fwd.hpp"
#include "messages/interfaces/events.hpp"
#include "messages/interfaces/host.hpp"
#include "messages/interfaces/io.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/interfaces/monitors.hpp"
#include "messages/interfaces/remoting.hpp"
#include "messages/interfaces/server.hpp"
#include "messages/io_stream.hpp"
#include "messages/job.hpp"
#include "messages/lane.hpp"
#include "messages/mesh.hpp"
#include "messages/peer_frames.hpp"
#include "messages/sensor.hpp"
#include "messages/spawn.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

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
  // Who gets what gateways send, and hears of members: at once of those that
  // are there.
  caf::reacts_to<gateway_actor>,
  // Bytes for the gateway of a member.
  caf::reacts_to<actor_bundle>,
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
  // How this node is connected, and how full its queues are.
  caf::replies_to<get_mesh_status>::with<mesh_status>,
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

} // namespace troupe
