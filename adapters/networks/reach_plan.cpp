#include "adapters/networks/reach_plan.hpp"

#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Addresses of one node that are looked at.
constexpr auto addresses_max = 4 * defaults::lanes_per_peer;

const own_network* owner_of(const std::vector<own_network>& own,
                            const std::string& address) {
  for (const auto& x : own)
    for (const auto& y : x.addresses)
      if (y == address)
        return &x;
  return nullptr;
}

/// The network of ours that a route leads over.
const own_network* network_of(const std::vector<own_network>& own,
                              const network_route& route) {
  if (route.is_local)
    return owner_of(own, route.source);
  for (const auto& x : own)
    if (x.index == route.interface_index)
      return &x;
  return nullptr;
}

void add(reach_plan& plan, const own_network& network, const node_address& to,
         reach_end end) {
  for (auto& x : plan.paths)
    if (x.network == network.name && x.peer_network == to.network) {
      x.ends.push_back(std::move(end));
      return;
    }
  plan.paths.push_back({network.name, to.network, {std::move(end)}});
}

} // namespace

reach_plan plan_reach(const reach_node& node,
                      const std::vector<own_network>& own,
                      const route_source& route) {
  reach_plan result;
  std::vector<std::pair<std::string, unreached_address>> failures;
  const auto is_ours = [&](const node_address& x) {
    return owner_of(own, x.address) != nullptr;
  };
  const auto is_on_this_host =
    std::all_of(node.addresses.begin(), node.addresses.end(), is_ours);
  const auto count = std::min(node.addresses.size(), addresses_max);
  for (size_t i = 0; i < count; ++i) {
    const auto& x = node.addresses[i];
    if (!is_on_this_host && is_ours(x))
      continue;
    const auto way = route(x.address);
    if (!way) {
      failures.emplace_back(
        x.network, unreached_address{x.address, reason_of(way.error())});
      continue;
    }
    if (const auto* network = network_of(own, *way))
      add(result, *network, x, {way->source, x.address, x.port});
    else
      failures.emplace_back(
        x.network,
        unreached_address{
          x.address, "the route leads over a network that lanes do not use; "
                     "name its interface among the networks"});
  }
  // A network that is reached by one family is reached.
  for (auto& [network, x] : failures)
    if (std::none_of(
          result.paths.begin(), result.paths.end(),
          [&](const auto& path) { return path.peer_network == network; }))
      result.failures.push_back(std::move(x));
  return result;
}

} // namespace troupe
