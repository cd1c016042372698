#include "adapters/lane/plain_greeting.hpp"

#include "adapters/local/system_error.hpp"
#include "adapters/local/tcp_socket.hpp"
#include "messages/status.hpp"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace troupe {

namespace {

constexpr std::string_view prefix = "troupe-plain-1 ";

/// The longest identity, and what is around it.
constexpr size_t line_max = 400;

bool is_loopback(const std::string& address) {
  return address.compare(0, 4, "127.") == 0 || address == "::1";
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

} // namespace

bool is_on_loopback(int fd) {
  return is_loopback(local_address(fd).address)
         && is_loopback(remote_address(fd).address);
}

caf::error plain_greeting::send(const node_identity& self) {
  auto line = std::string{prefix};
  line += to_string(self);
  line += '\n';
  auto code = 0;
  // The socket is new: it has room.
  const auto done = write_plain(traffic_, line.data(), line.size(), code);
  if (done != static_cast<int>(line.size()))
    return system_error("send who we are", traffic_.failure);
  return caf::none;
}

caf::expected<std::optional<node_identity>> plain_greeting::receive() {
  for (;;) {
    char c = 0;
    auto code = 0;
    if (read_plain(traffic_, &c, 1, code) <= 0) {
      if (code == SSL_ERROR_WANT_READ)
        return std::optional<node_identity>{};
      return make_error(status::lost_connection,
                        "closed before it said who it is");
    }
    if (c == '\n')
      break;
    line_ += c;
    if (line_.size() > line_max
        || prefix.substr(0, line_.size())
             != std::string_view{line_}.substr(0, prefix.size()))
      return make_error(status::handshake_failed, "speaks another protocol");
  }
  auto result = parse_node_identity(
    std::string_view{line_}.substr(std::min(prefix.size(), line_.size())));
  if (!result)
    return std::move(result.error());
  return std::optional<node_identity>{std::move(*result)};
}

int read_plain(socket_traffic& traffic, char* out, size_t size, int& code) {
  if (traffic.readable == 0) {
    code = SSL_ERROR_WANT_READ;
    return 0;
  }
  const auto wanted = std::min(size, traffic.readable);
  const auto got = ::recv(traffic.fd, out, wanted, MSG_DONTWAIT);
  if (got > 0) {
    traffic.is_drained = static_cast<size_t>(got) < wanted;
    traffic.readable -= static_cast<size_t>(got);
    traffic.received += static_cast<size_t>(got);
    return static_cast<int>(got);
  }
  if (got == 0) {
    traffic.is_closed = true;
    code = SSL_ERROR_ZERO_RETURN;
  } else if (would_block()) {
    code = SSL_ERROR_WANT_READ;
  } else {
    traffic.failure = errno;
    code = SSL_ERROR_SYSCALL;
  }
  return 0;
}

int write_plain(socket_traffic& traffic, const char* bytes, size_t size,
                int& code) {
  const auto done =
    ::send(traffic.fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (done >= 0) {
    traffic.sent += static_cast<size_t>(done);
    return static_cast<int>(done);
  }
  if (would_block()) {
    code = SSL_ERROR_WANT_WRITE;
  } else {
    traffic.failure = errno;
    code = SSL_ERROR_SYSCALL;
  }
  return 0;
}

} // namespace troupe
