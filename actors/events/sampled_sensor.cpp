#include "actors/events/sampled_sensor.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// When a reader is asked again that has failed.
inline constexpr auto sensor_retry = 5s;

} // namespace defaults

namespace {

struct sampled_sensor_state {
  static inline const char* name = "sampled-sensor";

  sampled_sensor_options options;
  sensor_rules rules;
  std::vector<status> wanted;
  environment_user_actor user;

  /// Whether the reader owes an answer.
  bool is_reading = false;

  /// Of a reader that is told of changes: the last one.
  uint64_t question = 0;

  /// Of the next look; of the former ones, none matters any more.
  uint64_t deadline_id = 0;

  /// What the log has been told.
  std::string trouble;

  bool is_running() const {
    return !wanted.empty();
  }
};

TROUPE_SELF_POINTER(sampled_sensor_actor, sampled_sensor_state);

void look_again(self_pointer self, caf::timespan delay) {
  self->delayed_send(sampled_sensor_actor{self}, delay,
                     deadline{++self->state.deadline_id});
}

/// Says so when something cannot be read, and when it can be again.
void note_trouble(sampled_sensor_state& state, const std::string& trouble) {
  if (state.trouble == trouble)
    return;
  state.trouble = trouble;
  if (state.options.log)
    state.options.log(severity::warning,
                      "sensor " + state.options.name
                        + (trouble.empty() ? " works again" : ": " + trouble));
}

void take(self_pointer self, const sensor_readings& x) {
  auto& state = self->state;
  note_trouble(state, x.trouble);
  const auto& of = state.options.quantities;
  for (const auto& reading : x.readings) {
    if (std::find(of.begin(), of.end(), reading.of) == of.end())
      continue;
    auto what = state.rules.judge(reading);
    if (what
        && std::find(state.wanted.begin(), state.wanted.end(), what->code)
             != state.wanted.end())
      self->send(state.user, std::move(*what));
  }
}

/// Asks a reader that answers at once, unless it still owes an answer.
void look(self_pointer self) {
  auto& state = self->state;
  look_again(self, state.options.interval);
  if (state.is_reading) {
    note_trouble(state, "does not answer");
    return;
  }
  state.is_reading = true;
  const auto finish = [self](auto f) {
    self->state.is_reading = false;
    if (self->state.is_running())
      f();
  };
  self->request(state.options.reader, caf::infinite, read_sensors{true})
    .then([self, finish](
            const sensor_readings& x) { finish([&] { take(self, x); }); },
          [self, finish](const caf::error& why) {
            finish([&] { note_trouble(self->state, reason_of(why)); });
          });
}

/// Asks a reader that is told of changes; what it answers to former questions
/// does not matter any more.
void listen(self_pointer self, bool all) {
  const auto id = ++self->state.question;
  const auto is_current = [self, id] {
    return self->state.is_running() && self->state.question == id;
  };
  self->request(self->state.options.reader, caf::infinite, read_sensors{all})
    .then(
      [self, is_current](const sensor_readings& x) {
        if (!is_current())
          return;
        take(self, x);
        listen(self, false);
      },
      [self, is_current](const caf::error& why) {
        if (!is_current())
          return;
        note_trouble(self->state, reason_of(why));
        look_again(self, defaults::sensor_retry);
      });
}

void begin(self_pointer self) {
  if (self->state.options.interval > caf::timespan{0})
    look(self);
  else
    listen(self, true);
}

sampled_sensor_actor::behavior_type behavior(self_pointer self,
                                             sampled_sensor_options options) {
  self->state.rules = sensor_rules{options.limits};
  self->state.options = std::move(options);
  return {
    [self](start_sensor& what, environment_user_actor& user) {
      auto& state = self->state;
      const auto was_running = state.is_running();
      state.wanted = std::move(what.codes);
      state.user = std::move(user);
      if (was_running || !state.is_running())
        return;
      state.rules.reset();
      begin(self);
    },
    [self](stop_sensor) {
      auto& state = self->state;
      state.wanted.clear();
      state.user = environment_user_actor{};
      ++state.deadline_id;
    },
    [self](deadline due) {
      if (due.id == self->state.deadline_id && self->state.is_running())
        begin(self);
    },
  };
}

} // namespace

sensor_offer offer_of(const sampled_sensor_options& options) {
  auto result = sensor_offer{options.name, {}};
  for (const auto x : options.quantities)
    for (const auto code : sensor_rules::codes_of(x))
      result.codes.push_back(code);
  return result;
}

sampled_sensor_actor spawn_sampled_sensor(caf::actor_system& sys,
                                          sampled_sensor_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
