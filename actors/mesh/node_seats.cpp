#include "actors/mesh/node_seats.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// How many processes a node gets before the next has its turn.
uint32_t turn_of(const node_seat& x, const job_options& options) {
  return options.nodes == node_policy::node && !options.spans
           ? 1
           : std::max<uint32_t>(1, x.node->objects);
}

} // namespace

bool is_called(const mapping_node& node, const std::string& name) {
  return node.name == name || node.name.substr(0, node.name.find('.')) == name;
}

caf::error unknown_node(const std::string& name) {
  return make_error(status::not_found,
                    "node " + name
                      + " is not in this DVM, or is lost; start a DVM that has "
                        "it");
}

caf::error keep_hosts(std::vector<node_seat>& seats,
                      const std::vector<host_limit>& hosts,
                      const std::vector<mapping_node>& nodes) {
  if (hosts.empty())
    return {};
  auto limits = std::map<uint32_t, uint64_t>{}; // by rank of the node
  for (const auto& x : hosts) {
    const auto i = std::find_if(nodes.begin(), nodes.end(), [&](const auto& y) {
      return is_called(y, x.name);
    });
    if (i == nodes.end())
      return unknown_node(x.name);
    auto& limit = limits[i->rank];
    limit =
      std::min<uint64_t>(UINT32_MAX, limit + x.slots.value_or(UINT32_MAX));
  }
  auto kept = std::vector<node_seat>{};
  for (auto x : seats) {
    const auto i = limits.find(x.node->rank);
    if (i == limits.end())
      continue;
    x.room = static_cast<uint32_t>(std::min<uint64_t>(x.room, i->second));
    kept.push_back(x);
  }
  seats = std::move(kept);
  return {};
}

uint64_t ppr_of(const node_seat& x, const job_options& options) {
  return uint64_t{options.per_object} * x.node->objects;
}

void deal(std::vector<node_seat>& seats, uint32_t count,
          const job_options& options) {
  const auto take = [&](node_seat& x, uint64_t most) {
    const auto n = static_cast<uint32_t>(
      std::min<uint64_t>({most, count, uint64_t{x.limit}}));
    x.count += n;
    x.room -= std::min(x.room, n);
    x.limit -= n;
    count -= n;
    return n > 0;
  };
  const auto in_turn = options.nodes == node_policy::node || options.spans;
  if (options.nodes == node_policy::ppr)
    for (auto& x : seats)
      take(x, ppr_of(x, options));
  else if (!in_turn)
    for (auto& x : seats)
      take(x, x.room);
  else
    for (auto more = true; more && count > 0;) {
      more = false;
      for (auto& x : seats)
        more |= take(x, std::min(x.room, turn_of(x, options)));
    }
  // What does not fit is spread evenly, if it may.
  for (auto more = true; more && count > 0;) {
    more = false;
    for (auto& x : seats)
      more |= take(x, 1);
  }
}

void number_ranks(std::vector<node_seat>& seats, uint32_t app, uint32_t& next,
                  rank_policy policy, std::map<uint32_t, node_share>& shares) {
  const auto put = [&](node_seat& x) {
    auto& share = shares[x.node->rank];
    share.node = x.node->rank;
    share.hostname = x.node->name;
    share.procs.push_back({next++, app, {}});
    --x.count;
  };
  const auto in_turn =
    policy == rank_policy::node || policy == rank_policy::span;
  for (auto more = true; more;) {
    more = false;
    for (auto& x : seats) {
      const auto turn = !in_turn                      ? x.count
                        : policy == rank_policy::span ? x.node->objects
                                                      : 1;
      for (auto n = std::min(x.count, turn); n > 0; --n)
        put(x);
      more |= x.count > 0;
    }
  }
}

} // namespace troupe
