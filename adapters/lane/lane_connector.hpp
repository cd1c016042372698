#pragma once

#include "adapters/lane/secure_handshake.hpp"
#include "adapters/sockets/network_socket.hpp"

#include <memory>
#include <optional>
#include <string>

namespace troupe {

/// Where a lane leads.
struct lane_path {
  /// Our end: the address of the network that the lane belongs to.
  network_end from;

  /// The peer's address there, numeric, and its port.
  std::string to;
  uint16_t port = 0;
};

/// Opens one lane to one node. Never blocks, whatever the network does. For the
/// thread of the loop only; destroy it to give up.
class lane_connector {
public:
  /// Called once, not from the constructor: with the connection or with why
  /// there is none. May destroy the connector.
  using callback = secure_handshake::callback;

  /// @param context Must outlive the connector.
  /// @param peer    The only node to talk to.
  lane_connector(event_loop& loop, const secure_context& context,
                 const lane_path& path, node_identity peer,
                 const lane_limits& limits, callback done);

  lane_connector(const lane_connector&) = delete;

  lane_connector& operator=(const lane_connector&) = delete;

private:
  void on_timer();
  void on_connected();
  void fail(caf::error reason);

  event_loop& loop_;
  const secure_context& context_;
  node_identity peer_;
  lane_limits limits_;
  callback done_;
  unique_fd socket_;

  /// Why there is no connection, to be told later.
  caf::error failure_;

  /// Bounds the time to connect; carries failures of the first moment.
  timer deadline_;

  std::optional<fd_watch> watch_;
  std::optional<secure_handshake> handshake_;
};

} // namespace troupe
