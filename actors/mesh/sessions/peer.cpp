#include "actors/mesh/sessions/peer.hpp"

#include "base/lane_kind.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace troupe {

namespace {

struct peer_actor_state {
  static inline const char* name = "peer";

  peer_settings settings;
  networks_actor networks;
  peer_owner_actor owner;
  std::optional<peer_session> session;
  std::optional<message_queue> queue;
  std::optional<message_assembly> assembly;

  /// Classes of which a piece has come through another node, until its message is
  /// complete.
  per_class<bool> is_relayed{};

  /// The incarnation that the session is with: who was meant, or has spoken
  /// first.
  uint64_t pinned = 0;

  /// What is known of lanes to the node, and which lane leads through whom.
  std::map<lane_id, lane_opened> lanes;
  std::map<uint32_t, lane_id> relays;
  uint32_t relay_count = 0;

  peer_state reach = peer_state::resting;

  /// When timers that have been set will fire, the next one last.
  std::vector<steady_time> timers;

  uint64_t last_ticket = 0;
  uint64_t uncertain = 0;

  /// Without content, with room for what calls have the session say.
  peer_effects room;
};

TROUPE_SELF_POINTER(peer_actor, peer_actor_state);

void note(self_pointer self, severity level, const std::string& what) {
  auto& x = self->state.settings;
  if (x.log)
    x.log(level,
          "node " + std::to_string(x.peer.node) + " (" + x.name + "): " + what);
}

void tell(self_pointer self, peer_state what) {
  self->send(self->state.owner, peer_changed{self->state.settings.peer.node,
                                             self->state.pinned, what});
}

// -- effects of the session --------------------------------------------------

void forget_lane(self_pointer self, lane_id lane) {
  auto& state = self->state;
  state.lanes.erase(lane);
  const auto i = state.relays.find(via_of(lane));
  if (is_relay_lane(lane) && i != state.relays.end() && i->second == lane)
    state.relays.erase(i);
}

void note_dropped(self_pointer self, size_t messages) {
  if (messages > 0)
    note(self, severity::debug,
         std::to_string(messages) + " messages are not sent any more");
}

void carry_out(self_pointer self, put_frame& x, peer_effects&) {
  auto& state = self->state;
  const auto& settings = state.settings;
  if (is_relay_lane(x.lane))
    self->send(state.owner, relay_frame{settings.self.node, settings.peer.node,
                                        via_of(x.lane), std::move(x.frame)});
  else
    self->send(state.networks, put_lane_frame{x.lane, std::move(x.frame)});
}

void carry_out(self_pointer self, deliver_message& x, peer_effects& more) {
  auto& state = self->state;
  auto bytes = std::shared_ptr<const std::string>{};
  auto& is_relayed = state.is_relayed[index_of(x.of)];
  is_relayed = is_relayed || !x.is_direct;
  if (!state.assembly->add(x.of, std::move(x.payload), bytes)) {
    note(self, severity::error,
         "sent pieces of a message that do not fit together; its session is "
         "ended");
    state.session->give_up(status::bad_param, state.settings.clock(), more);
    tell(self, peer_state::lost);
  } else if (bytes) {
    self->send(state.owner, peer_delivery{state.settings.peer.node,
                                          state.pinned, x.of, std::move(bytes),
                                          !std::exchange(is_relayed, false)});
  }
}

void carry_out(self_pointer self, complete_send& x, peer_effects&) {
  if (x.outcome != status::success)
    ++self->state.uncertain;
}

void carry_out(self_pointer, offer_credit&, peer_effects&) {
  // Whatever happens, the queue is tried after it.
}

void carry_out(self_pointer self, close_lane& x, peer_effects&) {
  note(self, severity::debug,
       "lane " + std::to_string(x.lane) + " is closed: " + x.reason);
  if (!is_relay_lane(x.lane))
    self->send(self->state.networks, drop_lane{x.lane, x.reason});
  forget_lane(self, x.lane);
}

void carry_out(self_pointer self, report_peer& x, peer_effects&) {
  using change = report_peer::change;
  auto& state = self->state;
  switch (x.what) {
    case change::begun:
      tell(self, peer_state::begun);
      break;
    case change::ended:
    case change::lost:
      state.assembly->clear();
      state.is_relayed = {};
      note_dropped(self, state.queue->cut());
      if (x.what == change::lost)
        note_dropped(self, state.queue->clear());
      tell(self, x.what == change::lost ? peer_state::lost : peer_state::ended);
      break;
    case change::suspected:
      tell(self, peer_state::suspected);
      break;
    case change::heard:
      tell(self, peer_state::heard);
      break;
  }
}

// -- after every call --------------------------------------------------------

bool owes(const peer_actor_state& state) {
  if (state.queue->bytes() > 0)
    return true;
  for (size_t i = 0; i < traffic_classes; ++i)
    if (state.session->unacknowledged_bytes(static_cast<traffic_class>(i)) > 0)
      return true;
  return false;
}

/// Gives the session what it takes.
void flush(self_pointer self, steady_time now, peer_effects& out) {
  auto& state = self->state;
  for (size_t i = 0; i < traffic_classes; ++i) {
    const auto of = static_cast<traffic_class>(i);
    if (state.queue->is_empty(of))
      continue;
    const auto take = [&](const peer_payload& x) {
      return state.session->send(of, ++state.last_ticket, x, now, out)
             == status::success;
    };
    // Before anybody has spoken, whoever is expected is meant.
    const auto peer = state.session->names().peer().of.boot;
    note_dropped(self, state.queue->flush(of, peer, take));
  }
}

peer_state reach_of(const peer_actor_state& state) {
  const auto& lanes = state.session->lanes().all();
  const auto is_direct = [](const lane_state& x) {
    return x.is_usable() && !is_relay_lane(x.id);
  };
  if (std::any_of(lanes.begin(), lanes.end(), is_direct))
    return peer_state::direct;
  if (state.session->is_connected())
    return peer_state::relayed;
  return owes(state) ? peer_state::stranded : peer_state::resting;
}

/// Whether there is nothing to be silent about.
bool is_resting(const peer_actor_state& state) {
  return state.session->lanes().all().empty() && !owes(state);
}

void set_timer(self_pointer self, steady_time now) {
  auto& state = self->state;
  if (is_resting(state))
    return;
  const auto due = std::max(state.session->next_deadline(), now);
  if (due == steady_time::max()
      || (!state.timers.empty() && state.timers.back() <= due))
    return;
  state.timers.push_back(due);
  self->delayed_send(peer_actor{self}, due - now, deadline{});
}

/// Says what became of messages that were on their way when a session ended.
void note_uncertain(self_pointer self) {
  if (const auto n = std::exchange(self->state.uncertain, 0); n > 0)
    note(self, severity::debug,
         std::to_string(n) + " messages may not have arrived");
}

/// Carries out effects in their order, and what follows from them.
void settle(self_pointer self, steady_time now, peer_effects& out) {
  auto& state = self->state;
  for (;;) {
    auto more = peer_effects{};
    for (auto& x : out)
      std::visit([&](auto& y) { carry_out(self, y, more); }, x);
    flush(self, now, more);
    if (more.empty())
      break;
    out = std::move(more);
  }
  note_uncertain(self);
  if (const auto reach = reach_of(state); reach != state.reach) {
    state.reach = reach;
    tell(self, reach);
  }
  set_timer(self, now);
}

/// Effects that a PEER keeps room for between calls: most calls have no more.
constexpr size_t usual_effects = 4;

template <class F>
void call(self_pointer self, F f) {
  auto& state = self->state;
  const auto now = state.settings.clock();
  auto out = std::exchange(state.room, {});
  out.reserve(usual_effects);
  f(*state.session, now, out);
  settle(self, now, out);
  out.clear();
  if (out.capacity() <= 2 * usual_effects)
    state.room = std::move(out);
}

// -- lanes -------------------------------------------------------------------

void open_relay(self_pointer self, uint32_t via) {
  auto& state = self->state;
  if (state.relays.count(via) > 0)
    return;
  const auto lane = relay_lane(via, ++state.relay_count);
  state.relays.emplace(via, lane);
  call(self, [&](auto& session, auto now, auto& out) {
    session.on_lane_up(lane, now, out);
  });
}

void close_lane_of(self_pointer self, lane_id lane) {
  forget_lane(self, lane);
  call(self, [&](auto& session, auto now, auto& out) {
    session.on_lane_down(lane, now, out);
  });
}

/// The owner wants no lanes through others any more.
void close_relays(self_pointer self) {
  const auto relays = self->state.relays;
  for (const auto& [via, lane] : relays)
    close_lane_of(self, lane);
}

/// Whether a frame is the first word of another incarnation than ours.
bool is_strange(self_pointer self, const lane_frame& frame) {
  auto& state = self->state;
  const auto* hello = std::get_if<hello_frame>(&frame);
  if (hello == nullptr || hello->sender.of.node != state.settings.peer.node
      || hello->sender.of.boot == 0)
    return false;
  if (state.pinned == 0) {
    state.pinned = hello->sender.of.boot;
    // Before the owner gets anything that names it.
    tell(self, peer_state::heard);
  }
  return state.pinned != hello->sender.of.boot;
}

void take_frame(self_pointer self, lane_frame_arrived& x) {
  auto& state = self->state;
  const auto i = state.lanes.find(x.lane);
  if (i == state.lanes.end())
    return;
  if (is_strange(self, x.frame)) {
    self->send(state.owner, i->second, std::move(x));
    close_lane_of(self, i->first);
    return;
  }
  call(self, [&](auto& session, auto now, auto& out) {
    session.on_frame(x.lane, std::move(x.frame), now, out);
  });
}

void take_frame(self_pointer self, relay_frame& x) {
  auto& state = self->state;
  if (is_strange(self, x.frame))
    return;
  if (std::holds_alternative<hello_frame>(x.frame))
    open_relay(self, x.relay);
  const auto i = state.relays.find(x.relay);
  if (i == state.relays.end())
    return;
  call(self, [&](auto& session, auto now, auto& out) {
    session.on_frame(i->second, std::move(x.frame), now, out);
  });
}

// -- messages ----------------------------------------------------------------

void take_message(self_pointer self, peer_message& x) {
  auto& state = self->state;
  if (state.queue->push(x)) {
    call(self, [self](auto&, auto now, auto& out) { flush(self, now, out); });
  } else if (!x.may_drop) {
    note(self, severity::error,
         "no room for a message of " + std::to_string(x.bytes->size())
           + " bytes, " + std::to_string(state.queue->bytes())
           + " bytes wait already");
    self->send(
      state.owner,
      peer_changed{state.settings.peer.node, state.pinned, state.reach},
      std::move(x));
  }
}

// -- gauges

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
  result.failovers = counters.failovers;
  result.waiting_bytes = state.queue->bytes();
  for (size_t i = 0; i < traffic_classes; ++i)
    result.waiting_bytes +=
      state.session->unacknowledged_bytes(static_cast<traffic_class>(i));
  return result;
}

// -- everything

peer_actor::behavior_type behavior(self_pointer self, networks_actor networks,
                                   peer_owner_actor owner,
                                   const peer_settings& settings) {
  auto& state = self->state;
  state.settings = settings;
  state.networks = std::move(networks);
  state.owner = std::move(owner);
  state.pinned = settings.peer.boot;
  state.queue.emplace(settings.limits);
  state.assembly.emplace(settings.limits);
  state.session.emplace(settings.self, settings.peer, settings.session,
                        settings.make_token, settings.clock(),
                        settings.first_number);
  return {
    // -- what comes most often: CAF tries one after another --
    [self](lane_frame_arrived& x) { take_frame(self, x); },
    [self](peer_message& x) { take_message(self, x); },
    // -- all others --
    [self](const lane_closed& x) {
      if (x.lane == relay_lane(via_all))
        close_relays(self);
      else
        close_lane_of(self, x.lane);
    },
    [self](const lane_opened& x) {
      if (is_relay_lane(x.lane)) {
        open_relay(self, via_of(x.lane));
        return;
      }
      self->state.lanes.insert_or_assign(x.lane, x);
      call(self, [&](auto& session, auto now, auto& out) {
        session.on_lane_up(x.lane, now, out,
                           lane_tier_of(lane_kind_of(x.local)));
      });
    },
    [self](relay_frame& x) { take_frame(self, x); },
    [self](const close_peer& x) {
      note(self, severity::debug, "its session is ended: " + x.reason);
      self->state.queue->clear();
      call(self, [](auto& session, auto now, auto& out) {
        session.give_up(status::unreach, now, out);
      });
      self->quit();
    },
    [self](get_mesh_status) { return describe(self->state); },
    [self](deadline) {
      auto& state = self->state;
      if (!state.timers.empty())
        state.timers.pop_back();
      if (is_resting(state))
        return;
      call(self, [&](auto& session, auto now, auto& out) {
        session.on_tick(now, out);
      });
    },
  };
}

} // namespace

peer_actor spawn_peer(caf::actor_system& sys, networks_actor networks,
                      peer_owner_actor owner, peer_settings settings) {
  return sys.spawn(behavior, std::move(networks), std::move(owner),
                   std::move(settings));
}

} // namespace troupe
