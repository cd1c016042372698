#pragma once

#include "messages/control.hpp"
#include "messages/event_order.hpp"
#include "messages/gauge.hpp"
#include "messages/host.hpp"
#include "messages/io.hpp"
#include "messages/io_stream.hpp"
#include "messages/job.hpp"
#include "messages/membership.hpp"
#include "messages/publish.hpp"
#include "messages/query.hpp"
#include "messages/runs.hpp"
#include "messages/sensor.hpp"
#include "messages/site_hook.hpp"
#include "messages/usage.hpp"

#include <optional>
#include <variant>
#include <vector>

// What the hosts of a DVM's nodes ask each other. All of it are calls: each is
// carried out once, in the order in which its class was sent, and answered; who
// asks a node that is lost is told so. The alternatives of the variants are the
// list of what may come in from another node, and nothing else is built.

namespace troupe {

// -- jobs ---------------------------------------------------------------------

/// The processes of a job on one node.
struct node_share {
  /// The node's rank in the DVM, and its name.
  uint32_t node = 0;
  std::string hostname;
  std::vector<placed_proc> procs;
};

TROUPE_MESSAGE(node_share, x.node, x.hostname, x.procs)

/// Where a job runs.
struct job_map {
  std::string nspace;

  /// New in this DVM.
  uint32_t number = 0;
  std::vector<node_share> shares;

  /// Nodes that were lost since it was made: what runs there, if anything, is
  /// not this job.
  std::vector<uint32_t> lost{};
};

TROUPE_INSPECT(job_map, x.nspace, x.number, in_runs<Inspector>(x.shares),
               x.lost)
TROUPE_EQUAL(job_map, x.nspace, x.number, x.shares, x.lost)

/// A node on which somebody wants the streams of a whole job.
struct io_watcher {
  uint32_t node = 0;
  io_channels channels = io_channels::none;
};

TROUPE_MESSAGE(io_watcher, x.node, x.channels)

/// To each node of a job: makes its processes and those elsewhere known to the
/// server, starts nothing yet. Answered with a `job_map` of its share only, in
/// which processes have their processors.
struct prepare_share {
  /// Has no shares on its way: each call of many nodes would keep all of them.
  job_map map;

  /// The whole map as bytes, see messages/mesh_payload.hpp; empty: that is
  /// `map`.
  std::string packed_map;
  spawn_request request;
  requester parent;

  /// The node that takes the output. It hears of the job also if no process of
  /// it runs there.
  uint32_t origin = 0;

  /// Slots of all nodes.
  uint32_t universe = 0;

  /// What processes inherit beside what their node has, `NAME=value`, and where
  /// programs start that do not say; may be empty. From launchers that have a
  /// DVM of their own.
  std::vector<std::string> environment;
  std::string working_directory;

  /// Nodes beside the origin that want its streams: since they want those of
  /// all jobs, or of the job that spawned it. They hear of the job, too.
  std::vector<io_watcher> watchers;
};

TROUPE_MESSAGE(prepare_share, x.map, x.packed_map, x.request, x.parent,
               x.origin, x.universe, x.environment, x.working_directory,
               x.watchers)

/// To each node of a job, once all are prepared: starts the processes. Answered
/// when they run, or with why they do not; by the first node of the job with
/// its data for whoever asked for it.
struct start_share {
  std::string nspace;
};

TROUPE_MESSAGE(start_share, x.nspace)

/// To each node of a job: ends its processes there. Refused with `not_found`
/// where there is no share.
struct end_share {
  end_job how;
};

TROUPE_MESSAGE(end_share, x.how)

/// To the root: processes changed their state.
struct share_progress {
  std::string nspace;
  std::vector<proc_changed> procs;
};

TROUPE_MESSAGE(share_progress, x.nspace, x.procs)

/// To the root: all processes of the share have ended, all their output has
/// been taken, and nothing is left of them.
struct share_ended {
  std::string nspace;
};

TROUPE_MESSAGE(share_ended, x.nspace)

/// To the nodes of a job, and to those whose processes are connected to it:
/// these processes will take part in nothing any more.
struct procs_gone {
  std::vector<proc_ended> procs;
};

TROUPE_MESSAGE(procs_gone, x.procs)

/// To each node of a job: it is over everywhere; its namespace is forgotten.
struct forget_job {
  job_ended outcome;
};

TROUPE_MESSAGE(forget_job, x.outcome)

/// To the root: where a job runs, for processes of another one.
struct locate_job {
  std::string nspace;
};

TROUPE_MESSAGE(locate_job, x.nspace)

/// To the root, first thing: how many processes the node takes without being
/// oversubscribed.
struct node_resources {
  uint32_t slots = 0;
};

TROUPE_MESSAGE(node_resources, x.slots)

// -- requests that the root decides -------------------------------------------

using rooted_request =
  std::variant<spawn_request, abort_request, publish_request, lookup_request,
               unpublish_request, query_request, job_control_request,
               io_pull_request, io_push_request>;

/// To the root: a request of a process or tool of another node. For
/// `io_pull_request` the root says which jobs may be watched, in a
/// `nspace_list`.
struct ask_root {
  requester who;
  rooted_request what;
};

TROUPE_MESSAGE(ask_root, x.who, x.what)

/// To the root: these processes have connected, or have disconnected.
/// Source: PMIx Standard v5, `PMIx_Connect`.
struct connection_changed {
  std::vector<proc_id> procs;
  bool connected = true;
};

TROUPE_MESSAGE(connection_changed, x.procs, x.connected)

// -- collectives --------------------------------------------------------------

/// Which operation. All nodes that take part count the operations of the same
/// kind and participants alike.
struct mesh_collective_id {
  collective_kind kind = collective_kind::fence;
  std::vector<proc_id> procs;
  uint64_t generation = 0;
};

TROUPE_MESSAGE(mesh_collective_id, x.kind, x.procs, x.generation)

/// What processes of one node bring: a `std::vector<proc_data>` as bytes (see
/// messages/mesh_payload.hpp), which nodes on the way pass on as they are.
struct node_data {
  uint32_t node = 0;
  std::string procs;
};

TROUPE_MESSAGE(node_data, x.node, x.procs)

/// Up the tree of the nodes that take part: who has joined below, and what they
/// bring. When something went wrong it goes to the root of the operation at
/// once: that a node cannot join, or what it knows.
struct collective_part {
  mesh_collective_id id;

  /// Whom the sender takes for the root of the operation: the first of its
  /// nodes that is not lost. It grows as nodes are lost.
  uint32_t root = 0;

  /// The number of participating nodes, if all below the sender in their tree have
  /// joined, and it; else 0.
  uint32_t all_below_of = 0;

  /// If not: a bit per participating node, in the order of their ranks.
  std::vector<bool> joined;
  std::vector<node_data> data;

  /// Not `success`: participants of the sender's node cannot join.
  status failure = status::success;
  std::string reason;

  /// Asks the receiver what it knows: an outcome, or a part comes back.
  bool is_question = false;

  /// Whether it goes on without those who end or leave.
  /// Source: PMIx Standard v5, PMIX_GROUP_FT_COLLECTIVE; RFC0033, Group_leave.
  bool is_fault_tolerant = false;
};

TROUPE_MESSAGE(collective_part, x.id, x.root, x.all_below_of, x.joined, x.data,
               x.failure, x.reason, x.is_question, x.is_fault_tolerant)

/// Down the same tree: the operation is over, for all alike.
struct collective_outcome {
  mesh_collective_id id;

  /// Who vouches for it, as above.
  uint32_t root = 0;
  status code = status::success;

  /// Who is missing, and why.
  std::string reason;
  std::vector<node_data> data;
};

TROUPE_MESSAGE(collective_outcome, x.id, x.root, x.code, x.reason, x.data)

// -- gauges -------------------------------------------------------------------

/// Asks the NODE actor, or the host of another node, for `mesh_status`.
struct get_mesh_status {};

TROUPE_EMPTY_MESSAGE(get_mesh_status)

/// One lane, as it is.
struct lane_status {
  lane_id lane = 0;
  std::string network;
  std::string local;
  std::string remote;

  /// Whether traffic may ride it, and its smoothed round trip.
  bool is_usable = false;
  std::chrono::nanoseconds round_trip{0};

  /// Whether it leads through another node, and which.
  std::optional<uint32_t> relay;
};

TROUPE_MESSAGE(lane_status, x.lane, x.network, x.local, x.remote, x.is_usable,
               x.round_trip, x.relay)

/// One peer, as it is.
struct peer_status {
  uint32_t rank = 0;
  std::string name;
  bool is_connected = false;
  std::vector<lane_status> lanes;
  uint64_t sent = 0;
  uint64_t resent = 0;
  uint64_t delivered = 0;
  uint64_t duplicates = 0;

  /// How often traffic has left a lane that had failed for another one.
  uint64_t failovers = 0;
  uint64_t waiting_bytes = 0;

  /// Why there is no lane, if there is none.
  std::string trouble;
};

TROUPE_MESSAGE(peer_status, x.rank, x.name, x.is_connected, x.lanes, x.sent,
               x.resent, x.delivered, x.duplicates, x.failovers,
               x.waiting_bytes, x.trouble)

/// What the node is allowed to do.
enum class mesh_duty : uint8_t {
  joining,   ///< no member yet
  active,    ///< in contact with the root
  suspended, ///< out of contact: takes no work
  fenced,    ///< for good: kill all processes, then `leave_mesh`, then end
};

struct mesh_status {
  uint32_t rank = 0;
  std::string name;
  uint64_t incarnation = 0;
  uint64_t epoch = 0;
  mesh_duty duty = mesh_duty::joining;
  std::optional<uint32_t> parent;
  std::vector<node_row> members;
  std::vector<node_address> addresses;
  std::vector<peer_status> peers;
  std::vector<gauge> gauges;
};

TROUPE_MESSAGE(mesh_status, x.rank, x.name, x.incarnation, x.epoch, x.duty,
               x.parent, x.members, x.addresses, x.peers, x.gauges)

// -- calls --------------------------------------------------------------------

using host_question =
  std::variant<prepare_share, start_share, end_share, share_progress,
               share_ended, procs_gone, forget_job, locate_job, ask_root,
               collective_part, collective_outcome, direct_modex, deliver_event,
               io_interest, io_fragment, io_fetch, io_input, list_io, list_jobs,
               signal_process, node_resources, submit_event, order_events,
               collect_events, list_nspaces, get_mesh_status, find_procs,
               environment_interest, environment_event, control_procs,
               define_process_set, run_site_hook, sample_elsewhere,
               delete_process_set, connection_changed, list_groups>;

/// Something went wrong, in words.
struct mesh_failure {
  status code = status::error;
  std::string reason;

  /// What the requester is told besides, see `messages/denial.hpp`.
  std::vector<info> infos = {};
};

TROUPE_MESSAGE(mesh_failure, x.code, x.reason, x.infos)

using host_reply =
  std::variant<ack, mesh_failure, job_map, get_result, spawn_result,
               lookup_result, info_result, job_list, collected_events,
               nspace_list, mesh_status, procs_controlled, site_hook_result,
               group_list, io_fragment, io_input_taken, io_list>;

/// Asks a host.
struct host_call {
  /// 1, 2, 3 ... per pair of incarnations.
  uint64_t number = 0;

  /// The call of the same class before it, which is carried out first; 0: none
  /// that matters.
  uint64_t after = 0;

  /// This number and all smaller ones have been answered, and `answered`, too:
  /// their answers may be forgotten.
  uint64_t settled = 0;
  std::vector<uint64_t> answered;

  /// Calls of the receiver that have been carried out here: their answer is
  /// `ack`.
  std::vector<uint64_t> carried_out;
  host_question what;
};

TROUPE_MESSAGE(host_call, x.number, x.after, x.settled, x.answered,
               x.carried_out, x.what)

/// Answers a call, and others that have been carried out, as above.
struct host_answer {
  /// 0: only those others.
  uint64_t number = 0;
  host_reply what;
  std::vector<uint64_t> carried_out = {};
};

TROUPE_MESSAGE(host_answer, x.number, x.what, x.carried_out)

using host_message = std::variant<host_call, host_answer>;

// -- between a host and the NODE actor of the same process --------------------

/// For a member, on whatever way there is. Completed by nothing: a call is
/// answered, or the member is lost.
struct send_to_member {
  uint32_t rank = 0;

  /// Only for this incarnation; 0: for whoever is live.
  uint64_t incarnation = 0;
  traffic_class of = traffic_class::control;
  host_message what;
};

TROUPE_MESSAGE(send_to_member, x.rank, x.incarnation, x.of, x.what)

/// From a member.
struct member_message {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
  host_message what;
};

TROUPE_MESSAGE(member_message, x.rank, x.incarnation, x.what)

/// A member joined, left or was lost; once for each incarnation, and before the
/// tree changes.
struct member_changed {
  uint64_t epoch = 0;
  uint32_t rank = 0;
  std::string name;
  uint64_t incarnation = 0;
  node_state state = node_state::live;
};

TROUPE_MESSAGE(member_changed, x.epoch, x.rank, x.name, x.incarnation, x.state)

/// At the root: that incarnation surely runs nothing any more.
struct member_fenced {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
};

TROUPE_MESSAGE(member_fenced, x.rank, x.incarnation)

struct mesh_duty_changed {
  mesh_duty now = mesh_duty::joining;
  std::string reason;
};

TROUPE_MESSAGE(mesh_duty_changed, x.now, x.reason)

/// No process runs on this node any more: say good-bye to the others. Answered
/// when they know, or after a second.
struct leave_mesh {};

TROUPE_EMPTY_MESSAGE(leave_mesh)

/// At the root: somebody knows that a node is gone, such as whoever was to
/// start its daemon.
struct declare_member_lost {
  uint32_t rank = 0;

  /// Whether its processes are gone for sure.
  bool is_certain = false;
  std::string reason;
};

TROUPE_MESSAGE(declare_member_lost, x.rank, x.is_certain, x.reason)

} // namespace troupe
