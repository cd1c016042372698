// The way of events from the logs to the sessions.

#include "actors/events/event_cache_state.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>

#include <utility>

namespace troupe::event_cache_internals {

namespace {

/// Deliveries to collect at most.
constexpr size_t max_deliveries = 1024;

/// Tells somebody of a gap together with an event.
event with_gap(const event& what, const missed_events& missed) {
  auto result = what;
  const auto add = [&](const char* key, uint64_t x) {
    result.infos.push_back({key, 0, value::uint64(x)});
  };
  add("troupe.event.missed", missed.count);
  add("troupe.event.missed.first", missed.first);
  add("troupe.event.missed.last", missed.last);
  return result;
}

/// An event of the environment for a process that registered for its code, but
/// whose default handlers did not ask for the environment: those of MPI
/// libraries take what they do not know for a failure. Source: RFC0002,
/// PMIX_EVENT_ENVIRO_LEVEL, "Default: false".
event without_default(event what) {
  if (find(what.infos, attr::event_non_default) == nullptr)
    what.infos.push_back(
      {std::string{attr::event_non_default}, 0, value::boolean(true)});
  return what;
}

} // namespace

void send_deliveries(self_pointer self) {
  auto& state = self->state;
  auto packet = caf::message{};
  for (auto& [to, list] : state.deliveries) {
    const auto i = state.sessions.find(to);
    if (i == state.sessions.end())
      continue;
    if (packet.empty() || packet.get_as<event_batch>(0).events != list)
      packet = caf::make_message(event_batch{std::move(list)});
    caf::actor_cast<caf::strong_actor_ptr>(i->second)->enqueue(
      self->ctrl(), caf::make_message_id(), packet, self->context());
  }
  state.deliveries.clear();
  state.num_deliveries = 0;
}

void deliver(self_pointer self, uint32_t to,
             const std::shared_ptr<const event>& what,
             const missed_events& missed) {
  auto& state = self->state;
  if (state.sessions.count(to) == 0)
    return;
  auto& list = state.deliveries[to];
  const auto is_marked = what->source.nspace.empty()
                         && is_of_environment(what->code)
                         && state.takes_environment.count(to) == 0;
  if (missed.count > 0 || is_marked) {
    auto copy = missed.count > 0 ? with_gap(*what, missed) : *what;
    if (is_marked)
      copy = without_default(std::move(copy));
    list.push_back(std::make_shared<const event>(std::move(copy)));
  } else {
    list.push_back(what);
  }
  if (++state.num_deliveries == max_deliveries)
    send_deliveries(self);
  else if (!state.is_offering)
    deliver_soon(self);
}

void deliver_soon(self_pointer self) {
  auto& state = self->state;
  if (!state.deliveries.empty() && !std::exchange(state.will_deliver, true))
    self->send(self, deadline{for_deliveries});
}

} // namespace troupe::event_cache_internals
