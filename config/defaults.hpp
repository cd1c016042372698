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

/// Codes one client may register for.
inline constexpr size_t event_codes_per_client = 1024;

/// Events kept for late registrations. Source: RFC0002, "ring buffer".
inline constexpr size_t event_cache_size = 512;

/// Event handlers of one process at a time.
inline constexpr size_t event_handlers = 65536;

/// Events of one process that wait for its handlers or are under way.
inline constexpr size_t events_awaiting_handlers = 65536;

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

/// Entries that a host may register beside its namespaces, and process sets.
inline constexpr size_t resources = 1024;
inline constexpr size_t process_sets = 1024;

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

/// How long the host may take to answer before a connection is refused.
inline constexpr auto host_answer = 30s;

} // namespace troupe::defaults
