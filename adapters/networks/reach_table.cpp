#include "adapters/networks/reach_table.hpp"

#include "base/lane_kind.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

// -- plan --------------------------------------------------------------------

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
  const auto is_local = [](const node_address& x) {
    return lane_kind_of(x.address) == lane_kind::local;
  };
  const auto is_ours = [&](const node_address& x) {
    return owner_of(own, x.address) != nullptr;
  };
  const auto is_on_this_host = std::all_of(
    node.addresses.begin(), node.addresses.end(),
    [&](const node_address& x) { return is_local(x) || is_ours(x); });
  const auto count = std::min(node.addresses.size(), addresses_max);
  for (size_t i = 0; i < count; ++i) {
    const auto& x = node.addresses[i];
    if (!is_on_this_host && is_ours(x))
      continue;
    const auto way = route(x.address);
    if (!way) {
      // That a node is on another machine is no failure.
      if (is_local(x))
        continue;
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

// -- table -------------------------------------------------------------------

namespace {

using namespace std::chrono_literals;

/// What somebody can do about a lane that does not come.
std::string remedy_for(const caf::error& why) {
  switch (status_of(why)) {
    case status::timeout:
      return "; look for a firewall between the nodes";
    case status::in_errno:
      return "; see whether the node's daemon runs and listens there";
    case status::invalid_cred:
    case status::handshake_failed:
      return "; another program or another DVM has that port";
    default:
      return "";
  }
}

} // namespace

reach_table::reach_table(event_loop& loop, reach_times times, means use)
  : loop_(loop), times_(times), use_(std::move(use)) {
  // nop
}

void reach_table::reach(const reach_node& node,
                        const std::vector<own_network>& own) {
  nodes_[node.rank] = node;
  review(node, own);
}

void reach_table::release(uint32_t rank) {
  nodes_.erase(rank);
  for (auto i = attempts_.begin(); i != attempts_.end();)
    if (const auto at = i++; std::get<0>(at->first) == rank)
      drop(at);
  for (auto i = reported_.begin(); i != reported_.end();)
    i = i->first.first == rank ? reported_.erase(i) : std::next(i);
}

void reach_table::review(const std::vector<own_network>& own) {
  for (const auto& [rank, node] : nodes_)
    review(node, own);
}

void reach_table::review(const reach_node& node,
                         const std::vector<own_network>& own) {
  auto plan = plan_reach(node, own, use_.route);
  std::set<path_id> planned;
  for (const auto& x : plan.paths)
    planned.emplace(node.rank, x.network, x.peer_network);
  for (auto i = attempts_.begin(); i != attempts_.end();)
    if (const auto at = i++;
        std::get<0>(at->first) == node.rank && planned.count(at->first) == 0)
      drop(at);
  for (auto& x : plan.paths) {
    const auto id = path_id{node.rank, x.network, x.peer_network};
    auto i = attempts_.find(id);
    if (i == attempts_.end()) {
      const auto again = [this, id] {
        if (const auto j = attempts_.find(id); j != attempts_.end())
          advance(id, j->second);
      };
      i = attempts_
            .emplace(std::piecewise_construct, std::forward_as_tuple(id),
                     std::forward_as_tuple(loop_, again))
            .first;
    } else if (!(i->second.path.ends == x.ends)) {
      i->second.retry.cancel();
    }
    i->second.path = std::move(x);
    advance(id, i->second);
  }
  for (const auto& x : plan.failures)
    report(node.rank, x.address, x.reason);
}

/// Dials if that is due.
void reach_table::advance(const path_id& id, attempt& x) {
  const auto rank = std::get<0>(id);
  const auto node = nodes_.find(rank);
  if (node == nodes_.end() || x.dial != 0 || x.retry.is_running()
      || !use_.may_dial(rank, x.path))
    return;
  x.dial = ++last_dial_;
  const auto& end = x.path.ends[x.next_end % x.path.ends.size()];
  use_.dial(x.dial, x.path.network, end, {{}, rank, node->second.name},
            patience_of(x));
}

bool reach_table::was_lost(const attempt& x) const {
  return clock::now() < x.lost_at + times_.lost_for;
}

std::chrono::milliseconds reach_table::patience_of(const attempt& x) const {
  // While much depends on it, short attempts between long ones find a way soon
  // that is there again.
  const auto is_short = was_lost(x) && x.failures % 2 == 0;
  auto result = times_.connect_first;
  if (is_short)
    return 2 * result;
  for (uint32_t i = 0; i < x.failures && result < times_.connect_most; ++i)
    result *= 2;
  return std::min(result, times_.connect_most);
}

void reach_table::drop(std::map<path_id, attempt>::iterator i) {
  if (i->second.dial != 0)
    use_.give_up(i->second.dial, i->second.path.network);
  attempts_.erase(i);
}

void reach_table::retry_later(attempt& x) {
  // Half of it by chance, so that nodes do not come all at once.
  const auto most = std::chrono::nanoseconds{was_lost(x) ? times_.retry_lost
                                                         : times_.retry_most};
  auto delay = std::chrono::nanoseconds{times_.retry_first};
  for (uint32_t i = 1; i < x.failures && delay < most; ++i)
    delay *= 2;
  delay = std::min(delay, most);
  const auto half = static_cast<uint64_t>(delay.count() / 2);
  delay -= std::chrono::nanoseconds{
    static_cast<int64_t>(half == 0 ? 0 : use_.random() % half)};
  x.retry.start(delay);
}

std::map<reach_table::path_id, reach_table::attempt>::iterator
reach_table::find(dial_id id) {
  return std::find_if(attempts_.begin(), attempts_.end(),
                      [id](const auto& x) { return x.second.dial == id; });
}

void reach_table::on_dial_failed(dial_id id, const caf::error& why) {
  const auto i = id != 0 ? find(id) : attempts_.end();
  if (i == attempts_.end())
    return;
  auto& x = i->second;
  const auto& end = x.path.ends[x.next_end % x.path.ends.size()];
  const auto was_hasty =
    status_of(why) == status::timeout && patience_of(x) < times_.connect_most;
  x.dial = 0;
  ++x.failures;
  ++x.next_end;
  retry_later(x);
  if (was_hasty)
    return;
  const auto port =
    end.port != 0 ? "port " + std::to_string(end.port) + " " : std::string{};
  report(std::get<0>(i->first), end.to,
         port + "over " + x.path.network + ": " + reason_of(why)
           + remedy_for(why));
}

void reach_table::on_lane(dial_id id) {
  const auto i = id != 0 ? find(id) : attempts_.end();
  if (i != attempts_.end())
    i->second.dial = 0;
}

void reach_table::on_lane_end(uint32_t rank, const std::string& network,
                              std::chrono::nanoseconds lived) {
  for (auto& [id, x] : attempts_) {
    if (std::get<0>(id) != rank || x.path.network != network || x.dial != 0
        || x.retry.is_running() || !use_.may_dial(rank, x.path))
      continue;
    if (lived >= times_.steady_lane) {
      x.failures = 0;
      x.lost_at = clock::now();
      x.retry.start(0ns);
    } else {
      ++x.failures;
      retry_later(x);
    }
  }
}

void reach_table::report(uint32_t rank, const std::string& address,
                         const std::string& reason) {
  const auto now = clock::now();
  const auto key = std::pair{rank, address};
  const auto i = reported_.find(key);
  if (i != reported_.end() && now - i->second < times_.report)
    return;
  reported_[key] = now;
  use_.report({rank, address, reason});
}

std::set<std::string> reach_table::addresses() const {
  std::set<std::string> result;
  for (const auto& [rank, node] : nodes_)
    for (const auto& x : node.addresses)
      result.insert(x.address);
  return result;
}

size_t reach_table::dials_to(uint32_t rank) const {
  size_t result = 0;
  for (const auto& [id, x] : attempts_)
    result += std::get<0>(id) == rank && x.dial != 0 ? 1 : 0;
  return result;
}

} // namespace troupe
