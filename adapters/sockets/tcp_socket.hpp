#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <string>

namespace troupe {

/// One end of a TCP connection.
struct tcp_address {
  /// Numeric, without brackets.
  std::string address;
  uint16_t port = 0;
  bool is_ipv6 = false;
};

/// For logs: `127.0.0.1:4711`, `[::1]:4711`.
std::string to_string(const tcp_address& x);

/// Opens a socket that listens on a loopback address and does not block.
/// @param address Numeric; refused with `bad_param` if it is not of loopback.
/// @param port    0 for any.
caf::expected<unique_fd> listen_on_loopback(const std::string& address,
                                            uint16_t port, int backlog);

/// Takes a connection from a listening socket; it does not block and is closed
/// on exec.
/// @returns an invalid descriptor and sets `errno` if there is none.
unique_fd accept_from(int listening_fd) noexcept;

tcp_address local_address(int fd);

tcp_address remote_address(int fd);

/// Sends each write at once instead of waiting for more.
void set_no_delay(int fd) noexcept;

/// Has the kernel take bytes only while less than this has not left: what is
/// urgent has no more than that before it.
void set_unsent_max(int fd, int bytes) noexcept;

/// Acknowledges what has been read at once. The kernel forgets this wish, so
/// repeat it after each read. Unmodified OpenPMIx clients let the kernel gather
/// small writes; with a delayed acknowledgement each then costs 40 ms.
void acknowledge_now(int fd) noexcept;

} // namespace troupe
