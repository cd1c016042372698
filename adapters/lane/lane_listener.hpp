#pragma once

#include "adapters/lane/secure_handshake.hpp"
#include "adapters/sockets/network_socket.hpp"
#include "base/journal.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

struct lane_listener_options {
  /// Our end of each network: where to listen.
  std::vector<network_end> networks;

  /// 0: the kernel picks one for each network.
  uint16_t port = 0;

  /// Decides about a node that has proven who it is; `none` lets it in. Empty:
  /// every node of the DVM.
  secure_handshake::gate admit;

  /// Whether an address is one of a node of the DVM. Connections from there
  /// have half-open places of their own, so that strangers keep no member out.
  /// Empty: nobody knows.
  std::function<bool(const std::string& address)> is_member;

  /// Gets each lane, with the place of its network in `networks`. Must not
  /// destroy the listener.
  std::function<void(secure_channel, size_t network)> on_lane;

  lane_limits limits;

  /// Gets a line for each connection that is refused, at most
  /// `lane_limits::log_lines` per second and then a count (L25). May be empty.
  journal log;
};

struct lane_listener_statistics {
  /// Connections that were taken from the kernel.
  uint64_t accepted = 0;

  /// Those that were turned away or broke before their handshake was over.
  uint64_t refused = 0;

  /// Those that became lanes.
  uint64_t lanes = 0;

  /// Those in the middle of a handshake.
  size_t half_open = 0;

  /// How often accepting waited for descriptors.
  uint64_t accept_pauses = 0;
};

/// Takes the lanes that other nodes open, on one address per network. A
/// stranger costs a bounded place for a bounded time. For the thread of the
/// loop only. Source: guarantees, attacks X36 and X37; limits L1, L2, L20, L25.
class lane_listener {
public:
  /// Starts to listen.
  /// @returns an error that names the address that cannot be listened on.
  static caf::expected<std::unique_ptr<lane_listener>>
  start(event_loop& loop, std::shared_ptr<const secure_context> context,
        lane_listener_options options);

  /// Closes all that is not a lane yet.
  ~lane_listener();

  lane_listener(const lane_listener&) = delete;

  lane_listener& operator=(const lane_listener&) = delete;

  /// Where it listens, in the order of `networks`.
  const std::vector<tcp_address>& addresses() const noexcept;

  lane_listener_statistics statistics() const noexcept;

private:
  class implementation;

  explicit lane_listener(std::unique_ptr<implementation> x);

  std::unique_ptr<implementation> implementation_;
};

} // namespace troupe
