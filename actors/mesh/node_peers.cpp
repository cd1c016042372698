// The sessions of a NODE: with whom, over which lanes, and what they bring.

#include "actors/mesh/node_state.hpp"

namespace troupe::node_internals {

namespace {

/// How often the membership hears that somebody lives who says other things.
constexpr auto sign_of_life = std::chrono::milliseconds{50};

// -- lanes of nobody yet -----------------------------------------------------

struct porter_state {
  static inline const char* name = "porter";
};

/// Waits for the first frame of a lane, which says which incarnation speaks.
lane_user_actor::behavior_type
porter(lane_user_actor::stateful_pointer<porter_state> self,
       const peer_owner_actor& owner, const lane_opened& lane) {
  return {
    [=](lane_frame_arrived& x) {
      // The lane ends with its user: it stays until another one has it.
      self->send(owner, lane, std::move(x));
    },
    [=](const lane_closed&) { self->quit(); },
  };
}

std::string label_of(const lane_opened& lane) {
  return "node " + std::to_string(lane.rank) + " (" + lane.name + ") at "
         + lane.remote;
}

/// What the list of nodes calls a rank; nothing if it is not known here.
const std::string* name_of(const node_actor_state& state, uint32_t rank) {
  const auto& options = state.options;
  const auto& names = options.membership.names;
  if (rank < names.size())
    return &names[rank];
  if (state.membership)
    if (const auto* row = state.membership->list().find(rank))
      return &row->name;
  return rank == 0 && !options.root_name.empty() ? &options.root_name : nullptr;
}

void adopt(self_pointer self, const peer_key& key, const lane_opened& lane) {
  const auto& peer = obtain(self, key);
  self->send(peer.handle, lane);
  self->send(self->state.networks, lane.lane,
             caf::actor_cast<lane_user_actor>(peer.handle));
}

/// A session whose other side has told who it is.
void rename(node_actor_state& state, const peer_key& key) {
  const auto unnamed = peer_key{key.first, 0};
  if (key.second == 0 || state.peers.count(key) > 0)
    return;
  auto node = state.peers.extract(unnamed);
  if (node.empty())
    return;
  node.key() = key;
  state.peers.insert(std::move(node));
}

size_t incarnations(const node_actor_state& state, uint32_t rank) {
  const auto first = state.peers.lower_bound({rank, 0});
  const auto last = state.peers.upper_bound({rank, UINT64_MAX});
  return static_cast<size_t>(std::distance(first, last));
}

} // namespace

known_peer& obtain(self_pointer self, const peer_key& key) {
  auto& state = self->state;
  auto i = state.peers.find(key);
  if (i == state.peers.end() && key.second == 0) {
    // Whoever answers: the latest that we know.
    const auto last = state.peers.upper_bound({key.first, UINT64_MAX});
    if (last != state.peers.begin()
        && std::prev(last)->first.first == key.first)
      i = std::prev(last);
  }
  if (i != state.peers.end())
    return i->second;
  const auto& options = state.options;
  auto settings = peer_settings{};
  settings.self = {options.rank, state.membership->incarnation()};
  settings.peer = {key.first, key.second};
  if (const auto* name = name_of(state, key.first))
    settings.name = *name;
  settings.session = options.session;
  settings.limits = options.limits;
  settings.clock = options.clock;
  settings.make_token = options.make_token;
  // A session that ends counts on by itself: the next one is beyond that.
  settings.first_number = ++state.last_session << 32;
  settings.log = options.log;
  auto& result = state.peers[key];
  result.handle =
    spawn_peer(self->home_system(), state.networks, self, std::move(settings));
  self->link_to(result.handle);
  result.used_at = result.unreached_since = options.clock();
  return result;
}

void send_to(self_pointer self, const peer_key& to, peer_message what) {
  auto& peer = obtain(self, to);
  peer.used_at = self->state.options.clock();
  self->send(peer.handle, std::move(what));
  if (!peer.is_connected())
    look_for_way(self, to, peer);
}

void forget(self_pointer self, const peer_key& key, const std::string& why) {
  auto& state = self->state;
  const auto i = state.peers.find(key);
  if (i != state.peers.end()) {
    self->unlink_from(i->second.handle);
    self->send(i->second.handle, close_peer{why});
    state.peers.erase(i);
  }
  if (state.live(key.first) == 0 && incarnations(state, key.first) == 0)
    let_go(self, key.first);
}

void forget_all(self_pointer self, const std::string& why) {
  auto keys = std::vector<peer_key>{};
  for (const auto& [key, peer] : self->state.peers)
    keys.push_back(key);
  for (const auto& key : keys)
    forget(self, key, why);
}

// -- lanes -------------------------------------------------------------------

void take_lane(self_pointer self, const lane_opened& lane) {
  auto& state = self->state;
  const auto* name = name_of(state, lane.rank);
  if (!state.membership || state.has_left || lane.rank == state.options.rank
      || (name != nullptr && *name != lane.name)
      || (name == nullptr && state.membership->is_root())) {
    note(self, severity::warning,
         "a lane from " + label_of(lane)
           + " is refused: the list of nodes has no such node");
    self->send(state.networks, drop_lane{lane.lane, "no such node"});
    return;
  }
  // Whoever dials speaks first, and says so who it is: the node may have been
  // started anew, earlier or later than those that we know.
  const auto incarnation = state.live(lane.rank);
  if (!lane.is_dialled)
    self->send(state.networks, lane.lane,
               self->home_system().spawn(porter, peer_owner_actor{self}, lane));
  else if (incarnation != 0 || state.duty() == node_duty::joining)
    adopt(self, {lane.rank, incarnation}, lane);
  else
    self->send(state.networks, drop_lane{lane.lane, "it is no member now"});
}

void take_strange_lane(self_pointer self, const lane_opened& lane,
                       lane_frame_arrived& first) {
  auto& state = self->state;
  const auto* hello = std::get_if<hello_frame>(&first.frame);
  const auto refuse = [&](const char* why) {
    note(self, severity::warning,
         "a lane from " + label_of(lane) + " is closed: " + why);
    self->send(state.networks, drop_lane{lane.lane, why});
  };
  if (hello == nullptr || hello->sender.of.node != lane.rank
      || hello->sender.of.boot == 0) {
    refuse("it does not begin with a hello of its node");
    return;
  }
  // A session that has not heard yet who answers will hear it here: were there
  // another one, two of ours would replace each other at the peer.
  const auto unnamed = peer_key{lane.rank, 0};
  auto key = peer_key{lane.rank, hello->sender.of.boot};
  if (state.peers.count(key) == 0 && state.peers.count(unnamed) > 0)
    key = unnamed;
  if (state.peers.count(key) == 0
      && incarnations(state, lane.rank) >= defaults::incarnations_per_node) {
    refuse("too many daemons speak for the node: end all but one");
    return;
  }
  adopt(self, key, lane);
  self->send(state.peers.at(key).handle, std::move(first));
  if (const auto& porter = self->current_sender())
    self->send(caf::actor_cast<lane_user_actor>(porter),
               lane_closed{lane.lane, "another has it"});
}

// -- what sessions report ----------------------------------------------------

void take_change(self_pointer self, const peer_changed& x) {
  auto& state = self->state;
  const auto key = peer_key{x.rank, x.incarnation};
  rename(state, key);
  const auto i = state.peers.find(key);
  if (i == state.peers.end() || !state.membership)
    return;
  auto& peer = i->second;
  const auto now = state.options.clock();
  switch (x.now) {
    case peer_state::begun:
      peer.has_begun = true;
      carry_out(self, state.membership->met(x.rank, x.incarnation,
                                            state.options.boot_clock()));
      break;
    case peer_state::ended:
      note(self, severity::info,
           "node " + std::to_string(x.rank) + " has begun another session");
      peer.early.clear();
      peer.early_bytes = 0;
      break;
    case peer_state::heard:
      break;
    case peer_state::lost:
      note(self, severity::error,
           "node " + std::to_string(x.rank)
             + " is a member but cannot be reached: what was sent to it is "
               "lost");
      [[fallthrough]];
    case peer_state::suspected:
      carry_out(
        self, state.membership->lost_route(x.rank, state.options.boot_clock()));
      break;
    case peer_state::direct:
    case peer_state::relayed:
    case peer_state::stranded:
    case peer_state::resting:
      if (peer.reach == peer_state::direct || peer.reach == peer_state::resting)
        peer.unreached_since = now;
      peer.reach = x.now;
      if (x.now == peer_state::direct)
        state.trouble.erase(x.rank);
      else if (x.now == peer_state::stranded)
        look_for_way(self, key, peer);
      break;
  }
}

// -- what sessions bring -----------------------------------------------------

namespace {

void take_host_message(self_pointer self, peer_delivery& x,
                       host_message& what) {
  auto& state = self->state;
  const auto& membership = *state.membership;
  if (membership.accepts(x.rank, x.incarnation)) {
    self->send(state.user,
               member_message{x.rank, x.incarnation, std::move(what)});
    return;
  }
  if (membership.duty() == node_duty::fenced
      || membership.list().is_dead(x.rank, x.incarnation))
    return;
  // It has heard of its joining before us.
  auto& peer = obtain(self, {x.rank, x.incarnation});
  if (peer.early_bytes + x.bytes->size() > defaults::early_message_bytes) {
    forget(self, {x.rank, x.incarnation},
           "it says too much before it is known to be a member");
    return;
  }
  peer.early_bytes += x.bytes->size();
  peer.early.push_back(std::move(x));
}

void take_relayed(self_pointer self, const peer_key& from, relayed_frame& x) {
  auto& state = self->state;
  if (!state.membership->accepts(from.first, from.second)
      || x.from == state.options.rank || x.hops >= defaults::relay_hops)
    return;
  ++x.hops;
  if (x.to != state.options.rank) {
    route(self, std::move(x), from.first);
    return;
  }
  const auto origin = state.live(x.from);
  if (origin == 0)
    return;
  const auto& peer = obtain(self, {x.from, origin});
  self->send(peer.handle, relay_frame{x.from, x.to, x.via, std::move(x.frame)});
}

} // namespace

/// Whatever somebody sends shows that he lives: silence begins with the last of it,
/// not with the last question of ours. It is told rarely, since much is sent.
void note_alive(self_pointer self, const peer_key& key, known_peer& x) {
  auto& state = self->state;
  x.used_at = state.options.clock();
  if (x.used_at < x.alive_at + sign_of_life)
    return;
  x.alive_at = x.used_at;
  carry_out(self, state.membership->note_alive(key.first, key.second,
                                               state.options.boot_clock()));
}

void take_delivery(self_pointer self, peer_delivery& x) {
  auto& state = self->state;
  const auto key = peer_key{x.rank, x.incarnation};
  rename(state, key);
  const auto i = state.peers.find(key);
  if (i == state.peers.end() || !state.membership || state.has_left)
    return; // Of a session that we have ended.
  auto payload = read_payload(*x.bytes);
  if (!payload) {
    note(self, severity::error,
         "node " + std::to_string(x.rank) + " has sent "
           + reason_of(payload.error()) + ": dropped");
    return;
  }
  if (auto* node = std::get_if<node_message>(&*payload)) {
    take_node_message(self, key, std::move(*node));
  } else if (auto* host = std::get_if<host_message>(&*payload)) {
    note_alive(self, key, i->second);
    take_host_message(self, x, *host);
  } else if (auto* relayed = std::get_if<relayed_frame>(&*payload)) {
    note_alive(self, key, i->second);
    take_relayed(self, key, *relayed);
  }
}

void take_refusal(self_pointer self, const peer_changed& peer,
                  const peer_message& x) {
  auto payload = read_payload(*x.bytes);
  const auto* host = payload ? std::get_if<host_message>(&*payload) : nullptr;
  const auto* call = host != nullptr ? std::get_if<host_call>(host) : nullptr;
  if (call == nullptr)
    return;
  auto why =
    mesh_failure{status::out_of_resource, "node " + std::to_string(peer.rank)
                                            + " takes less than it is sent"};
  self->send(self->state.user,
             member_message{peer.rank, peer.incarnation,
                            host_answer{call->number, std::move(why)}});
}

void release_early(self_pointer self, const peer_key& key) {
  const auto i = self->state.peers.find(key);
  if (i == self->state.peers.end())
    return;
  auto early = std::exchange(i->second.early, {});
  i->second.early_bytes = 0;
  for (auto& x : early)
    take_delivery(self, x);
}

} // namespace troupe::node_internals
