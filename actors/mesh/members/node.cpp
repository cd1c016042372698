#include "actors/mesh/members/node.hpp"

#include "actors/mesh/members/node_routes.hpp"
#include "actors/mesh/sessions/peer.hpp"
#include "base/all_of.hpp"
#include "base/answer.hpp"
#include "base/sturdy.hpp"
#include "config/defaults.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How often a frame may be passed on by nodes between its ends.
inline constexpr uint8_t relay_hops = 64;

/// Messages of an incarnation that has joined, but of which the root's word has
/// not come yet.
inline constexpr size_t early_message_bytes = size_t{64} << 20;

/// Incarnations of one node with a session at a time: one that lives, and some
/// that have to be told that they do not.
inline constexpr size_t incarnations_per_node = 4;

/// How long whoever leaves waits until the root knows.
inline constexpr auto leave_wait = 1s;

/// How long a root that ends waits for its daemons, which end their processes
/// first.
inline constexpr auto root_leave_wait = 10s;

} // namespace defaults

namespace {

constexpr auto leave_poll = std::chrono::milliseconds{2};

/// Number of the `deadline` of a farewell; larger ones are of ticks.
constexpr auto farewell_timer = uint64_t{0};

/// How often the membership hears that somebody lives who says other things.
constexpr auto sign_of_life = std::chrono::milliseconds{50};

/// A session; how it is reached is known to the routes.
struct known_peer {
  peer_actor handle;

  /// Whose it is, by the last lane of its own that it has had.
  std::optional<uint32_t> user;

  /// When the membership was told last that it lives.
  steady_time alive_at;

  /// What it has said before its membership was known here.
  std::deque<peer_delivery> early;
  size_t early_bytes = 0;
};

struct node_actor_state {
  static inline const char* name = "node";

  node_options options;
  networks_actor networks;
  mesh_user_actor user;
  gateway_actor gateway;
  std::optional<std::vector<node_address>> addresses;

  /// There once the node has begun.
  std::optional<node_membership> membership;
  std::optional<node_routes> routes;

  std::map<peer_key, known_peer> peers;

  /// Who asked to join, by the number that stands for it.
  std::map<uint64_t, peer_key> joiners;
  uint64_t last_joiner = 0;

  /// Sessions so far.
  uint64_t last_session = 0;

  /// Our incarnation when the sessions began.
  uint64_t incarnation = 0;
  bool has_list = false;

  /// Who waits for our farewell, and how long.
  std::vector<answer<ack>> leavers;
  steady_time leave_until;
  bool has_left = false;

  /// The next tick: by which `deadline` knows it, and when it is due.
  uint64_t tick_number = 0;
  std::optional<node_time> tick_due;

  node_duty duty() const {
    return membership ? membership->duty() : node_duty::joining;
  }

  /// The incarnation of a live member; 0 if it is none.
  uint64_t live(uint32_t rank) const {
    return routes ? routes->live(rank) : 0;
  }
};

TROUPE_SELF_POINTER(node_actor, node_actor_state);

void carry_out(self_pointer self, node_effects effects);
void take_delivery(self_pointer self, peer_delivery& x);

void note(self_pointer self, severity level, const std::string& what) {
  if (self->state.options.log)
    self->state.options.log(level, what);
}

/// How long nothing has to be looked at.
node_time rest_of(const node_actor_state& state, node_time now) {
  return state.routes->is_seeking() ? state.options.membership.times.probe
                                    : state.membership->rest(now);
}

/// Sees to it that the membership is told the time when it has something to do.
void set_tick(self_pointer self) {
  auto& state = self->state;
  if (!state.membership || state.has_left)
    return;
  const auto now = state.options.boot_clock();
  const auto due = now + rest_of(state, now);
  if (state.tick_due && *state.tick_due <= due)
    return;
  // One that was set before comes for nothing.
  state.tick_due = due;
  self->delayed_send(node_actor{self}, due - now,
                     deadline{farewell_timer + ++state.tick_number});
}

// -- sessions ----------------------------------------------------------------

/// Name of a rank in the list of nodes; null if it is not known here.
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
  state.routes->rename(unnamed, key);
}

/// The session with an incarnation; 0: with whoever answers.
known_peer& obtain(self_pointer self, const peer_key& key) {
  auto& state = self->state;
  const auto i = state.peers.find(state.routes->find(key));
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
  state.routes->add(key, options.clock());
  return result;
}

/// Sends a payload to an incarnation.
void send_to(self_pointer self, const peer_key& to, peer_message what) {
  auto& state = self->state;
  self->send(obtain(self, to).handle, std::move(what));
  state.routes->use(to, state.options.clock());
}

/// Ends a session.
void forget(self_pointer self, const peer_key& key, const std::string& why) {
  auto& state = self->state;
  const auto i = state.peers.find(key);
  if (i != state.peers.end()) {
    self->unlink_from(i->second.handle);
    self->send(i->second.handle, close_peer{why});
    state.peers.erase(i);
  }
  state.routes->remove(key);
}

void forget_all(self_pointer self, const std::string& why) {
  auto keys = std::vector<peer_key>{};
  for (const auto& [key, peer] : self->state.peers)
    keys.push_back(key);
  for (const auto& key : keys)
    forget(self, key, why);
}

// -- lanes -------------------------------------------------------------------

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

void adopt(self_pointer self, const peer_key& key, const lane_opened& lane) {
  auto& peer = obtain(self, key);
  peer.user = lane.user;
  self->send(peer.handle, lane);
  self->send(self->state.networks, lane.lane,
             caf::actor_cast<lane_user_actor>(peer.handle));
}

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
      && state.routes->count(lane.rank) >= defaults::incarnations_per_node) {
    refuse("too many daemons speak for the node: end all but one");
    return;
  }
  adopt(self, key, lane);
  self->send(state.peers.at(key).handle, std::move(first));
  if (const auto& porter = self->current_sender())
    self->send(caf::actor_cast<lane_user_actor>(porter),
               lane_closed{lane.lane, "another has it"});
}

// -- what the membership wants -----------------------------------------------

mesh_duty to_mesh(node_duty x) {
  switch (x) {
    case node_duty::joining:
      return mesh_duty::joining;
    case node_duty::active:
      return mesh_duty::active;
    case node_duty::suspended:
      return mesh_duty::suspended;
    case node_duty::fenced:
      break;
  }
  return mesh_duty::fenced;
}

void send_node_message(self_pointer self, const peer_key& to,
                       const node_message& what) {
  auto message = peer_message{};
  message.of = traffic_class::membership;
  message.incarnation = to.second;
  message.bytes = std::make_shared<const std::string>(to_payload(what));
  send_to(self, to, std::move(message));
}

void carry_out(self_pointer self, const send_to_node& x) {
  send_node_message(self, {x.rank, x.incarnation}, x.what);
}

void carry_out(self_pointer self, const answer_join& x) {
  auto& state = self->state;
  const auto i = state.joiners.find(x.via);
  if (i == state.joiners.end())
    return;
  const auto to = i->second;
  state.joiners.erase(i);
  if (state.peers.count(to) > 0)
    send_node_message(self, to, x.what);
}

/// Gives the user what an incarnation said before it was known.
void release_early(self_pointer self, const peer_key& key) {
  const auto i = self->state.peers.find(key);
  if (i == self->state.peers.end())
    return;
  auto early = std::exchange(i->second.early, {});
  i->second.early_bytes = 0;
  for (auto& x : early)
    take_delivery(self, x);
}

/// What others say does not wait behind what this node's actors send.
template <class T>
void tell_gateway(self_pointer self, T&& x) {
  self->send<caf::message_priority::high>(self->state.gateway,
                                          std::forward<T>(x));
}

void tell_users(self_pointer self, const member_changed& x) {
  self->send(self->state.user, x);
  if (self->state.gateway)
    tell_gateway(self, x);
}

void carry_out(self_pointer self, const node_report& x) {
  const auto& what = x.what;
  tell_users(self,
             {x.epoch, what.rank, what.name, what.incarnation, what.state});
  const auto key = peer_key{what.rank, what.incarnation};
  if (what.state == node_state::live)
    release_early(self, key);
  else
    forget(self, key,
           what.state == node_state::left ? "it has left the DVM"
                                          : "the root has declared it lost");
}

/// Tells the gateway of all members that they are in a state.
void tell_gateway_of_all(self_pointer self, node_state what) {
  const auto& list = self->state.membership->list();
  for (const auto& row : list.rows())
    if (row.state == node_state::live)
      tell_gateway(self, member_changed{list.epoch(), row.rank, row.name,
                                        row.incarnation, what});
}

/// Says who is there to who has just joined.
void introduce(self_pointer self) {
  auto& state = self->state;
  state.has_list = true;
  const auto& list = state.membership->list();
  for (const auto& row : list.rows())
    if (row.state == node_state::live)
      tell_users(
        self, {list.epoch(), row.rank, row.name, row.incarnation, row.state});
  for (const auto& row : list.rows())
    if (row.state == node_state::live)
      release_early(self, {row.rank, row.incarnation});
}

void carry_out(self_pointer self, const node_repair&) {
  if (!self->state.has_list)
    introduce(self);
  self->state.routes->update();
}

void carry_out(self_pointer self, const duty_changed& x) {
  // Asked to leave, it hears what it knows.
  const auto is_news =
    x.now != node_duty::active && self->state.leavers.empty();
  note(self, is_news ? severity::warning : severity::info, x.reason);
  self->send(self->state.user, mesh_duty_changed{to_mesh(x.now), x.reason});
  // A node that is out of its DVM reaches nobody any more.
  if (x.now == node_duty::fenced && self->state.gateway)
    tell_gateway_of_all(self, node_state::lost);
}

void carry_out(self_pointer self, const node_fenced& x) {
  self->send(self->state.user, member_fenced{x.rank, x.incarnation});
}

void carry_out(self_pointer self, const node_alarm& x) {
  note(self, severity::error, x.text);
}

void carry_out(self_pointer self, node_effects effects) {
  for (const auto& effect : effects)
    std::visit([&](const auto& x) { carry_out(self, x); }, effect);
  set_tick(self);
}

void take_join(self_pointer self, const peer_key& from, const node_join& x) {
  auto& state = self->state;
  const auto& names = state.options.membership.names;
  // A node speaks for itself: its certificate says who it is.
  if (from.first >= names.size() || names[from.first] != x.name
      || from.second != x.incarnation) {
    note(self, severity::error,
         "node " + std::to_string(from.first) + " asks to join as " + x.name
           + ", which it is not: refused");
    return;
  }
  for (auto i = state.joiners.begin(); i != state.joiners.end();)
    i = i->second == from ? state.joiners.erase(i) : std::next(i);
  const auto via = ++state.last_joiner;
  state.joiners.emplace(via, from);
  carry_out(self, state.membership->join(x, via, state.options.boot_clock()));
}

/// Asks to join anew, or passes a question on to the membership.
void take_node_message(self_pointer self, const peer_key& from,
                       node_message what) {
  auto& membership = *self->state.membership;
  if (const auto* join = std::get_if<node_join>(&what);
      join != nullptr && membership.is_root())
    take_join(self, from, *join);
  else
    carry_out(self, membership.receive(from.first, from.second, std::move(what),
                                       self->state.options.boot_clock()));
  auto& known = self->state.incarnation;
  if (membership.incarnation() != known) {
    // The root knows a later one: we are somebody else from here on.
    known = membership.incarnation();
    forget_all(self, "this daemon takes a later incarnation");
    self->state.routes->dial(0);
  }
}

// -- what sessions report ----------------------------------------------------

void take_change(self_pointer self, const peer_changed& x) {
  auto& state = self->state;
  const auto key = peer_key{x.rank, x.incarnation};
  rename(state, key);
  const auto i = state.peers.find(key);
  if (i == state.peers.end() || !state.membership)
    return;
  switch (x.now) {
    case peer_state::begun:
      carry_out(self, state.membership->met(x.rank, x.incarnation,
                                            state.options.boot_clock()));
      break;
    case peer_state::ended:
      note(self, severity::info,
           "node " + std::to_string(x.rank) + " has begun another session");
      i->second.early.clear();
      i->second.early_bytes = 0;
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
      state.routes->reached(key, x.now, state.options.clock());
      break;
  }
}

// -- what sessions bring -----------------------------------------------------

/// Whether a message comes from a member. Keeps it if we have not heard yet that
/// its sender is one.
bool admits(self_pointer self, peer_delivery& x) {
  const auto& membership = *self->state.membership;
  if (membership.accepts(x.rank, x.incarnation))
    return true;
  if (membership.duty() == node_duty::fenced
      || membership.list().is_dead(x.rank, x.incarnation))
    return false;
  // It has heard of its joining before us.
  auto& peer = obtain(self, {x.rank, x.incarnation});
  if (peer.early_bytes + x.bytes->size() > defaults::early_message_bytes) {
    forget(self, {x.rank, x.incarnation},
           "it says too much before it is known to be a member");
    return false;
  }
  peer.early_bytes += x.bytes->size();
  peer.early.push_back(std::move(x));
  return false;
}

void take_host_message(self_pointer self, peer_delivery& x,
                       host_message& what) {
  if (admits(self, x))
    self->send(self->state.user,
               member_message{x.rank, x.incarnation, std::move(what)});
}

/// Members are trusted not to make up what they pass on, but with nothing that a
/// user would keep from others: what they pass on is nobody's.
void take_bundle(self_pointer self, peer_delivery& x,
                 std::optional<uint32_t> user) {
  if (!x.is_direct)
    user.reset();
  if (self->state.gateway && admits(self, x))
    tell_gateway(self,
                 actor_bundle{x.rank, x.incarnation, std::move(x.bytes), user});
}

/// Passes a frame on to the next node on its way, or drops it.
/// @param sender The neighbour that it came from; this node if it begins here.
void route(self_pointer self, relayed_frame x, uint32_t sender) {
  auto& state = self->state;
  const auto to = state.routes->next_of(x, sender, state.options.clock());
  if (!to)
    return;
  auto message = peer_message{};
  message.of = class_on_relays(x.frame);
  message.incarnation = to->second;
  message.bytes = std::make_shared<const std::string>(to_payload(x));
  message.may_drop = true;
  send_to(self, *to, std::move(message));
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

/// Whatever a node sends shows that it lives: silence begins with the last of it,
/// not with the last question of ours. It is told rarely, since much is sent.
void note_alive(self_pointer self, const peer_key& key, known_peer& x) {
  auto& state = self->state;
  const auto now = state.options.clock();
  state.routes->heard(key, now);
  if (now < x.alive_at + sign_of_life)
    return;
  x.alive_at = now;
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
  if (is_for_gateway(*x.bytes)) {
    note_alive(self, key, i->second);
    take_bundle(self, x, i->second.user);
    return;
  }
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

/// Fails the call that a session had no room for.
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

// -- the host ----------------------------------------------------------------

void tell_member(self_pointer self, send_to_member& x) {
  auto& state = self->state;
  const auto incarnation = state.live(x.rank);
  if (incarnation == 0 || state.has_left
      || (x.incarnation != 0 && x.incarnation != incarnation)
      || state.duty() == node_duty::fenced)
    return; // Whoever asked hears of the member's end.
  if (x.rank == state.options.rank) {
    self->send(state.user,
               member_message{x.rank, incarnation, std::move(x.what)});
    return;
  }
  auto message = peer_message{};
  message.of = x.of;
  message.incarnation = incarnation;
  message.bytes = std::make_shared<const std::string>(to_payload(x.what));
  send_to(self, {x.rank, incarnation}, std::move(message));
}

// -- the gateway -------------------------------------------------------------

void take_gateway(self_pointer self, const gateway_actor& x) {
  auto& state = self->state;
  state.gateway = x;
  if (state.has_list && state.duty() != node_duty::fenced)
    tell_gateway_of_all(self, node_state::live);
}

void send_bundle(self_pointer self, actor_bundle& x) {
  auto& state = self->state;
  const auto key = peer_key{x.rank, x.incarnation};
  if (state.live(x.rank) != x.incarnation || x.rank == state.options.rank
      || state.has_left || state.duty() == node_duty::fenced)
    return; // The gateway hears of the member's end.
  send_to(self, key,
          {traffic_class::actors, x.incarnation, std::move(x.bytes)});
}

void finish_leaving(self_pointer self) {
  auto& state = self->state;
  state.has_left = true;
  forget_all(self, "this node leaves the DVM");
  state.routes->stop();
  for (auto& x : std::exchange(state.leavers, {}))
    x.give({});
}

/// Whether a daemon that the root has dismissed may still be there.
bool has_company(const node_actor_state& state) {
  if (!state.membership->dismissed().empty())
    return true;
  // Their lanes end with them.
  return state.routes->is_connected();
}

/// Waits until the root has our farewell, and the root for those of all others.
void await_farewell(self_pointer self) {
  auto& state = self->state;
  if (state.membership->is_root()) {
    if (!has_company(state) || state.options.clock() >= state.leave_until)
      finish_leaving(self);
    else
      self->delayed_send(node_actor{self}, leave_poll,
                         deadline{farewell_timer});
    return;
  }
  const auto i = state.peers.find({0, state.live(0)});
  if (i == state.peers.end() || state.options.clock() >= state.leave_until) {
    finish_leaving(self);
    return;
  }
  self->request(i->second.handle, defaults::leave_wait, get_mesh_status{})
    .then(
      [self](const peer_status& x) {
        if (x.waiting_bytes == 0)
          finish_leaving(self);
        else
          self->delayed_send(node_actor{self}, leave_poll,
                             deadline{farewell_timer});
      },
      [self](const caf::error&) { finish_leaving(self); });
}

caf::result<ack> leave(self_pointer self) {
  auto& state = self->state;
  auto promise = self->make_response_promise<ack>();
  auto reply = answer<ack>{promise};
  if (!state.membership || state.has_left) {
    reply.give({});
    return promise;
  }
  state.leavers.push_back(std::move(reply));
  if (state.leavers.size() > 1)
    return promise;
  const auto patience = state.membership->is_root()
                          ? steady_duration{defaults::root_leave_wait}
                          : steady_duration{defaults::leave_wait};
  state.leave_until = state.options.clock() + patience;
  carry_out(self, state.membership->end(state.options.boot_clock()));
  await_farewell(self);
  return promise;
}

// -- gauges ------------------------------------------------------------------

caf::result<mesh_status> describe(self_pointer self) {
  const auto& state = self->state;
  auto promise = self->make_response_promise<mesh_status>();
  const auto all = all_of<mesh_status>{
    {}, [promise](mesh_status& x) mutable { promise.deliver(std::move(x)); }};
  auto& result = *all;
  result.rank = state.options.rank;
  result.name = state.options.membership.name;
  result.duty = to_mesh(state.duty());
  if (state.addresses)
    result.addresses = *state.addresses;
  if (state.membership) {
    const auto& list = state.membership->list();
    result.incarnation = state.membership->incarnation();
    result.epoch = list.epoch();
    result.members = list.rows();
    result.parent = list.tree().parent(state.options.rank);
  }
  for (const auto& [key, peer] : state.peers) {
    all.add();
    self->request(peer.handle, defaults::leave_wait, get_mesh_status{})
      .then(
        [all, why = state.routes->trouble_of(key.first),
         window = state.options.session.window](peer_status& y) {
          y.trouble = why;
          all->gauges.push_back(
            {"mesh.to." + y.name, y.waiting_bytes,
             defaults::peer_queue + traffic_classes * window, "bytes"});
          all->peers.push_back(std::move(y));
          all.done();
        },
        [all](const caf::error&) { all.done(); });
  }
  all.done();
  return promise;
}

// -- everything --------------------------------------------------------------

node_routes::effects effects_of(self_pointer self) {
  auto out = node_routes::effects{};
  out.reach = [self](reach_node x) {
    self->send(self->state.networks, std::move(x));
  };
  out.release = [self](uint32_t rank) {
    self->send(self->state.networks, release_node{rank});
  };
  out.begin = [self](const peer_key& key) { obtain(self, key); };
  out.end = [self](const peer_key& key, const char* why) {
    forget(self, key, why);
  };
  out.open_relay = [self](const peer_key& key, uint32_t via) {
    auto lane = lane_opened{};
    lane.lane = relay_lane(via);
    lane.rank = key.first;
    self->send(self->state.peers.at(key).handle, lane);
  };
  out.close_relays = [self](const peer_key& key) {
    self->send(self->state.peers.at(key).handle,
               lane_closed{relay_lane(via_all), "idle"});
  };
  return out;
}

/// Begins once there are a user and networks.
void begin(self_pointer self) {
  auto& state = self->state;
  if (state.membership || !state.user || !state.addresses)
    return;
  auto settings = state.options.membership;
  settings.addresses = *state.addresses;
  state.membership.emplace(std::move(settings));
  state.incarnation = state.membership->incarnation();
  const auto& options = state.options;
  state.routes.emplace(node_routes::settings{options.rank, options.root_name,
                                             options.root_addresses,
                                             options.direct_peers},
                       *state.membership, effects_of(self));
  if (!state.membership->is_root())
    state.routes->dial(0);
  carry_out(self, state.membership->tick(state.options.boot_clock()));
}

void tick(self_pointer self) {
  auto& state = self->state;
  if (state.has_left)
    return;
  const auto due = std::exchange(state.tick_due, std::nullopt);
  carry_out(self, state.membership->tick(state.options.boot_clock(),
                                         due.value_or(node_time{0})));
  state.routes->tend(state.options.clock());
  set_tick(self);
}

node_actor::behavior_type behavior(self_pointer self,
                                   const node_options& options) {
  self->state.options = options;
  self->state.networks = options.make_networks(lane_owner_actor{self});
  auto handlers = node_actor::behavior_type{
    // -- what comes most often: CAF tries one after another --
    [self](peer_delivery& x) { take_delivery(self, x); },
    [self](send_to_member& x) { tell_member(self, x); },
    [self](actor_bundle& x) { send_bundle(self, x); },
    // -- from the networks --
    [self](const lane_opened& x) { take_lane(self, x); },
    [](const lane_closed&) {
      // Nothing is kept of a lane that nobody has adopted.
    },
    [self](const lane_failed& x) {
      if (auto& routes = self->state.routes)
        routes->note_trouble(x.rank, x.address + ": " + x.reason);
    },
    [self](networks_changed& x) {
      auto& state = self->state;
      state.addresses = std::move(x.addresses);
      if (state.membership)
        carry_out(self, state.membership->moved(*state.addresses,
                                                state.options.boot_clock()));
      else
        begin(self);
    },
    // -- from the host --
    [self](const mesh_user_actor& x) {
      self->state.user = x;
      begin(self);
    },
    [self](const gateway_actor& x) { take_gateway(self, x); },
    [self](leave_mesh) { return leave(self); },
    [self](const declare_member_lost& x) {
      auto& state = self->state;
      if (!state.membership)
        return;
      note(self, severity::warning,
           "node " + std::to_string(x.rank) + " is lost: " + x.reason);
      carry_out(self, state.membership->declare_lost(
                        x.rank, x.is_certain, state.options.boot_clock()));
    },
    [self](get_mesh_status) { return describe(self); },
    // -- from its peers --
    [self](const peer_changed& x) {
      take_change(self, x);
      set_tick(self);
    },
    [self](relay_frame& x) {
      if (self->state.membership)
        route(self, relayed_frame{x.from, x.to, x.relay, 0, std::move(x.frame)},
              self->state.options.rank);
    },
    [self](const lane_opened& lane, lane_frame_arrived& first) {
      take_strange_lane(self, lane, first);
    },
    [self](const peer_changed& peer, const peer_message& x) {
      take_refusal(self, peer, x);
    },
    [self](const deadline& x) {
      if (x.id == farewell_timer)
        await_farewell(self);
      else if (x.id == self->state.tick_number)
        tick(self);
    },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

node_actor spawn_node(caf::actor_system& sys, node_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
