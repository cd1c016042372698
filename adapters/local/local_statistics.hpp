#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// Counts of what went over the local sockets of a server.
struct local_statistics {
  /// Highest number of a command, plus one.
  static constexpr size_t num_commands = 40;

  /// Sockets taken from the kernel.
  uint64_t accepted = 0;

  /// Sockets closed before they were served.
  uint64_t refused = 0;

  /// Peers that the server agreed to serve.
  uint64_t served = 0;

  /// Served peers that have not gone.
  uint64_t connected = 0;

  /// Connections that ended without `PMIx_Finalize`.
  uint64_t lost = 0;

  /// Connections closed because the peer broke the protocol or a limit.
  uint64_t violations = 0;

  /// Times that accepting was interrupted for want of descriptors.
  uint64_t accept_pauses = 0;

  /// Requests by command number; see `wire::command`.
  std::array<uint64_t, num_commands> requests{};

  /// Requests with a command that we do not know.
  uint64_t unknown_requests = 0;

  uint64_t heartbeats = 0;

  /// Events and output sent to peers.
  uint64_t pushes = 0;

  /// How often frames were written; several go out at once.
  uint64_t writes = 0;

  /// Bytes of frames, headers included.
  uint64_t bytes_received = 0;
  uint64_t bytes_sent = 0;
};

} // namespace troupe
