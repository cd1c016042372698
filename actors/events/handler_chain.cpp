#include "actors/events/handler_chain.hpp"

#include "actors/events/handler_chain_state.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace troupe {

namespace handler_chain_internals {

namespace {

std::string describe(const handler_chain_state& state, uint64_t id) {
  auto result = "event handler " + std::to_string(id);
  if (const auto* x = state.order.find(id); x != nullptr && !x->name.empty())
    result += " (" + x->name + ")";
  return result;
}

// -- one event
// ----------------------------------------------------------------------

/// What later handlers learn of a handler.
/// Source: RFC0002, "Description": an entry for each handler, an array whose
/// first element holds the handler's name and status.
void note_verdict(handler_chain_state& state, walk& x,
                  handler_verdict& verdict) {
  auto name = std::move(x.current_name);
  auto own =
    info{name, 0, value::of_status(static_cast<int32_t>(verdict.outcome))};
  if (state.options.flat_results) {
    if (own.key.empty())
      own.key = "UNKNOWN";
    x.results.push_back(std::move(own));
    for (auto& y : verdict.results)
      x.results.push_back(std::move(y));
    return;
  }
  auto all = std::vector<info>{std::move(own)};
  for (auto& y : verdict.results)
    all.push_back(std::move(y));
  x.results.push_back({std::move(name), 0, value::infos(std::move(all))});
}

void finish(handler_chain_state& state, const walk_ptr& x) {
  auto& walks = state.walks;
  walks.erase(std::remove(walks.begin(), walks.end(), x), walks.end());
}

void keep_ticking(self_pointer self) {
  auto& state = self->state;
  if (state.is_ticking || state.walks.empty())
    return;
  state.is_ticking = true;
  self->delayed_send(handler_chain_actor{self}, state.options.tick, deadline{});
}

void call_next(self_pointer self, const walk_ptr& x);

void take_verdict(self_pointer self, const walk_ptr& x, uint64_t turn,
                  uint64_t id, handler_verdict& verdict) {
  auto& state = self->state;
  state.overdue.erase(id);
  if (x->turn != turn) {
    state.log(severity::info, describe(state, id)
                                + " completed an event that had gone on without"
                                  " it; ignored");
    return;
  }
  if (verdict.outcome == status::action_complete)
    finish(state, x);
  else
    note_verdict(state, *x, verdict);
  if (verdict.outcome != status::action_complete)
    call_next(self, x);
  begin_events(self);
}

/// Passes over a handler that owes its verdict.
void pass_over(self_pointer self, const walk_ptr& x, const std::string& why) {
  auto& state = self->state;
  state.log(severity::warning, describe(state, x->current) + " " + why + " "
                                 + to_string(x->what.code)
                                 + "; the event goes on without it");
  auto none = handler_verdict{status::no_action_taken, {}};
  note_verdict(state, *x, none);
  call_next(self, x);
}

/// Gives the next handler its turn, or ends the walk.
void call_next(self_pointer self, const walk_ptr& x) {
  auto& state = self->state;
  ++x->turn;
  x->waited = 0;
  while (!x->rest.empty() && state.order.find(x->rest.front()) == nullptr)
    x->rest.pop_front();
  if (x->rest.empty()) {
    finish(state, x);
    return;
  }
  const auto id = x->rest.front();
  x->rest.pop_front();
  x->current = id;
  x->current_name = state.order.find(id)->name;
  if (state.overdue.count(id) > 0)
    x->holds = false;
  const auto handler = state.handlers.at(id);
  auto call = handler_call{id, x->what, x->results};
  if (state.order.find(id)->is_oneshot)
    drop(self, id);
  const auto turn = x->turn;
  self->request(handler, caf::infinite, std::move(call))
    .then(
      [=](handler_verdict& verdict) {
        take_verdict(self, x, turn, id, verdict);
      },
      [=](const caf::error& err) {
        if (x->turn != turn)
          return;
        pass_over(self, x, "failed (" + reason_of(err) + ") at");
        begin_events(self);
      });
}

} // namespace

void begin_events(self_pointer self) {
  auto& state = self->state;
  while (!state.queue.empty() && !state.is_held()) {
    auto& what = state.queue.front();
    const auto handlers = state.order.match(what, state.self);
    const auto is_pending = [&](uint64_t id) {
      return state.pending.count(id) > 0;
    };
    if (std::any_of(handlers.begin(), handlers.end(), is_pending))
      break;
    auto x = std::make_shared<walk>();
    x->what = std::move(what);
    x->rest.assign(handlers.begin(), handlers.end());
    state.queue.pop_front();
    if (x->rest.empty())
      continue;
    state.walks.push_back(x);
    call_next(self, x);
  }
  keep_ticking(self);
}

namespace {

void take(self_pointer self, event what) {
  auto& state = self->state;
  if (state.queue.size() + state.walks.size() >= state.options.max_events) {
    if (!std::exchange(state.is_dropping, true))
      state.log(severity::error,
                std::to_string(state.options.max_events)
                  + " events wait for handlers; dropping "
                  + to_string(what.code)
                  + " and what comes until one of them is done");
    return;
  }
  state.is_dropping = false;
  state.queue.push_back(std::move(what));
  begin_events(self);
}

/// Looks for handlers that take too long.
void tick(self_pointer self) {
  auto& state = self->state;
  state.is_ticking = false;
  const auto walks = state.walks;
  for (const auto& x : walks) {
    ++x->waited;
    if (x->waited == state.options.patience_ticks) {
      state.log(severity::warning,
                describe(state, x->current) + " has not completed "
                  + to_string(x->what.code)
                  + " yet; events after it do not wait any longer");
      state.overdue.insert(x->current);
      x->holds = false;
    }
    if (x->waited >= state.options.answer_ticks)
      pass_over(self, x, "never completed");
  }
  begin_events(self);
}

// -- raising events
// ------------------------------------------------------------------

/// Whether the process itself is among those whom its event is for.
bool is_for_self(const notify_request& request, const proc_id& self) {
  if (request.range == data_range::rm || request.range == data_range::invalid)
    return false;
  const auto* custom = find(request.infos, attr::event_custom_range);
  if (custom == nullptr)
    return request.range != data_range::custom;
  const auto targets = procs_of(*custom);
  return std::any_of(targets.begin(), targets.end(),
                     [&](const proc_id& x) { return matches(x, self); });
}

caf::result<ack> notify(self_pointer self, notify_request& request) {
  auto& state = self->state;
  if (is_for_self(request, state.self))
    take(self, {request.code, state.self, request.range, request.infos});
  if (request.range == data_range::proc_local)
    return ack{};
  return self->delegate(state.session, std::move(request));
}

handler_chain_actor::behavior_type behavior(self_pointer self,
                                            event_session_actor session,
                                            handler_chain_options options) {
  self->state.order = handler_order{options.order};
  self->state.options = std::move(options);
  self->state.session = std::move(session);
  return {
    [self](const register_handler& request,
           const event_handler_actor& handler) {
      return add(self, request, handler);
    },
    [self](const deregister_handler& request) -> caf::result<ack> {
      if (self->state.order.find(request.id) == nullptr)
        return make_error(status::bad_param, "there is no event handler "
                                               + std::to_string(request.id));
      drop(self, request.id);
      begin_events(self);
      return ack{};
    },
    [self](event& what) { take(self, std::move(what)); },
    [self](notify_request& request) { return notify(self, request); },
    [self](const connect_accepted& x) {
      self->state.self = x.proc;
      subscribe_all(self);
    },
    [self](deadline) { tick(self); },
  };
}

} // namespace

} // namespace handler_chain_internals

handler_chain_options handler_chain_options::with_defaults() {
  auto result = handler_chain_options{};
  result.order.capacity = defaults::event_handlers;
  result.tick = defaults::event_handler_tick;
  result.patience_ticks = defaults::event_handler_patience_ticks;
  result.answer_ticks = defaults::event_handler_answer_ticks;
  result.max_events = defaults::events_awaiting_handlers;
  return result;
}

handler_chain_actor spawn_handler_chain(caf::actor_system& sys,
                                        event_session_actor session,
                                        handler_chain_options options) {
  return sys.spawn(handler_chain_internals::behavior, std::move(session),
                   std::move(options));
}

} // namespace troupe
