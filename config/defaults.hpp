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

/// How long a get without a time-out waits for a key that its process has not
/// posted although it has committed others. Source: OpenPMIx, which programs
/// rely on, waits 2 s.
inline constexpr auto get_wait = 2s;

/// How long the processes of a job have between the first signal and SIGKILL.
inline constexpr auto kill_grace = 2s;

/// How long the host may take to answer before a connection is refused.
inline constexpr auto host_answer = 30s;

} // namespace troupe::defaults
