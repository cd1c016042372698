#include "adapters/networks/network_interface.hpp"

#include <algorithm>

namespace troupe {

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

} // namespace troupe
