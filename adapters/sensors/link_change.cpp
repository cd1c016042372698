#include "adapters/sensors/link_change.hpp"

#include "adapters/networks/netlink_socket.hpp"

#include <linux/rtnetlink.h>
#include <net/if.h>

#include <algorithm>

namespace troupe {

std::optional<link_change> link_change_in(uint16_t kind,
                                          std::string_view content) {
  ifinfomsg fixed{};
  std::string_view attributes;
  if ((kind != RTM_NEWLINK && kind != RTM_DELLINK)
      || !read_fixed(content, fixed, attributes))
    return std::nullopt;
  link_change result;
  result.index = fixed.ifi_index;
  result.is_gone = kind == RTM_DELLINK;
  result.is_running = !result.is_gone && (fixed.ifi_flags & IFF_UP) != 0
                      && (fixed.ifi_flags & IFF_RUNNING) != 0;
  result.is_loopback = (fixed.ifi_flags & IFF_LOOPBACK) != 0;
  for_each_attribute(attributes, [&](uint16_t x, std::string_view value) {
    if (x == IFLA_IFNAME)
      result.name =
        value.substr(0, std::min<size_t>(value.find('\0'), IFNAMSIZ - 1));
  });
  // The kernel allows nearly every character in a name.
  const auto is_odd = [](char x) { return x <= ' ' || x > '~'; };
  std::replace_if(result.name.begin(), result.name.end(), is_odd, '?');
  // Of bridges the kernel tells in messages of another family, too, where a
  // port that leaves looks like a link that is gone.
  if (result.name.empty() || fixed.ifi_family != AF_UNSPEC)
    return std::nullopt;
  return result;
}

std::vector<link_change> link_changes_in(std::string_view datagram) {
  auto result = std::vector<link_change>{};
  for_each_message(datagram, [&](uint16_t kind, std::string_view content) {
    if (auto x = link_change_in(kind, content))
      result.push_back(std::move(*x));
  });
  return result;
}

} // namespace troupe
