#include "adapters/sockets/tcp_socket.hpp"

#include "adapters/sockets/system_error.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <optional>

namespace troupe {

namespace {

struct socket_address {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() noexcept {
    return reinterpret_cast<sockaddr*>(&storage);
  }
};

/// @returns nothing unless `text` is an address of loopback.
std::optional<socket_address> parse_loopback(const std::string& text,
                                             uint16_t port) {
  socket_address result;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    if (ntohl(v4.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
      return std::nullopt;
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&result.storage, &v4, sizeof(v4));
    result.size = sizeof(v4);
    return result;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1
      && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&result.storage, &v6, sizeof(v6));
    result.size = sizeof(v6);
    return result;
  }
  return std::nullopt;
}

tcp_address to_tcp_address(const socket_address& x) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  tcp_address result;
  if (x.storage.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &x.storage, sizeof(v4));
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    result.port = ntohs(v4.sin_port);
  } else if (x.storage.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &x.storage, sizeof(v6));
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    result.port = ntohs(v6.sin6_port);
    result.is_ipv6 = true;
  }
  result.address = text.data();
  return result;
}

void set(int fd, int level, int option, int value = 1) noexcept {
  ::setsockopt(fd, level, option, &value, sizeof(value));
}

} // namespace

std::string to_string(const tcp_address& x) {
  const auto port = ":" + std::to_string(x.port);
  return x.is_ipv6 ? "[" + x.address + "]" + port : x.address + port;
}

caf::expected<unique_fd> listen_on_loopback(const std::string& address,
                                            uint16_t port, int backlog) {
  auto where = parse_loopback(address, port);
  if (!where)
    return make_error(
      status::bad_param,
      address + " is not a loopback address; write one such as 127.0.0.1");
  auto fd = unique_fd{::socket(where->storage.ss_family,
                               SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const auto what = "listen on " + address + " port " + std::to_string(port);
  if (!fd)
    return system_error(what);
  if (where->storage.ss_family == AF_INET6)
    set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  if (::bind(fd.get(), where->get(), where->size) != 0
      || ::listen(fd.get(), backlog) != 0)
    return system_error(what);
  return fd;
}

unique_fd accept_from(int listening_fd) noexcept {
  return unique_fd{
    ::accept4(listening_fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
}

tcp_address local_address(int fd) {
  socket_address result;
  ::getsockname(fd, result.get(), &result.size);
  return to_tcp_address(result);
}

tcp_address remote_address(int fd) {
  socket_address result;
  ::getpeername(fd, result.get(), &result.size);
  return to_tcp_address(result);
}

void set_no_delay(int fd) noexcept {
  set(fd, IPPROTO_TCP, TCP_NODELAY);
}

void set_unsent_max(int fd, int bytes) noexcept {
  set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, bytes);
}

void acknowledge_now(int fd) noexcept {
  set(fd, IPPROTO_TCP, TCP_QUICKACK);
}

} // namespace troupe
