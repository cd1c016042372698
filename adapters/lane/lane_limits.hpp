#pragma once

#include "config/defaults.hpp"

#include <chrono>
#include <cstddef>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

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

} // namespace defaults

/// The bounds of connections between nodes, with their defaults.
/// Source: guarantees, limits; the identifiers are those of its table.
struct lane_limits {
  // -- before the handshake is over --

  /// Time to connect (`T_path`), and for the whole handshake on either side
  /// (L2).
  std::chrono::milliseconds connect_time = defaults::lane_silence;
  std::chrono::milliseconds handshake_time = defaults::lane_handshake_time;

  /// Bytes to take from a peer that has not proven who it is (L2).
  size_t handshake_bytes = defaults::lane_handshake_bytes;

  /// Connections in the middle of a handshake: of all strangers, of all
  /// members' addresses, and of one address (L1).
  size_t half_open = defaults::lane_half_open;
  size_t half_open_per_address = defaults::lane_half_open_per_address;

  /// Connections that wait in the kernel.
  int backlog = 4096;

  /// Descriptors that connections leave to the rest of the process (L20), and
  /// how often to look whether there are enough again.
  size_t descriptors_in_reserve = 64;
  std::chrono::milliseconds accept_retry{100};

  // -- per connection --

  /// What may come in in one pass of the loop (L8).
  size_t turn_bytes = size_t{256} << 10;

  /// Bytes that wait for a peer to read; beyond it is cut off.
  size_t queued_max = defaults::lane_queued;

  // -- logging --

  /// Lines per second; what is beyond is counted (L25).
  size_t log_lines = 100;
};

} // namespace troupe
