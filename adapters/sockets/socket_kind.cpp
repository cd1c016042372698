#include "adapters/sockets/socket_kind.hpp"

#include "adapters/sockets/local_socket.hpp"
#include "base/lane_kind.hpp"

#include <sys/socket.h>

namespace troupe {

namespace {

bool is_loopback(const std::string& address) {
  return address.compare(0, 4, "127.") == 0 || address == "::1";
}

class tcp_sockets final : public socket_kind {
public:
  caf::expected<unique_fd> listen(const network_end& where, uint16_t port,
                                  int backlog) const override {
    return listen_on(where, port, backlog);
  }

  caf::expected<unique_fd> begin_connect(const network_end& from,
                                         const std::string& to,
                                         uint16_t port) const override {
    return troupe::begin_connect(from, to, port);
  }

  caf::error prepare(int fd) const override {
    set_no_delay(fd);
    return caf::none;
  }

  tcp_address local_end(int fd) const override {
    return local_address(fd);
  }

  tcp_address remote_end(int fd) const override {
    return remote_address(fd);
  }

  bool stays_here(int fd) const override {
    return is_loopback(local_address(fd).address)
           && is_loopback(remote_address(fd).address);
  }

  void bound_unsent(int fd, int bytes) const override {
    set_unsent_max(fd, bytes);
  }
};

class local_sockets final : public socket_kind {
public:
  caf::expected<unique_fd> listen(const network_end& where, uint16_t,
                                  int backlog) const override {
    return listen_on_name(where.address, backlog);
  }

  caf::expected<unique_fd> begin_connect(const network_end& from,
                                         const std::string& to,
                                         uint16_t) const override {
    return connect_to_name(from.address, to);
  }

  caf::error prepare(int fd) const override {
    return check_user_of(fd);
  }

  tcp_address local_end(int fd) const override {
    return local_name(fd);
  }

  tcp_address remote_end(int fd) const override {
    return remote_name(fd);
  }

  bool stays_here(int) const override {
    return true;
  }

  void bound_unsent(int fd, int bytes) const override {
    // The kernel doubles it, for what it needs itself.
    ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
  }
};

const socket_kind& get(lane_kind x) {
  static const auto tcp = tcp_sockets{};
  static const auto local = local_sockets{};
  if (x == lane_kind::local)
    return local;
  return tcp;
}

} // namespace

const socket_kind& socket_kind_of(const std::string& address) {
  return get(lane_kind_of(address));
}

const socket_kind& socket_kind_of(int fd) {
  auto family = 0;
  auto size = socklen_t{sizeof(family)};
  ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return get(family == AF_UNIX ? lane_kind::local : lane_kind::tcp);
}

} // namespace troupe
