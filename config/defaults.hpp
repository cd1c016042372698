#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

// Every bound and every time of the runtime, with its meaning. The identifiers
// (L1 ...) are those of docs/requirements.tsv, where limits are LIM1 and so on.

namespace troupe::defaults {

using namespace std::chrono_literals;

/// Connections of one rank at a time; forked children share their parent's.
inline constexpr size_t connections_per_rank = 64;

/// Tools of one user at a time.
inline constexpr size_t tools_per_user = 16;

/// Posted and published data of one process, and of all of a namespace.
inline constexpr size_t posted_bytes_per_process = size_t{16} << 20;
inline constexpr size_t posted_bytes_per_namespace = size_t{256} << 20;

/// Collective operations of a node in flight.
inline constexpr size_t collectives_in_flight = 1024;

/// Sets of processes over several nodes whose collective operations a node
/// counts.
inline constexpr size_t collective_signatures = 65536;

/// Codes one client may register for.
inline constexpr size_t event_codes_per_client = 1024;

/// Events of the environment kept for late registrations (L10). Source:
/// RFC0002, "ring buffer".
inline constexpr size_t event_cache_size = 512;

/// Bytes of an event that a process raises (L8).
inline constexpr size_t event_bytes = size_t{1} << 20;

/// Bytes of the events of a namespace in memory, those of them that wait to be
/// read back from disk, and those on disk; those of a node; those of events of
/// the environment, and of the state table of a namespace (L9).
inline constexpr size_t event_log_memory = size_t{4} << 20;
inline constexpr size_t event_log_loaded = size_t{1} << 20;
inline constexpr size_t event_log_spool = size_t{64} << 20;
inline constexpr size_t event_node_bytes = size_t{256} << 20;
inline constexpr size_t event_ring_bytes = size_t{4} << 20;
inline constexpr size_t event_state_bytes = size_t{4} << 20;

/// Events, and their bytes, that go to the disk or come back at a time.
inline constexpr size_t event_spool_records = 64;
inline constexpr size_t event_spool_batch = size_t{256} << 10;

/// Events that come before a disk that failed is tried again.
inline constexpr size_t event_spool_pause = 1024;

/// When a disk that could not be asked is asked again.
inline constexpr auto event_spool_retry = 100ms;

/// Bytes of events handed to a connection that the kernel has not taken (L11).
inline constexpr size_t event_window = size_t{64} << 10;

/// A process that has taken nothing for so long while others wait is named
/// (L12).
inline constexpr auto event_stall = 30s;

/// Codes, and ranks for each, for which a log counts exactly what it dropped.
inline constexpr size_t event_gap_codes = 4096;
inline constexpr size_t event_gap_ranks = 65536;

/// Notifications of a process that have not been answered, and their bytes;
/// from here on its socket is not read. Source: guarantees 5.1, "Budgets".
inline constexpr size_t unanswered_notifies = 64;
inline constexpr size_t unanswered_notify_bytes = size_t{256} << 10;

/// Event handlers of one process at a time.
inline constexpr size_t event_handlers = 65536;

/// Events of one process, and about how many bytes, that wait for its handlers
/// or are under way until it reads less from its server; 8 times that until it
/// reads nothing.
inline constexpr size_t events_awaiting_handlers = 8192;
inline constexpr size_t event_bytes_awaiting_handlers = size_t{8} << 20;
inline constexpr size_t events_awaiting_hard_factor = 8;

/// How long a thread waits that raises events for its own process when that
/// many wait already; then the event is refused.
inline constexpr auto own_event_patience = 5s;

/// Handlers that run before the rest of the process has its turn.
inline constexpr size_t event_handler_calls_per_turn = 256;

/// Events that a process keeps for handlers that come later, about how many
/// bytes, and functions of earlier handlers that it remembers.
inline constexpr size_t event_history = 512;
inline constexpr size_t event_history_bytes = size_t{1} << 20;
inline constexpr size_t event_history_functions = 1024;

/// A handler that has not completed after 2 ticks no longer holds up later
/// events; after 60 its event goes on without it.
inline constexpr auto event_handler_tick = 500ms;
inline constexpr uint32_t event_handler_patience_ticks = 2;
inline constexpr uint32_t event_handler_answer_ticks = 60;

/// How long a get without a time-out waits for a key that its process has not
/// posted although it has committed others. Source: OpenPMIx, which programs
/// rely on, waits 2 s.
inline constexpr auto get_wait = 2s;

/// How long the processes of a job have between the first signal and SIGKILL.
inline constexpr auto kill_grace = 2s;

/// Targets of one request of job control; outstanding requests of one
/// requester, and of all; requests that are over which are remembered, and for
/// how long. A request with more than so many bytes as its id is refused.
inline constexpr size_t control_targets = size_t{1} << 20;
inline constexpr size_t control_requests_per_owner = 256;
inline constexpr size_t control_requests = 4096;
inline constexpr size_t control_outcomes = 4096;
inline constexpr auto control_memory = std::chrono::minutes{10};
inline constexpr size_t control_id_bytes = 511;

/// How long processes that were killed may take to be gone before whoever asked
/// for it is told that they are not.
inline constexpr auto control_end_wait = 10s;

/// How long the end of a process may take to be known after its connection
/// broke; whoever goes on after that has lost its server. T_client of
/// guarantees 1.
inline constexpr auto lost_connection_wait = 1s;

/// Entries that a host may register beside its namespaces, and process sets.
inline constexpr size_t resources = 1024;
inline constexpr size_t process_sets = 1024;

/// Sets of connected processes that a server or a host keeps, and the entries
/// in all of them together.
inline constexpr size_t connected_sets = 16384;
inline constexpr size_t connected_procs = size_t{1} << 20;

/// How long a host may take to answer an up-call before whoever asked is told
/// that it does not.
inline constexpr auto host_call = 60s;

/// How much later than a requester's time-out the host's answer may come.
inline constexpr auto host_timeout_margin = 2s;

/// Up-calls that a host has not answered; more are refused.
inline constexpr size_t host_calls_in_flight = 16384;

/// How long a host that has said yes to a client has to call back: many never
/// do, those of release 4 and 5 never had to.
inline constexpr auto host_connect_grace = 20ms;
inline constexpr auto host_connect_grace_6 = 1s;

/// How long another node waits for data of a process that has not posted yet.
inline constexpr auto modex_wait = 60s;

/// Lookups that wait for keys to be published.
inline constexpr size_t waiting_lookups = 16384;

/// How long the host may take to answer before a connection is refused.
inline constexpr auto host_answer = 30s;

/// What one process has posted travels with a fence that collects data up to so
/// many bytes of values; beyond that it stays at its owner until it is asked
/// for. Source: guarantees, section 7, "modex".
inline constexpr size_t eager_modex_bytes = size_t{1} << 10;

/// How long a node waits for something else to say to a node before it says
/// which parts of collective operations of it have been carried out, and for
/// how many and how many bytes at most.
inline constexpr auto receipt_delay = 100ms;
inline constexpr size_t receipts = 64;
inline constexpr size_t receipt_bytes = size_t{256} << 10;

/// After how long a server asks whether an operation has failed elsewhere that
/// processes of its node have not all joined.
inline constexpr auto collective_watch = 100ms;

/// Outcomes of collective operations over nodes that are remembered for late
/// participants, per namespace; and operations of namespaces that are not known
/// yet. Source: guarantees 5.5.
inline constexpr size_t collective_outcomes = 64;
inline constexpr size_t parked_collectives = 1024;

/// Children per seat of the tree along which daemons send control, events and
/// fences. Source: guarantees, section 7.
inline constexpr uint32_t tree_radix = 8;

/// T_lease, T_fence: how long after its last contact to the root a daemon stops
/// taking work, and ends.
inline constexpr auto lease_timeout = 15s;
inline constexpr auto fence_timeout = 30s;

/// How much two clocks may differ in rate, in millionths.
inline constexpr auto clock_drift_ppm = 200;

/// Members that have to confirm a suspicion before the root hears of it.
inline constexpr size_t suspicion_witnesses = 3;

/// Names that a list of nodes, or a part of one, may stand for, the bytes of
/// all of them, and the bytes of a file with such a list; X48 of the
/// guarantees.
inline constexpr size_t host_list_names = size_t{1} << 20;
inline constexpr size_t host_list_name_bytes = size_t{32} << 20;
inline constexpr size_t host_file_bytes = size_t{32} << 20;

/// How often an actor that failed is started again, and within which time
/// (L26).
inline constexpr size_t actor_restarts = 5;
inline constexpr auto actor_restart_window = 10s;

// -- looking at files and at the use of resources
// -----------------------------------------------------------

/// Paths that one request may ask for, and those that wait.
inline constexpr size_t file_check_paths = 4096;
inline constexpr size_t file_checks_waiting = 65536;

/// How long a mount may take for a batch of files before they count as timed
/// out; it is asked again once it has answered. Source: guarantees 5.9, MON-4.
inline constexpr auto file_check_patience = 1s;

/// Threads that look at files, how many of them may hang for one user, and how
/// many files a thread looks at in a row.
inline constexpr size_t file_check_threads = 16;
inline constexpr size_t file_check_threads_per_user = 4;
inline constexpr size_t file_check_batch = 1024;

/// Bytes of the kernel's list of mounts, and how old what was read of it may
/// be.
inline constexpr size_t mount_table_bytes = size_t{8} << 20;
inline constexpr auto mount_table_age = 1s;

/// Requests for updates on the use of resources that one requester may have,
/// and all of a node (L7), and the seconds between updates at most.
inline constexpr size_t usage_monitors_per_client = 64;
inline constexpr size_t usage_monitors = 1024;
inline constexpr uint32_t usage_longest_rate = 86400 * 366;

/// Processes, disks and networks in one sample, identifiers in a request, and
/// bytes of a file of the kernel.
inline constexpr size_t usage_procs = 4096;
inline constexpr size_t usage_devices = 1024;
inline constexpr size_t usage_names = 1024;
inline constexpr size_t usage_file_bytes = size_t{1} << 20;

/// How long what the host says of a job's processes is used, and how long it
/// may take to say so and to have other nodes sampled.
inline constexpr auto usage_table_age = 5s;
inline constexpr auto usage_host_wait = 5s;

// -- the environment
// -----------------------------------------------------------

/// How often sensors look, while somebody wants their events. What the kernel
/// tells by itself, such as links, is not asked for.
inline constexpr auto memory_errors_interval = 5s;
inline constexpr auto temperature_interval = 5s;
inline constexpr auto memory_pressure_interval = 2s;
inline constexpr auto memory_kills_interval = 1s;
inline constexpr auto file_system_interval = 10s;

/// Of ten seconds, how many percent somebody may wait for memory; and how many
/// percent of a file system's space or files may be taken.
inline constexpr double memory_pressure_limit = 40;
inline constexpr double file_system_limit = 95;

/// How far below its limit a value has to fall before it is in order again:
/// degrees Celsius, and percent.
inline constexpr double temperature_hysteresis = 3;
inline constexpr double memory_pressure_hysteresis = 20;
inline constexpr double file_system_hysteresis = 2;

/// Devices that one sensor keeps apart, bytes of a file that one reads, and
/// changes that wait to be asked for.
inline constexpr size_t sensor_devices = 4096;
inline constexpr size_t sensor_file_bytes = size_t{64} << 10;
inline constexpr size_t sensor_changes = 1024;

/// When a reader is asked again that has failed.
inline constexpr auto sensor_retry = 5s;

/// Sensors of a node, and how many events of one sensor and code are told
/// within `sensor_event_window`: of more, the newest and their number.
inline constexpr size_t sensors = 256;
inline constexpr size_t sensor_events = 100;
inline constexpr auto sensor_event_window = 1s;

// -- monitors
// ------------------------------------------------------------------

/// Monitors of one client and of a node (L7).
inline constexpr size_t monitors_per_client = 64;
inline constexpr size_t monitors_per_node = 10000;

/// How exact monitors are: an alert comes within as much after it is due.
/// Source: guarantees 5.9, P-H1.
inline constexpr auto monitor_tick = 10ms;

/// How long the node may rest between two looks at its own lateness while
/// heartbeats are awaited.
inline constexpr auto monitor_rest = 1s;

/// The longest time without a sign of life that can be asked for.
inline constexpr auto monitor_window = std::chrono::hours{24 * 366};

/// Files of one request, and the bytes of a name of a file, or of an
/// identifier of a request.
inline constexpr size_t monitored_files = 64;
inline constexpr size_t monitored_path_bytes = 4096;
inline constexpr size_t monitor_id_bytes = 511;

/// Turns of reading (L8) that a connection takes before a silent process is
/// said to be silent.
inline constexpr size_t monitor_read_turns = 64;

// -- monitors of named kinds, and reactions to alerts
// ---------------------------------------------------

/// How often monitors look that are not told how often: progress of CPU time,
/// memory, output, commands, plugins.
inline constexpr auto cpu_progress_interval = 10s;
inline constexpr auto memory_limit_interval = 1s;
inline constexpr auto output_silence_interval = 60s;
inline constexpr auto command_interval = 30s;
inline constexpr auto plugin_interval = 10s;

/// The shortest and the longest time between two looks that one may ask for.
inline constexpr auto monitor_interval_min = 10ms;
inline constexpr auto monitor_interval_max = std::chrono::hours{24 * 366};

/// How often a monitor looks again that has failed to look.
inline constexpr size_t monitor_failed_looks = 5;

/// How long whoever looks for a monitor of a named kind may take, beyond the
/// time of a command; and whoever carries out a reaction to an alert.
inline constexpr auto monitor_look_time = 30s;
inline constexpr auto reaction_time = 60s;

/// How long a command of a monitor, and one of a reaction, may take; the
/// longest that one may ask for; how much of its output is kept; how many run
/// at a time, and how many wait.
inline constexpr auto monitor_command_time = 10s;
inline constexpr auto reaction_command_time = 30s;
inline constexpr auto command_time_max = std::chrono::hours{1};
inline constexpr size_t command_output = size_t{64} << 10;
inline constexpr size_t commands_running = 8;
inline constexpr size_t commands_waiting = 1024;

/// Kinds of monitors that a node knows, and plugins; reactions of one monitor;
/// bytes of one of them.
inline constexpr size_t monitor_kinds = 256;
inline constexpr size_t monitor_plugins = 64;
inline constexpr size_t monitor_reactions = 16;
inline constexpr size_t monitor_reaction_bytes = 4096;

/// Reactions under way at a time on a node; more are dropped and named.
inline constexpr size_t reactions_in_flight = 256;

/// Descendants of a process that are looked at.
inline constexpr size_t probed_descendants = 4096;

// -- checkpoints, restart, preemption
// -------------------------------------------------------------------

/// Ways to save its state that a process may declare, and processes that may
/// declare anything.
inline constexpr size_t checkpoint_methods_per_process = 16;
inline constexpr size_t checkpoint_declarers = size_t{1} << 20;

/// How long processes may take to save their state if the request does not say.
inline constexpr auto checkpoint_patience = std::chrono::hours{1};

/// Checkpoints that a DVM remembers for a restart, and how long their names may
/// be; one more, and the oldest is forgotten.
inline constexpr size_t checkpoints_kept = 256;
inline constexpr size_t checkpoint_id_bytes = 255;

/// How long a job has to get ready for its preemption if the request does not
/// say.
inline constexpr auto preempt_grace = 30s;

/// The longest times that one may ask for.
inline constexpr auto checkpoint_patience_max = std::chrono::hours{24 * 366};

/// How long a site's hook may take.
inline constexpr auto site_hook_time = std::chrono::minutes{30};

// -- the mesh
// ------------------------------------------------------------------

/// Largest frame of a lane, and the pieces that bulk is cut into (L22).
inline constexpr size_t lane_frame = size_t{1} << 20;
inline constexpr size_t bulk_chunk = size_t{16} << 10;

/// Bytes of one class that wait for a peer's acknowledgement, and bytes of one
/// class that a peer holds because they came early or were not taken (L23).
inline constexpr size_t send_window = size_t{4} << 20;

/// Bytes of one class on their way at a time: what may lie before a control
/// message, and what is sent again when a lane fails. Membership and control
/// have a reserve that bulk cannot take.
inline constexpr size_t bulk_in_flight = size_t{256} << 10;
inline constexpr size_t reserve_in_flight = size_t{64} << 10;

/// Inside another resource manager: how long requests wait for the servers of a
/// job to find each other, how long those that have greeted each other wait for
/// the last, and how long a fence waits for this node to know its networks.
inline constexpr auto mesh_request_wait = 10s;
inline constexpr auto mesh_meeting_wait = 10s;
inline constexpr auto mesh_network_wait = 2s;

/// Requests that wait for the mesh of one job.
inline constexpr size_t mesh_waiting_requests = 4096;

/// Connections to one peer at a time.
inline constexpr size_t lanes_per_peer = 16;

/// Peers connected directly beyond the tree (L24).
inline constexpr size_t direct_peers = 64;

/// Beyond the tree, a peer whose lanes have carried nothing for as long is let
/// go; one that does not answer when it is dialled is looked for through others
/// after `relay_delay`, and again after `relay_retry`.
inline constexpr auto direct_idle = 30s;
inline constexpr auto relay_delay = 500ms;
inline constexpr auto relay_retry = 1s;

/// How long who asks how nodes are connected waits for the parts of a node; and
/// twice as long for a node.
inline constexpr auto net_wait = 2s;

/// How often a frame may be passed on by nodes between its ends.
inline constexpr uint8_t relay_hops = 64;

/// Bytes that wait for a turn with one peer, beyond what its session keeps, and
/// of a single message.
inline constexpr size_t peer_queue = size_t{64} << 20;
inline constexpr size_t mesh_message = size_t{256} << 20;

/// Bytes of a piece of a longer message, and by how much a message may be
/// longer without being cut.
inline constexpr size_t message_piece = 16 * bulk_chunk;
inline constexpr size_t message_slack = size_t{4} << 10;

/// Messages of an incarnation that has joined, but of which the root's word has
/// not come yet.
inline constexpr size_t early_message_bytes = size_t{64} << 20;

/// Incarnations of one node with a session at a time: one that lives, and some
/// that have to be told that they do not.
inline constexpr size_t incarnations_per_node = 4;

/// How long a session goes on in silence while the root has not given its node
/// up.
inline constexpr auto session_patience = 60s;

/// How long whoever leaves waits until the root knows.
inline constexpr auto leave_wait = 1s;

/// How long a root that ends waits for its daemons, which end their processes
/// first.
inline constexpr auto root_leave_wait = 10s;

/// Events of a node for one namespace without an answer that are on their way;
/// more wait at the node.
inline constexpr size_t event_submissions = 1024;

/// Events that the home of a namespace sends together, how many times it may do
/// so without an answer, and how many stable ones the others keep untold.
inline constexpr size_t event_batch = 64;
inline constexpr size_t event_batches = 16;
inline constexpr size_t event_untold = 16;

/// Events of one process that are answered before they are stable, because it
/// asked for that.
inline constexpr size_t event_early_answers = 1024;

/// How often a lane in use is probed with unacknowledged data and without
/// (`T_probe`), how often one in stand-by as long as those in use answer, and
/// how long a lane may be silent before its messages move (`T_path`).
inline constexpr auto lane_probe = 250ms;
inline constexpr auto lane_probe_idle = 1s;
inline constexpr auto lane_probe_standby = 2s;
inline constexpr auto lane_silence = 1s;

/// Round trips that differ by less are no reason to use another lane than the
/// peer does.
inline constexpr auto lane_similar = 1ms;

/// How long a silent lane is kept before another connection takes its place: a
/// path that was lost on the way is found anew before its peer is given up.
inline constexpr auto lane_patience = 2500ms;

/// Silence on all lanes after which a peer is suspected (`T_suspect`) and lost
/// (`T_dead`).
inline constexpr auto peer_suspicion = 2s;
inline constexpr auto peer_grace = 5s;

/// An acknowledgement waits for company as long, or for as many bytes.
inline constexpr auto acknowledgement_delay = 5ms;
inline constexpr size_t acknowledgement_bytes = size_t{32} << 10;

/// How late our own timer may be before others are excused for it.
inline constexpr auto own_lateness = 100ms;

// -- groups
// --------------------------------------------------------------------

/// Groups per namespace, and participants of one (L17).
inline constexpr size_t groups_per_namespace = 1024;
inline constexpr size_t group_participants = size_t{1} << 20;

/// How long a server waits for the other participants of its node before it
/// says who has called.
inline constexpr auto group_watch = 100ms;

/// How long the home of a log keeps a call for those of other nodes.
inline constexpr auto group_gathering = 2ms;

/// How long handlers may think about who leads, or what becomes of a group
/// (`T_select`).
inline constexpr auto group_decision = 2s;

/// Keys of groups that are over, against messages that come late.
inline constexpr size_t groups_remembered = 1024;

// -- I/O forwarding
// ------------------------------------------------------------

/// Bytes of one stream that its sinks have not answered yet (L14), and of all
/// streams of a node. A stream gets no more than is left of the total, so that
/// there is room for others while it waits, but always the least.
inline constexpr size_t io_window = size_t{256} << 10;
inline constexpr size_t io_window_total = size_t{12} << 20;
inline constexpr size_t io_window_least = size_t{4} << 10;

/// What is kept of a stream for sinks that come later, and of all streams of a
/// node: beyond it, the longest tails are cut. Source: A45.
inline constexpr size_t io_tail = size_t{1} << 20;
inline constexpr size_t io_tails_total = size_t{16} << 20;

/// Most bytes of a fragment.
inline constexpr size_t io_fragment_bytes = size_t{64} << 10;

/// Subscriptions of one node (L15), and of one requester.
inline constexpr size_t io_subscriptions = size_t{1} << 16;
inline constexpr size_t io_subscriptions_per_requester = 1024;

/// Streams of jobs that nobody has announced: a host may do without, but
/// whoever names jobs at will is stopped.
inline constexpr size_t io_unannounced_streams = 1024;

/// Jobs that are over and whose late output is dropped.
inline constexpr size_t io_jobs_remembered = 1024;

/// How long the desk waits before it tells the mesh again what it wants, when
/// that has failed: at first, and at most.
inline constexpr auto io_interest_retry = 1s;
inline constexpr auto io_interest_retry_most = 30s;

/// Input of one process that waits to be written.
inline constexpr size_t io_input_window = size_t{1} << 20;

/// How long the end of a job waits at most for sinks that do not hold up its
/// processes.
inline constexpr auto io_end_wait = 2s;

/// Begins of lines, of all streams that a terminal, file or tool shows: beyond
/// it, they are shown before they are complete.
inline constexpr size_t io_unfinished_lines = size_t{4} << 20;

/// Output that is kept because PMIX_IOF_BUFFERING_SIZE or _TIME says so, at
/// most as much and as long.
inline constexpr size_t io_buffer = size_t{1} << 20;
inline constexpr auto io_buffer_time = std::chrono::seconds{60};

/// Files that one job has open on a node; beyond it, the one that was written
/// longest ago is closed until something comes for it.
inline constexpr size_t io_files_open = 256;

/// Output that has been sent to a library of ours and that its program has not
/// taken, and what such a library holds of a server that does not count: then
/// it reads nothing more.
inline constexpr size_t io_credit = size_t{256} << 10;
inline constexpr size_t io_held_output = size_t{4} << 20;

/// Input that a peer has pushed and that has not been answered; beyond either
/// its socket is not read. Libraries up to 4.2 wait for no answer.
inline constexpr size_t io_unanswered_pushes = 64;
inline constexpr size_t io_unanswered_push_bytes = size_t{1} << 20;

// -- the lanes' sockets
// --------------------------------------------------------

/// Certificates of a DVM's nodes are valid for as long, and from this long
/// before they are made, for nodes whose clocks are behind.
inline constexpr auto certificate_lifetime = std::chrono::hours{366 * 24};
inline constexpr auto certificate_backdate = std::chrono::hours{24};

/// Time and bytes for a peer to prove who it is (L2); a whole handshake takes
/// about 1 KiB from either side.
inline constexpr auto lane_handshake_time = 4s;
inline constexpr size_t lane_handshake_bytes = size_t{16} << 10;

/// Connections of strangers, and as many of members, in the middle of a
/// handshake, and those from one address (L1).
inline constexpr size_t lane_half_open = 256;
inline constexpr size_t lane_half_open_per_address = 64;

/// Bytes that wait for a peer to read before its lane is cut.
inline constexpr size_t lane_queued = size_t{32} << 20;

} // namespace troupe::defaults
