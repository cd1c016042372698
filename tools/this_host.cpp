#include "tools/this_host.hpp"

#include "adapters/local/rendezvous.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <strings.h>

#include <memory>

namespace troupe {

namespace {

bool same_text(std::string_view x, std::string_view y) {
  return x.size() == y.size()
         && ::strncasecmp(x.data(), y.data(), x.size()) == 0;
}

/// Names say the same if one of them lacks the domain.
bool same_name(std::string_view x, std::string_view y) {
  const auto x_dot = x.find('.');
  const auto y_dot = y.find('.');
  if (x_dot != std::string_view::npos && y_dot != std::string_view::npos)
    return same_text(x, y);
  return same_text(x.substr(0, x_dot), y.substr(0, y_dot));
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

/// An address as `text_of` writes it; empty if `name` is none.
std::string canonical(const std::string& name) {
  char room[INET6_ADDRSTRLEN];
  unsigned char bytes[sizeof(in6_addr)];
  for (const auto family : {AF_INET, AF_INET6})
    if (::inet_pton(family, name.c_str(), bytes) == 1)
      return ::inet_ntop(family, bytes, room, sizeof(room));
  return {};
}

} // namespace

this_host this_host::find() {
  auto addresses = std::set<std::string>{};
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) == 0) {
    const auto guard =
      std::unique_ptr<ifaddrs, void (*)(ifaddrs*)>{all, ::freeifaddrs};
    for (const auto* x = all; x != nullptr; x = x->ifa_next)
      if (auto text = text_of(x->ifa_addr); !text.empty())
        addresses.insert(std::move(text));
  }
  return {node_name(), std::move(addresses)};
}

bool this_host::is(std::string_view name) const {
  if (name.empty())
    return false;
  if (const auto address = canonical(std::string{name}); !address.empty())
    return addresses_.count(address) > 0 || address.rfind("127.", 0) == 0
           || address == "::1";
  return same_text(name, "localhost") || same_name(name, name_);
}

} // namespace troupe
