#pragma once

#include "adapters/networks/network_interface.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class event_loop;

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
