#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "adapters/sockets/tcp_socket.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <string>

namespace troupe {

/// One end of a connection on one network of this node.
struct network_end {
  /// The node's own address there: numeric, IPv4 or IPv6, with `%<interface>`
  /// if it is of link scope.
  std::string address;

  /// Interface that all packets have to take, whatever the routes say; empty:
  /// the routes say.
  std::string interface;
};

/// Opens a socket that listens on one address and does not block.
/// @param port 0 for any.
/// @returns an error that names address and port if that cannot be.
caf::expected<unique_fd> listen_on(const network_end& where, uint16_t port,
                                   int backlog);

/// Begins to connect from an own address. The socket becomes writable when that
/// is over; `connect_outcome` tells how.
/// @param to Numeric, of the same family.
caf::expected<unique_fd> begin_connect(const network_end& from,
                                       const std::string& to, uint16_t port);

/// @returns why a connection that was begun has failed; `none` if it has not.
caf::error connect_outcome(int fd);

} // namespace troupe
