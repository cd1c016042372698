#include "adapters/link/link_socket.hpp"

#include "adapters/local/peer_credentials.hpp"
#include "adapters/sockets/system_error.hpp"
#include "adapters/sockets/tcp_socket.hpp"
#include "adapters/wire/pushes.hpp"
#include "messages/status.hpp"

#include <arpa/inet.h>
#include <munge.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace troupe {

// -- proof of identity -------------------------------------------------------

caf::error make_munge_credential(std::string& to) {
  char* text = nullptr;
  const auto code = ::munge_encode(&text, nullptr, nullptr, 0);
  if (code == EMUNGE_SUCCESS) {
    to.assign(text);
    to.push_back('\0');
  }
  std::free(text);
  if (code != EMUNGE_SUCCESS)
    return make_error(status::unreach,
                      std::string{"munge: "} + ::munge_strerror(code));
  return caf::none;
}

namespace {

/// Fills in how a greeting proves who we are: the first of `accepted` that we
/// have.
/// @param accepted What the server accepts, such as `native`, `munge`; empty:
///                 native.
/// @returns `not_supported` if we have none of them, `unreach` if munged is not
///          there.
/// Source: OpenPMIx wire protocol, credentials.
caf::error make_credential(const std::vector<std::string>& accepted,
                           wire::hello& greeting) {
  static const auto usual = std::vector<std::string>{"native"};
  for (const auto& x : accepted.empty() ? usual : accepted) {
    greeting.security = x;
    if (x == "native") {
      greeting.credential = wire::native_credential({::geteuid(), ::getegid()});
      return caf::none;
    }
    if (x == "munge")
      return make_munge_credential(greeting.credential);
    if (x == "none")
      return caf::none;
  }
  return make_error(status::not_supported,
                    "the server accepts no proof of identity that we have; "
                    "start munge on this node");
}

} // namespace

namespace {

using clock = std::chrono::steady_clock;

/// How often somebody who listens and does not take us is asked again.
constexpr int max_attempts = 10;

caf::error unreachable(const wire::server_uri& uri, const std::string& why) {
  return make_error(status::unreach, to_string(uri) + ": " + why);
}

/// @returns whether `fd` became ready before `deadline`.
bool wait_for(int fd, short what, clock::time_point deadline) {
  for (;;) {
    const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    if (left.count() <= 0)
      return false;
    auto state = pollfd{fd, what, 0};
    const auto timeout =
      static_cast<int>(std::min<int64_t>(left.count(), INT_MAX));
    const auto n = ::poll(&state, 1, timeout);
    if (n > 0)
      return true;
    if (n < 0 && errno != EINTR)
      return false;
  }
}

/// @returns the size of the address; 0 if there is none.
socklen_t parse_address(const wire::server_uri& uri, sockaddr_storage& to) {
  if (uri.is_ipv6) {
    sockaddr_in6 x{};
    x.sin6_family = AF_INET6;
    x.sin6_port = htons(uri.port);
    const auto plain = uri.address.substr(0, uri.address.find('%'));
    if (::inet_pton(AF_INET6, plain.c_str(), &x.sin6_addr) != 1)
      return 0;
    std::memcpy(&to, &x, sizeof(x));
    return sizeof(x);
  }
  sockaddr_in x{};
  x.sin_family = AF_INET;
  x.sin_port = htons(uri.port);
  if (::inet_pton(AF_INET, uri.address.c_str(), &x.sin_addr) != 1)
    return 0;
  std::memcpy(&to, &x, sizeof(x));
  return sizeof(x);
}

bool is_loopback(const sockaddr_storage& x) {
  if (x.ss_family == AF_INET) {
    sockaddr_in y;
    std::memcpy(&y, &x, sizeof(y));
    return ntohl(y.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  sockaddr_in6 y;
  std::memcpy(&y, &x, sizeof(y));
  return IN6_IS_ADDR_LOOPBACK(&y.sin6_addr);
}

caf::expected<unique_fd> open_socket(const wire::server_uri& uri,
                                     const sockaddr_storage& to, socklen_t size,
                                     clock::time_point deadline) {
  auto fd = unique_fd{
    ::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!fd)
    return system_error("socket");
  set_no_delay(fd.get());
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), size) == 0)
    return fd;
  if (errno != EINPROGRESS && errno != EINTR)
    return unreachable(uri, std::strerror(errno));
  if (!wait_for(fd.get(), POLLOUT, deadline))
    return unreachable(uri, "takes no connection in time");
  auto code = 0;
  socklen_t code_size = sizeof(code);
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &code, &code_size) != 0)
    code = errno;
  if (code != 0)
    return unreachable(uri, std::strerror(code));
  // With a free port in the range of the system's own, a socket that connects
  // to it may find itself.
  sockaddr_storage own{};
  auto own_size = static_cast<socklen_t>(sizeof(own));
  sockaddr_storage peer{};
  auto peer_size = static_cast<socklen_t>(sizeof(peer));
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &own_size);
  ::getpeername(fd.get(), reinterpret_cast<sockaddr*>(&peer), &peer_size);
  if (own_size == peer_size && std::memcmp(&own, &peer, own_size) == 0)
    return unreachable(uri, "nobody listens");
  return fd;
}

caf::error send_all(int fd, const wire::server_uri& uri, std::string_view bytes,
                    clock::time_point deadline) {
  while (!bytes.empty()) {
    const auto done = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (done >= 0)
      bytes.remove_prefix(static_cast<size_t>(done));
    else if (errno != EAGAIN && errno != EINTR)
      return unreachable(uri, std::strerror(errno));
    else if (!wait_for(fd, POLLOUT, deadline))
      return unreachable(uri, "does not read in time");
  }
  return caf::none;
}

/// Reads exactly `size` bytes: what follows belongs to the frames.
caf::expected<std::string> receive_all(int fd, const wire::server_uri& uri,
                                       size_t size,
                                       clock::time_point deadline) {
  auto result = std::string(size, '\0');
  size_t got = 0;
  while (got < size) {
    const auto n = ::recv(fd, result.data() + got, size - got, 0);
    if (n > 0)
      got += static_cast<size_t>(n);
    else if (n == 0)
      return unreachable(uri, "refuses us");
    else if (errno != EAGAIN && errno != EINTR)
      return unreachable(uri, std::strerror(errno));
    else if (!wait_for(fd, POLLIN, deadline))
      return make_error(status::timeout, to_string(uri) + ": does not answer");
  }
  return result;
}

/// Whoever holds the other end must be one that may be our server. Asked only
/// once he has answered: before that the kernel does not say who takes us.
caf::error check_owner(const link_settings& x, int fd) {
  auto kernel = peer_credentials{};
  const auto uid = kernel.uid_of(fd);
  auto state = pollfd{fd, POLLRDHUP, 0};
  if (!uid && ::poll(&state, 1, 0) > 0)
    return unreachable(x.uri, "closes");
  if (!uid)
    return make_error(status::no_permissions, to_string(x.uri)
                                                + ": nobody knows who listens: "
                                                + reason_of(uid.error()));
  if (may_be_our_server(*uid, x.trusted_users))
    return caf::none;
  return make_error(
    status::no_permissions,
    to_string(x.uri) + ": user " + std::to_string(*uid)
      + " listens, who may not be our server; ask as that user");
}

caf::expected<server_connection> greet(const link_settings& x, unique_fd fd,
                                       const std::string& hello,
                                       wire::connect_reply_form form,
                                       bool is_local) {
  const auto deadline = clock::now() + x.answer_time;
  if (auto err = send_all(fd.get(), x.uri, hello, deadline))
    return err;
  auto first = receive_all(fd.get(), x.uri, 4, deadline);
  if (!first)
    return std::move(first.error());
  if (is_local)
    if (auto err = check_owner(x, fd.get()))
      return err;
  auto bytes = std::move(*first);
  if (bytes == std::string(4, '\0')) {
    auto rest =
      receive_all(fd.get(), x.uri, connect_reply_size(form) - 4, deadline);
    if (!rest)
      return std::move(rest.error());
    bytes += *rest;
  }
  auto reply = wire::decode_connect_reply(bytes, form);
  if (!reply)
    return unreachable(x.uri, reason_of(reply.error()));
  if (reply->outcome != status::success)
    return unreachable(x.uri, "refuses us: " + to_string(reply->outcome));
  if (reply->security != status::success)
    return unreachable(x.uri, "distrusts us: " + to_string(reply->security));
  auto result = server_connection{};
  result.fd = std::move(fd);
  result.server = reply->server.value_or(x.uri.server);
  if (reply->assigned)
    result.self = std::move(*reply->assigned);
  else if (x.self)
    result.self = *x.self;
  if (result.self.nspace.empty())
    return unreachable(x.uri, "gives us no name");
  result.index = static_cast<int32_t>(reply->index);
  result.uri = x.uri;
  result.uri.server = result.server;
  return result;
}

} // namespace

bool may_be_our_server(uint32_t uid, const std::vector<uint32_t>& trusted) {
  return uid == 0 || uid == ::geteuid() || uid == ::getuid()
         || std::find(trusted.begin(), trusted.end(), uid) != trusted.end();
}

release announced_release(const std::optional<release>& server) {
  if (server && !(*server < release{4, 2, 4}))
    return {4, 2, 9};
  return {4, 2, 2};
}

caf::expected<server_connection> connect_to_server(const link_settings& x) {
  sockaddr_storage to{};
  const auto size = parse_address(x.uri, to);
  if (size == 0)
    return unreachable(x.uri, "is no address");
  const auto version = announced_release(x.server);
  wire::hello greeting;
  if (auto err = make_credential(x.security, greeting))
    return err;
  greeting.role = x.role;
  if (x.role != peer_role::client)
    greeting.claimed = credentials{::geteuid(), ::getegid()};
  greeting.proc = x.self;
  greeting.version =
    std::to_string(version.major) + "." + std::to_string(version.minor) + "."
    + std::to_string(version.patch) + std::string{wire::sharing_mark};
  greeting.module = x.module;
  greeting.described = x.described;
  greeting.store = "hash";
  greeting.infos = x.infos;
  std::string hello;
  if (auto err = wire::encode_hello(greeting, hello))
    return err;
  const auto form = wire::connect_reply_form_of(x.role, version);
  const auto deadline = clock::now() + x.connect_time;
  for (auto attempt = 1;; ++attempt) {
    auto fd = open_socket(x.uri, to, size, deadline);
    if (!fd)
      return std::move(fd.error());
    auto result = greet(x, std::move(*fd), hello, form, is_loopback(to));
    if (result) {
      result->rules = wire::dialect_of(greeting);
      return result;
    }
    // A server with a full table closes at once and may have room soon.
    if (status_of(result.error()) != status::unreach || attempt == max_attempts
        || clock::now() >= deadline || !x.retry_refusals)
      return result;
    ::poll(nullptr, 0, 10 * attempt);
  }
}

} // namespace troupe
