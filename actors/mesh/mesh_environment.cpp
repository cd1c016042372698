#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <caf/send.hpp>

#include <utility>

// What happens to nodes: what sensors tell, and that nodes come and go. The
// rules are in environment_spread; here they get their means.

namespace troupe::mesh_internals {

namespace {

void deliver(self_pointer self, environment_event what) {
  if (self->state.events)
    caf::anon_send(self->state.events,
                   deliver_event{to_event(std::move(what)), {}});
}

environment_spread::effects means_of_environment(self_pointer self) {
  auto out = environment_spread::effects{};
  // Who is lost meanwhile is owed nothing.
  const auto ignore = [](const caf::expected<host_reply>&) {};
  out.tell = [self, ignore](uint32_t rank, environment_interest what) {
    ask(self, rank, std::move(what), ignore);
  };
  out.pass = [self, ignore](uint32_t rank, environment_event what) {
    ask(self, rank, std::move(what), ignore);
  };
  out.deliver = [self](environment_event what) {
    deliver(self, std::move(what));
  };
  out.watch = [self](environment_interest what) {
    auto& state = self->state;
    state.watched = std::move(what);
    if (state.sensors)
      self->send(state.sensors, state.watched, environment_user_actor{self});
  };
  return out;
}

} // namespace

void start_environment(self_pointer self) {
  self->state.environment = std::make_unique<environment_spread>(
    self->state.options.rank, means_of_environment(self));
}

void use_sensors(self_pointer self, const sensor_desk_actor& desk) {
  self->state.sensors = desk;
  self->send(desk, self->state.watched, environment_user_actor{self});
}

void raise(self_pointer self, environment_event what) {
  auto& state = self->state;
  if (find(what.infos, attr::nodeid) == nullptr)
    what.infos.push_back(
      {std::string{attr::nodeid}, 0, value::uint32(state.options.rank)});
  state.environment->raise(std::move(what));
}

void note_member(self_pointer self, const member_changed& what, bool was_live) {
  auto& state = self->state;
  const auto is_live = state.calls->is_live(what.rank);
  if (is_live == was_live || what.rank == state.options.rank)
    return;
  state.environment->change_member(what.rank, is_live);
  auto code = status::node_up;
  if (!is_live)
    code = what.state == node_state::left ? status::event_node_offline
                                          : status::event_node_down;
  const auto name = !what.name.empty() ? what.name : state.name_of(what.rank);
  auto x = environment_event{
    code,
    {{std::string{attr::hostname}, 0, value::string(name)},
     {std::string{attr::nodeid}, 0, value::uint32(what.rank)}}};
  if (state.options.wall_clock)
    x.infos.push_back({std::string{attr::event_timestamp}, 0,
                       value{data_type::time, state.options.wall_clock()}});
  state.environment->note(std::move(x));
}

} // namespace troupe::mesh_internals
