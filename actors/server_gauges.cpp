// The gauges of the SERVER. Source: guarantees 5.9, LOAD-2.

#include "actors/server_state.hpp"

#include <algorithm>

namespace troupe::server_internals {

gauge_list gauges_of(const server_state& state) {
  auto posted = uint64_t{0};
  for (const auto& [nspace, entry] : state.namespaces)
    posted = std::max<uint64_t>(posted, entry.posted.size_bytes());
  // What processes wait for is bounded by what one connection may have asked
  // and not been answered.
  return {{{"server.posted_by_largest_namespace", posted,
            state.options.posted.namespace_bytes, "bytes"},
           {"server.namespaces", state.namespaces.size(), 0, "namespaces"},
           {"server.sessions", state.sessions.size(),
            state.options.registered->total * defaults::connections_per_rank,
            "connections"},
           {"server.collectives", state.collectives.size(), 0, "operations"},
           {"server.connected", state.connected.size(),
            defaults::connected_sets, "sets"},
           {"server.processes_ended", state.groups.ended().size(),
            state.options.registered->total, "processes"},
           {"server.collective_signatures", state.table.counted(),
            defaults::collective_signatures, "signatures"},
           {"server.group_signatures", state.groups.counted(),
            defaults::collective_signatures, "signatures"},
           {"server.gets", state.gets.size(), 0, "requests"},
           {"server.modexes", state.modexes.size(), 0, "requests"},
           {"server.fetches", state.fetching.size(), 0, "namespaces"}}};
}

} // namespace troupe::server_internals
