#pragma once

#include <caf/expected.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class event_loop;

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

/// How the kernel would reach an address.
struct network_route {
  /// Interface that packets leave by.
  int interface_index = 0;

  /// Our address as the other side would see it.
  std::string source;

  /// The address is one of ours.
  bool is_local = false;
};

/// What the kernel says of the node's networks. For the thread of the loop
/// only. A base, so that tests can say something else.
class network_kernel {
public:
  virtual ~network_kernel() = default;

  /// All interfaces and their addresses.
  virtual caf::expected<std::vector<network_interface>> interfaces() = 0;

  /// @param address Numeric.
  /// @returns `unreach` if no route leads there.
  virtual caf::expected<network_route> route_to(const std::string& address) = 0;

  /// Calls back in the loop after anything above may have changed.
  virtual caf::error watch(std::function<void()> on_change) = 0;
};

/// Asks and hears the kernel by its socket for routing (rtnetlink). Never
/// blocks: the kernel answers within the call.
caf::expected<std::unique_ptr<network_kernel>>
make_network_kernel(event_loop& loop);

} // namespace troupe
