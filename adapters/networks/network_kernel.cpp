#include "adapters/networks/network_kernel.hpp"

#include "adapters/loop/fd_watch.hpp"
#include "adapters/sockets/netlink.hpp"
#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace troupe {

// -- choice of networks ------------------------------------------------------

namespace {

bool contains(const std::vector<std::string>& list, const std::string& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

/// The address of a family that other nodes can rely on longest.
const interface_address* best_of(const network_interface& x, bool is_ipv6) {
  const interface_address* result = nullptr;
  for (const auto& y : x.addresses) {
    if (y.is_ipv6 != is_ipv6 || y.is_link_local || !y.is_ready)
      continue;
    if (result == nullptr || (result->is_temporary && !y.is_temporary))
      result = &y;
  }
  return result;
}

own_network make_network(const network_interface& x) {
  own_network result;
  result.name = x.name;
  result.index = x.index;
  result.is_loopback = x.is_loopback;
  for (const auto& y : x.addresses)
    result.addresses.push_back(y.address);
  for (const auto is_ipv6 : {false, true})
    if (const auto* y = best_of(x, is_ipv6))
      result.listening.push_back(y->address);
  return result;
}

} // namespace

std::vector<own_network>
choose_networks(const std::vector<network_interface>& all,
                const interface_choice& choice) {
  // By how welcome they are; only the best that are there count.
  std::vector<own_network> fit;
  std::vector<own_network> internal;
  std::vector<own_network> loopback;
  for (const auto& x : all) {
    const auto is_named = contains(choice.include, x.name);
    if (!x.is_running || contains(choice.exclude, x.name)
        || (!is_named && !choice.include.empty()))
      continue;
    auto network = make_network(x);
    if (network.listening.empty())
      continue;
    auto& list = is_named        ? fit
                 : x.is_loopback ? loopback
                 : x.is_internal ? internal
                                 : fit;
    list.push_back(std::move(network));
  }
  return !fit.empty() ? fit : !internal.empty() ? internal : loopback;
}

// -- what the kernel says ----------------------------------------------------

namespace {

/// What the kernel is to tell us of.
constexpr uint32_t groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR
                            | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE
                            | RTMGRP_IPV6_ROUTE;

template <class T>
std::string_view bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(x)};
}

std::string text_of(int family, std::string_view address) {
  char text[INET6_ADDRSTRLEN] = {};
  const auto size = family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
  if (address.size() != size
      || ::inet_ntop(family, address.data(), text, sizeof(text)) == nullptr)
    return {};
  return text;
}

template <class T>
T number_of(std::string_view bytes) {
  T result{};
  std::memcpy(&result, bytes.data(), std::min(sizeof(T), bytes.size()));
  return result;
}

std::string string_of(std::string_view bytes) {
  return std::string{bytes.substr(0, bytes.find('\0'))};
}

/// Kinds of interfaces that have no other node behind them by themselves.
bool is_internal_kind(const std::string& kind) {
  return kind == "bridge" || kind == "dummy" || kind == "ifb"
         || kind == "nlmon";
}

std::optional<network_interface> read_link(std::string_view content) {
  ifinfomsg fixed{};
  std::string_view attributes;
  if (!read_fixed(content, fixed, attributes))
    return std::nullopt;
  network_interface result;
  result.index = fixed.ifi_index;
  result.is_running =
    (fixed.ifi_flags & IFF_UP) != 0 && (fixed.ifi_flags & IFF_RUNNING) != 0;
  result.is_loopback = (fixed.ifi_flags & IFF_LOOPBACK) != 0;
  for_each_attribute(attributes, [&](uint16_t kind, std::string_view value) {
    if (kind == IFLA_IFNAME)
      result.name = string_of(value);
    else if (kind == IFLA_LINKINFO)
      for_each_attribute(value, [&](uint16_t inner, std::string_view x) {
        if (inner == IFLA_INFO_KIND && is_internal_kind(string_of(x)))
          result.is_internal = true;
      });
  });
  return result;
}

/// @returns the address and the number of its interface.
std::optional<std::pair<int, interface_address>>
read_address(std::string_view content) {
  ifaddrmsg fixed{};
  std::string_view attributes;
  if (!read_fixed(content, fixed, attributes)
      || (fixed.ifa_family != AF_INET && fixed.ifa_family != AF_INET6))
    return std::nullopt;
  interface_address result;
  result.is_ipv6 = fixed.ifa_family == AF_INET6;
  result.is_link_local = fixed.ifa_scope == RT_SCOPE_LINK;
  uint32_t flags = fixed.ifa_flags;
  std::string local;
  for_each_attribute(attributes, [&](uint16_t kind, std::string_view value) {
    if (kind == IFA_ADDRESS)
      result.address = text_of(fixed.ifa_family, value);
    else if (kind == IFA_LOCAL)
      local = text_of(fixed.ifa_family, value);
    else if (kind == IFA_FLAGS)
      flags = number_of<uint32_t>(value);
  });
  // On point-to-point links the other attribute is the far end.
  if (!local.empty())
    result.address = local;
  result.is_ready =
    (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED)) == 0;
  result.is_temporary = result.is_ipv6 && (flags & IFA_F_TEMPORARY) != 0;
  if (result.address.empty())
    return std::nullopt;
  return std::pair{static_cast<int>(fixed.ifa_index), std::move(result)};
}

class netlink_kernel : public network_kernel {
public:
  netlink_kernel(event_loop& loop, netlink_socket asking)
    : loop_(loop), asking_(std::move(asking)) {
    // nop
  }

  caf::expected<std::vector<network_interface>> interfaces() override {
    std::map<int, network_interface> found;
    ifinfomsg links{};
    auto err = asking_.ask(RTM_GETLINK, NLM_F_DUMP, bytes_of(links),
                           [&](uint16_t kind, std::string_view content) {
                             auto x = kind == RTM_NEWLINK ? read_link(content)
                                                          : std::nullopt;
                             if (x)
                               found.emplace(x->index, std::move(*x));
                           });
    if (err)
      return err;
    ifaddrmsg addresses{};
    err = asking_.ask(
      RTM_GETADDR, NLM_F_DUMP, bytes_of(addresses),
      [&](uint16_t kind, std::string_view content) {
        auto x = kind == RTM_NEWADDR ? read_address(content) : std::nullopt;
        if (!x)
          return;
        if (const auto i = found.find(x->first); i != found.end())
          i->second.addresses.push_back(std::move(x->second));
      });
    if (err)
      return err;
    std::vector<network_interface> result;
    for (auto& [index, x] : found)
      result.push_back(std::move(x));
    return result;
  }

  caf::expected<network_route> route_to(const std::string& address) override {
    char to[sizeof(in6_addr)] = {};
    const auto family =
      address.find(':') == std::string::npos ? AF_INET : AF_INET6;
    if (::inet_pton(family, address.c_str(), to) != 1)
      return make_error(
        status::bad_param,
        address + " is not a numeric address; write one such as 192.0.2.7");
    const auto size = family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
    rtmsg fixed{};
    fixed.rtm_family = static_cast<uint8_t>(family);
    fixed.rtm_dst_len = static_cast<uint8_t>(8 * size);
    rtattr head{};
    head.rta_type = RTA_DST;
    head.rta_len = static_cast<uint16_t>(sizeof(head) + size);
    std::string request{bytes_of(fixed)};
    request.append(bytes_of(head));
    request.append(to, size);
    network_route result;
    uint8_t kind_of_route = RTN_UNSPEC;
    auto err = asking_.ask(
      RTM_GETROUTE, 0, request, [&](uint16_t kind, std::string_view content) {
        std::string_view attributes;
        if (kind != RTM_NEWROUTE || !read_fixed(content, fixed, attributes))
          return;
        kind_of_route = fixed.rtm_type;
        for_each_attribute(attributes,
                           [&](uint16_t what, std::string_view value) {
                             if (what == RTA_OIF)
                               result.interface_index = number_of<int>(value);
                             else if (what == RTA_PREFSRC)
                               result.source = text_of(family, value);
                           });
      });
    if (err)
      return make_error(status::unreach,
                        "no route to " + address + " (" + reason_of(err) + ")");
    if (kind_of_route != RTN_UNICAST && kind_of_route != RTN_LOCAL)
      return make_error(status::unreach,
                        "no route to " + address + "; see ip route");
    result.is_local = kind_of_route == RTN_LOCAL;
    if (result.is_local && result.source.empty())
      result.source = address;
    return result;
  }

  caf::error watch(std::function<void()> on_change) override {
    auto x = netlink_socket::open(groups);
    if (!x)
      return std::move(x.error());
    hearing_.emplace(std::move(*x));
    watch_.emplace(loop_, hearing_->fd(), [this, f = std::move(on_change)] {
      if (hearing_->drain())
        f();
    });
    watch_->enable_read();
    return caf::none;
  }

private:
  event_loop& loop_;
  netlink_socket asking_;
  std::optional<netlink_socket> hearing_;
  std::optional<fd_watch> watch_;
};

} // namespace

caf::expected<std::unique_ptr<network_kernel>>
make_network_kernel(event_loop& loop) {
  auto asking = netlink_socket::open();
  if (!asking)
    return std::move(asking.error());
  return std::unique_ptr<network_kernel>{
    std::make_unique<netlink_kernel>(loop, std::move(*asking))};
}

} // namespace troupe
