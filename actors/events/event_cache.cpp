#include "actors/events/event_cache.hpp"

#include "actors/events/range_filter.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <map>
#include <memory>
#include <set>

namespace troupe {

namespace {

/// One connected process and what it wants.
struct subscriber {
  requester who;
  client_actor session;
  std::set<status> codes;
  bool wants_all = false;

  bool wants(status code, const range_filter& filter) const {
    return codes.count(code) > 0 || (wants_all && filter.admits_default());
  }
};

/// An event in the ring.
struct kept_event {
  std::shared_ptr<const event> what;
  range_filter filter;

  /// The connections that have had it.
  std::set<uint32_t> delivered;
};

struct event_cache_state {
  static inline const char* name = "event-cache";

  host_actor host;
  size_t ring_size = 0;
  bool host_orders_events = false;
  std::map<uint32_t, subscriber> subscribers; // by connection index
  std::deque<kept_event> ring;

  /// Codes of the environment that the host was asked to tell of.
  std::set<status> asked_for;
};

using self_pointer = event_cache_actor::stateful_pointer<event_cache_state>;

void hand_over(self_pointer self, const subscriber& to, kept_event& x) {
  if (x.filter.admits(to.who.proc) && to.wants(x.what->code, x.filter)
      && x.delivered.insert(to.who.index).second)
    self->send(to.session, *x.what);
}

void deliver(self_pointer self, event what, std::vector<proc_id> targets) {
  auto& state = self->state;
  const auto keep = !flag(what.infos, attr::event_do_not_cache);
  auto filter = range_filter{what, std::move(targets)};
  auto x = kept_event{
    std::make_shared<const event>(std::move(what)), std::move(filter), {}};
  for (const auto& [index, to] : state.subscribers)
    hand_over(self, to, x);
  if (!keep || state.ring_size == 0)
    return;
  if (state.ring.size() == state.ring_size)
    state.ring.pop_front();
  state.ring.push_back(std::move(x));
}

/// Asks the host for the events of the environment that somebody here wants
/// now, and no longer for those that nobody wants.
void update_host(self_pointer self, const requester& who) {
  auto& state = self->state;
  auto wanted = std::set<status>{};
  for (const auto& [index, to] : state.subscribers)
    for (const auto code : to.codes)
      if (is_of_environment(code))
        wanted.insert(code);
  auto more = register_events_request{};
  for (const auto code : wanted)
    if (state.asked_for.count(code) == 0)
      more.codes.push_back(code);
  auto less = deregister_events_request{};
  for (const auto code : state.asked_for)
    if (wanted.count(code) == 0)
      less.codes.push_back(code);
  state.asked_for = std::move(wanted);
  if (!less.codes.empty())
    self->send(state.host, who, std::move(less));
  if (!more.codes.empty())
    self->request(state.host, caf::infinite, who, std::move(more))
      .then([](ack) {},
            [](const caf::error&) {
              // A host without such events: nothing will come.
            });
}

caf::result<ack> subscribe(self_pointer self, const requester& who,
                           const register_events_request& request,
                           const client_actor& session) {
  auto& state = self->state;
  auto& entry = state.subscribers[who.index];
  entry.who = who;
  entry.session = session;
  if (entry.codes.size() + request.codes.size()
      > defaults::event_codes_per_client)
    return make_error(status::out_of_resource,
                      to_string(who.proc) + " registers for more than "
                        + std::to_string(defaults::event_codes_per_client)
                        + " event codes");
  if (request.codes.empty())
    entry.wants_all = true;
  entry.codes.insert(request.codes.begin(), request.codes.end());
  update_host(self, who);
  for (auto& x : state.ring)
    hand_over(self, entry, x);
  return ack{};
}

void unsubscribe(self_pointer self, const requester& who,
                 const deregister_events_request& request) {
  const auto i = self->state.subscribers.find(who.index);
  if (i == self->state.subscribers.end())
    return;
  for (const auto code : request.codes) {
    if (code == default_events)
      i->second.wants_all = false;
    else
      i->second.codes.erase(code);
  }
  update_host(self, who);
}

caf::result<ack> notify(self_pointer self, const requester& who,
                        notify_request& request) {
  auto what = event{request.code, who.proc, request.range, request.infos};
  const auto leaves = range_filter{what}.leaves_node();
  if (!leaves || !self->state.host_orders_events)
    deliver(self, std::move(what), {});
  if (!leaves)
    return ack{};
  return self->delegate(self->state.host, who, std::move(request));
}

void forget_namespace(event_cache_state& state, const std::string& nspace) {
  auto kept = std::deque<kept_event>{};
  for (auto& x : state.ring)
    if (x.what->source.nspace != nspace)
      kept.push_back(std::move(x));
  state.ring = std::move(kept);
}

event_cache_actor::behavior_type behavior(self_pointer self,
                                          event_cache_options options) {
  self->state.host = std::move(options.host);
  self->state.ring_size = options.ring_size;
  self->state.host_orders_events = options.host_orders_events;
  return {
    [self](const requester& who, const register_events_request& request,
           const client_actor& session) {
      return subscribe(self, who, request, session);
    },
    [self](const requester& who, const deregister_events_request& request) {
      unsubscribe(self, who, request);
    },
    [self](const requester& who, notify_request& request) {
      return notify(self, who, request);
    },
    [self](deliver_event& request) {
      deliver(self, std::move(request.what), std::move(request.targets));
      return ack{};
    },
    [self](const requester& who, connection_lost) {
      self->state.subscribers.erase(who.index);
      update_host(self, who);
    },
    [self](const deregister_nspace& request) {
      forget_namespace(self->state, request.nspace);
    },
    [self](get_gauges) {
      const auto& state = self->state;
      return gauge_list{
        {{"events.ring", state.ring.size(), state.ring_size, "events"},
         {"events.subscribers", state.subscribers.size(), 0, "processes"}}};
    },
  };
}

} // namespace

event_cache_actor spawn_event_cache(caf::actor_system& sys,
                                    event_cache_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
