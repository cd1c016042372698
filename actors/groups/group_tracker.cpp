#include "actors/groups/group_tracker.hpp"

#include "actors/groups/group_callers.hpp"
#include "actors/groups/group_keys.hpp"
#include "actors/groups/process_group.hpp"
#include "base/all_of.hpp"
#include "base/answer.hpp"
#include "base/make_info.hpp"
#include "base/reminders.hpp"
#include "base/timeout.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/bounded_codec.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <utility>

namespace troupe {

namespace {

/// What nodes learn that keep the log later than others: first, that they do,
/// and then what came before.
struct group_history {
  /// Tells this time from others.
  uint64_t mark = 0;

  /// As when the group began; none: they are to wait for the rest.
  std::vector<proc_id> participants;

  /// All entries before it was said that they keep it.
  std::vector<group_entry> entries;
};

TROUPE_MESSAGE(group_history, x.mark, x.participants, x.entries)

/// What a tracker needs to go on when something happens to a group at rest.
struct tracker_rest {
  process_group::rest group;

  /// As in its state. No nodes: this one alone keeps the log.
  std::vector<uint32_t> hosts;
  uint32_t here = 0;
  bool is_meshed = false;

  /// What `context_id` says.
  uint64_t context_id = 0;

  std::vector<proc_id> local;
  std::vector<proc_id> away;
  std::vector<uint32_t> away_on;
  std::vector<proc_id> placeless;
  std::set<uint32_t> lost_before;
  std::set<uint32_t> lost;
  std::vector<proc_id> released;
  std::vector<proc_id> leaving;
};

TROUPE_INSPECT(tracker_rest, x.group, x.hosts, x.here, x.is_meshed,
               x.context_id, in_runs<Inspector>(x.local),
               in_runs<Inspector>(x.away), x.away_on,
               in_runs<Inspector>(x.placeless), x.lost_before, x.lost,
               in_runs<Inspector>(x.released), in_runs<Inspector>(x.leaving))

/// Who keeps the log.
enum class log_keeper : uint8_t {
  /// Not known yet: the host is asked where the participants are.
  unknown,

  /// This node alone.
  tracker,

  /// The hosts of all nodes with participants.
  mesh,

  /// A host that conducts groups itself: of a group there is on this node only
  /// what the host says.
  host,
};

/// A local call that waits for its answer.
template <class Request, class Result>
struct waiting_call {
  Request request;
  answer<Result> reply;

  /// Whether it has been made an entry.
  bool is_sent = false;
};

using waiting_construct =
  waiting_call<group_construct_request, group_construct_result>;
using waiting_destruct = waiting_call<group_destruct_request, ack>;

/// An event of the group that a local process has raised.
struct waiting_notice {
  proc_id source;
  status code = status::success;
  answer<ack> reply;

  /// Whether it is in the log: it waits for the end of the construction.
  bool is_taken = false;
};

struct tracker_state {
  static inline const char* name = "group-tracker";

  group_tracker_options options;
  server_actor server;
  host_actor host;
  event_cache_actor events;

  std::optional<process_group> group;
  log_keeper keeper = log_keeper::unknown;

  /// The nodes that keep the log, and those that are lost.
  std::vector<uint32_t> hosts;
  std::set<uint32_t> lost;
  uint32_t here = 0;

  /// Where participants on other nodes are.
  std::map<proc_id, uint32_t> places;

  /// Participants whose node was lost before.
  std::vector<proc_id> placeless;

  std::map<proc_id, waiting_construct> constructs;
  std::map<proc_id, waiting_destruct> destructs;
  std::vector<waiting_notice> notices;

  /// Local participants that have done with the group, and that leave.
  std::set<proc_id> released;

  /// What the group had said of releases when the server was told.
  uint64_t releases = 0;
  std::set<proc_id> leaving;

  /// What happened here before it was known who keeps the log.
  std::vector<group_step> early;

  /// Entries that are to be carried out, while another one is. A list: empty,
  /// it costs nothing.
  std::list<group_entry> queue;
  bool is_draining = false;

  /// Whether it is being asked where processes are that have been added.
  bool is_held = false;

  /// The entries so far, until the construction is decided: others may have to
  /// learn them.
  std::vector<group_entry> history;

  /// How often nodes are to join the log that have not been told so, and which.
  size_t joining = 0;
  std::set<uint32_t> joining_hosts;

  /// How many of them other nodes wait for, by the mark that they were told.
  std::map<uint64_t, size_t> history_due;
  uint32_t marks = 0;

  /// The mark that this node was told, and what has come since.
  std::optional<uint64_t> joining_mark;
  std::vector<group_entry> since;

  /// Whether a first entry has been carried out.
  bool has_begun = false;
  bool is_flush_due[2] = {false, false};
  bool is_host_asked[2] = {false, false};
  bool is_over = false;

  /// Whether it is known where the participants are, and what is on its way to the
  /// log: until then the group does not rest.
  bool is_located = false;
  size_t under_way = 0;

  /// Messages so far, and how many there were when it was said last that the group
  /// rests.
  uint64_t taken = 0;
  uint64_t rested_at = 0;

  /// The context id that was drawn for it, if it has rested.
  std::optional<uint64_t> context_id;

  reminders waits;

  bool is_local(const proc_id& proc) const;
  std::vector<proc_id> local_of(const std::vector<proc_id>& procs) const;

  void log(severity level, const std::string& line) const {
    if (options.log)
      options.log(level, line);
  }
};

TROUPE_SELF_POINTER(group_tracker_actor, tracker_state);

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then);

/// Gives an entry its place in the log.
void submit(self_pointer self, group_step what, bool may_wait = false);

/// Carries out what is queued.
void drain(self_pointer self);

/// The lowest of the nodes that live says what has become of those that do not,
/// and tells others what they have missed.
void speak_for_all(self_pointer self);

/// Whether this is the lowest of the nodes that live and keep the log.
bool is_lowest(const tracker_state& state);

/// Tells the server if nothing about the group is open.
void look_for_rest(self_pointer self);

/// Answers all calls with an error and ends.
void give_up(self_pointer self, status code, const std::string& why);

caf::result<group_construct_result> construct(self_pointer self,
                                              const requester& who,
                                              group_construct_request& request);

caf::result<ack> destruct(self_pointer self, const requester& who,
                          group_destruct_request& request);

caf::result<ack> leave(self_pointer self, const requester& who);

caf::result<ack> notify(self_pointer self, const requester& who,
                        notify_request& request);

/// Makes entries of calls if it is time.
void gather(self_pointer self, group_operation operation);

/// Answers who has raised an event that is in the log now.
void answer_notice(self_pointer self, const group_notice& what,
                   std::optional<status> refused);

/// Answers the calls that are decided.
void answer_calls(self_pointer self,
                  const std::shared_ptr<const group_construct_result>& result);

/// Applies the next entry of the log, and carries out what follows.
void apply(self_pointer self, const group_entry& entry);

void carry_out(self_pointer self, const group_entry& entry,
               process_group::effects& out);

/// Finds out where processes are that have been added, has their nodes keep the
/// log, too, and then carries out what else follows.
void take_in(self_pointer self, const group_entry& entry,
             process_group::effects out);

/// A node is lost: it may have been the one that says which others join.
void say_again_who_joins(self_pointer self);

/// What nodes that join the log have to know.
/// @returns whether the entry is for them, or this one joins itself.
bool take_snapshot(self_pointer self, const group_entry& entry);

// -- the log ------------------------------------------------------------------

bool tracker_state::is_local(const proc_id& proc) const {
  return keeper == log_keeper::tracker
         || std::binary_search(options.local.begin(), options.local.end(),
                               proc);
}

std::vector<proc_id>
tracker_state::local_of(const std::vector<proc_id>& procs) const {
  auto result = std::vector<proc_id>{};
  for (const auto& proc : procs)
    if (is_local(proc))
      result.push_back(proc);
  return result;
}

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then) {
  const auto id = self->state.waits.add(std::move(then));
  self->delayed_send(group_tracker_actor{self}, delay, deadline{id});
}

void drain(self_pointer self) {
  auto& state = self->state;
  if (std::exchange(state.is_draining, true))
    return;
  while (!state.queue.empty() && !state.is_over && !state.is_held) {
    const auto entry = std::move(state.queue.front());
    state.queue.pop_front();
    apply(self, entry);
  }
  state.is_draining = false;
}

/// Whether a node is not known to be lost.
bool may_live(const tracker_state& state, uint32_t rank) {
  return rank == state.here
         || (state.lost.count(rank) == 0
             && state.options.lost.count(rank) == 0);
}

bool is_lowest(const tracker_state& state) {
  if (state.keeper != log_keeper::mesh)
    return true;
  // If two think so, both speak: that is harmless.
  const auto lowest =
    std::find_if(state.hosts.begin(), state.hosts.end(),
                 [&](uint32_t rank) { return may_live(state, rank); });
  return lowest != state.hosts.end() && *lowest == state.here;
}

void speak_for_all(self_pointer self) {
  auto& state = self->state;
  const auto keeps_log =
    state.keeper == log_keeper::mesh || state.keeper == log_keeper::tracker;
  if (!keeps_log || !state.has_begun || state.joining_mark)
    return;
  for (const auto& [mark, count] : state.history_due) {
    // Whoever has said that nodes join tells them: they may be the lowest.
    const auto rank = static_cast<uint32_t>(mark >> 32);
    if (rank != state.here && may_live(state, rank))
      continue;
    auto past = group_history{mark, state.options.participants, state.history};
    past.entries.resize(count);
    submit(self, group_snapshot{encode(past)});
  }
  if (!is_lowest(state))
    return;
  auto ended = group_procs_ended{};
  const auto note = [&](const proc_id& proc) {
    if (state.group->is_participant(proc))
      ended.procs.push_back({proc, proc_state::comm_failed});
  };
  for (const auto& proc : state.placeless)
    note(proc);
  for (const auto& [proc, rank] : state.places)
    if (state.lost.count(rank) > 0)
      note(proc);
  if (!ended.procs.empty())
    submit(self, std::move(ended));
}

/// The number that no other group of the DVM has: nodes count for themselves.
uint64_t context_id(const tracker_state& state) {
  if (state.context_id)
    return *state.context_id;
  return (uint64_t{state.here} << 32) | state.options.number;
}

/// Now that it is known who keeps the log, calls become entries.
void begin(self_pointer self) {
  for (auto& what : std::exchange(self->state.early, {}))
    submit(self, std::move(what));
  gather(self, group_operation::construct);
  speak_for_all(self);
  look_for_rest(self);
}

void learn_places(self_pointer self, const proc_places& found) {
  auto& state = self->state;
  state.is_located = true;
  state.here = found.here;
  auto hosts = std::set<uint32_t>{state.hosts.begin(), state.hosts.end()};
  hosts.insert(found.here);
  for (const auto& x : found.procs) {
    if (!x.node) {
      state.placeless.push_back(x.proc);
      continue;
    }
    hosts.insert(*x.node);
    if (*x.node != found.here)
      state.places.emplace(x.proc, *x.node);
  }
  // Nobody is named when a group is bootstrapped: all nodes keep its log.
  const auto is_alone = hosts.size() == 1 && state.options.key.participants != 0
                        && state.keeper == log_keeper::unknown;
  state.keeper = is_alone ? log_keeper::tracker : log_keeper::mesh;
  if (state.options.hosts.empty() && state.options.key.participants != 0)
    state.hosts.assign(hosts.begin(), hosts.end());
  begin(self);
}

/// Asks where the participants are.
void locate(self_pointer self) {
  auto& state = self->state;
  if (!state.options.spans_nodes
      && state.options.local == state.options.participants) {
    state.keeper = log_keeper::tracker;
    state.is_located = true;
    return;
  }
  self->request(state.host, caf::infinite, locate_procs{state.options.written})
    .then([self](const proc_places& found) { learn_places(self, found); },
          [self](const caf::error& err) {
            if (status_of(err) != status::not_supported) {
              give_up(self, status_of(err),
                      "the participants of group " + self->state.options.key.id
                        + " cannot be found: " + reason_of(err));
              return;
            }
            self->state.keeper = log_keeper::host;
            begin(self);
          });
}

caf::result<ack> take(self_pointer self, group_entry_ordered& what) {
  auto& state = self->state;
  state.keeper = log_keeper::mesh;
  if (!what.hosts.empty())
    state.hosts = std::move(what.hosts);
  state.queue.push_back(std::move(what.entry));
  drain(self);
  return ack{};
}

void note_end(self_pointer self, const proc_ended& what) {
  auto& state = self->state;
  state.options.ended.insert(what.proc);
  state.constructs.erase(what.proc);
  state.destructs.erase(what.proc);
  state.notices.erase(std::remove_if(state.notices.begin(), state.notices.end(),
                                     [&](const waiting_notice& x) {
                                       return x.source == what.proc;
                                     }),
                      state.notices.end());
  if (!state.has_begun)
    state.options.gone.push_back(what.proc);
  else if (state.group->is_participant(what.proc))
    submit(self, group_procs_ended{{what}});
  gather(self, group_operation::construct);
  gather(self, group_operation::destruct);
}

void submit(self_pointer self, group_step what, bool may_wait) {
  auto& state = self->state;
  if (state.is_over)
    return;
  if (state.keeper == log_keeper::unknown) {
    state.early.push_back(std::move(what));
    return;
  }
  auto entry = group_entry{};
  entry.group = state.options.key;
  entry.what = std::move(what);
  // Nodes that begin or join the log learn from it who is named.
  if (!state.has_begun || std::holds_alternative<group_snapshot>(entry.what))
    entry.participants = state.options.written;
  entry.context_id = context_id(state);
  if (state.keeper != log_keeper::mesh) {
    state.queue.push_back(std::move(entry));
    drain(self);
    return;
  }
  ++state.under_way;
  self
    ->request(state.host, caf::infinite,
              order_group_entry{std::move(entry), state.hosts, may_wait})
    .then(
      [self](ack) {
        // It has come back as an entry of the log, or will.
        --self->state.under_way;
        look_for_rest(self);
      },
      [self](const caf::error& err) {
        const auto code = status_of(err);
        const auto why = "the log of group " + self->state.options.key.id
                         + " is not kept any more: " + reason_of(err);
        // Where it is over, the last entries are on their way.
        if (code == status::not_found)
          call_later(self, defaults::group_decision,
                     [=] { give_up(self, code, why); });
        else
          give_up(self, code, why);
      });
}

void give_up(self_pointer self, status code, const std::string& why) {
  auto& state = self->state;
  if (std::exchange(state.is_over, true))
    return;
  state.log(severity::warning, why);
  for (auto& [proc, call] : std::exchange(state.constructs, {}))
    call.reply.fail(code, why);
  for (auto& [proc, call] : std::exchange(state.destructs, {}))
    call.reply.fail(code, why);
  for (auto& x : std::exchange(state.notices, {}))
    x.reply.fail(code, why);
  if (state.keeper == log_keeper::mesh)
    self->send(state.host, close_group_log{state.options.key});
  self->send(state.server, group_over{state.options.key});
  self->quit();
}

// -- calls of local processes -------------------------------------------------

/// How long a call waits before it is looked at again whether the operation has
/// begun.
constexpr auto next_look = caf::timespan{defaults::group_watch};

/// How long those who name nobody wait until the first leader has called, if
/// they set no time themselves; a call that nobody follows would never end.
constexpr auto leader_wait = caf::timespan{std::chrono::seconds{60}};

size_t index_of(group_operation operation) {
  return static_cast<size_t>(operation);
}

bool is_waiting(const tracker_state& state, group_operation operation,
                const proc_id& proc) {
  return operation == group_operation::construct
           ? state.constructs.count(proc) > 0
           : state.destructs.count(proc) > 0;
}

/// The time of a call is up: the operation fails for all.
void time_out(self_pointer self, group_operation operation,
              const proc_id& proc) {
  auto& state = self->state;
  if (!is_waiting(state, operation, proc))
    return;
  // Before its call has come back there is nothing to end.
  const auto round = state.group->round_of(operation);
  if (round && state.group->has_called(operation, proc))
    submit(self, group_time_up{operation, *round});
  else
    call_later(self, next_look, [=] { time_out(self, operation, proc); });
}

void start_clock(self_pointer self, group_operation operation,
                 const proc_id& proc, const std::vector<info>& directives) {
  if (const auto limit = timeout_of(directives))
    call_later(self, *limit, [=] { time_out(self, operation, proc); });
}

/// Nobody who leads has called in time.
void give_up_leaders(self_pointer self, const proc_id& proc) {
  auto& state = self->state;
  if (is_waiting(state, group_operation::construct, proc)
      && state.group->leaders().empty())
    time_out(self, group_operation::construct, proc);
}

/// Whether all local participants that can have called.
bool have_all_called(const tracker_state& state, group_operation operation) {
  const auto& group = *state.group;
  return std::all_of(state.options.local.begin(), state.options.local.end(),
                     [&](const proc_id& proc) {
                       const auto is_expected =
                         operation == group_operation::construct
                           ? group.is_participant(proc)
                           : group.is_member(proc);
                       return !is_expected || group.has_called(operation, proc)
                              || is_waiting(state, operation, proc)
                              || std::count(state.options.gone.begin(),
                                            state.options.gone.end(), proc)
                                   > 0;
                     });
}

/// The calls that are no entries yet, those of one array together.
std::vector<group_calls> take_calls(tracker_state& state,
                                    group_operation operation) {
  auto result = std::vector<group_calls>{};
  if (operation == group_operation::destruct) {
    auto calls = group_calls{operation, {}, {}};
    for (auto& [proc, x] : state.destructs)
      if (!std::exchange(x.is_sent, true))
        calls.callers.push_back({proc, std::move(x.request.directives), {}});
    put_together(calls.callers);
    if (!calls.callers.empty())
      result.push_back(std::move(calls));
    return result;
  }
  for (auto& [proc, x] : state.constructs) {
    if (std::exchange(x.is_sent, true))
      continue;
    const auto same =
      std::find_if(result.begin(), result.end(), [&](const group_calls& y) {
        return y.procs == x.request.procs;
      });
    auto& calls = same != result.end()
                    ? *same
                    : result.emplace_back(
                      group_calls{operation, std::move(x.request.procs), {}});
    calls.callers.push_back({proc, std::move(x.request.directives), {}});
  }
  return result;
}

/// Adds to calls what their callers have posted for other nodes.
void submit_with_data(self_pointer self, group_calls calls) {
  auto ask = group_data{};
  for (const auto& caller : calls.callers)
    ask.procs.push_back({caller.proc, {}});
  ++self->state.under_way;
  self->request(self->state.server, caf::infinite, std::move(ask))
    .then(
      [self, calls = std::move(calls)](group_data& found) mutable {
        --self->state.under_way;
        for (size_t i = 0; i < found.procs.size() && i < calls.callers.size();
             ++i)
          calls.callers[i].posted = std::move(found.procs[i].entries);
        put_together(calls.callers);
        submit(self, std::move(calls), true);
      },
      [self](const caf::error& err) {
        give_up(self, status_of(err), reason_of(err));
      });
}

void flush(self_pointer self, group_operation operation) {
  auto& state = self->state;
  for (auto& calls : take_calls(state, operation)) {
    if (state.keeper == log_keeper::mesh
        && operation == group_operation::construct)
      submit_with_data(self, std::move(calls));
    else
      submit(self, std::move(calls), true);
  }
}

/// All local participants have called: the host knows of the others.
void ask_host(self_pointer self, group_operation operation) {
  auto& state = self->state;
  if (std::exchange(state.is_host_asked[index_of(operation)], true))
    return;
  auto ask = host_group{};
  ask.operation = operation;
  ask.id = state.options.key.id;
  ask.procs = state.options.written;
  const auto add = [&](const std::vector<info>& directives) {
    for (const auto& x : directives)
      if (x.key == attr::group_info || find(ask.directives, x.key) == nullptr)
        ask.directives.push_back(x);
  };
  for (const auto& [proc, x] : state.constructs)
    add(x.request.directives);
  for (const auto& [proc, x] : state.destructs)
    add(x.request.directives);
  flush(self, operation);
  self->request(state.host, caf::infinite, std::move(ask))
    .then(
      [self, operation](info_result& result) {
        submit(self, group_host_outcome{operation, status::success,
                                        std::move(result.infos)});
      },
      [self, operation](const caf::error& err) {
        submit(self, group_host_outcome{operation, status_of(err), {}});
      });
}

void gather(self_pointer self, group_operation operation) {
  auto& state = self->state;
  switch (state.keeper) {
    case log_keeper::unknown:
      return;
    case log_keeper::tracker:
      flush(self, operation);
      return;
    case log_keeper::host:
      if (have_all_called(state, operation))
        ask_host(self, operation);
      return;
    case log_keeper::mesh:
      break;
  }
  if (have_all_called(state, operation)) {
    flush(self, operation);
    return;
  }
  auto& is_due = state.is_flush_due[index_of(operation)];
  if (!std::exchange(is_due, true))
    call_later(self, defaults::group_watch, [self, operation] {
      self->state.is_flush_due[index_of(operation)] = false;
      flush(self, operation);
    });
}

caf::result<group_construct_result>
construct(self_pointer self, const requester& who,
          group_construct_request& request) {
  auto& state = self->state;
  if (state.options.key.participants != 0
      && !state.group->is_participant(who.proc)) {
    self->send(
      state.server,
      group_changed{state.options.key, state.group->members(), {who.proc}, {}});
    return make_error(status::not_a_member,
                      to_string(who.proc) + " is not named for group "
                        + state.options.key.id + "; name all who take part");
  }
  if (state.constructs.count(who.proc) > 0)
    return make_error(status::exists,
                      to_string(who.proc) + " has called the construction of "
                        + state.options.key.id + " already; let it end");
  auto promise = self->make_response_promise<group_construct_result>();
  auto call = waiting_construct{};
  call.reply = answer<group_construct_result>{promise};
  call.request = std::move(request);
  const auto& directives = call.request.directives;
  start_clock(self, group_operation::construct, who.proc, directives);
  if (state.options.key.participants == 0 && !timeout_of(directives)
      && find(directives, attr::group_bootstrap) == nullptr)
    call_later(self, leader_wait,
               [self, proc = who.proc] { give_up_leaders(self, proc); });
  state.constructs.emplace(who.proc, std::move(call));
  gather(self, group_operation::construct);
  return promise;
}

caf::result<ack> destruct(self_pointer self, const requester& who,
                          group_destruct_request& request) {
  auto& state = self->state;
  const auto& id = state.options.key.id;
  const auto& group = *state.group;
  const auto* end = group.outcome_of(group_operation::destruct);
  if (!group.is_participant(who.proc) || state.leaving.count(who.proc) > 0
      || (end == nullptr && !group.is_member(who.proc)))
    return make_error(
      status::not_found,
      to_string(who.proc) + " is in no group " + id
        + "; it may be that its construction is not complete; wait for that");
  if (state.destructs.count(who.proc) > 0)
    return make_error(status::exists, to_string(who.proc) + " is ending group "
                                        + id + " already; let it end");
  auto promise = self->make_response_promise<ack>();
  auto call = waiting_destruct{};
  call.reply = answer<ack>{promise};
  call.request = std::move(request);
  start_clock(self, group_operation::destruct, who.proc,
              call.request.directives);
  state.destructs.emplace(who.proc, std::move(call));
  gather(self, group_operation::destruct);
  return promise;
}

caf::result<ack> leave(self_pointer self, const requester& who) {
  auto& state = self->state;
  const auto& id = state.options.key.id;
  // Of a group that has ended, this is all that is left to say.
  const auto has_ended =
    state.group->outcome_of(group_operation::destruct) != nullptr
    && state.group->is_participant(who.proc)
    && !state.group->has_called(group_operation::destruct, who.proc);
  if ((!has_ended && !state.group->is_member(who.proc))
      || state.leaving.count(who.proc) > 0)
    return make_error(
      status::not_a_member,
      to_string(who.proc) + " is in no group " + id
        + "; nobody leaves one that is not complete; wait for that");
  if (is_waiting(state, group_operation::destruct, who.proc))
    return make_error(status::exists, to_string(who.proc) + " is ending group "
                                        + id + "; let it end");
  // The others hear of it in time; for the process itself it is over.
  state.leaving.insert(who.proc);
  state.released.insert(who.proc);
  self->send(
    state.server,
    group_changed{state.options.key, state.group->members(), {who.proc}, {}});
  if (has_ended)
    submit(self,
           group_calls{group_operation::destruct, {}, {{who.proc, {}, {}}}});
  else
    submit(self, group_departure{who.proc});
  return ack{};
}

caf::result<ack> notify(self_pointer self, const requester& who,
                        notify_request& request) {
  auto& state = self->state;
  if (const auto reason = text(request.infos, group_conflict_key)) {
    const auto code = number<int32_t>(request.infos, group_conflict_code);
    submit(self, group_conflict{
                   who.proc, code ? static_cast<status>(*code) : status::exists,
                   *reason});
    return ack{};
  }
  if (request.code == status::group_left)
    return leave(self, who);
  if (request.code != status::group_verdict) {
    auto promise = self->make_response_promise<ack>();
    self->state.notices.push_back(
      {who.proc, request.code, answer<ack>{promise}});
    submit(self, group_notice{who.proc, std::move(request)});
    return promise;
  }
  auto verdict = group_verdict{};
  verdict.proc = who.proc;
  verdict.round =
    number<uint64_t>(request.infos, group_keys::round).value_or(0);
  verdict.outcome = static_cast<status>(
    number<int32_t>(request.infos, group_keys::status)
      .value_or(static_cast<int32_t>(status::no_action_taken)));
  for (auto& x : request.infos)
    if (x.key != group_keys::round && x.key != group_keys::status
        && x.key != attr::group_id)
      verdict.results.push_back(std::move(x));
  const auto asked = state.group->asked(verdict.round);
  if (std::find(asked.begin(), asked.end(), who.proc) != asked.end())
    submit(self, group_verdicts{{std::move(verdict)}});
  return ack{};
}

void answer_notice(self_pointer self, const group_notice& what,
                   std::optional<status> refused) {
  auto& notices = self->state.notices;
  const auto i =
    std::find_if(notices.begin(), notices.end(), [&](const waiting_notice& x) {
      return !x.is_taken && x.source == what.source && x.code == what.what.code;
    });
  if (i == notices.end())
    return;
  if (!refused && what.what.code == status::group_construct_complete) {
    i->is_taken = true;
    return;
  }
  if (refused)
    i->reply.fail(*refused, "group " + self->state.options.key.id
                              + " does not take this event of "
                              + to_string(what.source));
  else
    i->reply.give({});
  notices.erase(i);
}

void answer_calls(self_pointer self,
                  const std::shared_ptr<const group_construct_result>& result) {
  auto& state = self->state;
  const auto& group = *state.group;
  if (const auto* x = group.outcome_of(group_operation::construct)) {
    const auto is_made =
      x->code == status::success || x->code == status::partial_success;
    for (auto i = state.notices.begin(); i != state.notices.end();) {
      if (!i->is_taken) {
        ++i;
        continue;
      }
      if (is_made)
        i->reply.give({});
      else
        i->reply.fail(x->code, x->reason);
      i = state.notices.erase(i);
    }
    for (auto i = state.constructs.begin(); i != state.constructs.end();) {
      const auto& proc = i->first;
      auto& reply = i->second.reply;
      if (!group.has_called(group_operation::construct, proc)) {
        ++i;
        continue;
      }
      if (result != nullptr && group.is_member(proc))
        reply.give(*result);
      else if (x->code == status::success || x->code == status::partial_success)
        reply.fail(status::timeout, "group " + state.options.key.id
                                      + " is complete without "
                                      + to_string(proc));
      else
        reply.fail(x->code, x->reason);
      i = state.constructs.erase(i);
    }
  }
  if (const auto* x = group.outcome_of(group_operation::destruct))
    for (auto i = state.destructs.begin(); i != state.destructs.end();) {
      if (!group.has_called(group_operation::destruct, i->first)) {
        ++i;
        continue;
      }
      if (x->code == status::success)
        i->second.reply.give({});
      else
        i->second.reply.fail(x->code, x->reason);
      i = state.destructs.erase(i);
    }
}

// -- what follows from an entry -----------------------------------------------

void store(self_pointer self, process_group::effects& out) {
  auto& state = self->state;
  if (!out.data.empty())
    self->send(state.server, host_collective_result{std::move(out.data)});
  if (!out.infos.empty())
    self->request(state.server, caf::infinite, group_data{std::move(out.infos)})
      .then(
        [](const group_data&) {
          // Stored.
        },
        [](const caf::error&) {
          // The server is gone, and its clients with it.
        });
}

/// Tells the server who may name the group, and who has done with it.
void tell_server(self_pointer self, const process_group::effects& out) {
  auto& state = self->state;
  auto news = group_changed{state.options.key, state.group->members(), {}, {}};
  if (std::exchange(state.releases, state.group->releases())
      != state.group->releases())
    for (const auto& proc : state.options.local)
      if (state.group->is_released(proc) && state.released.insert(proc).second)
        news.released.push_back(proc);
  news.departed = out.departed;
  if (out.is_changed || !news.released.empty() || !news.departed.empty())
    self->send(state.server, std::move(news));
}

void raise(self_pointer self, const deliver_event& what) {
  auto& state = self->state;
  auto local = deliver_event{what.what, state.local_of(what.targets)};
  if (local.targets.empty())
    return;
  self->request(state.events, caf::infinite, std::move(local))
    .then(
      [](ack) {
        // It is in the log of the namespaces.
      },
      [self](const caf::error& err) {
        self->state.log(severity::warning, "an event of group "
                                             + self->state.options.key.id
                                             + " is lost: " + reason_of(err));
      });
}

/// Whoever does not listen has nothing to say.
void enter_silent(self_pointer self, uint64_t round,
                  const std::vector<proc_id>& asked,
                  const std::vector<proc_id>& listening) {
  auto silent = group_verdicts{};
  for (const auto& proc : asked)
    if (std::find(listening.begin(), listening.end(), proc) == listening.end())
      silent.verdicts.push_back({proc, round, status::no_action_taken, {}});
  if (!silent.verdicts.empty())
    submit(self, std::move(silent));
}

void ask_handlers(self_pointer self, const process_group::question& what) {
  auto& state = self->state;
  const auto asked = state.local_of(what.what.targets);
  if (asked.empty())
    return;
  raise(self, what.what);
  const auto round = what.round;
  self
    ->request(state.events, caf::infinite,
              find_listeners{what.what.what.code, asked})
    .then(
      [=](const event_listeners& found) {
        enter_silent(self, round, asked, found.procs);
      },
      [=](const caf::error&) { enter_silent(self, round, asked, {}); });
  call_later(self, defaults::group_decision, [self, round] {
    if (!self->state.local_of(self->state.group->asked(round)).empty())
      submit(self, group_time_up{group_operation::construct, round});
  });
}

/// What local members have posted, for the others.
void enter_data(self_pointer self) {
  auto& state = self->state;
  auto ask = group_data{};
  for (const auto& proc : state.group->live_participants())
    if (state.is_local(proc)
        && state.group->has_called(group_operation::construct, proc))
      ask.procs.push_back({proc, {}});
  if (ask.procs.empty())
    return;
  if (state.keeper == log_keeper::tracker) {
    submit(self, std::move(ask));
    return;
  }
  self->request(state.server, caf::infinite, std::move(ask))
    .then([self](group_data& found) { submit(self, std::move(found)); },
          [self](const caf::error& err) {
            give_up(self, status_of(err), reason_of(err));
          });
}

/// Local participants that had ended before they took part.
void enter_ended(self_pointer self, const process_group::effects& out) {
  auto& state = self->state;
  if (state.joining_mark)
    return;
  auto ended = group_procs_ended{};
  for (const auto& proc : std::exchange(state.options.gone, {}))
    ended.procs.push_back({proc, proc_state::terminated});
  for (const auto& proc : out.added)
    if (state.is_local(proc) && state.options.ended.count(proc) > 0)
      ended.procs.push_back({proc, proc_state::terminated});
  if (!ended.procs.empty())
    submit(self, std::move(ended));
}

void finish(self_pointer self) {
  auto& state = self->state;
  if (!state.group->is_over() || std::exchange(state.is_over, true))
    return;
  // Who declines what is over has its will; all others are too late.
  const auto* made = state.group->outcome_of(group_operation::construct);
  for (auto& x : std::exchange(state.notices, {}))
    if (x.code == status::group_invite_declined)
      x.reply.give({});
    else if (made != nullptr && state.group->members() == nullptr
             && made->code != status::success
             && made->code != status::partial_success)
      x.reply.fail(made->code, made->reason);
    else
      x.reply.fail(status::not_a_member,
                   "group " + state.options.key.id + " is over");
  self->send(state.server, group_over{state.options.key});
  if (state.keeper == log_keeper::mesh)
    self->send(state.host, close_group_log{state.options.key});
  self->quit();
}

/// It is decided who is in: nobody has to learn any more how it began.
void forget_beginning(tracker_state& state) {
  state.history = {};
  if (state.keeper == log_keeper::host)
    return;
  state.options.participants = {};
  state.options.written = {};
}

void apply(self_pointer self, const group_entry& entry) {
  auto& state = self->state;
  if (state.is_over || take_snapshot(self, entry))
    return;
  auto out = process_group::effects{};
  state.group->apply(entry, out);
  const auto is_first = !std::exchange(state.has_begun, true);
  if (state.options.spans_nodes
      && (state.group->outcome_of(group_operation::construct) == nullptr
          || state.joining > 0))
    state.history.push_back(entry);
  else if (state.history_due.empty())
    forget_beginning(state);
  if (!out.added.empty() && state.options.spans_nodes)
    take_in(self, entry, std::move(out));
  else
    carry_out(self, entry, out);
  // What was lost before there was a log to say so.
  if (is_first)
    speak_for_all(self);
}

void carry_out(self_pointer self, const group_entry& entry,
               process_group::effects& out) {
  auto& state = self->state;
  store(self, out);
  tell_server(self, out);
  for (const auto& x : out.events)
    raise(self, x);
  auto result = std::shared_ptr<const group_construct_result>{};
  for (const auto& x : out.outcomes) {
    if (x.result)
      result = x.result;
    if (!x.reason.empty())
      state.log(severity::info, x.reason);
  }
  if (const auto* notice = std::get_if<group_notice>(&entry.what))
    answer_notice(self, *notice, out.refused);
  answer_calls(self, result);
  for (const auto& x : out.questions)
    ask_handlers(self, x);
  if (out.needs_data)
    enter_data(self);
  enter_ended(self, out);
  finish(self);
}

// -- nodes that join ----------------------------------------------------------

// Members that are added may be on nodes that do not keep the log yet. Their
// nodes are told in the log that they keep it from now on (an empty snapshot),
// and then all that came before (a full one).

/// Goes on with what had to wait.
void release(self_pointer self, const group_entry& entry,
             process_group::effects& out) {
  self->state.is_held = false;
  carry_out(self, entry, out);
  drain(self);
}

/// Processes that nobody knows will not come.
void give_up_on(self_pointer self, const std::vector<proc_id>& procs) {
  auto& state = self->state;
  state.placeless.insert(state.placeless.end(), procs.begin(), procs.end());
  auto ended = group_procs_ended{};
  for (const auto& proc : procs)
    ended.procs.push_back({proc, proc_state::undef});
  if (!procs.empty() && is_lowest(state) && !state.joining_mark)
    submit(self, std::move(ended));
}

/// Notes where processes are.
/// @returns the nodes that do not keep the log yet.
std::vector<uint32_t> note_places(tracker_state& state,
                                  const proc_places& found) {
  auto result = std::vector<uint32_t>{};
  auto& local = state.options.local;
  for (const auto& x : found.procs) {
    if (!x.node) {
      state.placeless.push_back(x.proc);
    } else if (*x.node == found.here) {
      const auto i = std::lower_bound(local.begin(), local.end(), x.proc);
      if (i == local.end() || *i != x.proc)
        local.insert(i, x.proc);
    } else {
      state.places.emplace(x.proc, *x.node);
      if (std::count(state.hosts.begin(), state.hosts.end(), *x.node) == 0
          && std::count(result.begin(), result.end(), *x.node) == 0)
        result.push_back(*x.node);
    }
  }
  return result;
}

/// @param ranks Nodes that do not keep the log yet.
void say_who_joins(self_pointer self, std::vector<uint32_t> ranks) {
  auto& state = self->state;
  if (!ranks.empty())
    self->send(state.host,
               extend_group_log{state.options.key, std::move(ranks)});
  const auto mark = (uint64_t{state.here} << 32) | ++state.marks;
  submit(self, group_snapshot{encode(group_history{mark, {}, {}})});
}

/// Has more nodes keep the log. All nodes come to this; one says it.
void extend(self_pointer self, std::vector<uint32_t> joining) {
  auto& state = self->state;
  // All nodes keep the log of a group that is bootstrapped.
  if (state.options.key.participants == 0 || joining.empty()
      || state.joining_mark)
    return;
  ++state.joining;
  for (const auto rank : joining)
    state.joining_hosts.insert(rank);
  if (state.keeper == log_keeper::tracker) {
    // It was this node's alone.
    state.keeper = log_keeper::mesh;
    state.hosts = joining;
    state.hosts.push_back(state.here);
    std::sort(state.hosts.begin(), state.hosts.end());
    say_who_joins(self, {});
  } else if (is_lowest(state)) {
    say_who_joins(self, std::move(joining));
  }
}

/// Asks for each of several processes, one of which nobody knows.
void locate_each(self_pointer self, const std::vector<proc_id>& procs,
                 std::function<void(proc_places, std::vector<proc_id>)> then) {
  struct search {
    proc_places found;
    std::vector<proc_id> unknown;
  };
  auto all = all_of<search>{{}, [then = std::move(then)](search& x) {
                              then(std::move(x.found), std::move(x.unknown));
                            }};
  for (const auto& proc : procs) {
    all.add();
    self->request(self->state.host, caf::infinite, locate_procs{{proc}})
      .then(
        [all](proc_places& x) {
          all->found.here = x.here;
          for (auto& y : x.procs)
            all->found.procs.push_back(std::move(y));
          all.done();
        },
        [all, proc](const caf::error&) {
          all->unknown.push_back(proc);
          all.done();
        });
  }
  all.done();
}

void take_in(self_pointer self, const group_entry& entry,
             process_group::effects out) {
  auto& state = self->state;
  state.is_held = true;
  const auto added = out.added;
  auto rest = std::make_shared<process_group::effects>(std::move(out));
  const auto go_on = [self, entry, rest](const proc_places& found,
                                         const std::vector<proc_id>& unknown) {
    auto joining = note_places(self->state, found);
    const auto is_one_lost =
      std::any_of(found.procs.begin(), found.procs.end(),
                  [](const proc_places::place& x) { return !x.node; });
    extend(self, std::move(joining));
    release(self, entry, *rest);
    give_up_on(self, unknown);
    if (is_one_lost)
      speak_for_all(self);
    look_for_rest(self);
  };
  self->request(state.host, caf::infinite, locate_procs{added})
    .then([go_on](const proc_places& found) { go_on(found, {}); },
          [self, added, go_on](const caf::error&) {
            locate_each(self, added, go_on);
          });
}

void say_again_who_joins(self_pointer self) {
  auto& state = self->state;
  if (!state.joining_mark && !state.joining_hosts.empty() && is_lowest(state))
    say_who_joins(self,
                  {state.joining_hosts.begin(), state.joining_hosts.end()});
}

bool take_snapshot(self_pointer self, const group_entry& entry) {
  auto& state = self->state;
  const auto* what = std::get_if<group_snapshot>(&entry.what);
  if (what != nullptr && what->state == group_log_over) {
    if (state.joining_mark || !state.has_begun)
      give_up(self, status::not_found,
              "group " + state.options.key.id
                + " was over before this node learned of it");
    return true;
  }
  if (what == nullptr) {
    if (state.joining_mark)
      state.since.push_back(entry);
    return state.joining_mark.has_value();
  }
  auto past = decode<group_history>(what->state);
  if (!past)
    return true; // No node writes that.
  const auto is_told = past->participants.empty();
  if (!state.has_begun && !state.joining_mark && is_told) {
    state.joining_mark = past->mark;
  } else if (!state.joining_mark && is_told) {
    state.joining -= std::min<size_t>(state.joining, 1);
    if (state.joining == 0)
      state.joining_hosts.clear();
    state.history_due.emplace(past->mark, state.history.size());
    speak_for_all(self);
  } else if (!state.joining_mark) {
    state.history_due.erase(past->mark);
  } else if (*state.joining_mark == past->mark) {
    state.joining_mark.reset();
    state.options.participants = std::move(past->participants);
    state.group.emplace(state.options.key, state.options.participants);
    auto missed = std::move(past->entries);
    missed.insert(missed.end(), state.since.begin(), state.since.end());
    state.since.clear();
    state.queue.insert(state.queue.begin(), missed.begin(), missed.end());
  }
  return true;
}

// -- rest ---------------------------------------------------------------------

// Most groups are kept for long while nothing happens to them, and this actor
// takes several times as much memory as what is to be known of one. So it tells
// the server when nothing is open. Where the host conducts groups they stay as they
// are.

/// Participants of a group that rests: the lists of a larger one weigh more than its
/// tracker, and what is said of it would be more than `decode` takes.
constexpr size_t max_resting = 16384;

bool may_rest(const tracker_state& state) {
  const auto keeps_log =
    state.keeper == log_keeper::tracker || state.keeper == log_keeper::mesh;
  const auto nobody_waits = state.constructs.empty() && state.destructs.empty()
                            && state.notices.empty();
  const auto nobody_joins = state.joining == 0 && state.joining_hosts.empty()
                            && state.history_due.empty() && !state.joining_mark;
  return keeps_log && nobody_waits && nobody_joins && state.is_located
         && state.under_way == 0 && state.queue.empty() && !state.is_held
         && !state.is_over;
}

/// As bytes, no more than they are: one is kept for each group.
std::string pack(const tracker_rest& x) {
  auto result = encode(x);
  result.shrink_to_fit();
  return result;
}

void look_for_rest(self_pointer self) {
  auto& state = self->state;
  if (state.taken == state.rested_at || !may_rest(state))
    return;
  auto group = state.group->at_rest();
  if (!group || group->participants.size() > max_resting)
    return;
  auto result = tracker_rest{};
  result.group = std::move(*group);
  result.hosts = state.hosts;
  result.here = state.here;
  result.is_meshed = state.keeper == log_keeper::mesh;
  result.context_id = context_id(state);
  result.local = state.options.local;
  for (const auto& [proc, rank] : state.places) {
    result.away.push_back(proc);
    result.away_on.push_back(rank);
  }
  result.placeless = state.placeless;
  result.lost_before = state.options.lost;
  result.lost = state.lost;
  result.released.assign(state.released.begin(), state.released.end());
  result.leaving.assign(state.leaving.begin(), state.leaving.end());
  self->send(state.server,
             group_rests{state.options.key, state.taken, pack(result)});
  state.rested_at = state.taken;
}

/// Goes on from what another tracker has said.
void wake(self_pointer self) {
  auto& state = self->state;
  auto from = decode<tracker_rest>(std::exchange(state.options.rest, {}));
  if (!from) {
    state.group.emplace(state.options.key, std::vector<proc_id>{});
    give_up(self, status_of(from.error()), reason_of(from.error()));
    return;
  }
  state.group = process_group::after(state.options.key, std::move(from->group));
  state.releases = state.group->releases();
  state.hosts = std::move(from->hosts);
  state.here = from->here;
  state.keeper = from->is_meshed ? log_keeper::mesh : log_keeper::tracker;
  state.context_id = from->context_id;
  state.options.local = std::move(from->local);
  for (size_t i = 0; i < from->away.size() && i < from->away_on.size(); ++i)
    state.places.emplace(std::move(from->away[i]), from->away_on[i]);
  state.placeless = std::move(from->placeless);
  state.options.lost = std::move(from->lost_before);
  state.lost = std::move(from->lost);
  state.released = {from->released.begin(), from->released.end()};
  state.leaving = {from->leaving.begin(), from->leaving.end()};
  state.has_begun = true;
  state.is_located = true;
}

/// Counts a message, and looks whether the group rests once it is handled.
class message_turn {
public:
  explicit message_turn(self_pointer self) : self_(self) {
    ++self_->state.taken;
  }

  message_turn(const message_turn&) = delete;
  message_turn& operator=(const message_turn&) = delete;

  /// After a failure the tracker ends, and no rest is worth ending the process.
  ~message_turn() {
    if (std::uncaught_exceptions() > 0)
      return;
    try {
      look_for_rest(self_);
    } catch (const std::bad_alloc&) {
      // It rests after another message.
    }
  }

private:
  self_pointer self_;
};

// -- messages -----------------------------------------------------------------

/// Apart from `behavior`: the type of a lambda there is named after all that the
/// actors it is given understand.
group_tracker_actor::behavior_type handlers(self_pointer self) {
  return {
    [self](const requester& who, group_construct_request& request) {
      const auto turn = message_turn{self};
      return construct(self, who, request);
    },
    [self](const requester& who, group_destruct_request& request) {
      const auto turn = message_turn{self};
      return destruct(self, who, request);
    },
    [self](const requester& who, const group_leave_request&) {
      const auto turn = message_turn{self};
      return leave(self, who);
    },
    [self](const requester& who, notify_request& request) {
      const auto turn = message_turn{self};
      return notify(self, who, request);
    },
    [self](group_entry_ordered& what) {
      const auto turn = message_turn{self};
      return take(self, what);
    },
    [self](const proc_ended& what) {
      const auto turn = message_turn{self};
      note_end(self, what);
    },
    [self](host_node_lost what) {
      const auto turn = message_turn{self};
      self->state.lost.insert(what.rank);
      say_again_who_joins(self);
      speak_for_all(self);
    },
    [self](get_group_status) {
      const auto turn = message_turn{self};
      return self->state.group->describe();
    },
    [self](deadline due) {
      self->state.waits.fire(due.id);
      look_for_rest(self);
    },
  };
}

group_tracker_actor::behavior_type
behavior(self_pointer self, group_tracker_options options, server_actor server,
         host_actor host, event_cache_actor events) {
  auto& state = self->state;
  state.options = std::move(options);
  state.server = std::move(server);
  state.host = std::move(host);
  state.events = std::move(events);
  if (!state.options.rest.empty()) {
    wake(self);
    return handlers(self);
  }
  state.hosts = state.options.hosts;
  state.group.emplace(state.options.key, state.options.participants);
  if (!state.hosts.empty())
    state.keeper = log_keeper::mesh;
  locate(self);
  return handlers(self);
}

} // namespace

group_tracker_actor spawn_group_tracker(caf::actor_system& sys,
                                        group_tracker_options options,
                                        server_actor server, host_actor host,
                                        event_cache_actor events) {
  return sys.spawn(behavior, std::move(options), std::move(server),
                   std::move(host), std::move(events));
}

std::string rest_of_made_group(const group_key& key,
                               const std::vector<proc_id>& participants,
                               std::optional<uint64_t> context_id) {
  auto entry = group_entry{};
  auto calls = group_calls{group_operation::construct, participants, {}};
  auto wishes = std::vector<info>{};
  if (context_id)
    wishes.push_back(
      make_info(attr::group_assign_context_id, value::boolean(true)));
  for (const auto& proc : participants)
    calls.callers.push_back({proc, wishes, {}});
  entry.what = std::move(calls);
  entry.context_id = context_id.value_or(0);
  auto group = process_group{key, participants};
  auto nobody_hears = process_group::effects{};
  group.apply(entry, nobody_hears);
  auto result = tracker_rest{};
  if (auto rest = group.at_rest())
    result.group = std::move(*rest);
  result.context_id = entry.context_id;
  result.local = participants;
  return pack(result);
}

group_status describe_rest(const group_key& key, const std::string& state) {
  auto from = decode<tracker_rest>(state);
  if (!from)
    return process_group{key, {}}.describe();
  return process_group::after(key, std::move(from->group)).describe();
}

} // namespace troupe
