#pragma once

#include "adapters/networks/network_interface.hpp"
#include "adapters/networks/network_kernel.hpp"
#include "messages/lane.hpp"

#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Where to dial.
struct reach_end {
  /// Our own address.
  std::string from;

  /// The peer's.
  std::string to;
  uint16_t port = 0;
};

inline bool operator==(const reach_end& x, const reach_end& y) {
  return x.from == y.from && x.to == y.to && x.port == y.port;
}

/// A lane that should be there: between one of our networks and one of the
/// peer's.
struct reach_path {
  std::string network;
  std::string peer_network;

  /// The addresses of the peer's network that ours leads to; one lane is
  /// enough.
  std::vector<reach_end> ends;
};

/// An address that cannot be dialled.
struct unreached_address {
  std::string address;
  std::string reason;
};

struct reach_plan {
  std::vector<reach_path> paths;
  std::vector<unreached_address> failures;
};

using route_source =
  std::function<caf::expected<network_route>(const std::string& address)>;

/// Which lanes to open to a node. An address that is ours too is a subnet that
/// both nodes have for themselves, such as a bridge of containers, unless all
/// of them are: then the node is on this host. Everything else is asked of the
/// kernel, so that peers behind a gateway are reached as well.
/// Source: requirements O9, O10, O12, L6.
reach_plan plan_reach(const reach_node& node,
                      const std::vector<own_network>& own,
                      const route_source& route);

} // namespace troupe
