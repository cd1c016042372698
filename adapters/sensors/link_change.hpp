#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A network link as the kernel told of it.
struct link_change {
  int index = 0;
  std::string name;

  /// Whether it can carry data. False, too, for one that is gone.
  bool is_running = false;
  bool is_loopback = false;
  bool is_gone = false;
};

/// Reads a message of the kernel.
/// @returns nothing if it does not tell of a link.
/// Source: rtnetlink(7), RTM_NEWLINK and RTM_DELLINK.
std::optional<link_change> link_change_in(uint16_t kind,
                                          std::string_view content);

/// Reads the datagrams of a routing socket. Anything else than links in them is
/// passed over, and what does not fit ends it.
std::vector<link_change> link_changes_in(std::string_view datagram);

} // namespace troupe
