// The gauges of a PEER.

#include "actors/mesh/peer_actor_state.hpp"

namespace troupe::peer_internals {

namespace {

lane_status status_of_lane(const peer_actor_state& state, const lane_state& x) {
  auto result = lane_status{};
  result.lane = x.id;
  result.is_usable = x.is_usable();
  if (x.round_trip)
    result.round_trip = *x.round_trip;
  if (is_relay_lane(x.id)) {
    result.network = "relay";
    if (via_of(x.id) != via_tree)
      result.relay = via_of(x.id);
  } else if (const auto i = state.lanes.find(x.id); i != state.lanes.end()) {
    result.network = i->second.network;
    result.local = i->second.local;
    result.remote = i->second.remote;
  }
  return result;
}

} // namespace

peer_status describe(const peer_actor_state& state) {
  auto result = peer_status{};
  result.rank = state.settings.peer.node;
  result.name = state.settings.name;
  result.is_connected = state.session->is_connected();
  for (const auto& x : state.session->lanes().all())
    result.lanes.push_back(status_of_lane(state, x));
  const auto& counters = state.session->counters();
  result.sent = counters.sent;
  result.resent = counters.resent;
  result.delivered = counters.delivered;
  result.duplicates = counters.duplicates;
  result.waiting_bytes = state.queue->bytes();
  for (size_t i = 0; i < traffic_classes; ++i)
    result.waiting_bytes +=
      state.session->unacknowledged_bytes(static_cast<traffic_class>(i));
  return result;
}

} // namespace troupe::peer_internals
