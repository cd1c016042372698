#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <caf/expected.hpp>

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

namespace troupe {

/// The two ends of a TCP connection, as seen from the end that `local` names.
struct socket_pair {
  sockaddr_storage local{};
  sockaddr_storage remote{};
};

/// Whose a socket is.
struct socket_owner {
  uint32_t uid = 0;

  /// The socket's number on this machine; 0: unknown.
  uint64_t inode = 0;
};

/// Finds the owner of a TCP socket in the text of `/proc/net/tcp` or
/// `/proc/net/tcp6`.
/// @param path Where that text is.
/// @returns nothing unless the socket is connected and a process has it.
std::optional<socket_owner> find_owner(const std::string& path,
                                       const socket_pair& x);

/// Asks the kernel who is at the other end of a local socket: the process's
/// user, whatever the process says. Ask after `accept`, before the first byte
/// is read.
///
/// A peer that has closed its socket already has no owner any more, and the
/// kernel then says `root`; therefore only a socket that is connected and held
/// by a process counts.
/// Source: guarantees, attacks (identity of a local client).
class peer_credentials {
public:
  /// @param fd A connected UNIX or TCP socket whose other end is on this
  /// machine
  ///           and in this network namespace.
  /// @returns the user and socket; or an error, upon which the peer must be refused.
  caf::expected<socket_owner> owner_of(int fd);

  /// The same without the socket's number.
  caf::expected<uint32_t> uid_of(int fd);

private:
  caf::expected<socket_owner> ask_kernel(const socket_pair& peer);

  /// Socket diagnosis; opened with the first question.
  unique_fd netlink_;
  uint32_t sequence_ = 0;

  /// Whether socket diagnosis has ever found a socket: from then on, that it
  /// finds none means that there is none.
  bool is_proven_ = false;
};

} // namespace troupe
