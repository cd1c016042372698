#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "adapters/sockets/network_socket.hpp"
#include "adapters/sockets/tcp_socket.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstdint>
#include <string>

namespace troupe {

/// A kind of sockets that lanes may use (`lane_kind`): how to listen, to
/// connect, and what the kernel says of a connection. What is above, TLS and
/// frames, is the same for all. Never blocks. For any thread.
/// Source: requirements O5, O12, O16.
class socket_kind {
public:
  virtual ~socket_kind() = default;

  /// Opens a socket that listens and does not block.
  /// @param port 0 for any.
  /// @returns an error that names the address if that cannot be.
  virtual caf::expected<unique_fd> listen(const network_end& where,
                                          uint16_t port, int backlog) const = 0;

  /// Begins to connect from an own address. The socket becomes writable when
  /// that is over; `connect_outcome` tells how.
  /// @param to An address of the same kind.
  virtual caf::expected<unique_fd> begin_connect(const network_end& from,
                                                 const std::string& to,
                                                 uint16_t port) const = 0;

  /// Prepares a connection, either end: each write leaves at once.
  /// @returns why the kernel says that the other end is nobody to talk to.
  virtual caf::error prepare(int fd) const = 0;

  /// Both ends of a connection. The address is the one that others connect to;
  /// the port tells connections between two addresses apart.
  virtual tcp_address local_end(int fd) const = 0;
  virtual tcp_address remote_end(int fd) const = 0;

  /// Whether all that is sent stays on this machine.
  virtual bool stays_here(int fd) const = 0;

  /// Has the kernel take bytes only while about this many have not left: what
  /// is urgent has no more than that before it.
  virtual void bound_unsent(int fd, int bytes) const = 0;
};

/// The kind that an address is of, see `lane_kind_of`.
const socket_kind& socket_kind_of(const std::string& address);

/// The kind of a socket.
const socket_kind& socket_kind_of(int fd);

} // namespace troupe
