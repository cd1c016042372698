#include "actors/mesh/node.hpp"

#include "actors/answer.hpp"
#include "actors/mesh/node_state.hpp"
#include "actors/sturdy.hpp"

#include <algorithm>

namespace troupe {

namespace node_internals {

void note(self_pointer self, severity level, const std::string& what) {
  if (self->state.options.log)
    self->state.options.log(level, what);
}

namespace {

constexpr auto leave_poll = std::chrono::milliseconds{2};

/// By which `deadline` says what it is for; larger ones are of ticks.
constexpr auto farewell_timer = uint64_t{0};

/// How long nothing has to be looked at.
node_time rest_of(const node_actor_state& state, node_time now) {
  const auto is_sought = [&](const auto& x) {
    return x.second.reach != peer_state::direct
           && state.live(x.first.first) == x.first.second;
  };
  if (std::any_of(state.peers.begin(), state.peers.end(), is_sought))
    return state.options.membership.times.probe;
  return state.membership->rest(now);
}

} // namespace

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

namespace {

/// Begins once there are a user and networks.
void begin(self_pointer self) {
  auto& state = self->state;
  if (state.membership || !state.user || !state.addresses)
    return;
  auto settings = state.options.membership;
  settings.addresses = *state.addresses;
  state.membership.emplace(std::move(settings));
  state.incarnation = state.membership->incarnation();
  if (!state.membership->is_root())
    dial(self, 0);
  carry_out(self, state.membership->tick(state.options.boot_clock()));
}

void tick(self_pointer self) {
  auto& state = self->state;
  if (state.has_left)
    return;
  const auto due = std::exchange(state.tick_due, std::nullopt);
  carry_out(self, state.membership->tick(state.options.boot_clock(),
                                         due.value_or(node_time{0})));
  tend(self);
  set_tick(self);
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

void finish_leaving(self_pointer self) {
  auto& state = self->state;
  state.has_left = true;
  forget_all(self, "this node leaves the DVM");
  auto ranks = std::vector<uint32_t>{};
  for (const auto& [rank, unused] : state.dialled)
    ranks.push_back(rank);
  for (const auto rank : ranks)
    let_go(self, rank);
  for (auto& x : std::exchange(state.leavers, {}))
    x.give({});
}

/// Whether a daemon that the root has dismissed may still be there.
bool has_company(const node_actor_state& state) {
  if (!state.membership->dismissed().empty())
    return true;
  // Their lanes end with them.
  return std::any_of(state.peers.begin(), state.peers.end(),
                     [](const auto& x) { return x.second.is_connected(); });
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

// -- everything --------------------------------------------------------------

node_actor::behavior_type behavior(self_pointer self,
                                   const node_options& options) {
  self->state.options = options;
  self->state.networks = options.make_networks(lane_owner_actor{self});
  auto handlers = node_actor::behavior_type{
    // -- what comes most often: CAF tries one after another --
    [self](peer_delivery& x) { take_delivery(self, x); },
    [self](send_to_member& x) { tell_member(self, x); },
    // -- from the networks --
    [self](const lane_opened& x) { take_lane(self, x); },
    [](const lane_closed&) {
      // Nothing is kept of a lane that nobody has adopted.
    },
    [self](const lane_failed& x) {
      auto& state = self->state;
      if (state.dialled.count(x.rank) > 0)
        state.trouble[x.rank] = x.address + ": " + x.reason;
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

} // namespace node_internals

node_actor spawn_node(caf::actor_system& sys, node_options options) {
  return sys.spawn(node_internals::behavior, std::move(options));
}

} // namespace troupe
