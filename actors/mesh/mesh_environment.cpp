#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <utility>

// What happens to nodes: what sensors tell, and that nodes come and go. The
// rules are in environment_spread; here they get their means.

namespace troupe::mesh_internals {

namespace {

/// Between hosts only, a list of namespaces: who knows already.
constexpr std::string_view except_key = "troupe.event.except";

/// Takes out who knows already.
std::set<std::string> take_exceptions(environment_event& x) {
  auto result = std::set<std::string>{};
  auto& infos = x.infos;
  const auto i = std::find_if(infos.begin(), infos.end(), [](const info& y) {
    return y.key == except_key;
  });
  if (i == infos.end())
    return result;
  for (const auto& proc : procs_of(i->val))
    result.insert(proc.nspace);
  infos.erase(i);
  return result;
}

void deliver(self_pointer self, environment_event what) {
  auto& state = self->state;
  const auto except = take_exceptions(what);
  auto message = deliver_event{to_event(std::move(what)), {}};
  if (!except.empty()) {
    const auto add = [&](const std::string& nspace) {
      if (except.count(nspace) == 0)
        message.targets.push_back({nspace, rank_wildcard});
    };
    for (const auto& [nspace, x] : state.shares)
      add(nspace);
    for (const auto& [connection, tool] : state.tools)
      add(tool.nspace);
    if (message.targets.empty())
      return;
  }
  if (state.events)
    caf::anon_send(state.events, std::move(message));
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
  const auto told = state.jobs->take_told();
  if (is_live == was_live || what.rank == state.options.rank)
    return;
  state.environment->change_member(what.rank, is_live);
  if (!state.is_root())
    return;
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
    x.infos.push_back(
      {std::string{attr::event_timestamp}, 0,
       value{data_type::time, uint64_t(state.options.wall_clock())}});
  if (code == status::event_node_down && !told.empty()) {
    auto except = std::vector<proc_id>{};
    for (const auto& nspace : told)
      except.push_back({nspace, rank_wildcard});
    x.infos.push_back(
      {std::string{except_key}, 0, value::procs(std::move(except))});
  }
  state.environment->raise(std::move(x));
}

} // namespace troupe::mesh_internals
