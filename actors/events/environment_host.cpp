#include "actors/events/environment_host.hpp"

#include "base/sturdy.hpp"
#include "messages/event.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <set>
#include <utility>

namespace troupe {

namespace {

struct environment_host_state {
  static inline const char* name = "environment-host";

  caf::actor host;
  sensor_desk_actor sensors;
  event_cache_actor events;
  std::set<status> codes;
  bool wants_all = false;
};

using self_pointer = caf::stateful_actor<environment_host_state>*;

void tell_sensors(self_pointer self) {
  auto& state = self->state;
  auto what = environment_interest{{state.codes.begin(), state.codes.end()},
                                   state.wants_all};
  self->send(state.sensors, std::move(what),
             caf::actor_cast<environment_user_actor>(self));
}

caf::behavior behavior(self_pointer self, const host_actor& host,
                       sensor_desk_actor sensors) {
  self->state.host = caf::actor_cast<caf::actor>(host);
  self->state.sensors = std::move(sensors);
  self->link_to(self->state.host);
  self->set_default_handler(
    [self](caf::scheduled_actor*,
           caf::message_view& x) -> caf::result<caf::message> {
      return self->delegate(self->state.host, x.move_content_to_message());
    });
  auto handlers = caf::behavior{
    [self](const server_actor&, const event_cache_actor& events) {
      self->state.events = events;
    },
    [self](const requester& who, const register_events_request& request) {
      auto& state = self->state;
      state.wants_all |= request.codes.empty();
      state.codes.insert(request.codes.begin(), request.codes.end());
      tell_sensors(self);
      // A host may have other sources; what it lacks is no refusal.
      self->request(state.host, caf::infinite, who, request)
        .then([](ack) {}, [](const caf::error&) {});
      return ack{};
    },
    [self](const requester& who, const deregister_events_request& request) {
      auto& state = self->state;
      for (const auto code : request.codes) {
        state.codes.erase(code);
        state.wants_all &= code != default_events;
      }
      tell_sensors(self);
      self->send(state.host, who, request);
    },
    [self](environment_event& what) {
      const auto& state = self->state;
      if (state.events && (state.wants_all || state.codes.count(what.code) > 0))
        caf::anon_send(state.events,
                       deliver_event{to_event(std::move(what)), {}});
    },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

host_actor spawn_environment_host(caf::actor_system& sys, host_actor host,
                                  sensor_desk_actor sensors) {
  return caf::actor_cast<host_actor>(
    sys.spawn(behavior, std::move(host), std::move(sensors)));
}

} // namespace troupe
