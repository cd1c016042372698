#include "actors/events/handler_chain.hpp"

#include "actors/events/handler_chain_state.hpp"
#include "actors/sturdy.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace handler_chain_internals {

namespace {

/// What a `deadline` of the chain is about.
constexpr uint64_t for_tick = 0;
constexpr uint64_t for_resume = 1;

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
  auto& name = x.current_name;
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
  auto all = std::vector<info>{};
  all.reserve(1 + verdict.results.size());
  all.push_back(std::move(own));
  for (auto& y : verdict.results)
    all.push_back(std::move(y));
  x.results.push_back({std::move(name), 0, value::infos(std::move(all))});
}

/// Adds what a handler said to what all of them decide.
void note_decision(walk& x, const handler_verdict& verdict) {
  if (!x.decision)
    return;
  auto& all = *x.decision;
  if (all.outcome != status::group_construct_abort)
    all.outcome = verdict.outcome;
  all.results.insert(all.results.end(), verdict.results.begin(),
                     verdict.results.end());
}

/// How far an event got.
enum class progress : uint8_t {
  /// A handler has not completed.
  waiting,

  /// Enough for one turn of the chain.
  paused,

  /// Through all its handlers.
  ended,
};

/// Gives handlers their turns.
progress advance(self_pointer self, walk& x) {
  auto& state = self->state;
  const auto& options = state.options;
  while (x.next < x.handlers.size()) {
    const auto id = x.handlers[x.next];
    const auto* entry = state.order.find(id);
    if (entry == nullptr) {
      ++x.next; // Gone meanwhile.
      continue;
    }
    if (state.calls_left == 0)
      return progress::paused;
    --state.calls_left;
    ++x.next;
    ++x.turn;
    x.waited = 0;
    x.current = id;
    x.current_name = entry->name;
    const auto turn = handler_turn{
      id, x.id, x.turn, entry->code_of(*x.what), *x.what, x.results};
    if (entry->is_oneshot)
      drop(self, id);
    auto verdict = options.run(turn);
    if (!verdict)
      return progress::waiting;
    if (!state.overdue.empty())
      state.overdue.erase(id);
    note_decision(x, *verdict);
    if (verdict->outcome == status::action_complete)
      return progress::ended;
    if (x.next < x.handlers.size())
      note_verdict(state, x, *verdict);
  }
  return progress::ended;
}

void keep_ticking(self_pointer self) {
  auto& state = self->state;
  if (state.is_ticking || state.walks.empty())
    return;
  state.is_ticking = true;
  self->delayed_send(handler_chain_actor{self}, state.options.tick,
                     deadline{for_tick});
}

/// Has the chain go on once others have had their turn.
void resume_later(self_pointer self) {
  if (!std::exchange(self->state.will_resume, true))
    self->send(handler_chain_actor{self}, deadline{for_resume});
}

void set_holds(handler_chain_state& state, walk& x, bool holds) {
  if (x.holds && !holds)
    --state.holding;
  else if (!x.holds && holds)
    ++state.holding;
  x.holds = holds;
}

/// Takes an event on as far as it goes.
void run(self_pointer self, const walk_ptr& x) {
  auto& state = self->state;
  const auto how = advance(self, *x);
  x->is_paused = how == progress::paused;
  if (how == progress::ended) {
    if (state.walks.erase(x->id) > 0 && x->holds)
      --state.holding;
    state.bytes -= x->bytes;
    state.history.end(x->number);
    if (state.options.on_end)
      state.options.on_end(x->id);
    if (x->decision)
      state.options.on_decided(*x->what, std::move(*x->decision));
    return;
  }
  if (state.walks.emplace(x->id, x).second)
    ++state.holding; // As walks begin.
  if (how == progress::paused)
    resume_later(self);
  else if (state.overdue.count(x->current) > 0)
    set_holds(state, *x, false);
}

/// Asks for more or for less, as there is room.
void update_intake(handler_chain_state& state) {
  const auto& options = state.options;
  const auto events = state.queue.size() + state.walks.size();
  const auto is_over = [&](size_t factor, size_t divisor) {
    return events > options.max_events * factor / divisor
           || state.bytes > options.max_bytes * factor / divisor;
  };
  // Up at the bounds, down at half of them: not to and fro at each event.
  auto next = state.intake;
  if (is_over(options.hard_factor, 1))
    next = event_intake::nothing;
  else if (is_over(1, 1) && next == event_intake::all)
    next = event_intake::answers;
  else if (!is_over(1, 2))
    next = event_intake::all;
  else if (next == event_intake::nothing && !is_over(options.hard_factor, 2))
    next = event_intake::answers;
  if (std::exchange(state.intake, next) == next)
    return;
  if (options.on_intake)
    options.on_intake(next);
}

/// Passes over a handler that owes its verdict.
void pass_over(self_pointer self, const walk_ptr& x) {
  auto& state = self->state;
  state.log(severity::warning, describe(state, x->current) + " never completed "
                                 + to_string(x->what->code)
                                 + "; the event goes on without it");
  auto none = handler_verdict{status::no_action_taken, {}};
  note_verdict(state, *x, none);
  run(self, x);
}

void take_verdict(self_pointer self, handler_done& done) {
  auto& state = self->state;
  state.overdue.erase(done.handler);
  const auto i = state.walks.find(done.walk);
  if (i == state.walks.end() || i->second->turn != done.turn
      || i->second->is_paused) {
    state.log(severity::info, describe(state, done.handler)
                                + " completed an event that had gone on without"
                                  " it; ignored");
    return;
  }
  const auto x = i->second;
  note_decision(*x, done.verdict);
  if (done.verdict.outcome == status::action_complete)
    x->next = x->handlers.size();
  else
    note_verdict(state, *x, done.verdict);
  run(self, x);
}

} // namespace

void begin_events(self_pointer self) {
  auto& state = self->state;
  while (!state.queue.empty() && state.holding == 0) {
    if (state.calls_left == 0) {
      resume_later(self);
      break;
    }
    auto& first = state.queue.front();
    const auto& what = *first.what;
    auto handlers = std::vector<uint64_t>{};
    if (!first.only)
      handlers = state.order.match(what, state.self);
    else if (state.order.matches(*first.only, what, state.self))
      handlers.push_back(*first.only);
    const auto is_pending = [&](uint64_t id) {
      return state.registrations.at(id).is_pending;
    };
    if (state.pending > 0
        && std::any_of(handlers.begin(), handlers.end(), is_pending))
      break;
    auto x = std::make_shared<walk>();
    x->id = ++state.last_walk;
    x->what = std::move(first.what);
    x->bytes = first.bytes;
    x->handlers = std::move(handlers);
    if (!first.only) {
      x->number = state.history.begin(x->what, x->bytes);
      if (state.options.on_decided && is_of_group(x->what->code))
        x->decision = handler_verdict{status::no_action_taken, {}};
    }
    state.queue.pop_front();
    run(self, x);
  }
  keep_ticking(self);
  update_intake(state);
}

namespace {

void take(self_pointer self, event_history::event_ptr what) {
  auto& state = self->state;
  const auto bytes = approximate_size(*what);
  state.bytes += bytes;
  state.queue.push_back({std::move(what), bytes, std::nullopt});
}

/// Goes on with what was left for another turn.
void resume(self_pointer self) {
  auto& state = self->state;
  state.will_resume = false;
  auto paused = std::vector<walk_ptr>{};
  for (const auto& [id, x] : state.walks)
    if (x->is_paused)
      paused.push_back(x);
  std::sort(paused.begin(), paused.end(),
            [](const auto& x, const auto& y) { return x->id < y->id; });
  for (const auto& x : paused)
    run(self, x);
  begin_events(self);
}

/// Looks for handlers that take too long.
void tick(self_pointer self) {
  auto& state = self->state;
  state.is_ticking = false;
  auto walks = std::vector<walk_ptr>{};
  for (const auto& [id, x] : state.walks)
    if (!x->is_paused)
      walks.push_back(x);
  std::sort(walks.begin(), walks.end(),
            [](const auto& x, const auto& y) { return x->id < y->id; });
  for (const auto& x : walks) {
    ++x->waited;
    if (x->waited == state.options.patience_ticks) {
      state.log(severity::warning,
                describe(state, x->current) + " has not completed "
                  + to_string(x->what->code)
                  + " yet; events after it do not wait any longer");
      state.overdue.insert(x->current);
      set_holds(state, *x, false);
    }
    if (x->waited >= state.options.answer_ticks)
      pass_over(self, x);
  }
  begin_events(self);
}

handler_chain_actor::behavior_type behavior(self_pointer self,
                                            event_session_actor session,
                                            handler_chain_options options) {
  auto& state = self->state;
  state.order = handler_order{options.order};
  state.history = event_history{options.history};
  state.options = std::move(options);
  state.session = std::move(session);
  const auto begin_turn = [&state] {
    state.calls_left = state.options.calls_per_turn;
  };
  auto handlers = handler_chain_actor::behavior_type{
    [self](const register_handler& request) { return add(self, request); },
    [self, begin_turn](const handler_registered& x) {
      begin_turn();
      make_ready(self, x.id);
    },
    [self, begin_turn](const deregister_handler& request) -> caf::result<ack> {
      if (self->state.order.find(request.id) == nullptr)
        return make_error(status::bad_param, "there is no event handler "
                                               + std::to_string(request.id));
      begin_turn();
      drop(self, request.id);
      begin_events(self);
      return ack{};
    },
    [self, begin_turn](event& what) {
      begin_turn();
      take(self, std::make_shared<const event>(std::move(what)));
      begin_events(self);
    },
    [self, begin_turn](event_batch& what) {
      begin_turn();
      for (auto& x : what.events)
        take(self, std::move(x));
      begin_events(self);
    },
    [self, begin_turn](handler_done& done) {
      begin_turn();
      take_verdict(self, done);
      begin_events(self);
    },
    [self](const connect_accepted& x) {
      self->state.self = x.proc;
      subscribe_all(self);
    },
    [self, begin_turn](const deadline& x) {
      begin_turn();
      if (x.id == for_tick)
        tick(self);
      else
        resume(self);
    },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

} // namespace handler_chain_internals

bool is_for_notifier(const notify_request& request, const proc_id& notifier) {
  if (request.range == data_range::rm || request.range == data_range::invalid)
    return false;
  const auto* custom = find(request.infos, attr::event_custom_range);
  if (custom == nullptr)
    return request.range != data_range::custom;
  const auto targets = procs_of(*custom);
  return std::any_of(targets.begin(), targets.end(),
                     [&](const proc_id& x) { return matches(x, notifier); });
}

handler_chain_actor spawn_handler_chain(caf::actor_system& sys,
                                        event_session_actor session,
                                        handler_chain_options options) {
  return sys.spawn(handler_chain_internals::behavior, std::move(session),
                   std::move(options));
}

} // namespace troupe
