#include "actors/monitors/usage_updates.hpp"

#include "actors/events/range_filter.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/event.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

struct usage_updates_state {
  static inline const char* name = "usage-updates";

  usage_updates_options options;
  requester who;
  bool is_started = false;

  /// Whether the last sample is not through: none begins meanwhile.
  bool is_sampling = false;
};

TROUPE_SELF_POINTER(timed_monitor_actor, usage_updates_state);

/// Tells the requestor, or the range that it wants told: then in its name.
/// Source: RFC0015, "The range of the notification ... can be changed by
/// providing a PMIX_RANGE directive".
void tell(self_pointer self, info_result sample) {
  const auto& state = self->state;
  const auto& options = state.options;
  const auto& range = options.request.range;
  auto what = notify_request{};
  what.code = options.request.code;
  what.range = range.value_or(data_range::custom);
  const auto add = [&](std::string_view key, value x) {
    what.infos.push_back(make_info(key, std::move(x)));
  };
  add(attr::event_non_default, value::boolean(true));
  if (!range)
    add(attr::event_custom_range, value::procs({state.who.proc}));
  else if (options.request.custom_range)
    add(attr::event_custom_range, *options.request.custom_range);
  // An update that nobody waits for is of no use later.
  add(attr::event_do_not_cache, value::boolean(true));
  if (options.request.id)
    add(attr::monitor_id, value::string(*options.request.id));
  std::move(sample.infos.begin(), sample.infos.end(),
            std::back_inserter(what.infos));
  if (range) {
    add(event_reaches_source, value::boolean(true));
    self->request(options.events, caf::infinite, state.who, std::move(what))
      .then([](ack) {}, [](const caf::error&) {});
    return;
  }
  auto own =
    event{what.code, options.server, what.range, std::move(what.infos)};
  self
    ->request(options.events, caf::infinite,
              deliver_event{std::move(own), {state.who.proc}})
    .then([](ack) {}, [](const caf::error&) {});
}

void sample(self_pointer self) {
  auto& state = self->state;
  if (!state.is_started || std::exchange(state.is_sampling, true))
    return;
  self
    ->request(state.options.usage, caf::infinite, state.who, state.options.what)
    .then(
      [self](info_result& found) {
        self->state.is_sampling = false;
        if (found.infos.empty())
          return;
        self->state.options.looks->last =
          self->clock().now().time_since_epoch();
        tell(self, std::move(found));
      },
      [self](const caf::error&) {
        // What was named may come back.
        self->state.is_sampling = false;
      });
}

caf::result<ack> start(self_pointer self, start_monitor& request) {
  auto& state = self->state;
  if (std::exchange(state.is_started, true))
    return make_error(status::err_exists, "monitor "
                                            + std::to_string(request.number)
                                            + " runs already; start it once");
  state.who = std::move(request.who);
  return ack{};
}

timed_monitor_actor::behavior_type behavior(self_pointer self,
                                            usage_updates_options options) {
  self->state.options = std::move(options);
  return {
    [self](start_monitor& request, const monitor_user_actor&) {
      return start(self, request);
    },
    [self](stop_monitor) { self->quit(); },
    [self](deadline) { sample(self); },
  };
}

} // namespace

timed_monitor_actor spawn_usage_updates(caf::actor_system& sys,
                                        usage_updates_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
