#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// An address of this node.
struct interface_address {
  /// Numeric.
  std::string address;
  bool is_ipv6 = false;

  /// Valid within its subnet only: IPv6 `fe80::`, IPv4 `169.254`.
  bool is_link_local = false;

  /// Can be used for new connections: neither still being checked for
  /// duplicates nor about to vanish.
  bool is_ready = true;

  /// Changes now and then for privacy.
  bool is_temporary = false;
};

/// What the kernel says of a network interface.
struct network_interface {
  int index = 0;
  std::string name;

  /// Switched on and with a carrier.
  bool is_running = false;
  bool is_loopback = false;

  /// Made by software for use on this node only, such as the bridges of
  /// containers: other nodes have the same addresses behind theirs.
  bool is_internal = false;

  std::vector<interface_address> addresses;
};

/// Which interfaces to use, by name.
struct interface_choice {
  /// Only these, of whatever kind; empty: all that are fit.
  std::vector<std::string> include;

  /// Never these.
  std::vector<std::string> exclude;
};

/// A network of this node: an interface that lanes may use.
struct own_network {
  std::string name;
  int index = 0;
  bool is_loopback = false;

  /// All addresses of the interface.
  std::vector<std::string> addresses;

  /// Where to listen: one of each family at most.
  std::vector<std::string> listening;
};

/// Picks the interfaces that are up, have an address, and are wanted: those
/// that are named; else those that lead to other nodes; else internal ones;
/// else loopback.
std::vector<own_network>
choose_networks(const std::vector<network_interface>& all,
                const interface_choice& choice);

} // namespace troupe
