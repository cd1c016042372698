#include "actors/events/handler_chain.hpp"

#include "base/answer.hpp"
#include "base/sturdy.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

namespace troupe {

namespace defaults {

/// Event handlers of one process at a time.
inline constexpr size_t event_handlers = 65536;

/// Handlers that run before the rest of the process has its turn.
inline constexpr size_t event_handler_calls_per_turn = 256;

/// Events that a process keeps for handlers that come later, about how many
/// bytes, and functions of earlier handlers that it remembers.
inline constexpr size_t event_history = 512;
inline constexpr size_t event_history_bytes = size_t{1} << 20;
inline constexpr size_t event_history_functions = 1024;

/// About how many bytes of events wait for the handlers of a process or are
/// under way until it reads less from its server; and how many times that, or
/// `events_awaiting_handlers`, until it reads nothing.
inline constexpr size_t event_bytes_awaiting_handlers = size_t{8} << 20;
inline constexpr size_t events_awaiting_hard_factor = 8;

} // namespace defaults

namespace {

size_t size_of(const value& x);

size_t size_of(const std::vector<info>& xs) {
  auto result = size_t{0};
  for (const auto& x : xs)
    result += sizeof(x) + x.key.size() + size_of(x.val);
  return result;
}

/// What is outside of the value itself.
size_t size_of(const value& x) {
  if (const auto* text = std::get_if<std::string>(&x.data))
    return text->size();
  if (const auto* one = std::get_if<box<info>>(&x.data))
    return sizeof(info) + (*one)->key.size() + size_of((*one)->val);
  const auto* array = x.array();
  if (array == nullptr)
    return 0;
  auto result = sizeof(*array);
  for (const auto& y : array->elements)
    result += sizeof(y) + size_of(y);
  return result;
}

/// An event that waits for its handlers.
struct queued_event {
  event_history::event_ptr what;
  size_t bytes = 0;

  /// It is for this handler, which came later; nothing: for all that match.
  std::optional<uint64_t> only;
};

/// An event under way through its handlers.
struct walk {
  uint64_t id = 0;
  event_history::event_ptr what;
  size_t bytes = 0;

  /// Its number in the history; 0: not there.
  uint64_t number = 0;

  /// All that matched, in order, and how many have had their turn.
  std::vector<uint64_t> handlers;
  size_t next = 0;

  /// What those that have run reported.
  std::vector<info> results;

  /// What they decided, if the event is of a group and comes the first time.
  std::optional<handler_verdict> decision;

  /// Whose turn it is, and how many turns there have been: an answer that comes
  /// after its turn counts for nothing.
  uint64_t current = 0;
  std::string current_name;
  bool current_is_own = false;
  uint64_t turn = 0;

  /// Ticks since the turn began.
  uint32_t waited = 0;

  /// Whether later events wait for this one.
  bool holds = true;

  /// Whether it waits for the next turn of the chain, not for a handler.
  bool is_paused = false;
};

using walk_ptr = std::shared_ptr<walk>;

/// What the chain knows of a handler beside its place.
struct registration {
  uint64_t function = 0;
  event_history::horizon missed;

  /// Nobody but us knows of it yet.
  bool is_pending = true;

  /// Whether the library has it for itself, see `own_handler_key`.
  bool is_own = false;
};

struct handler_chain_state {
  static inline const char* name = "handler-chain";

  handler_chain_options options;
  handler_order order{{}};
  event_history history{{}};
  std::map<uint64_t, registration> registrations;
  size_t pending = 0;

  /// Handlers that have overrun and owe an answer.
  std::set<uint64_t> overdue;

  /// How many handlers want a code, as the server knows it.
  std::map<status, size_t> codes;

  proc_id self;
  event_session_actor session;

  std::deque<queued_event> queue;

  /// Those that wait for a handler, and how many of them hold up later events.
  std::unordered_map<uint64_t, walk_ptr> walks;
  size_t holding = 0;
  uint64_t last_walk = 0;

  /// Bytes of the events that wait or are under way.
  size_t bytes = 0;
  event_intake intake = event_intake::all;

  size_t calls_left = 0;
  bool is_ticking = false;
  bool will_resume = false;

  void log(severity how, const std::string& what) const {
    if (options.log)
      options.log(how, what);
  }
};

TROUPE_SELF_POINTER(handler_chain_actor, handler_chain_state);

void begin_events(self_pointer self);

/// Whether a request failed because there is no server, or none any more.
bool is_without_server(const caf::error& err) {
  const auto code = status_of(err);
  return code == status::unreach || code == status::lost_connection;
}

// -- what the server is told --------------------------------------------------

/// The codes under which the server knows a handler.
std::vector<status> codes_of(const handler_order::entry& x) {
  return x.codes.empty() ? std::vector{default_events} : x.codes;
}

/// Whether a directive is the library's own affair. The server is not asked to
/// filter for one handler: another one may want what the first does not.
bool stays_here(const info& x) {
  return x.key == attr::event_hdlr_name || x.key == attr::event_hdlr_first
         || x.key == attr::event_hdlr_last
         || x.key == attr::event_hdlr_first_in_category
         || x.key == attr::event_hdlr_last_in_category
         || x.key == attr::event_hdlr_before || x.key == attr::event_hdlr_after
         || x.key == attr::event_hdlr_prepend
         || x.key == attr::event_hdlr_append || x.key == attr::event_oneshot
         || x.key == attr::event_return_object || x.key == own_handler_key
         || x.key == attr::event_affected_proc
         || x.key == attr::event_affected_procs || x.key == attr::range
         || x.key == attr::event_custom_range;
}

/// What the server must hear of a new handler; nothing if it knows already.
/// Source: RFC0002, "Client Registrations".
std::optional<register_events_request>
subscription(const handler_chain_state& state, const handler_order::entry& x,
             const std::vector<info>& directives) {
  auto result = register_events_request{x.codes, {}};
  for (const auto& y : directives)
    if (!stays_here(y))
      result.directives.push_back(y);
  const auto wanted = codes_of(x);
  const auto is_known = [&](status code) {
    return state.codes.count(code) > 0;
  };
  if (result.directives.empty()
      && std::all_of(wanted.begin(), wanted.end(), is_known))
    return std::nullopt;
  return result;
}

/// Takes a handler out; the server hears of codes that nobody wants any more.
void drop(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto* x = state.order.find(id);
  if (x == nullptr)
    return;
  auto unwanted = deregister_events_request{};
  for (const auto code : codes_of(*x)) {
    const auto i = state.codes.find(code);
    if (i == state.codes.end() || --i->second > 0)
      continue;
    state.codes.erase(i);
    unwanted.codes.push_back(code);
  }
  if (!unwanted.codes.empty())
    self->send(state.session, std::move(unwanted));
  state.order.remove(id);
  state.overdue.erase(id);
  const auto gone = state.registrations.extract(id);
  if (gone.mapped().is_pending)
    --state.pending;
  else
    state.history.leave(gone.mapped().function);
}

/// The program knows of a handler: events may reach it, those first that it has
/// missed.
void make_ready(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto i = state.registrations.find(id);
  if (i == state.registrations.end() || !i->second.is_pending)
    return;
  i->second.is_pending = false;
  --state.pending;
  const auto missed = state.history.missed(i->second.missed);
  i->second.missed = {};
  // In front of what has come since.
  for (auto x = missed.rbegin(); x != missed.rend(); ++x) {
    if (!state.order.matches(id, **x, state.self))
      continue;
    const auto bytes = approximate_size(**x);
    state.bytes += bytes;
    state.queue.push_front({*x, bytes, id});
  }
  begin_events(self);
}

/// Adds a handler, and answers when the server knows of it.
caf::result<handler_registered> add(self_pointer self,
                                    const register_handler& request) {
  auto& state = self->state;
  const auto id = state.order.add(request);
  if (!id)
    return id.error();
  const auto& x = *state.order.find(*id);
  const auto wanted = subscription(state, x, request.directives);
  for (const auto code : codes_of(x))
    ++state.codes[code];
  state.registrations[*id] = {request.function,
                              state.history.seen_from(request.function), true,
                              flag(request.directives, own_handler_key)};
  ++state.pending;
  if (!wanted)
    return handler_registered{*id};
  auto promise = self->make_response_promise<handler_registered>();
  auto reply = std::make_shared<answer<handler_registered>>(promise);
  self->request(state.session, caf::infinite, *wanted)
    .then([=](ack) { reply->give({*id}); },
          [=](caf::error& err) {
            // Without a server there are still the process's own events.
            if (is_without_server(err)) {
              reply->give({*id});
              return;
            }
            drop(self, *id);
            reply->fail(std::move(err));
            self->state.calls_left = self->state.options.calls_per_turn;
            begin_events(self);
          });
  return promise;
}

/// The server is new: it learns what the handlers want.
void subscribe_all(self_pointer self) {
  auto& state = self->state;
  auto all = register_events_request{};
  for (const auto& [code, count] : state.codes)
    if (code != default_events)
      all.codes.push_back(code);
  const auto tell = [=](register_events_request request) {
    self->request(self->state.session, caf::infinite, std::move(request))
      .then([](ack) {},
            [=](const caf::error& err) {
              if (is_without_server(err))
                return;
              self->state.log(severity::warning,
                              "the server does not take the registrations of"
                              " event handlers: "
                                + reason_of(err));
            });
  };
  if (state.codes.count(default_events) > 0)
    tell({});
  if (!all.codes.empty())
    tell(std::move(all));
}

/// What a `deadline` of the chain is about.
constexpr uint64_t for_tick = 0;
constexpr uint64_t for_resume = 1;

std::string describe(const handler_chain_state& state, uint64_t id) {
  auto result = "event handler " + std::to_string(id);
  if (const auto* x = state.order.find(id); x != nullptr && !x->name.empty())
    result += " (" + x->name + ")";
  return result;
}

// -- one event ----------------------------------------------------------------

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

/// What a handler of the library's has completed, as what releases a process that
/// waits for a debugger in PMIx_Init, is none of the program's.
void note_taken(handler_chain_state& state, const walk& x) {
  if (x.current_is_own)
    state.history.forget(x.number);
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
    x.current_is_own = state.registrations[id].is_own;
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
    if (verdict->outcome == status::action_complete) {
      note_taken(state, x);
      return progress::ended;
    }
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
  if (done.verdict.outcome == status::action_complete) {
    note_taken(state, *x);
    x->next = x->handlers.size();
  } else {
    note_verdict(state, *x, done.verdict);
  }
  run(self, x);
}

/// Begins the events that need not wait, in their order.
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
        return make_error(status::bad_param,
                          "there is no event handler "
                            + std::to_string(request.id)
                            + "; name one that was registered");
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

size_t approximate_size(const event& x) {
  return sizeof(x) + x.source.nspace.size() + size_of(x.infos);
}

uint64_t event_history::begin(const event_ptr& what, size_t bytes) {
  // What stays inside a process is not for a server to cache.
  if (what->range == data_range::proc_local || settings_.capacity == 0
      || flag(what->infos, attr::event_do_not_cache))
    return 0;
  if (bytes > settings_.max_bytes)
    return 0;
  while (kept_.size() >= settings_.capacity
         || bytes_ + bytes > settings_.max_bytes) {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
  kept_.push_back({++last_, bytes, what});
  bytes_ += bytes;
  under_way_.push_back(last_);
  return last_;
}

void event_history::end(uint64_t number) {
  const auto i = std::lower_bound(under_way_.begin(), under_way_.end(), number);
  if (i != under_way_.end() && *i == number)
    under_way_.erase(i);
}

void event_history::forget(uint64_t number) {
  const auto i =
    std::lower_bound(kept_.begin(), kept_.end(), number,
                     [](const entry& x, uint64_t y) { return x.number < y; });
  if (i == kept_.end() || i->number != number)
    return;
  bytes_ -= i->bytes;
  kept_.erase(i);
}

event_history::horizon event_history::seen_from(uint64_t function) const {
  const auto i = functions_.find(function);
  return {i != functions_.end() ? i->second : 0, last_, under_way_};
}

void event_history::leave(uint64_t function) {
  if (function == 0)
    return;
  if (functions_.size() >= settings_.max_functions)
    functions_.clear();
  functions_[function] = last_;
}

std::vector<event_history::event_ptr>
event_history::missed(const horizon& x) const {
  auto result = std::vector<event_ptr>{};
  for (const auto& y : kept_)
    if (y.number > x.first && y.number <= x.last
        && !std::binary_search(x.without.begin(), x.without.end(), y.number))
      result.push_back(y.what);
  return result;
}

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
  return sys.spawn(behavior, std::move(session), std::move(options));
}

handler_chain_options handler_chain_options::with_defaults() {
  auto result = handler_chain_options{};
  result.order.capacity = defaults::event_handlers;
  result.history.capacity = defaults::event_history;
  result.history.max_bytes = defaults::event_history_bytes;
  result.history.max_functions = defaults::event_history_functions;
  result.tick = defaults::event_handler_tick;
  result.patience_ticks = defaults::event_handler_patience_ticks;
  result.answer_ticks = defaults::event_handler_answer_ticks;
  result.max_events = defaults::events_awaiting_handlers;
  result.max_bytes = defaults::event_bytes_awaiting_handlers;
  result.hard_factor = defaults::events_awaiting_hard_factor;
  result.calls_per_turn = defaults::event_handler_calls_per_turn;
  return result;
}

} // namespace troupe
