// How a NODE carries out what its membership decides.

#include "actors/mesh/node_state.hpp"

namespace troupe::node_internals {

namespace {

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

void carry_out(self_pointer self, const node_report& x) {
  auto& state = self->state;
  const auto& what = x.what;
  self->send(state.user, member_changed{x.epoch, what.rank, what.name,
                                        what.incarnation, what.state});
  const auto key = peer_key{what.rank, what.incarnation};
  if (what.state == node_state::live)
    release_early(self, key);
  else
    forget(self, key,
           what.state == node_state::left ? "it has left the DVM"
                                          : "the root has declared it lost");
}

/// Says who is there to who has just joined.
void introduce(self_pointer self) {
  auto& state = self->state;
  state.has_list = true;
  const auto& list = state.membership->list();
  for (const auto& row : list.rows())
    if (row.state == node_state::live)
      self->send(state.user, member_changed{list.epoch(), row.rank, row.name,
                                            row.incarnation, row.state});
  for (const auto& row : list.rows())
    if (row.state == node_state::live)
      release_early(self, {row.rank, row.incarnation});
}

void carry_out(self_pointer self, const node_repair&) {
  if (!self->state.has_list)
    introduce(self);
  update_routes(self);
}

void carry_out(self_pointer self, const duty_changed& x) {
  // Asked to leave, it hears what it knows.
  const auto is_news =
    x.now != node_duty::active && self->state.leavers.empty();
  note(self, is_news ? severity::warning : severity::info, x.reason);
  self->send(self->state.user, mesh_duty_changed{to_mesh(x.now), x.reason});
}

void carry_out(self_pointer self, const node_fenced& x) {
  self->send(self->state.user, member_fenced{x.rank, x.incarnation});
}

void carry_out(self_pointer self, const node_alarm& x) {
  note(self, severity::error, x.text);
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

} // namespace

void carry_out(self_pointer self, node_effects effects) {
  for (const auto& effect : effects)
    std::visit([&](const auto& x) { carry_out(self, x); }, effect);
  set_tick(self);
}

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
    dial(self, 0);
  }
}

} // namespace troupe::node_internals
