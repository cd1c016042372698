#include "actors/monitors/monitor_desk.hpp"

#include "actors/events/range_filter.hpp"
#include "actors/monitors/defaults.hpp"
#include "actors/monitors/file_watch.hpp"
#include "actors/monitors/heartbeat_watch.hpp"
#include "actors/monitors/monitor_directives.hpp"
#include "actors/monitors/monitor_table.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "actors/monitors/stack_taker.hpp"
#include "actors/monitors/usage_request.hpp"
#include "actors/monitors/usage_schedule.hpp"
#include "actors/monitors/usage_updates.hpp"
#include "base/all_of.hpp"
#include "base/answer.hpp"
#include "base/make_info.hpp"
#include "base/may_act_for.hpp"
#include "base/pass_on.hpp"
#include "base/sturdy.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/event.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

namespace defaults {

/// How long a monitor that is an actor of others stays after its process has
/// ended: the end may be that of a node, of which it still has to tell.
inline constexpr auto monitor_last_words = std::chrono::seconds{1};

} // namespace defaults

namespace {

/// In the number of a `deadline`: of monitors whose process has ended.
constexpr auto last_words_bit = uint64_t{1} << 63;

/// Why monitors of heartbeats raise alerts.
constexpr auto no_heartbeat = "no heartbeat has come";

/// What an alert tells.
struct alert_facts {
  /// The process that is monitored: the event is raised in its name.
  proc_id proc;

  /// PMIX_MONITOR_FILE; empty: no file is monitored.
  std::string file;

  /// Why, in a sentence.
  std::string reason;

  /// What the monitor itself adds.
  std::vector<info> infos;
};

/// Says what is done on an alert to the process or its job, as far as the
/// monitor itself says it.
/// Source: PMIx Standard v5, PMIX_EVENT_TERMINATE_PROC, _JOB.
void add_intent(const monitor_entry& of, std::vector<info>& to) {
  if (of.app_control || !of.extras)
    return;
  for (const auto& text : reactions_in(of.extras->settings)) {
    const auto x = parse_reaction(text);
    if (!x)
      continue;
    if (x->kind == reaction_kind::kill)
      to.push_back(make_info(attr::event_terminate_proc, value::boolean(true)));
    else if (x->kind == reaction_kind::restart)
      to.push_back(make_info(attr::event_terminate_job, value::boolean(true)));
  }
}

/// The event of an alert, for everybody in its range who has a handler for its
/// code, the process itself included. It carries PMIX_EVENT_AFFECTED_PROC,
/// PMIX_MONITOR_ID, PMIX_MONITOR_FILE, and PMIX_EVENT_TEXT_MESSAGE.
/// Source: RFC0015, "Monitoring"; reading A20.
notify_request make_alert(const monitor_entry& of, const alert_facts& facts) {
  auto result = notify_request{};
  result.code = of.code;
  result.range = of.range;
  const auto add = [&](std::string_view key, value x) {
    result.infos.push_back(make_info(key, std::move(x)));
  };
  add(attr::event_affected_proc, value::of_proc(facts.proc));
  if (!of.id.empty())
    add(attr::monitor_id, value::string(of.id));
  if (!facts.file.empty())
    add(attr::monitor_file, value::string(facts.file));
  add(attr::event_text_message, value::string(facts.reason));
  add_intent(of, result.infos);
  for (const auto& x : facts.infos)
    result.infos.push_back(x);
  const auto is_own = of.range == data_range::proc_local;
  if (of.extras)
    for (const auto& x : of.extras->event_infos)
      if (!is_own || x.key != attr::event_custom_range)
        result.infos.push_back(x);
  if (is_own) {
    // The process alone, wherever its library runs its handlers.
    result.range = data_range::custom;
    add(attr::event_custom_range, value::procs({facts.proc}));
  }
  add(event_reaches_source, value::boolean(true));
  return result;
}

/// A request that waits for somebody before its monitors begin.
struct beginning {
  requester who;
  monitor_plan plan;
  monitored_session_actor session;
  answer<info_result> reply;
};

struct monitor_desk_state {
  static inline const char* name = "monitor-desk";

  monitor_desk_options options;
  monitor_table table;
  heartbeat_watch heartbeats;
  file_watch files;

  /// Who reads before a process is said to be silent, by connection.
  std::map<uint32_t, monitored_session_actor> sessions;

  /// Monitors that are actors: of named kinds, and of the use of resources.
  std::map<monitor_table::item, made_monitor> kinds;

  /// Of those, the ones of the use of resources, and when they are due.
  std::map<monitor_table::item, timed_monitor_actor> updates;
  usage_schedule schedule;

  /// Null: nobody takes stacks here.
  std::unique_ptr<stack_taker> stacks;

  std::map<uint64_t, beginning> beginnings;
  uint64_t next_beginning = 1;

  /// Alerts since the start.
  uint64_t alerts = 0;

  /// When the next reminder comes, and its number; earlier ones are stale.
  std::optional<std::chrono::nanoseconds> reminded_at;
  uint64_t reminder = 0;

  /// Monitors whose processes have ended, by the `deadline` that ends them.
  std::map<uint64_t, std::vector<uint64_t>> last_words;
  uint64_t last_words_count = 0;

  monitor_desk_state() = default;
  monitor_desk_state(const monitor_desk_state&) = delete;
  monitor_desk_state& operator=(const monitor_desk_state&) = delete;

  /// Monitors that are actors end with the desk.
  ~monitor_desk_state();

  void note(severity weight, const std::string& line) const {
    if (options.log)
      options.log(weight, line);
  }
};

TROUPE_SELF_POINTER(monitor_desk_actor, monitor_desk_state);

/// Steady time.
std::chrono::nanoseconds now(self_pointer self) {
  return self->clock().now().time_since_epoch();
}

/// Sees to a reminder for what is due next.
void arm(self_pointer self) {
  auto& state = self->state;
  const auto here = now(self);
  auto due = state.heartbeats.next(here);
  for (const auto& other : {state.files.next(), state.schedule.next()})
    if (other)
      due = due ? std::min(*due, *other) : *other;
  if (!due || (state.reminded_at && *state.reminded_at <= *due))
    return;
  state.reminded_at = *due;
  const auto delay = std::max(*due - here, std::chrono::nanoseconds{0});
  self->delayed_send(self, delay, deadline{++state.reminder});
}

/// Ends a monitor.
void remove(self_pointer self, monitor_table::item x) {
  auto& state = self->state;
  state.heartbeats.remove(x);
  state.files.remove(x);
  state.schedule.remove(x);
  state.updates.erase(x);
  const auto kind = state.kinds.extract(x);
  if (!kind.empty()) {
    const auto& monitor = kind.mapped().actor;
    self->send(monitor, stop_monitor{});
    self->send_exit(monitor, caf::exit_reason::user_shutdown);
  }
  state.table.remove(x);
}

caf::result<info_result> cancel(self_pointer self, const requester& who,
                                const monitor_plan& plan,
                                const monitor_request& request,
                                const monitored_session_actor& session);

void ask_elsewhere(self_pointer self, const requester& who,
                   const monitor_request& request,
                   const completion<info_result>& done);

/// Drops what has not begun of those for whom `is_gone` holds.
template <class Predicate>
void drop_beginnings(self_pointer self, Predicate is_gone) {
  auto& all = self->state.beginnings;
  for (auto i = all.begin(); i != all.end();)
    i = is_gone(i->second) ? all.erase(i) : std::next(i);
}

using item_list = std::vector<monitor_table::item>;

// -- alerts -------------------------------------------------------------------

std::string method_name(const monitor_entry& x) {
  switch (x.method) {
    case monitor_method::heartbeat:
      return "heartbeat";
    case monitor_method::file:
      return "file";
    default:
      return x.extras->kind;
  }
}

/// Has something done about an alert, unless the program wants to do it.
/// Source: RFC0015, PMIX_MONITOR_APP_CONTROL.
void react(self_pointer self, monitor_table::item x, const requester& who,
           const alert_facts& facts) {
  const auto& state = self->state;
  const auto& entry = state.table[x];
  if (entry.app_control || !state.options.react)
    return;
  auto what = react_to_alert{};
  what.who = who;
  what.proc = facts.proc;
  what.kind = method_name(entry);
  what.id = entry.id;
  what.file = facts.file;
  what.reason = facts.reason;
  state.options.react(std::move(what), entry.extras ? entry.extras->settings
                                                    : std::vector<info>{});
}

void take_alert(self_pointer self, monitor_alert& what);

/// An alert is out: of those that came meanwhile the newest one follows.
void on_told(self_pointer self, uint64_t number) {
  const auto x = self->state.table.item_of(number);
  if (!x || !self->state.table[*x].extras)
    return;
  auto& extras = *self->state.table[*x].extras;
  extras.is_telling = false;
  if (auto next = std::exchange(extras.next, std::nullopt))
    take_alert(self, *next);
}

/// Raises the alert of a monitor.
void raise(self_pointer self, monitor_table::item x, alert_facts facts) {
  auto& state = self->state;
  const auto& entry = state.table[x];
  const auto& of = state.table.of(state.table.process_of(x));
  auto who = requester{};
  who.proc = of.proc;
  who.creds = of.creds;
  who.index = state.table.connection_of(x);
  facts.proc = of.proc;
  const auto title = "monitor " + method_name(entry)
                     + (entry.id.empty() ? "" : " \"" + entry.id + "\"")
                     + " of " + to_string(of.proc);
  state.note(severity::info, title + ": " + facts.reason);
  ++state.alerts;
  const auto number = state.table.number_of(x);
  self
    ->request(state.options.events, caf::infinite, who,
              make_alert(entry, facts))
    .then([self, number](ack) { on_told(self, number); },
          [self, number, title](const caf::error& why) {
            on_told(self, number);
            self->state.note(severity::warning,
                             title + ": its alert does not reach everybody: "
                               + reason_of(why));
          });
  react(self, x, who, facts);
}

/// What the processes have sent has been read.
void confirm(self_pointer self, const item_list& items, const unread& left) {
  auto& state = self->state;
  for (const auto x : items) {
    if (!state.heartbeats.confirm(x, left.bytes, now(self)))
      continue;
    auto facts = alert_facts{};
    facts.reason = no_heartbeat;
    raise(self, x, std::move(facts));
  }
  arm(self);
}

/// Reads what processes have sent before they are said to be silent.
/// Source: guarantees 5.9, MON-1.
void look_at_processes(self_pointer self) {
  auto& state = self->state;
  auto due = item_list{};
  state.heartbeats.advance(now(self), due);
  auto by_connection = std::map<uint32_t, item_list>{};
  for (const auto x : due)
    by_connection[state.table.connection_of(x)].push_back(x);
  for (auto& [index, items] : by_connection) {
    const auto session = state.sessions.find(index);
    if (session == state.sessions.end()) {
      confirm(self, items, {}); // The server itself: there is nothing to read.
      continue;
    }
    self->request(session->second, caf::infinite, read_now{})
      .then([self,
             items = items](const unread& left) { confirm(self, items, left); },
            [](const caf::error&) {
              // Its connection is gone: the session tells us so itself.
            });
  }
}

void look_at_files(self_pointer self) {
  auto& state = self->state;
  auto looks = std::vector<file_watch::look>{};
  state.files.advance(now(self), looks);
  const auto take = [self](uint64_t ticket, const file_stamps& found) {
    auto silent = item_list{};
    self->state.files.take(ticket, found, silent);
    for (const auto x : silent) {
      auto facts = alert_facts{};
      facts.file = self->state.files.path_of(x);
      facts.reason = self->state.files.reason_of(x);
      raise(self, x, std::move(facts));
    }
  };
  for (auto& x : looks)
    self->request(state.options.files, caf::infinite, std::move(x.request))
      .then([take, ticket = x.ticket](
              const file_stamps& found) { take(ticket, found); },
            [take, ticket = x.ticket](const caf::error&) {
              take(ticket, {}); // Nothing could be looked at.
            });
}

/// Has the use of resources told.
void send_updates(self_pointer self) {
  auto& state = self->state;
  auto due = item_list{};
  state.schedule.advance(now(self), due);
  for (const auto x : due)
    if (const auto i = state.updates.find(x); i != state.updates.end())
      self->send(i->second, deadline{});
}

/// Does what is due.
void look(self_pointer self) {
  look_at_processes(self);
  look_at_files(self);
  send_updates(self);
  arm(self);
}

/// A monitor of a named kind has found something. However fast it says so, one
/// alert is on its way and one waits.
void take_alert(self_pointer self, monitor_alert& what) {
  const auto x = self->state.table.item_of(what.number);
  if (!x)
    return;
  const auto& extras = self->state.table[*x].extras;
  if (!extras)
    return;
  if (what.reason.size() > defaults::monitor_reason_bytes)
    what.reason.resize(defaults::monitor_reason_bytes);
  if (what.infos.size() > defaults::monitor_alert_infos)
    what.infos.resize(defaults::monitor_alert_infos);
  if (std::exchange(extras->is_telling, true)) {
    extras->next = std::move(what);
    return;
  }
  auto facts = alert_facts{};
  facts.reason = std::move(what.reason);
  facts.infos = std::move(what.infos);
  extras->reason = facts.reason;
  raise(self, *x, std::move(facts));
}

/// Ends what a requestor asks to end here.
/// @returns how many monitors.
size_t cancel_here(self_pointer self, const requester& who,
                   const std::optional<std::string>& id) {
  auto& state = self->state;
  const auto before = state.beginnings.size();
  drop_beginnings(self, [&](const beginning& x) {
    return x.who.proc == who.proc && (!id || x.plan.id == id);
  });
  auto count = before - state.beginnings.size();
  for (const auto x : state.table.select(who.proc, id)) {
    if (const auto& extras = state.table[x].extras; extras && extras->requestor)
      continue; // Somebody else has asked for it.
    remove(self, x);
    ++count;
  }
  return count;
}

/// Ends one monitor of the requestor's user, whoever asked for it.
/// @param proc Whom it watches, if that is said: numbers are those of a node.
caf::error cancel_one(self_pointer self, const requester& who,
                      const value& which, const std::vector<proc_id>& proc) {
  auto& state = self->state;
  const auto number = which.number<uint64_t>();
  const auto x = number ? state.table.item_of(*number) : std::nullopt;
  const auto* of = x ? &state.table.of(state.table.process_of(*x)) : nullptr;
  if (of == nullptr || (!proc.empty() && proc.front() != of->proc))
    return make_error(status::not_found,
                      "there is no monitor of that number; see troupe monitor "
                      "list");
  if (!may_watch(who, of->creds.uid))
    return make_error(status::no_permissions,
                      "the monitor is another user's; ask as that user");
  remove(self, *x);
  return caf::none;
}

/// Ends what a requestor asks to end, here and wherever it may be.
/// @param session None for a request of another node's.
caf::result<info_result> cancel(self_pointer self, const requester& who,
                                const monitor_plan& plan,
                                const monitor_request& request,
                                const monitored_session_actor& session) {
  auto& options = self->state.options;
  if (const auto* number = find(request.directives, monitor_number_key)) {
    const auto* named = find(request.directives, attr::monitor_target_procs);
    const auto procs = named ? procs_of(*named) : std::vector<proc_id>{};
    auto why = cancel_one(self, who, *number, procs);
    if (!why)
      return info_result{};
    if (status_of(why) != status::not_found || !session || procs.empty()
        || !options.spans_nodes)
      return why;
    auto promise = self->make_response_promise<info_result>();
    ask_elsewhere(self, who, request, pass_on(promise));
    return promise;
  }
  auto promise = self->make_response_promise<info_result>();
  // All who may have such a monitor are asked; what is counted are monitors.
  auto all = all_of<size_t>{
    cancel_here(self, who, plan.id),
    [done = pass_on(promise), id = plan.id](size_t ended) {
      if (ended > 0 || !id)
        done(info_result{});
      else
        done(make_error(
          status::not_found,
          "its requestor has no monitor \"" + *id
            + "\" to cancel; troupe monitor list shows those there are"));
    }};
  if (!options.is_enabled) {
    all.add();
    self->request(options.host, caf::infinite, who, request)
      .then(
        [all](const info_result&) {
          ++*all;
          all.done();
        },
        [all](const caf::error&) { all.done(); });
  }
  all.done();
  return promise;
}

/// Ends its heartbeat monitors.
void cancel_heartbeats(self_pointer self, const requester& who,
                       const monitor_plan& plan) {
  auto& state = self->state;
  for (const auto x : state.table.select(who.proc, plan.id))
    if (state.table[x].method == monitor_method::heartbeat)
      remove(self, x);
}

/// Has the desk of another node do what is asked, by the host.
void ask_elsewhere(self_pointer self, const requester& who,
                   const monitor_request& request,
                   const completion<info_result>& done) {
  ask(self, self->state.options.host, done, who, request);
}

/// How a monitor is, alike for all.
struct monitor_health {
  std::optional<std::chrono::nanoseconds> since;
  std::optional<std::chrono::nanoseconds> due;
  bool is_silent = false;

  /// Why it has raised its last alert; empty: it has not.
  std::string reason;
};

monitor_health health_of(monitor_desk_state& state, monitor_table::item x,
                         std::chrono::nanoseconds now) {
  using std::chrono::nanoseconds;
  auto result = monitor_health{};
  const auto left = [now](nanoseconds due) {
    return std::max(due - now, nanoseconds{0});
  };
  if (state.heartbeats.holds(x)) {
    const auto beats = state.heartbeats.state_of(x, now);
    result = {beats.since_beat, beats.due, state.heartbeats.is_silent(x), {}};
    if (result.is_silent)
      result.reason = no_heartbeat;
  } else if (state.files.holds(x)) {
    if (const auto looked = state.files.looked_at(x))
      result.since = now - *looked;
    result.due = left(state.files.due_at(x));
    result.is_silent = state.files.is_silent(x);
    if (result.is_silent)
      result.reason = state.files.reason_of(x);
  } else if (state.schedule.holds(x)) {
    result.since = now - state.kinds.at(x).looks->last;
    result.due = left(state.schedule.due_at(x));
  } else if (const auto i = state.kinds.find(x); i != state.kinds.end()) {
    if (const auto& looks = i->second.looks; looks && looks->next.count() > 0) {
      if (looks->last.count() > 0)
        result.since = now - looks->last;
      result.due = left(looks->next);
      result.is_silent = looks->is_alarmed;
    }
    result.reason = state.table[x].extras->reason;
  }
  return result;
}

/// Seconds for people: to the millisecond.
value in_seconds(std::chrono::nanoseconds x) {
  constexpr auto ms = 1000.0;
  const auto count =
    std::chrono::duration_cast<std::chrono::milliseconds>(x).count();
  return {data_type::double_, static_cast<double>(count) / ms};
}

/// The monitors of this node that somebody may see, an item each.
std::vector<info> monitors_here(self_pointer self, const requester& who) {
  auto& state = self->state;
  const auto sees_all = may_act_for(who, state.options.owner.uid);
  const auto here = now(self);
  auto list = std::vector<info>{};
  for (const auto x : state.table.all()) {
    const auto& of = state.table.of(state.table.process_of(x));
    if (!sees_all && !may_act_for(who, of.creds.uid))
      continue;
    const auto& entry = state.table[x];
    auto one = std::vector<info>{};
    const auto put = [&](std::string_view key, value y) {
      one.push_back(make_info(key, std::move(y)));
    };
    put(monitor_number_key, value::uint64(state.table.number_of(x)));
    put(attr::procid, value::of_proc(of.proc));
    if (!state.options.hostname.empty())
      put(attr::hostname, value::string(state.options.hostname));
    put(monitor_kind_key, value::string(method_name(entry)));
    const auto* extras = entry.extras.get();
    put(monitor_requestor_key,
        value::of_proc(extras != nullptr ? extras->requestor.value_or(of.proc)
                                         : of.proc));
    if (!entry.id.empty())
      put(attr::monitor_id, value::string(entry.id));
    if (entry.method == monitor_method::usage) {
      put(monitor_target_key, value::string(extras->target));
      put(monitor_interval_key, value::uint32(extras->interval));
    }
    if (state.files.holds(x))
      put(attr::monitor_file, value::string(state.files.path_of(x)));
    auto health = health_of(state, x, here);
    if (!health.reason.empty())
      put(monitor_reason_key, value::string(std::move(health.reason)));
    put(monitor_silent_key, value::boolean(health.is_silent));
    if (health.since)
      put(monitor_last_key, in_seconds(*health.since));
    if (health.due)
      put(monitor_due_key, in_seconds(*health.due));
    list.push_back({"item", 0, value::infos(std::move(one))});
  }
  // To look may have been to hear: then there is a silence to wait for.
  arm(self);
  return list;
}

caf::result<info_result> list_monitors(self_pointer self, const requester& who,
                                       const query_request& request) {
  const auto& state = self->state;
  const auto wants = std::any_of(
    request.queries.begin(), request.queries.end(), [](const query& x) {
      return std::find(x.keys.begin(), x.keys.end(), monitor_list_key)
             != x.keys.end();
    });
  if (!wants)
    return make_error(status::not_found,
                      "monitors know only " + std::string{monitor_list_key});
  const auto in_answer = [](std::vector<info> list, bool complete) {
    return info_result{
      {make_info(monitor_list_key, value::infos(std::move(list)))}, complete};
  };
  if (!state.options.spans_nodes)
    return in_answer(monitors_here(self, who), true);
  auto question = monitor_request{};
  question.monitor.key = std::string{monitor_list_key};
  auto owed = std::make_shared<answer<info_result>>(
    self->make_response_promise<info_result>());
  auto promise = owed->promise();
  self->request(state.options.host, caf::infinite, who, std::move(question))
    .then(
      [=](info_result& x) {
        auto list = monitors_here(self, who);
        std::move(x.infos.begin(), x.infos.end(), std::back_inserter(list));
        owed->give(in_answer(std::move(list), x.complete));
      },
      [=](const caf::error&) {
        owed->give(in_answer(monitors_here(self, who), false));
      });
  return promise;
}

bool is_unsupported(const caf::error& why) {
  const auto code = status_of(why);
  return code == status::not_supported || code == status::not_implemented;
}

monitor_entry entry_of(const monitor_plan& plan, monitor_method method) {
  auto result = monitor_entry{};
  result.id = plan.id.value_or("");
  result.code = plan.code;
  result.range = plan.range;
  result.method = method;
  result.app_control = plan.app_control;
  if (!plan.event_infos.empty() || !plan.settings.empty()
      || !plan.kind.empty()) {
    result.extras = std::make_unique<monitor_extras>();
    result.extras->event_infos = plan.event_infos;
    result.extras->settings = plan.settings;
    result.extras->kind = plan.kind;
  }
  return result;
}

/// Adds a monitor to the table, and its process if that is new.
monitor_table::item add(self_pointer self, const requester& who,
                        const monitor_plan& plan, monitor_method method,
                        const monitored_session_actor& session) {
  auto& state = self->state;
  const auto is_new = !state.table.find(who.proc);
  const auto x = state.table.add(who, entry_of(plan, method));
  if (is_new)
    state.heartbeats.add_process(state.table.process_of(x), now(self));
  if (who.index != 0)
    state.sessions[who.index] = session;
  return x;
}

caf::result<info_result>
watch_heartbeats(self_pointer self, const requester& who,
                 const monitor_plan& plan,
                 const monitored_session_actor& session) {
  auto& state = self->state;
  if (auto why = state.table.room(who.proc, 1))
    return why;
  const auto x = add(self, who, plan, monitor_method::heartbeat, session);
  state.heartbeats.add(x, state.table.process_of(x), plan.window, now(self));
  arm(self);
  return info_result{};
}

// -- files -------------------------------------------------------------------

/// Why a file cannot be monitored, if so.
caf::error refusal(const watched_file& what, const file_stamp& found) {
  const auto no = [&](status code, const std::string& why) {
    return make_error(code, what.path + " cannot be monitored: " + why);
  };
  switch (found.state) {
    case file_state::regular:
      if (what.signs.access && !found.keeps_access_time)
        return no(status::not_supported,
                  "its file system keeps no access times; use "
                  "PMIX_MONITOR_FILE_MODIFY");
      return {};
    case file_state::missing:
      return {}; // It may come; until then it shows no sign of life.
    case file_state::not_regular:
      return no(status::bad_param, "it is no regular file");
    case file_state::no_permission:
      return no(status::no_permissions, "its requestor may not see it");
    case file_state::timed_out:
      return no(status::timeout, "its file system does not answer");
    default:
      return no(status::not_found, "it could not be looked at");
  }
}

/// What is worth knowing about files that are monitored.
std::string remark(const monitor_plan& plan, const file_stamps& found) {
  for (size_t i = 0; i < plan.files.size(); ++i)
    if (plan.files[i].signs.access && found.stamps[i].access_time_is_relative)
      return plan.files[i].path
             + " is on a file system with relative access times: only its "
               "first access after a modification counts";
  return {};
}

void begin_files(self_pointer self, beginning& x, const file_stamps& found) {
  auto& state = self->state;
  auto& files = x.plan.files;
  if (found.stamps.size() != files.size()) {
    x.reply.fail(
      status::error,
      "the files could not be looked at; see whether their mount hangs");
    return;
  }
  for (size_t i = 0; i < files.size(); ++i)
    if (auto why = refusal(files[i], found.stamps[i])) {
      x.reply.fail(std::move(why));
      return;
    }
  if (auto why = state.table.room(x.who.proc, files.size())) {
    x.reply.fail(std::move(why));
    return;
  }
  auto result = info_result{};
  auto note = remark(x.plan, found);
  if (!note.empty())
    result.infos.push_back(
      make_info(attr::event_text_message, value::string(std::move(note))));
  for (size_t i = 0; i < files.size(); ++i) {
    const auto item = add(self, x.who, x.plan, monitor_method::file, x.session);
    files[i].who = x.who.creds;
    state.files.add(item, std::move(files[i]), found.stamps[i], now(self));
  }
  arm(self);
  x.reply.give(std::move(result));
}

/// Keeps a request until `begin` is called with its number.
template <class F>
caf::result<info_result>
begin_later(self_pointer self, const requester& who, monitor_plan& plan,
            const monitored_session_actor& session, F begin) {
  auto& state = self->state;
  if (state.beginnings.size() >= state.options.limits.node)
    return make_error(status::out_of_resource,
                      "too many monitors begin at the same time (L7); wait "
                      "until some have begun");
  auto promise = self->make_response_promise<info_result>();
  const auto ticket = state.next_beginning++;
  auto& x = state.beginnings[ticket];
  x.who = who;
  x.plan = std::move(plan);
  x.session = session;
  x.reply = answer<info_result>{promise};
  begin(ticket, x);
  return promise;
}

caf::result<info_result> watch_files(self_pointer self, const requester& who,
                                     monitor_plan& plan,
                                     const monitored_session_actor& session) {
  auto& state = self->state;
  if (!state.options.files)
    return make_error(status::not_supported,
                      "files cannot be monitored on this node; leave them out");
  if (auto why = state.table.room(who.proc, plan.files.size()))
    return why;
  return begin_later(
    self, who, plan, session, [self](uint64_t ticket, const beginning& x) {
      auto question = check_files{};
      question.who = x.who.creds;
      for (const auto& file : x.plan.files)
        question.paths.push_back(file.path);
      self
        ->request(self->state.options.files, caf::infinite, std::move(question))
        .then(
          [self, ticket](const file_stamps& found) {
            auto node = self->state.beginnings.extract(ticket);
            if (!node.empty())
              begin_files(self, node.mapped(), found);
          },
          [self, ticket](caf::error& why) {
            auto node = self->state.beginnings.extract(ticket);
            if (!node.empty())
              node.mapped().reply.fail(std::move(why));
          });
    });
}

/// In whose name a process is watched by a monitor of a named kind.
///
/// Another process than the requestor is watched in its own name, on no
/// connection, so the monitor stays until that process ends. All processes that
/// a node starts are its owner's.
caf::expected<requester> subject_of(const monitor_desk_state& state,
                                    const requester& who,
                                    const std::vector<info>& directives) {
  const auto* named = find(directives, attr::monitor_target_procs);
  if (named == nullptr)
    return who;
  const auto procs = procs_of(*named);
  if (procs.size() != 1 || procs.front().rank == rank_wildcard)
    return make_error(status::bad_param,
                      "a monitor of a named kind watches one process: "
                      "PMIX_MONITOR_TARGET_PROCS must name one");
  if (procs.front() == who.proc)
    return who;
  if (!may_watch(who, state.options.owner.uid))
    return make_error(status::no_permissions,
                      to_string(procs.front())
                        + " is another user's; ask as that user");
  auto result = requester{};
  result.proc = procs.front();
  result.creds = state.options.owner;
  return result;
}

// -- named kinds -------------------------------------------------------------

/// @param session None for a request of another node's.
caf::result<info_result> watch_kind(self_pointer self, const requester& who,
                                    monitor_plan& plan, monitor_request& what,
                                    const monitored_session_actor& session) {
  auto& state = self->state;
  if (!state.options.make_kind)
    return make_error(status::not_supported,
                      "this node has no monitors of kind " + plan.kind
                        + "; name another kind");
  auto subject = subject_of(state, who, what.directives);
  if (!subject)
    return subject.error();
  if (auto why = state.table.room(subject->proc, 1))
    return why;
  auto made = state.options.make_kind(plan.kind);
  if (!made)
    return made.error();
  const auto x = add(self, *subject, plan, monitor_method::kind, session);
  const auto number = state.table.number_of(x);
  if (subject->proc != who.proc)
    state.table[x].extras->requestor = who.proc;
  state.kinds.insert_or_assign(x, *made);
  self->monitor(made->actor);
  auto request = start_monitor{};
  request.number = number;
  request.who = who;
  request.proc = subject->proc;
  request.settings = what.directives;
  auto elsewhere = std::shared_ptr<monitor_request>{};
  if (state.options.spans_nodes && session && subject->proc != who.proc) {
    elsewhere = std::make_shared<monitor_request>(what);
    elsewhere->monitor = make_info(monitor_kind_key, value::string(plan.kind));
  }
  auto promise = self->make_response_promise<info_result>();
  const auto done = pass_on(promise);
  self
    ->request(made->actor, defaults::monitor_start_time, std::move(request),
              monitor_user_actor{self})
    .then(
      [done, number](ack) {
        done(info_result{{make_info(monitor_number_key, value::uint64(number))},
                         true});
      },
      [self, done, number, who, elsewhere](caf::error& why) {
        if (const auto item = self->state.table.item_of(number))
          remove(self, *item);
        if (elsewhere && status_of(why) == status::not_found)
          ask_elsewhere(self, who, *elsewhere, done);
        else if (why == caf::sec::request_timeout)
          done(make_error(status::timeout,
                          "the monitor has not begun in time; ask again"));
        else
          done(std::move(why));
      });
  return promise;
}

// -- the use of resources -----------------------------------------------------

/// The first sample has been told: more follow.
void begin_updates(self_pointer self, uint64_t number, const requester& who,
                   usage_updates_options what) {
  auto& state = self->state;
  const auto x = state.table.item_of(number);
  if (!x)
    return; // It has been cancelled meanwhile, or its requestor has left.
  const auto here = now(self);
  const auto looks = std::make_shared<monitor_looks>();
  looks->last = here;
  what.looks = looks;
  what.server = state.options.server;
  what.usage = state.options.usage;
  what.events = state.options.events;
  const auto interval = std::chrono::seconds{what.request.rate};
  auto request = start_monitor{};
  request.number = number;
  request.who = who;
  request.proc = who.proc;
  request.settings = what.what.directives;
  const auto monitor =
    spawn_usage_updates(self->home_system(), std::move(what));
  state.kinds.insert_or_assign(*x, made_monitor{monitor, looks});
  state.updates.insert_or_assign(*x, monitor);
  self->monitor(monitor);
  self
    ->request(monitor, caf::infinite, std::move(request),
              monitor_user_actor{self})
    .then([](ack) {}, [](const caf::error&) {});
  state.schedule.add(*x, interval, here);
  arm(self);
}

/// Tells of the use of resources: once, or once and then by a MONITOR.
/// @pre There is somebody who samples.
caf::result<info_result> watch_usage(self_pointer self, const requester& who,
                                     monitor_request& what,
                                     const monitored_session_actor& session) {
  auto& state = self->state;
  auto parsed = parse_usage_request(what);
  if (!parsed)
    return parsed.error();
  if (parsed->rate == 0)
    return self->delegate(state.options.usage, who, std::move(what));
  auto plan = monitor_plan{};
  plan.id = parsed->id;
  plan.code = parsed->code;
  plan.kind = kind_of(parsed->subject);
  if (plan.id)
    for (const auto x : state.table.select(who.proc, plan.id))
      if (state.table[x].method == monitor_method::usage)
        return make_error(status::exists, "the monitor " + *plan.id
                                            + " exists: cancel it, or give "
                                              "another PMIX_MONITOR_ID");
  if (auto why = state.table.room(who.proc, 1, monitor_method::usage))
    return why;
  const auto x = add(self, who, plan, monitor_method::usage, session);
  auto& extras = *state.table[x].extras;
  extras.target = target_of(*parsed, who);
  extras.interval = parsed->rate;
  const auto number = state.table.number_of(x);
  auto updates = std::make_shared<usage_updates_options>();
  updates->what = what;
  updates->request = std::move(*parsed);
  auto promise = self->make_response_promise<info_result>();
  const auto done = pass_on(promise);
  self->request(state.options.usage, caf::infinite, who, std::move(what))
    .then(
      [self, done, number, who, updates](info_result& first) {
        begin_updates(self, number, who, std::move(*updates));
        done(std::move(first));
      },
      [self, done, number](caf::error& why) {
        // What is refused leaves nothing behind.
        if (const auto item = self->state.table.item_of(number))
          remove(self, *item);
        done(std::move(why));
      });
  return promise;
}

// -- stacks ------------------------------------------------------------------

std::unique_ptr<stack_taker> make_stack_taker(self_pointer self) {
  const auto& options = self->state.options;
  if (!options.probe || !options.commands)
    return nullptr;
  auto out = stack_taker::effects{};
  out.now = [self] { return now(self); };
  out.probe = [self](probe_process what,
                     const completion<process_probe>& then) {
    self
      ->request(self->state.options.probe, defaults::stack_time,
                std::move(what))
      .then(answer_to<process_probe>{then}, failure_to<process_probe>{then});
  };
  out.run = [self](run_command what, const completion<command_result>& then) {
    // Whoever runs it ends it in time.
    self
      ->request(self->state.options.commands, 2 * defaults::stack_time,
                std::move(what))
      .then(answer_to<command_result>{then}, failure_to<command_result>{then});
  };
  return std::make_unique<stack_taker>(std::move(out));
}

/// @param session None for a request of another node's.
caf::result<info_result> tell_stack(self_pointer self, const requester& who,
                                    const monitor_request& request,
                                    const monitored_session_actor& session) {
  auto& state = self->state;
  auto proc = stack_target(request);
  if (!proc)
    return std::move(proc.error());
  if (!may_act_for(who, state.options.owner.uid))
    return make_error(status::no_permissions,
                      to_string(*proc)
                        + ": only the owner of the DVM and root get stacks; "
                          "ask one of them");
  const auto may_ask = session && state.options.spans_nodes;
  if (!state.stacks && !may_ask)
    return make_error(status::not_supported,
                      "nobody takes stacks of processes on this node");
  auto promise = self->make_response_promise<info_result>();
  const auto done = pass_on(promise);
  if (!state.stacks) {
    ask_elsewhere(self, who, request, done);
    return promise;
  }
  state.stacks->take(*proc, [=](const caf::expected<info_result>& x) {
    if (may_ask && !x && status_of(x.error()) == status::not_found)
      ask_elsewhere(self, who, request, done);
    else
      done(x);
  });
  return promise;
}

// -- who does it -------------------------------------------------------------

caf::result<info_result> take_here(self_pointer self, const requester& who,
                                   monitor_plan& plan, monitor_request& request,
                                   const monitored_session_actor& session) {
  auto& options = self->state.options;
  switch (plan.task) {
    case monitor_task::heartbeat:
      return watch_heartbeats(self, who, plan, session);
    case monitor_task::files:
      return watch_files(self, who, plan, session);
    case monitor_task::no_heartbeat:
      cancel_heartbeats(self, who, plan);
      return info_result{};
    case monitor_task::usage:
      if (options.usage)
        return watch_usage(self, who, request, session);
      break;
    default:
      break;
  }
  return self->delegate(options.host, who, std::move(request));
}

/// Asks the host first, and does what it does not do.
/// Source: reading A18.
caf::result<info_result> ask_host(self_pointer self, const requester& who,
                                  monitor_request& request,
                                  const monitored_session_actor& session) {
  auto& options = self->state.options;
  if (!options.is_fallback)
    return self->delegate(options.host, who, std::move(request));
  auto promise = self->make_response_promise<info_result>();
  const auto done = pass_on(promise);
  self->request(options.host, caf::infinite, who, request)
    .then([done](info_result& x) { done(std::move(x)); },
          [=](caf::error& why) mutable {
            // Asked again, of ourselves, in a way that does not ask the host.
            if (is_unsupported(why))
              ask(self, monitor_desk_actor{self}, done, who, std::move(request),
                  session);
            else
              done(std::move(why));
          });
  return promise;
}

caf::result<info_result> take_request(self_pointer self, const requester& who,
                                      monitor_request& request,
                                      const monitored_session_actor& session) {
  auto& state = self->state;
  if (!session && request.monitor.key == monitor_list_key)
    return info_result{monitors_here(self, who), true};
  if (request.monitor.key == stack_key)
    return tell_stack(self, who, request, session);
  auto plan = plan_monitor(request);
  const auto is_ours =
    state.options.is_enabled || self->current_sender() == self->ctrl();
  if (!plan) {
    // The host may understand it.
    if (!is_ours)
      return ask_host(self, who, request, session);
    return plan.error();
  }
  const auto is_new = plan->task == monitor_task::kind
                      || (is_ours
                          && (plan->task == monitor_task::heartbeat
                              || plan->task == monitor_task::files));
  if (is_new && state.options.check)
    if (auto why = state.options.check(who, request.directives))
      return why;
  switch (plan->task) {
    case monitor_task::beat:
      if (const auto process = state.table.find(who.proc))
        state.heartbeats.beat(*process, now(self));
      arm(self);
      return info_result{};
    case monitor_task::cancel:
      return cancel(self, who, *plan, request, session);
    case monitor_task::kind:
      return watch_kind(self, who, *plan, request, session);
    default:
      break;
  }
  if (!is_ours)
    return ask_host(self, who, request, session);
  return take_here(self, who, *plan, request, session);
}

monitor_desk_state::~monitor_desk_state() {
  for (const auto& [item, x] : kinds)
    caf::anon_send_exit(x.actor, caf::exit_reason::user_shutdown);
}

void remove_all(self_pointer self, const item_list& items) {
  for (const auto x : items)
    remove(self, x);
}

void lose_connection(self_pointer self, const requester& who) {
  auto& state = self->state;
  drop_beginnings(self,
                  [&](const beginning& x) { return x.who.index == who.index; });
  remove_all(self, state.table.of_connection(who.proc, who.index));
  state.sessions.erase(who.index);
}

/// Whoever works with other nodes may have to say that one is lost, which ends the
/// process as well.
void note_end(self_pointer self, const proc_id& proc) {
  auto& state = self->state;
  drop_beginnings(self, [&](const beginning& x) { return x.who.proc == proc; });
  auto numbers = std::vector<uint64_t>{};
  for (const auto x : state.table.select(proc)) {
    const auto i = state.kinds.find(x);
    if (i != state.kinds.end() && !i->second.looks)
      numbers.push_back(state.table.number_of(x));
    else
      remove(self, x);
  }
  if (numbers.empty())
    return;
  const auto id = last_words_bit | ++state.last_words_count;
  state.last_words.emplace(id, std::move(numbers));
  self->delayed_send(self, defaults::monitor_last_words, deadline{id});
}

/// Their process has ended a moment ago.
void end_last_words(self_pointer self, uint64_t id) {
  const auto node = self->state.last_words.extract(id);
  if (node.empty())
    return;
  for (const auto number : node.mapped())
    if (const auto x = self->state.table.item_of(number))
      remove(self, *x);
}

void forget(self_pointer self, const std::string& nspace) {
  drop_beginnings(
    self, [&](const beginning& x) { return x.who.proc.nspace == nspace; });
  remove_all(self, self->state.table.of_nspace(nspace));
}

void take_beat(self_pointer self, const requester& who) {
  auto& state = self->state;
  if (const auto process = state.table.find(who.proc)) {
    state.heartbeats.beat(*process, now(self));
    arm(self);
  }
}

void pause(self_pointer self, const procs_paused& what) {
  auto& state = self->state;
  const auto here = now(self);
  auto items = item_list{};
  for (const auto& proc : what.procs) {
    const auto those = proc.rank == rank_wildcard
                         ? state.table.of_nspace(proc.nspace)
                         : state.table.select(proc);
    items.insert(items.end(), those.begin(), those.end());
  }
  for (const auto x : items) {
    state.heartbeats.pause(state.table.process_of(x), what.paused, here);
    state.files.pause(x, what.paused, here);
  }
  arm(self);
}

/// A monitor that is an actor has ended by itself.
void note_down(self_pointer self, const caf::down_msg& x) {
  auto& state = self->state;
  const auto i =
    std::find_if(state.kinds.begin(), state.kinds.end(), [&](const auto& y) {
      return y.second.actor.address() == x.source;
    });
  if (i == state.kinds.end())
    return;
  const auto item = i->first;
  const auto& of = state.table.of(state.table.process_of(item));
  state.note(severity::warning,
             "monitor " + state.table[item].extras->kind + " of "
               + to_string(of.proc)
               + " has ended by itself: nothing more of it will come");
  state.kinds.erase(i);
  remove(self, item);
}

gauge_list gauges_of(const monitor_desk_state& state) {
  const auto& limits = state.options.limits;
  const auto updates = state.table.updates();
  return {
    {{"monitors.all", state.table.size() - updates, limits.node, "monitors"},
     {"usage.monitors", updates, limits.updates, "monitors"},
     {"monitors.beginning", state.beginnings.size(), limits.node, "requests"},
     {"monitors.alerts", state.alerts, 0, "alerts"}}};
}

monitor_desk_actor::behavior_type behavior(self_pointer self,
                                           monitor_desk_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  state.table = monitor_table{state.options.limits};
  state.stacks = make_stack_taker(self);
  if (const auto& beats = state.options.beats) {
    const auto proc = [&state](uint32_t process) -> const proc_id& {
      return state.table.of(process).proc;
    };
    state.heartbeats = heartbeat_watch{
      {[=](uint32_t process) { return beats->last(proc(process)); },
       [=](uint32_t process, bool is_wanted) {
         beats->want(proc(process), is_wanted);
       }}};
  }
  self->set_down_handler(
    [self](const caf::down_msg& x) { note_down(self, x); });
  auto handlers = monitor_desk_actor::behavior_type{
    [self](monitor_alert& what) { take_alert(self, what); },
    [self](const requester& who, monitor_request& request,
           const monitored_session_actor& session) {
      return take_request(self, who, request, session);
    },
    [self](const requester& who, heartbeat) { take_beat(self, who); },
    [self](const requester& who, connection_lost) {
      lose_connection(self, who);
    },
    [self](const proc_ended& what) {
      note_end(self, what.proc);
      if (self->state.options.usage)
        self->send(self->state.options.usage, what);
    },
    [self](const deregister_nspace& what) {
      forget(self, what.nspace);
      if (self->state.options.usage)
        self->send(self->state.options.usage, what);
    },
    [self](const procs_paused& what) { pause(self, what); },
    [self](const requester& who, const query_request& request) {
      return list_monitors(self, who, request);
    },
    [self](deadline what) {
      if ((what.id & last_words_bit) != 0) {
        end_last_words(self, what.id);
        return;
      }
      if (what.id != self->state.reminder)
        return;
      self->state.reminded_at = std::nullopt;
      look(self);
    },
    [self](get_gauges) { return gauges_of(self->state); },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

monitor_desk_actor spawn_monitor_desk(caf::actor_system& sys,
                                      monitor_desk_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
