#include "actors/jobs/job_outcome.hpp"
#include "actors/jobs/job_state.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <csignal>
#include <memory>
#include <utility>

namespace troupe {

namespace job_internals {

namespace {

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then) {
  const auto id = self->state.waits.add(std::move(then));
  self->delayed_send(job_actor{self}, delay, deadline{id});
}

} // namespace

void report(self_pointer self, const member& x, int32_t exit_code,
            int32_t signal) {
  const auto& state = self->state;
  self->send(
    state.directory.host,
    share_progress{state.nspace(),
                   {{proc_of(state, x), x.state, x.pid, exit_code, signal}}});
}

// -- end of the share
// --------------------------------------------------------------

namespace {

void report_end(self_pointer self) {
  self->send(self->state.directory.host, share_ended{self->state.nspace()});
}

} // namespace

namespace {

/// Others may be bound to what it had.
void release_processors(const job_state_data& state) {
  if (state.context.bound)
    state.context.bound->release(state.nspace());
}

} // namespace

void finish_if_over(self_pointer self) {
  auto& state = self->state;
  const auto all = [&](auto predicate) {
    return std::all_of(state.members.begin(), state.members.end(), predicate);
  };
  if (!all([](const member& x) { return x.has_ended(); }))
    return;
  if (!state.sweeping) {
    state.sweeping = true;
    const auto swept = [self] {
      self->state.swept = true;
      finish_if_over(self);
    };
    self
      ->request(state.directory.launcher, caf::infinite,
                sweep_job{state.nspace()})
      .then([=](ack) { swept(); }, [=](const caf::error&) { swept(); });
  }
  if (state.over || !state.swept
      || !all([](const member& x) { return x.drained; }))
    return;
  state.over = true;
  release_processors(state);
  self
    ->request(state.directory.cleaner, caf::infinite,
              remove_paths{state.leftovers.take()})
    .then([=](ack) { report_end(self); },
          [=](const caf::error&) { report_end(self); });
}

namespace {

/// Ends for good. The namespace goes first: whoever hears of the end may reuse
/// what it held.
caf::result<ack> forget(self_pointer self) {
  auto& state = self->state;
  release_processors(state);
  for (const auto& x : state.members)
    if (x.is_running())
      self->send(state.directory.launcher,
                 signal_process{proc_of(state, x), SIGKILL});
  auto promise = self->make_response_promise<ack>();
  auto owed = std::make_shared<answer<ack>>(promise);
  const auto done = [self, owed] {
    owed->give(ack{});
    self->quit();
  };
  self
    ->request(state.directory.server, caf::infinite,
              deregister_nspace{state.nspace()})
    .then([=](ack) { done(); }, [=](const caf::error&) { done(); });
  return promise;
}

void signal_all(self_pointer self, int32_t signal) {
  auto& state = self->state;
  for (const auto& x : state.members)
    if (x.is_running())
      self->send(state.directory.launcher,
                 signal_process{proc_of(state, x), signal});
}

void judge_followers(self_pointer self, bool at_once = false);

/// Tells all processes to end, and kills what has not ended after the grace.
void end_all(self_pointer self, const end_job& how) {
  judge_followers(self, true);
  const auto signal = how.signal;
  auto& state = self->state;
  signal_all(self, signal);
  if (state.ending) {
    // Asked twice: patience is over.
    signal_all(self, SIGKILL);
    finish_if_over(self);
    return;
  }
  state.ending = true;
  // A stopped process takes no signal until it goes on.
  signal_all(self, SIGCONT);
  auto ranks = std::vector<uint32_t>{};
  for (const auto& x : state.members)
    ranks.push_back(x.rank);
  note_resumed(self, ranks);
  // Not those on their way: they end when the launcher has answered.
  for (auto& x : state.members)
    if (x.state == proc_state::prepped) {
      x.state = proc_state::killed_by_cmd;
      x.drained = true;
    }
  if (signal != SIGKILL)
    call_later(self, how.grace.value_or(defaults::kill_grace),
               [self] { signal_all(self, SIGKILL); });
  finish_if_over(self);
}

// -- end of a process
// --------------------------------------------------------------

/// How long what a process wrote last to its server may take to be read when
/// its connection does not end with it, as somebody else has it, too.
constexpr auto last_words_wait = std::chrono::seconds{5};

void judge_end(self_pointer self, const process_ended& what) {
  auto& state = self->state;
  auto* x = state.find(what.proc);
  if (x == nullptr || x->has_ended())
    return;
  x->end.reset();
  x->may_follow = false;
  x->state = x->called_abort ? proc_state::called_abort
                             : final_state(what, x->connected, x->finalized);
  if (x->told_to_end && x->state != proc_state::terminated)
    x->state = proc_state::killed_by_cmd;
  self->send(state.directory.server, proc_ended{what.proc, x->state});
  report(self, *x, what.exit_code, what.signal);
  judge_followers(self);
  finish_if_over(self);
}

/// Whether a process has lost its connection and has not ended, as far as we
/// know: a process that is killed closes its descriptors before its parent may
/// reap it, and its peers may hear of that and exit meanwhile.
bool is_any_end_due(const job_state_data& state) {
  return std::any_of(
    state.members.begin(), state.members.end(),
    [](const member& x) { return x.lost && x.is_running() && !x.end; });
}

/// Judges those whose exit may follow the loss of a peer, once all such ends
/// are known.
void judge_followers(self_pointer self, bool at_once) {
  auto& state = self->state;
  if (!at_once && is_any_end_due(state))
    return;
  auto ended = std::vector<process_ended>{};
  for (const auto& x : state.members)
    if (x.may_follow)
      ended.push_back(*x.end);
  for (const auto& x : ended)
    judge_end(self, x);
  for (const auto& then : std::exchange(state.once_known, {}))
    then();
}

/// Whether an end is an exit that fails, and so perhaps a consequence.
bool is_failing_exit(const member& x, const process_ended& what) {
  return what.signal == 0 && !x.called_abort && !x.told_to_end
         && is_failure(final_state(what, x.connected, x.finalized), true);
}

/// Judges an end as soon as it is known whether it is a consequence.
void conclude(self_pointer self, const process_ended& what) {
  auto& x = *self->state.find(what.proc);
  if (self->state.ending || !is_failing_exit(x, what)) {
    judge_end(self, what);
    return;
  }
  x.end = what;
  if (!is_any_end_due(self->state))
    judge_end(self, what);
  else if (!std::exchange(x.may_follow, true))
    call_later(self, defaults::lost_connection_wait,
               [self, what] { judge_end(self, what); });
}

void note_end(self_pointer self, const process_ended& what) {
  auto* x = self->state.find(what.proc);
  if (x == nullptr || x->has_ended())
    return;
  // Where many end at once it may have finalized, and nobody has read that yet.
  if (x->connected && !x->finalized && !x->lost && what.signal == 0
      && what.exit_code == 0) {
    x->end = what;
    call_later(self, last_words_wait, [self, what] { judge_end(self, what); });
    return;
  }
  conclude(self, what);
}

/// Nothing more comes from a process that has ended.
void note_last_words(self_pointer self, const member& x) {
  if (x.end)
    conclude(self, process_ended{*x.end});
}

/// As a rule the end of the process follows, and says more.
void note_lost(self_pointer self, const proc_id& proc) {
  auto* x = self->state.find(proc);
  if (x == nullptr || x->has_ended())
    return;
  x->lost = true;
  if (x->end) {
    note_last_words(self, *x);
    return;
  }
  call_later(self, defaults::lost_connection_wait,
             [self, proc, connections = x->connections] {
               auto* x = self->state.find(proc);
               if (x == nullptr || x->state != proc_state::connected
                   || x->connections != connections)
                 return;
               x->state = proc_state::running;
               report(self, *x);
             });
}

} // namespace

void when_ends_are_known(self_pointer self, std::function<void()> then) {
  auto& state = self->state;
  if (!is_any_end_due(state)) {
    then();
    return;
  }
  // Whichever comes first.
  const auto owed = std::make_shared<std::function<void()>>(std::move(then));
  const auto once = [owed] {
    if (const auto call = std::exchange(*owed, nullptr))
      call();
  };
  state.once_known.push_back(once);
  call_later(self, defaults::lost_connection_wait, once);
}

namespace {

// -- requests while it runs
// --------------------------------------------------------

/// Notes who asks for the end of the whole job.
/// Source: PMIx Standard v5, `PMIx_Abort`.
void note_abort(self_pointer self, const requester& who,
                const abort_request& request) {
  auto& state = self->state;
  const auto whole = proc_id{state.nspace(), rank_wildcard};
  const auto names_all =
    request.procs.empty()
    || std::find(request.procs.begin(), request.procs.end(), whole)
         != request.procs.end();
  if (auto* x = state.find(who.proc); x != nullptr && names_all)
    x->called_abort = true;
}

caf::result<info_result> register_cleanup(self_pointer self,
                                          const job_control_request& request) {
  auto paths = read_cleanup(request);
  if (!paths)
    return std::move(paths.error());
  if (auto why = self->state.leftovers.add(std::move(*paths)))
    return why;
  return info_result{};
}

job_actor::behavior_type behavior(self_pointer self, job_context context,
                                  job_directory directory, journal log) {
  self->state.context = std::move(context);
  self->state.directory = std::move(directory);
  self->state.log = std::move(log);
  return {
    [self](prepare_share& order) { return prepare(self, order); },
    [self](const start_share&) { return start(self); },
    [self](const end_share& request) {
      end_all(self, request.how);
      return ack{};
    },
    [self](const requester& who, const abort_request& request) {
      note_abort(self, who, request);
      return ack{};
    },
    [self](const requester&, const job_control_request& request) {
      return register_cleanup(self, request);
    },
    [self](const control_procs& what) { return control(self, what); },
    [self](const forget_job&) { return forget(self); },
    [self](const client_connected& what) {
      if (auto* x = self->state.find(what.who.proc)) {
        x->connected = true;
        x->finalized = false;
        x->lost = false;
        judge_followers(self);
        ++x->connections;
        if (x->is_running())
          x->state = proc_state::connected;
        report(self, *x);
      }
    },
    [self](const client_finalized& what) {
      if (auto* x = self->state.find(what.who.proc)) {
        x->finalized = true;
        note_last_words(self, *x);
      }
    },
    [self](const client_lost& what) { note_lost(self, what.who.proc); },
    [self](const process_ended& what) { note_end(self, what); },
    [self](const process_drained& what) {
      if (auto* x = self->state.find(what.proc))
        x->drained = true;
      finish_if_over(self);
    },
    [self](deadline due) { self->state.waits.fire(due.id); },
  };
}

} // namespace

} // namespace job_internals

job_actor spawn_job(caf::actor_system& sys, job_context context,
                    job_directory directory, journal log) {
  return sys.spawn(job_internals::behavior, std::move(context),
                   std::move(directory), std::move(log));
}

} // namespace troupe
