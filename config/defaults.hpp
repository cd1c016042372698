#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

// Bounds and times that several folders use; those of one folder are in its
// defaults.hpp, those of one class beside it, all in this namespace. Identifiers
// (L1 ...) are those of docs/requirements.tsv, where limits are LIM1 and so on.

namespace troupe::defaults {

using namespace std::chrono_literals;

/// Posted and published data of one process.
inline constexpr size_t posted_bytes_per_process = size_t{16} << 20;

/// Sets of processes over several nodes whose collective operations a node
/// counts.
inline constexpr size_t collective_signatures = 65536;

/// Codes one client may register for.
inline constexpr size_t event_codes_per_client = 1024;

/// Events of the environment kept for late registrations (L10). Source:
/// RFC0002, "ring buffer".
inline constexpr size_t event_cache_size = 512;

/// Events of one process that wait for its handlers or are under way until it
/// reads less from its server.
inline constexpr size_t events_awaiting_handlers = 8192;

/// How long the processes of a job have between the first signal and SIGKILL.
inline constexpr auto kill_grace = 2s;

/// How long the end of a process may take to be known after its connection
/// broke; whoever goes on after that has lost its server. T_client of
/// guarantees 1.
inline constexpr auto lost_connection_wait = 1s;

/// Entries that a host may register beside its namespaces, and process sets.
inline constexpr size_t resources = 1024;
inline constexpr size_t process_sets = 1024;

/// Sets of connected processes that a server or a host keeps.
inline constexpr size_t connected_sets = 16384;

/// How much later than a requester's time-out the host's answer may come.
inline constexpr auto host_timeout_margin = 2s;

/// How long another node waits for data of a process that has not posted yet.
inline constexpr auto modex_wait = 60s;

/// Lookups that wait for keys to be published.
inline constexpr size_t waiting_lookups = 16384;

/// Children per seat of the tree along which daemons send control, events and
/// fences. Source: guarantees, section 7.
inline constexpr uint32_t tree_radix = 8;

// -- looking at files and at the use of resources

/// Paths that one request may ask for.
inline constexpr size_t file_check_paths = 4096;

/// Processes in one sample, and identifiers in a request.
inline constexpr size_t usage_procs = 4096;
inline constexpr size_t usage_names = 1024;

/// How long the host may take to say what it knows of a job's processes and to
/// have other nodes sampled.
inline constexpr auto usage_host_wait = 5s;

// -- the environment

/// Devices that one sensor keeps apart.
inline constexpr size_t sensor_devices = 4096;

// -- monitors of named kinds, and reactions to alerts

/// The longest time that one may ask for a command.
inline constexpr auto command_time_max = std::chrono::hours{1};

/// Kinds of monitors that a node knows, and plugins; reactions of one monitor.
inline constexpr size_t monitor_kinds = 256;
inline constexpr size_t monitor_plugins = 64;
inline constexpr size_t monitor_reactions = 16;

// -- the mesh

/// Largest frame of a lane (L22).
inline constexpr size_t lane_frame = size_t{1} << 20;

/// Bytes of one class that wait for a peer's acknowledgement, and bytes of one
/// class that a peer holds because they came early or were not taken (L23).
inline constexpr size_t send_window = size_t{4} << 20;

/// Connections to one peer at a time.
inline constexpr size_t lanes_per_peer = 16;

/// Bytes that wait for a turn with one peer, beyond what its session keeps.
inline constexpr size_t peer_queue = size_t{64} << 20;

/// How often a lane in use is probed with unacknowledged data and without
/// (`T_probe`), how often one in stand-by as long as those in use answer, and
/// how long a lane may be silent before its messages move (`T_path`).
inline constexpr auto lane_probe = 250ms;
inline constexpr auto lane_probe_idle = 1s;
inline constexpr auto lane_probe_standby = 2s;
inline constexpr auto lane_silence = 1s;

/// Silence on all lanes after which a peer is suspected (`T_suspect`) and lost
/// (`T_dead`).
inline constexpr auto peer_suspicion = 2s;
inline constexpr auto peer_grace = 5s;

/// How late our own timer may be before others are excused for it.
inline constexpr auto own_lateness = 100ms;

// -- groups

/// Groups per namespace, and participants of one (L17).
inline constexpr size_t groups_per_namespace = 1024;
inline constexpr size_t group_participants = size_t{1} << 20;

/// How long handlers may think about who leads, or what becomes of a group
/// (`T_select`).
inline constexpr auto group_decision = 2s;

/// Keys of groups that are over, against messages that come late.
inline constexpr size_t groups_remembered = 1024;

// -- I/O forwarding

/// Bytes of one stream that its sinks have not answered yet (L14), and of all
/// streams of a node. A stream gets no more than is left of the total, so that
/// there is room for others while it waits, but always the least.
inline constexpr size_t io_window = size_t{256} << 10;
inline constexpr size_t io_window_total = size_t{12} << 20;
inline constexpr size_t io_window_least = size_t{4} << 10;

/// Most bytes of a fragment.
inline constexpr size_t io_fragment_bytes = size_t{64} << 10;

/// Input of one process that waits to be written.
inline constexpr size_t io_input_window = size_t{1} << 20;

/// How long the end of a job waits at most for sinks that do not hold up its
/// processes.
inline constexpr auto io_end_wait = 2s;

/// Files that one job has open on a node; beyond it, the one that was written
/// longest ago is closed until something comes for it.
inline constexpr size_t io_files_open = 256;

/// Output that has been sent to a library of ours and that its program has not
/// taken.
inline constexpr size_t io_credit = size_t{256} << 10;

} // namespace troupe::defaults
