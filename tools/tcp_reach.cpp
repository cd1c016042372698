#include "tools/tcp_reach.hpp"

#include "tools/call_apart.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <optional>

namespace troupe {

namespace {

using steady = std::chrono::steady_clock;

/// Attempts to connect at a time, by which descriptors are bounded.
constexpr size_t most_attempts = 256;

/// A numeric address, for the system.
struct socket_address {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&bytes);
  }
};

std::optional<socket_address> parsed(const network_place& x) {
  auto result = socket_address{};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&result.bytes);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&result.bytes);
  if (::inet_pton(AF_INET, x.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(x.port);
    result.size = sizeof(sockaddr_in);
    return result;
  }
  if (::inet_pton(AF_INET6, x.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(x.port);
    result.size = sizeof(sockaddr_in6);
    return result;
  }
  return std::nullopt;
}

std::string text_of(const sockaddr* x) {
  char room[INET6_ADDRSTRLEN];
  const char* result = nullptr;
  if (x != nullptr && x->sa_family == AF_INET)
    result =
      ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(x)->sin_addr,
                  room, sizeof(room));
  else if (x != nullptr && x->sa_family == AF_INET6)
    result = ::inet_ntop(AF_INET6,
                         &reinterpret_cast<const sockaddr_in6*>(x)->sin6_addr,
                         room, sizeof(room));
  return result != nullptr ? result : "";
}

/// Whether it means this link only, and needs the name of an interface.
bool is_of_link(const sockaddr* x) {
  return x->sa_family == AF_INET6
         && IN6_IS_ADDR_LINKLOCAL(
           &reinterpret_cast<const sockaddr_in6*>(x)->sin6_addr);
}

bool add_once(std::vector<std::string>& to, std::string x) {
  if (x.empty() || std::find(to.begin(), to.end(), x) != to.end())
    return false;
  to.push_back(std::move(x));
  return true;
}

/// A socket that has begun to connect, or why it cannot.
unique_fd begin_to_connect(const network_place& to, std::string& trouble) {
  const auto address = parsed(to);
  if (!address) {
    trouble = "no numeric address";
    return {};
  }
  auto fd = unique_fd{::socket(address->get()->sa_family,
                               SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (fd
      && (::connect(fd.get(), address->get(), address->size) == 0
          || errno == EINPROGRESS))
    return fd;
  trouble = std::strerror(errno);
  return {};
}

std::string outcome_of(int fd) {
  auto code = 0;
  auto size = socklen_t{sizeof(code)};
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0)
    code = errno;
  return code == 0 ? "" : std::strerror(code);
}

/// Up to `most_attempts`.
void try_some(std::vector<reached_place>::iterator begin,
              std::vector<reached_place>::iterator end,
              std::chrono::milliseconds limit) {
  auto sockets = std::vector<unique_fd>{};
  auto watched = std::vector<pollfd>{};
  auto open = size_t{0};
  for (auto i = begin; i != end; ++i) {
    sockets.push_back(begin_to_connect(i->place, i->trouble));
    watched.push_back({sockets.back().get(), POLLOUT, 0});
    open += sockets.back() ? 1 : 0;
  }
  const auto deadline = steady::now() + limit;
  while (open > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - steady::now());
    if (left.count() <= 0)
      break;
    if (::poll(watched.data(), watched.size(), static_cast<int>(left.count()))
          < 0
        && errno != EINTR)
      break;
    for (size_t i = 0; i < watched.size(); ++i)
      if (watched[i].fd >= 0 && watched[i].revents != 0) {
        begin[static_cast<std::ptrdiff_t>(i)].trouble =
          outcome_of(watched[i].fd);
        watched[i].fd = -1;
        watched[i].revents = 0;
        --open;
      }
  }
  for (size_t i = 0; i < watched.size(); ++i)
    if (watched[i].fd >= 0)
      begin[static_cast<std::ptrdiff_t>(i)].trouble = "no answer";
}

/// Takes as long as the name service does, minutes if none of its servers answers.
resolved_name look_up(const std::string& name) {
  auto result = resolved_name{name, {}, {}};
  auto hints = addrinfo{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  const auto code = ::getaddrinfo(name.c_str(), nullptr, &hints, &all);
  if (code != 0) {
    result.trouble =
      code == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(code);
    return result;
  }
  const auto guard =
    std::unique_ptr<addrinfo, void (*)(addrinfo*)>{all, ::freeaddrinfo};
  for (const auto* x = all; x != nullptr; x = x->ai_next)
    add_once(result.addresses, text_of(x->ai_addr));
  return result;
}

} // namespace

open_port open_any_port(int backlog) {
  auto result = open_port{};
  for (const auto family : {AF_INET6, AF_INET}) {
    result.fd = unique_fd{::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    auto address = socket_address{};
    address.bytes.ss_family = static_cast<sa_family_t>(family);
    address.size =
      family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    const auto no = 0;
    if (family == AF_INET6 && result.fd)
      ::setsockopt(result.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
    if (!result.fd || ::bind(result.fd.get(), address.get(), address.size) != 0
        || ::listen(result.fd.get(), backlog) != 0
        || ::getsockname(result.fd.get(),
                         reinterpret_cast<sockaddr*>(&address.bytes),
                         &address.size)
             != 0) {
      result.trouble = std::strerror(errno);
      continue;
    }
    const auto* bytes = &address.bytes;
    result.number =
      ntohs(family == AF_INET6
              ? reinterpret_cast<const sockaddr_in6*>(bytes)->sin6_port
              : reinterpret_cast<const sockaddr_in*>(bytes)->sin_port);
    result.trouble.clear();
    return result;
  }
  result.fd.reset();
  return result;
}

network_view look_at_networks() {
  auto result = network_view{};
  auto near = std::vector<std::string>{};
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0)
    return result;
  const auto guard =
    std::unique_ptr<ifaddrs, void (*)(ifaddrs*)>{all, ::freeifaddrs};
  for (const auto* x = all; x != nullptr; x = x->ifa_next) {
    if ((x->ifa_flags & IFF_UP) == 0)
      continue;
    add_once(result.interfaces, x->ifa_name);
    if (x->ifa_addr == nullptr || is_of_link(x->ifa_addr))
      continue;
    add_once((x->ifa_flags & IFF_LOOPBACK) != 0 ? near : result.addresses,
             text_of(x->ifa_addr));
  }
  if (result.addresses.empty())
    result.addresses = std::move(near);
  return result;
}

std::vector<reached_place>
try_to_reach(const std::vector<network_place>& places,
             std::chrono::milliseconds limit) {
  auto result = std::vector<reached_place>{};
  for (const auto& x : places)
    result.push_back({x, {}});
  for (size_t i = 0; i < result.size(); i += most_attempts) {
    const auto begin = result.begin() + static_cast<std::ptrdiff_t>(i);
    const auto n = std::min(most_attempts, result.size() - i);
    try_some(begin, begin + static_cast<std::ptrdiff_t>(n), limit);
  }
  return result;
}

std::vector<resolved_name> resolve(const std::vector<std::string>& names,
                                   std::chrono::milliseconds limit) {
  const auto deadline = steady::now() + limit;
  auto calls = std::vector<std::future<resolved_name>>{};
  for (const auto& name : names)
    calls.push_back(call_apart([name] { return look_up(name); }));
  auto result = std::vector<resolved_name>{};
  for (size_t i = 0; i < names.size(); ++i)
    if (calls[i].wait_until(deadline) == std::future_status::ready)
      result.push_back(calls[i].get());
    else
      result.push_back(
        {names[i],
         {},
         fmt::format("no answer of the name service within {:g} s",
                     std::chrono::duration<double>(limit).count())});
  return result;
}

} // namespace troupe
