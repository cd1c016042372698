#include "actors/events/sensor_desk.hpp"

#include "actors/events/defaults.hpp"
#include "actors/events/sensor_rules.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/event.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

using list = std::vector<status>;

struct sensor {
  sensor_offer offer;
  sensor_actor handle;

  /// What it has been started for.
  list running;
  std::map<status, event_throttle> throttles;
  bool has_erred = false;
};

struct sensor_desk_state {
  static inline const char* name = "sensor-desk";

  sensor_desk_options options;
  std::map<caf::actor_id, sensor> sensors;
  sensor_interest<environment_user_actor> interest;

  sensor_desk_state() = default;
  sensor_desk_state(const sensor_desk_state&) = delete;
  sensor_desk_state& operator=(const sensor_desk_state&) = delete;

  /// They end with the desk.
  ~sensor_desk_state() {
    for (const auto& [id, x] : sensors)
      caf::anon_send_exit(x.handle, caf::exit_reason::user_shutdown);
  }

  void log(const std::string& line) const {
    if (options.log)
      options.log(severity::warning, line);
  }
};

TROUPE_SELF_POINTER(sensor_desk_actor, sensor_desk_state);

event_throttle::time now(self_pointer self) {
  return self->clock().now().time_since_epoch();
}

/// Starts or stops a sensor, if somebody wants something else of it now.
void adjust(self_pointer self, sensor& x, const environment_interest& wanted) {
  auto codes = list{};
  for (const auto code : x.offer.codes)
    if (wants(wanted, code))
      codes.push_back(code);
  if (codes == x.running)
    return;
  x.running = std::move(codes);
  if (x.running.empty())
    self->send(x.handle, stop_sensor{});
  else
    self->send(x.handle, start_sensor{x.running}, environment_user_actor{self});
}

caf::result<ack> add(self_pointer self, sensor_offer& offer,
                     const sensor_actor& handle) {
  auto& state = self->state;
  for (const auto code : offer.codes)
    if (!is_of_environment(code))
      return make_error(status::bad_param,
                        "sensor " + offer.name + " offers " + to_string(code)
                          + ", which is no event of the environment; choose "
                            "TROUPE_EVENT_SITE_BASE (-32300) to -32330");
  if (!handle || offer.codes.empty())
    return make_error(status::bad_param,
                      "sensor " + offer.name
                        + " offers nothing; name the events that it raises");
  if (state.sensors.size() >= defaults::sensors)
    return make_error(status::out_of_resource,
                      "the node has " + std::to_string(defaults::sensors)
                        + " sensors already; leave some out");
  auto& x = state.sensors[handle.id()];
  x.offer = std::move(offer);
  x.handle = handle;
  self->monitor(handle);
  adjust(self, x, state.interest.all());
  return ack{};
}

void give(self_pointer self, const environment_event& what) {
  for (const auto& user : self->state.interest.users_of(what.code))
    self->send(user, what);
}

/// Adds what belongs to all events.
void complete(const sensor_desk_state& state, environment_event& x) {
  if (find(x.infos, attr::hostname) == nullptr)
    x.infos.push_back(
      make_info(attr::hostname, value::string(state.options.hostname)));
  if (state.options.wall_clock
      && find(x.infos, attr::event_timestamp) == nullptr)
    x.infos.push_back(
      make_info(attr::event_timestamp,
                value{data_type::time, uint64_t(state.options.wall_clock())}));
}

/// Reminds us of what a throttle holds back.
void arm(self_pointer self, const sensor& x, const event_throttle& throttle) {
  if (const auto due = throttle.due())
    self->delayed_send(sensor_desk_actor{self}, *due - now(self),
                       deadline{x.handle.id()});
}

void take(self_pointer self, environment_event& what) {
  auto& state = self->state;
  const auto i = self->current_sender() != nullptr
                   ? state.sensors.find(self->current_sender()->id())
                   : state.sensors.end();
  if (i == state.sensors.end())
    return;
  auto& x = i->second;
  const auto& offered = x.offer.codes;
  if (std::find(offered.begin(), offered.end(), what.code) == offered.end()) {
    if (!std::exchange(x.has_erred, true))
      state.log("sensor " + x.offer.name + " tells of " + to_string(what.code)
                + ", which it has not offered: that is dropped");
    return;
  }
  complete(state, what);
  auto& throttle = x.throttles[what.code];
  const auto was_due = throttle.due();
  if (auto told = throttle.take(std::move(what), now(self)))
    give(self, *told);
  else if (!was_due)
    arm(self, x, throttle);
}

void flush(self_pointer self, caf::actor_id id) {
  const auto i = self->state.sensors.find(id);
  if (i == self->state.sensors.end())
    return;
  for (auto& [code, throttle] : i->second.throttles)
    if (const auto told = throttle.flush(now(self)))
      give(self, *told);
}

void adjust_all(self_pointer self) {
  const auto wanted = self->state.interest.all();
  for (auto& [id, x] : self->state.sensors)
    adjust(self, x, wanted);
}

void note_down(self_pointer self, const caf::down_msg& x) {
  auto& state = self->state;
  const auto node = state.sensors.extract(x.source.id());
  if (!node.empty())
    state.log("sensor " + node.mapped().offer.name
              + " has ended; its events are not raised any more");
}

sensor_desk_actor::behavior_type behavior(self_pointer self,
                                          sensor_desk_options options) {
  self->state.options = std::move(options);
  self->set_down_handler(
    [self](const caf::down_msg& x) { note_down(self, x); });
  return {
    [self](environment_event& what) { take(self, what); },
    [self](sensor_offer& offer, const sensor_actor& handle) {
      return add(self, offer, handle);
    },
    [self](const environment_interest& what,
           const environment_user_actor& user) {
      self->state.interest.set(user, what);
      adjust_all(self);
    },
    [self](deadline due) { flush(self, due.id); },
  };
}

} // namespace

sensor_desk_actor spawn_sensor_desk(caf::actor_system& sys,
                                    sensor_desk_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
