#include "actors/mesh/mesh_host_state.hpp"

// The host as a member of its DVM: who else is one, and what it may do.

namespace troupe::mesh_internals {

namespace {

/// Notes which incarnation of a node lives.
/// @returns whether the one that lived does not any more.
bool note_life(mesh_host_state& state, const member_changed& what) {
  const auto i = state.lives.find(what.rank);
  const auto known = i != state.lives.end() ? i->second : 0;
  if (what.state == node_state::live) {
    state.lives[what.rank] = what.incarnation;
    return known != 0 && known != what.incarnation;
  }
  if (what.state == node_state::expected || known != what.incarnation)
    return false;
  state.lives.erase(i);
  return known != 0;
}

/// Tells the root, once it can be asked, what this node offers: whether it is a
/// member, and whether it may work, are heard in any order.
void tell_resources(self_pointer self) {
  const auto& state = self->state;
  if (!state.is_root() && state.duty == mesh_duty::active
      && state.calls->is_live(0))
    ask(self, 0, node_resources{state.options.slots},
        [](const caf::expected<host_reply>&) {
          // A root that is gone needs to know nothing.
        });
}

} // namespace

void change_member(self_pointer self, const member_changed& what) {
  auto& state = self->state;
  // Before anything else is decided: whoever comes back is another one.
  const auto is_over = note_life(state, what);
  if (is_over)
    state.locations.node_lost(what.rank);
  if (state.is_root())
    state.jobs->change_member(what);
  const auto was_live = state.calls->is_live(what.rank);
  state.calls->member_changed(what);
  if (is_over) {
    lose_host(self, what.rank);
    lose_streams(self, what.rank);
  }
  if (was_live && !state.calls->is_live(what.rank))
    state.collectives->node_lost(what.rank);
  if (!was_live && what.rank == 0)
    tell_resources(self);
  note_member(self, what, was_live);
  if (state.is_root() && state.calls->is_live(what.rank)
      && (!was_live || is_over))
    state.jobs->tell_sets(what.rank);
  arm(self);
  if (state.options.on_member)
    state.options.on_member(what);
}

void change_duty(self_pointer self, const mesh_duty_changed& what) {
  auto& state = self->state;
  const auto was_active = state.duty == mesh_duty::active && state.node;
  state.duty = what.now;
  tell_resources(self);
  if (was_active && what.now == mesh_duty::suspended)
    state.log(severity::warning,
              "out of contact with the root: " + what.reason);
  if (what.now == mesh_duty::fenced)
    state.share_rules->fence(what.reason);
  if (state.options.on_duty)
    state.options.on_duty(what);
}

} // namespace troupe::mesh_internals
