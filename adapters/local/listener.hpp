#pragma once

#include "adapters/local/local_limits.hpp"
#include "adapters/local/security_policy.hpp"
#include "adapters/wire/uri.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <caf/expected.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class loop_system;

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

struct listener_options {
  /// Who the server is; part of its URI.
  proc_id server;

  /// Where to listen: loopback addresses only, since the kernel vouches for
  /// nobody beyond. One URI each.
  std::vector<std::string> addresses = {"127.0.0.1"};

  /// 0: the kernel picks one for each address.
  uint16_t port = 0;

  security_policy security;

  local_limits limits;

  /// How many registered processes of a user have not connected yet; each adds
  /// to what the user may have waiting before the handshake (L1). Empty: nobody
  /// knows, `local_limits::awaited` is assumed.
  std::function<size_t(uint32_t uid)> awaited;

  /// How many processes are registered on this node; bounds the connections
  /// (L13). Empty: nobody knows, there is no such bound.
  std::function<size_t()> registered;

  /// Who starts the processes of the node, once there is one: tells which of
  /// them is who it says it is. Empty: nobody here does.
  std::function<process_launcher_actor()> launcher;

  /// Hears of processes that break the protocol, and how, once they are served;
  /// their connections are closed. May be empty.
  std::function<void(const proc_id&, const std::string& why)> on_violation;

  /// Gets a line for each refused or broken connection, at most
  /// `local_limits::log_lines` per second and then a count (L25). May be empty.
  journal log;
};

/// Takes the connections of local processes and tools and turns each into a
/// CONNECTION actor that speaks to a server. No call blocks; a silent peer
/// delays nobody. For the thread of the loop only.
///
/// To end in order: `stop_accepting`; ask the server to `shut_down`, which
/// answers and closes what is open; destroy the listener, which cuts off
/// whoever is left; destroy the loop system.
/// Source: OpenPMIx wire protocol, connect; guarantees, attacks on local
/// sockets.
class listener {
public:
  /// Starts to listen.
  /// @param sys Must outlive the listener.
  static caf::expected<std::unique_ptr<listener>>
  start(loop_system& sys, server_actor server, listener_options options);

  /// Closes all sockets.
  ~listener();

  listener(const listener&) = delete;

  listener& operator=(const listener&) = delete;

  /// What processes need to find the server; one for each address.
  const std::vector<wire::server_uri>& uris() const noexcept;

  /// Takes no more connections; those in the middle of a handshake are dropped,
  /// all others stay.
  void stop_accepting();

  const local_statistics& statistics() const noexcept;

private:
  class implementation;

  explicit listener(std::shared_ptr<implementation> x);

  std::shared_ptr<implementation> implementation_;
};

} // namespace troupe
