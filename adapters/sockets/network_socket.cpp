#include "adapters/sockets/network_socket.hpp"

#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

namespace troupe {

namespace {

struct addresses_deleter {
  void operator()(addrinfo* x) const noexcept {
    ::freeaddrinfo(x);
  }
};

using addresses_ptr = std::unique_ptr<addrinfo, addresses_deleter>;

/// Reads a numeric address; asks nobody.
addresses_ptr parse_address(const std::string& text, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* result = nullptr;
  const auto service = std::to_string(port);
  if (::getaddrinfo(text.c_str(), service.c_str(), &hints, &result) != 0)
    return nullptr;
  return addresses_ptr{result};
}

void set(int fd, int level, int option) noexcept {
  const int yes = 1;
  ::setsockopt(fd, level, option, &yes, sizeof(yes));
}

/// A socket of the family of `where` that takes the interface, if one is named.
unique_fd open_socket(const network_end& end, const addrinfo& where) {
  auto result = unique_fd{
    ::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (result && !end.interface.empty()
      && ::setsockopt(result.get(), SOL_SOCKET, SO_BINDTODEVICE,
                      end.interface.c_str(),
                      static_cast<socklen_t>(end.interface.size()))
           != 0)
    return {};
  return result;
}

caf::error not_an_address(const std::string& text) {
  return make_error(
    status::bad_param,
    text + " is not a numeric address; write one such as 192.0.2.7");
}

} // namespace

caf::expected<unique_fd> listen_on(const network_end& where, uint16_t port,
                                   int backlog) {
  const auto address = parse_address(where.address, port);
  if (!address)
    return not_an_address(where.address);
  const auto what =
    "listen on " + where.address + " port " + std::to_string(port);
  auto fd = open_socket(where, *address);
  if (!fd)
    return system_error(what);
  // A daemon that is started again takes its port again.
  set(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  if (address->ai_family == AF_INET6)
    set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  if (::bind(fd.get(), address->ai_addr, address->ai_addrlen) != 0
      || ::listen(fd.get(), backlog) != 0)
    return system_error(what);
  return fd;
}

caf::expected<unique_fd> begin_connect(const network_end& from,
                                       const std::string& to, uint16_t port) {
  const auto source = parse_address(from.address, 0);
  if (!source)
    return not_an_address(from.address);
  const auto target = parse_address(to, port);
  if (!target)
    return not_an_address(to);
  if (source->ai_family != target->ai_family)
    return make_error(
      status::bad_param,
      from.address + " and " + to
        + " are not of one family; give both as IPv4 or both as IPv6");
  const auto what = "connect from " + from.address + " to " + to + " port "
                    + std::to_string(port);
  auto fd = open_socket(from, *target);
  if (!fd)
    return system_error(what);
  set_no_delay(fd.get());
  // The port is picked by `connect`: any number of peers may share one.
  set(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
  if (::bind(fd.get(), source->ai_addr, source->ai_addrlen) != 0
      || (::connect(fd.get(), target->ai_addr, target->ai_addrlen) != 0
          && errno != EINPROGRESS))
    return system_error(what);
  return fd;
}

caf::error connect_outcome(int fd) {
  auto code = 0;
  auto size = socklen_t{sizeof(code)};
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0)
    code = errno;
  return code == 0 ? caf::error{} : system_error("connect", code);
}

} // namespace troupe
