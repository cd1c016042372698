// The ways of a NODE to others: whom it dials, whom it lets go, and who passes
// frames on.

#include "actors/mesh/node_state.hpp"

#include <algorithm>

namespace troupe::node_internals {

bool node_actor_state::is_neighbour(uint32_t rank) const {
  if (!membership)
    return false;
  const auto& tree = membership->list().tree();
  const auto own = membership->rank();
  return tree.parent(own) == rank || tree.parent(rank) == own;
}

bool node_actor_state::is_direct(uint32_t rank) const {
  const auto i = peers.find({rank, live(rank)});
  return i != peers.end() && i->second.reach == peer_state::direct;
}

// -- dialling ----------------------------------------------------------------

void dial(self_pointer self, uint32_t rank) {
  auto& state = self->state;
  auto x = dialled_node{};
  if (rank == 0) {
    x.name = state.options.root_name;
    x.addresses = state.options.root_addresses;
  }
  if (const auto* row = state.membership->list().find(rank)) {
    x.name = row->name;
    for (const auto& address : row->addresses)
      if (std::find(x.addresses.begin(), x.addresses.end(), address)
          == x.addresses.end())
        x.addresses.push_back(address);
  }
  auto& known = state.dialled[rank];
  if (x.addresses.empty() || known.addresses == x.addresses)
    return;
  known = x;
  self->send(state.networks,
             reach_node{rank, std::move(x.name), std::move(x.addresses)});
}

void let_go(self_pointer self, uint32_t rank) {
  auto& state = self->state;
  if (state.dialled.erase(rank) > 0)
    self->send(state.networks, release_node{rank});
  state.trouble.erase(rank);
}

namespace {

/// Whether it is ours to dial that node whatever there is to say.
bool is_ours_to_dial(const node_actor_state& state, uint32_t rank) {
  if (state.duty() == node_duty::joining)
    return rank == 0;
  return rank < state.options.rank && state.is_neighbour(rank);
}

/// Sessions beyond the tree that have lanes, or for which we dial.
std::vector<std::pair<steady_time, peer_key>>
guests(const node_actor_state& state) {
  auto result = std::vector<std::pair<steady_time, peer_key>>{};
  for (const auto& [key, peer] : state.peers)
    if (!state.is_neighbour(key.first)
        && (peer.reach == peer_state::direct
            || state.dialled.count(key.first) > 0))
      result.emplace_back(peer.used_at, key);
  std::sort(result.begin(), result.end());
  return result;
}

/// Closes all lanes to a node; its session rests, or goes on through others.
void retire(self_pointer self, const peer_key& key) {
  auto& state = self->state;
  // Dialled or not: this closes its lanes.
  state.dialled.erase(key.first);
  self->send(state.networks, release_node{key.first});
  auto& peer = state.peers.at(key);
  self->send(peer.handle, lane_closed{relay_lane(via_all), "idle"});
}

/// Makes room for one more session with lanes of its own. If there is none, the
/// question costs nothing for a while.
bool has_room(self_pointer self, steady_time now) {
  auto& state = self->state;
  if (now < state.next_room)
    return false;
  const auto all = guests(state);
  if (all.size() < state.options.direct_peers)
    return true;
  if (all.empty() || now < all.front().first + defaults::peer_grace) {
    state.next_room = now + defaults::lane_probe;
    return false;
  }
  retire(self, all.front().second);
  return true;
}

// -- ways through others -----------------------------------------------------

/// Ways aside of the tree that are tried at a time.
constexpr size_t ways_aside = 4;

/// Some of the nodes that are reached directly, others each time.
std::vector<uint32_t> reached_aside(const node_actor_state& state) {
  auto all = std::vector<uint32_t>{};
  for (const auto& [key, peer] : state.peers)
    if (state.is_direct(key.first) && (all.empty() || all.back() != key.first))
      all.push_back(key.first);
  if (all.size() <= ways_aside)
    return all;
  const auto turn = static_cast<size_t>(state.options.clock().time_since_epoch()
                                        / defaults::relay_retry);
  const auto from = turn % all.size() * ways_aside % all.size();
  std::rotate(all.begin(), all.begin() + static_cast<ptrdiff_t>(from),
              all.end());
  all.resize(ways_aside);
  return all;
}

/// Opens lanes through all who may know a way.
void open_relays(self_pointer self, const peer_key& key, known_peer& x) {
  auto& state = self->state;
  const auto rank = key.first;
  const auto& tree = state.membership->list().tree();
  const auto own = state.options.rank;
  const auto open = [&](uint32_t via) {
    auto lane = lane_opened{};
    lane.lane = relay_lane(via);
    lane.rank = rank;
    self->send(x.handle, lane);
  };
  if (const auto next = tree.next_hop(own, rank);
      next && *next != rank && state.is_direct(*next))
    open(via_tree);
  auto ways = std::set<uint32_t>{0};
  if (const auto parent = tree.parent(own))
    ways.insert(*parent);
  if (const auto parent = tree.parent(rank))
    ways.insert(*parent);
  auto is_open = false;
  for (const auto via : ways)
    if (via != own && via != rank && state.is_direct(via)) {
      open(via);
      is_open = true;
    }
  if (is_open || x.is_connected())
    return;
  // The tree leads nowhere, as between a node and its parent: others may reach
  // both.
  for (const auto via : reached_aside(state))
    open(via);
}

/// Dials a node to which frames of another one lead.
void dial_aside(self_pointer self, const peer_key& key) {
  auto& state = self->state;
  const auto now = state.options.clock();
  if (state.dialled.count(key.first) == 0 && has_room(self, now)) {
    obtain(self, key).used_at = now;
    dial(self, key.first);
  }
}

} // namespace

void look_for_way(self_pointer self, const peer_key& key, known_peer& x) {
  auto& state = self->state;
  const auto now = state.options.clock();
  const auto rank = key.first;
  const auto is_live = key.second != 0 && state.live(rank) == key.second;
  const auto is_joining = state.duty() == node_duty::joining;
  if (state.has_left || (!is_live && !is_joining))
    return; // Who is no member comes to us.
  if (state.dialled.count(rank) == 0
      && (is_ours_to_dial(state, rank) || has_room(self, now)))
    dial(self, rank);
  if (!is_live || now < x.next_relay)
    return;
  if (now < x.unreached_since + defaults::relay_delay
      && state.dialled.count(rank) > 0 && state.trouble.count(rank) == 0)
    return;
  x.next_relay = now + defaults::relay_retry;
  open_relays(self, key, x);
}

void update_routes(self_pointer self) {
  auto& state = self->state;
  const auto& tree = state.membership->list().tree();
  auto ranks = tree.children(state.options.rank);
  if (const auto parent = tree.parent(state.options.rank))
    ranks.push_back(*parent);
  for (const auto rank : ranks)
    if (is_ours_to_dial(state, rank)) {
      obtain(self, {rank, state.live(rank)});
      dial(self, rank);
    }
  // Others may have ended, or moved.
  const auto dialled = state.dialled;
  for (const auto& [rank, unused] : dialled)
    if (state.live(rank) != 0)
      dial(self, rank);
    else
      let_go(self, rank);
}

void tend(self_pointer self) {
  auto& state = self->state;
  const auto now = state.options.clock();
  auto dead = std::vector<peer_key>{};
  auto idle = std::vector<peer_key>{};
  for (auto& [key, peer] : state.peers) {
    const auto rank = key.first;
    const auto is_live = state.live(rank) == key.second;
    const auto is_needed = state.is_neighbour(rank)
                           || (state.duty() == node_duty::joining && rank == 0);
    if (!is_live && !is_needed) {
      // A dead one, or one that never joined.
      if (!peer.is_connected() && now >= peer.used_at + defaults::direct_idle)
        dead.push_back(key);
    } else if (is_live && peer.reach != peer_state::direct
               && (is_needed || peer.reach == peer_state::stranded)) {
      look_for_way(self, key, peer);
    } else if (!is_needed
               && (peer.is_connected() || state.dialled.count(rank) > 0)
               && now >= peer.used_at + defaults::direct_idle) {
      idle.push_back(key);
    }
  }
  for (const auto& key : idle)
    retire(self, key);
  for (const auto& key : dead)
    forget(self, key, "it is no member");
  const auto all = guests(state);
  for (size_t i = 0; i + state.options.direct_peers < all.size(); ++i)
    if (now >= all[i].first + defaults::peer_grace)
      retire(self, all[i].second);
}

void route(self_pointer self, relayed_frame x, uint32_t sender) {
  auto& state = self->state;
  const auto own = state.options.rank;
  auto next = std::optional<uint32_t>{};
  if (sender == own) {
    // Never to the end itself: this is how it is reached when it is not.
    next = x.via == via_tree
             ? state.membership->list().tree().next_hop(own, x.to)
             : std::optional{x.via};
    if (next == x.to)
      return;
  } else if (state.is_direct(x.to)) {
    next = x.to;
  } else {
    next = state.membership->list().tree().next_hop(own, x.to);
  }
  if (next == sender) {
    // It asks who may have a way of its own.
    if (const auto live = state.live(x.to); live != 0)
      dial_aside(self, {x.to, live});
    return;
  }
  if (!next || !state.is_direct(*next))
    return;
  auto message = peer_message{};
  // One class for all frames, so that a lane keeps their order.
  message.of = traffic_class::collectives;
  message.incarnation = state.live(*next);
  message.bytes = std::make_shared<const std::string>(to_payload(x));
  message.may_drop = true;
  send_to(self, {*next, message.incarnation}, std::move(message));
}

} // namespace troupe::node_internals
