#include "adapters/sensors/link_reader.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/sockets/netlink.hpp"
#include "config/defaults.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <linux/rtnetlink.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace troupe {

namespace defaults {

/// Changes that wait to be asked for.
inline constexpr size_t sensor_changes = 1024;

} // namespace defaults

namespace {

struct link_reader_state {
  static inline const char* name = "link-reader";

  link_reader_options options;
  std::optional<netlink_socket> asking;
  std::optional<netlink_socket> hearing;

  /// Destroyed before the socket.
  std::optional<fd_watch> watch;

  /// Names of the links that are there.
  std::map<int, std::string> known;
  std::deque<sensor_reading> changes;

  /// Whether `changes` is not all.
  bool has_lost = false;
  caf::typed_response_promise<sensor_readings> owed;
};

TROUPE_SELF_POINTER(sensor_reader_actor, link_reader_state);

sensor_reading reading_of(const std::string& name, bool is_running) {
  auto result = sensor_reading{};
  result.of = sensor_quantity::link;
  result.device = name;
  result.value = is_running ? 1 : 0;
  return result;
}

bool is_ours(const link_reader_state& state, const link_change& x) {
  const auto& names = state.options.names;
  if (names.empty())
    return !x.is_loopback;
  return std::find(names.begin(), names.end(), x.name) != names.end();
}

void note(link_reader_state& state, const link_change& x) {
  if (!is_ours(state, x))
    return;
  if (x.is_gone)
    state.known.erase(x.index);
  else if (state.known.size() < defaults::sensor_devices
           || state.known.count(x.index) > 0)
    state.known[x.index] = x.name;
  if (state.changes.size() < defaults::sensor_changes)
    state.changes.push_back(reading_of(x.name, x.is_running));
  else
    state.has_lost = true;
}

/// Everything as it is now, and what was there before and is gone.
caf::expected<sensor_readings> read_all(link_reader_state& state) {
  state.changes.clear();
  state.has_lost = false;
  auto gone = std::move(state.known);
  state.known.clear();
  auto result = sensor_readings{};
  const auto request = ifinfomsg{};
  auto err = state.asking->ask(
    RTM_GETLINK, NLM_F_DUMP,
    {reinterpret_cast<const char*>(&request), sizeof(request)},
    [&](uint16_t kind, std::string_view content) {
      const auto x = link_change_in(kind, content);
      if (!x || !is_ours(state, *x)
          || result.readings.size() >= defaults::sensor_devices)
        return;
      state.known[x->index] = x->name;
      gone.erase(x->index);
      result.readings.push_back(reading_of(x->name, x->is_running));
    });
  if (err)
    return err;
  for (const auto& [index, name] : gone)
    result.readings.push_back(reading_of(name, false));
  return result;
}

caf::expected<sensor_readings> take_changes(link_reader_state& state) {
  if (state.has_lost)
    return read_all(state);
  auto result = sensor_readings{};
  result.readings.assign(state.changes.begin(), state.changes.end());
  state.changes.clear();
  return result;
}

void settle(caf::typed_response_promise<sensor_readings>& owed,
            caf::expected<sensor_readings> x) {
  if (!owed.pending())
    return;
  if (x)
    owed.deliver(std::move(*x));
  else
    owed.deliver(std::move(x.error()));
}

void hear(self_pointer self) {
  auto& state = self->state;
  for (;;) {
    const auto datagram = state.hearing->hear();
    if (!datagram) {
      state.has_lost = true;
      continue;
    }
    if (!*datagram)
      break;
    for (const auto& x : link_changes_in(**datagram))
      note(state, x);
  }
  if (state.owed.pending() && (!state.changes.empty() || state.has_lost))
    settle(state.owed, take_changes(state));
}

sensor_reader_actor::behavior_type
behavior(self_pointer self, event_loop* loop, link_reader_options options,
         std::shared_ptr<std::pair<netlink_socket, netlink_socket>> sockets) {
  auto& state = self->state;
  state.options = std::move(options);
  state.asking.emplace(std::move(sockets->first));
  state.hearing.emplace(std::move(sockets->second));
  state.watch.emplace(*loop, state.hearing->fd(), [self] { hear(self); });
  state.watch->enable_read();
  return {
    [self](read_sensors what) -> caf::result<sensor_readings> {
      auto& state = self->state;
      // Whoever asks anew has no use for what it asked for before.
      settle(state.owed, sensor_readings{});
      const auto has_news = !state.changes.empty() || state.has_lost;
      if (what.all || has_news) {
        auto x = what.all ? read_all(state) : take_changes(state);
        if (!x)
          return std::move(x.error());
        return std::move(*x);
      }
      state.owed = self->make_response_promise<sensor_readings>();
      return state.owed;
    },
  };
}

} // namespace

caf::expected<sensor_reader_actor>
spawn_link_reader(caf::actor_system& sys, event_loop& loop,
                  link_reader_options options) {
  auto asking = netlink_socket::open();
  if (!asking)
    return std::move(asking.error());
  auto hearing = netlink_socket::open(RTMGRP_LINK);
  if (!hearing)
    return std::move(hearing.error());
  auto sockets = std::make_shared<std::pair<netlink_socket, netlink_socket>>(
    std::move(*asking), std::move(*hearing));
  return sys.spawn(behavior, &loop, std::move(options), std::move(sockets));
}

} // namespace troupe
