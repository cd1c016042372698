#include "actors/events/event_cache.hpp"

#include "actors/events/event_cache_state.hpp"
#include "actors/sturdy.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace event_cache_internals {

namespace {

/// What a `deadline` of ours is about, beside deliveries and reminders.
constexpr uint64_t for_stalled = 0;

event_log::time_point now(self_pointer self) {
  return self->clock().now().time_since_epoch();
}

void watch(self_pointer self) {
  auto& state = self->state;
  if (!state.log->is_waiting() || std::exchange(state.is_watching, true))
    return;
  self->delayed_send(self, state.options.log.stall / 8, deadline{for_stalled});
}

} // namespace

void offer(self_pointer self, offered_event what,
           std::function<void(const caf::error&)> then) {
  auto& state = self->state;
  const auto ticket = state.next_ticket++;
  const auto code = static_cast<int32_t>(what.what.code);
  const auto source = what.what.source;
  state.is_offering = true;
  const auto outcome = state.log->offer(ticket, std::move(what));
  state.is_offering = false;
  if (self->mailbox().empty())
    send_deliveries(self);
  else
    deliver_soon(self);
  switch (outcome) {
    case event_log::outcome::taken:
      then({});
      break;
    case event_log::outcome::waits:
      state.waiting.emplace(ticket, [then = std::move(then)] { then({}); });
      watch(self);
      break;
    case event_log::outcome::too_large:
      then(make_error(status::out_of_resource,
                      "event " + std::to_string(code) + " of "
                        + to_string(source) + " has more than "
                        + std::to_string(defaults::event_bytes)
                        + " bytes (L8)"));
  }
}

namespace {

// -- what the log does -------------------------------------------------------

/// Names a process that is in the way of others.
/// Source: guarantees, L12.
void name_stalled(self_pointer self, uint32_t id) {
  auto& state = self->state;
  const auto who = state.log->proc_of(id);
  const auto text =
    to_string(who) + " takes no events, and others wait for it to go on";
  state.note(severity::warning, text);
  const auto i = state.sessions.find(id);
  if (state.options.disconnects_stalled && i != state.sessions.end())
    self->send(i->second, close_connection{text});
  auto warning = offered_event{};
  warning.what.code = status::event_sys_other;
  warning.what.source = {"", rank_undef};
  warning.what.range = data_range::global;
  warning.what.infos = {
    {std::string{attr::event_affected_proc}, 0, value::of_proc(who)},
    {std::string{attr::event_text_message}, 0, value::string(text)},
    {std::string{attr::event_non_default}, 0, value::boolean(true)}};
  offer(self, std::move(warning), [](const caf::error&) {
    // Events of the environment never wait.
  });
}

event_log::effects means(self_pointer self) {
  auto out = event_log::effects{};
  out.deliver = [self](uint32_t to, const std::shared_ptr<const event>& what,
                       const missed_events& missed) {
    deliver(self, to, what, missed);
  };
  out.accept = [self](uint64_t ticket) {
    auto node = self->state.waiting.extract(ticket);
    if (!node.empty())
      node.mapped()();
  };
  out.note = [self](severity weight, const std::string& line) {
    self->state.note(weight, line);
  };
  out.stalled = [self](uint32_t id) { name_stalled(self, id); };
  if (self->state.options.spool)
    out.disk = means_of_disk(self);
  return out;
}

// -- registrations -----------------------------------------------------------

/// Asks the host for the events of the environment that somebody here wants
/// now, and no longer for those that nobody wants.
/// Source: RFC0002, "PMIx Server Registrations".
void update_host(self_pointer self, const requester& who) {
  auto& state = self->state;
  if (const auto codes = state.log->take_environment_codes()) {
    state.of_environment.clear();
    for (const auto code : *codes)
      if (code == default_events || is_of_environment(code))
        state.of_environment.insert(code);
  }
  auto wanted = state.askers.codes();
  wanted.insert(state.of_environment.begin(), state.of_environment.end());
  if (wanted == state.asked_for)
    return;
  const auto ask = [&](std::vector<status> more) {
    self
      ->request(state.options.host, caf::infinite, who,
                register_events_request{std::move(more), {}})
      .then([](ack) {},
            [](const caf::error&) {
              // A host without such events: nothing will come.
            });
  };
  auto more = std::vector<status>{};
  for (const auto code : wanted)
    if (state.asked_for.count(code) == 0 && code != default_events)
      more.push_back(code);
  auto less = deregister_events_request{};
  for (const auto code : state.asked_for)
    if (wanted.count(code) == 0)
      less.codes.push_back(code);
  const auto wants_all =
    wanted.count(default_events) > state.asked_for.count(default_events);
  state.asked_for = std::move(wanted);
  if (!less.codes.empty())
    self->send(state.options.host, who, std::move(less));
  if (!more.empty())
    ask(std::move(more));
  if (wants_all)
    ask({});
}

caf::result<ack> subscribe(self_pointer self, const requester& who,
                           const register_events_request& request,
                           const client_actor& session) {
  auto& state = self->state;
  auto codes = request.codes;
  // Whoever names the code of default handlers means them.
  if (std::all_of(codes.begin(), codes.end(),
                  [](status x) { return x == default_events; }))
    codes.clear();
  const auto levels = levels_of(request.directives, codes.empty());
  if (!levels)
    return levels.error();
  state.log->connect(who.proc, who.index, now(self));
  state.sessions[who.index] = session;
  if (auto why = state.log->subscribe(who.index, codes, *levels))
    return why;
  if (codes.empty() && levels->environment)
    state.takes_environment.insert(who.index);
  // The answer goes first. Source: RFC0002, "PMIx Server Registrations".
  auto promise = self->make_response_promise<ack>();
  promise.deliver(ack{});
  state.log->resume(who.index);
  if (event_askers::asks(who.proc, request.directives))
    state.askers.add(who.index, who.proc, codes);
  update_host(self, who);
  return promise;
}

// -- events ------------------------------------------------------------------

/// Has a notification go on to the host, and answers it as the host does.
void pass_on(self_pointer self, const requester& who, notify_request request,
             const std::shared_ptr<answer<ack>>& owed) {
  self
    ->request(self->state.options.host, caf::infinite, who, std::move(request))
    .then([owed](ack) { owed->give(ack{}); },
          [owed](caf::error& why) { owed->fail(std::move(why)); });
}

caf::result<ack> notify(self_pointer self, const requester& who,
                        notify_request& request) {
  auto& state = self->state;
  auto what =
    event{request.code, who.proc, request.range, std::move(request.infos)};
  if (cost_of(what) > defaults::event_bytes)
    return make_error(status::out_of_resource,
                      to_string(who.proc) + " raises an event of more than "
                        + std::to_string(defaults::event_bytes)
                        + " bytes (L8)");
  const auto leaves = range_filter{what}.leaves_node();
  // One for this node only must not overtake those before it.
  if (state.options.host_orders_events
      && request.range != data_range::proc_local) {
    request.infos = std::move(what.infos);
    return self->delegate(state.options.host, who, std::move(request));
  }
  auto owed = std::make_shared<answer<ack>>(self->make_response_promise<ack>());
  auto promise = owed->promise();
  if (leaves)
    request.infos = what.infos;
  auto offered = offered_event{};
  offered.what = std::move(what);
  offered.stream = std::to_string(who.index);
  const auto give = [owed](const caf::error& why) {
    if (why)
      owed->fail(why);
    else
      owed->give(ack{});
  };
  if (!leaves)
    offer(self, std::move(offered), give);
  else
    offer(self, std::move(offered),
          [=, request = std::move(request)](const caf::error& why) {
            if (why)
              give(why);
            else
              pass_on(self, who, request, owed);
          });
  return promise;
}

/// Whose events stay in order when they wait.
std::string stream_of(const deliver_event& x) {
  if (!x.targets.empty())
    return "host " + x.targets.front().nspace;
  return "host "
         + (x.what.range == data_range::nspace ? x.what.source.nspace : "");
}

caf::result<ack> take_event(self_pointer self, deliver_event& request) {
  if (event_askers::is_copy(request.what)) {
    request.targets = self->state.askers.unwrap(request.what);
    if (request.targets.empty())
      return ack{};
  }
  auto owed = std::make_shared<answer<ack>>(self->make_response_promise<ack>());
  auto promise = owed->promise();
  auto offered = offered_event{};
  offered.stream = stream_of(request);
  offered.what = std::move(request.what);
  offered.targets = std::move(request.targets);
  offered.is_from_host = true;
  offer(self, std::move(offered), [owed](const caf::error& why) {
    if (why)
      owed->fail(why);
    else
      owed->give(ack{});
  });
  return promise;
}

event_cache_actor::behavior_type behavior(self_pointer self,
                                          event_cache_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  auto& limits = state.options.log.per_namespace;
  if (!state.options.spool)
    limits.spool = 0;
  else if (limits.spool == 0)
    limits.spool = defaults::event_log_spool;
  state.log = std::make_unique<event_log>(state.options.log, means(self));
  auto handlers = event_cache_actor::behavior_type{
    [self](const requester& who, const register_events_request& request,
           const client_actor& session) {
      return subscribe(self, who, request, session);
    },
    [self](const requester& who, const deregister_events_request& request) {
      self->state.log->unsubscribe(who.index, request.codes);
      self->state.askers.remove(who.index, request.codes);
      for (const auto code : request.codes)
        if (code == default_events)
          self->state.takes_environment.erase(who.index);
      update_host(self, who);
    },
    [self](const requester& who, notify_request& request) {
      return notify(self, who, request);
    },
    [self](const requester& who, events_taken what) {
      if (!self->state.log->take(who.index, what.count, now(self)))
        self->state.note(severity::error, to_string(who.proc)
                                            + " has taken events that it was "
                                              "not given");
    },
    [self](deliver_event& request) { return take_event(self, request); },
    [self](const expect_procs& what) {
      self->state.log->await(what.nspace, what.ranks);
    },
    [self](const connect_accepted& what) {
      self->state.log->connect(what.proc, what.index, now(self));
    },
    [self](const proc_ended& what) { self->state.log->end(what.proc); },
    [self](const requester& who, connection_lost) {
      self->state.sessions.erase(who.index);
      self->state.deliveries.erase(who.index);
      self->state.takes_environment.erase(who.index);
      self->state.log->disconnect(who.index);
      self->state.askers.disconnect(who.index);
      update_host(self, who);
    },
    [self](const deregister_nspace& request) {
      self->state.log->forget(request.nspace);
    },
    [self](const requester& who, const query_request& request) {
      return answer_query(self, who, request);
    },
    [self](const find_listeners& what) {
      return event_listeners{self->state.log->listeners(what.code, what.procs)};
    },
    [self](get_gauges) { return gauges_of(self->state); },
    [self](deadline what) {
      if (what.id == for_deliveries) {
        self->state.will_deliver = false;
        send_deliveries(self);
        return;
      }
      if (what.id != for_stalled) {
        self->state.later.fire(what.id);
        return;
      }
      self->state.is_watching = false;
      self->state.log->look_for_stalled(now(self));
      watch(self);
    },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

} // namespace event_cache_internals

event_cache_actor spawn_event_cache(caf::actor_system& sys,
                                    event_cache_options options) {
  return sys.spawn(event_cache_internals::behavior, std::move(options));
}

} // namespace troupe
