#include "actors/job.hpp"

#include "actors/answer.hpp"
#include "actors/cleanup_request.hpp"
#include "actors/job_data.hpp"
#include "actors/job_outcome.hpp"
#include "actors/reminders.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <csignal>

namespace troupe {

namespace {

/// One process of the job.
struct member {
  proc_state state = proc_state::prepped;
  uint32_t pid = 0;
  bool connected = false;
  bool finalized = false;
  bool called_abort = false;
  bool drained = false;

  bool is_running() const {
    return state >= proc_state::running && state <= proc_state::connected;
  }

  bool has_ended() const {
    return state >= proc_state::terminated;
  }
};

struct job_state_data {
  static inline const char* name = "job";

  job_context context;
  job_directory directory;
  journal log;

  job_options options;
  job_plan plan;
  spawn_request request;
  requester parent;
  answer<spawn_result> reply;

  std::vector<member> members; // by rank
  job_outcome outcome{""};
  reminders waits;

  /// What goes when the job has ended.
  remove_paths leftovers;

  /// Whether the processes have been told to end.
  bool ending = false;

  /// Whether what they left behind is being removed.
  bool sweeping = false;
  bool swept = false;

  /// Whether the end has been reported.
  bool over = false;
};

using self_pointer = job_actor::stateful_pointer<job_state_data>;

proc_id proc_of(const job_state_data& state, uint32_t rank) {
  return {state.context.nspace, rank};
}

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then) {
  const auto id = self->state.waits.add(std::move(then));
  self->delayed_send(job_actor{self}, delay, deadline{id});
}

template <class Message>
void tell_observer(self_pointer self, Message x) {
  if (self->state.directory.observer)
    self->send(self->state.directory.observer, std::move(x));
}

void observe(self_pointer self, uint32_t rank, int32_t exit_code = 0,
             int32_t signal = 0) {
  const auto& x = self->state.members[rank];
  tell_observer(self, proc_changed{proc_of(self->state, rank), x.state, x.pid,
                                   exit_code, signal});
}

// -- end of the job
// ----------------------------------------------------------------

/// Ends for good. The namespace goes first: whoever hears of the end may reuse
/// what it held.
void deregister(self_pointer self) {
  const auto report = [self] {
    auto what = self->state.outcome.report();
    tell_observer(self, what);
    self->send(self->state.directory.host, std::move(what));
    self->quit();
  };
  self
    ->request(self->state.directory.server, caf::infinite,
              deregister_nspace{self->state.context.nspace})
    .then([=](ack) { report(); }, [=](const caf::error&) { report(); });
}

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
                sweep_job{state.context.nspace})
      .then([=](ack) { swept(); }, [=](const caf::error&) { swept(); });
  }
  if (state.over || !state.swept
      || !all([](const member& x) { return x.drained; }))
    return;
  state.over = true;
  self
    ->request(state.directory.cleaner, caf::infinite,
              std::move(state.leftovers))
    .then([=](ack) { deregister(self); },
          [=](const caf::error&) { deregister(self); });
}

void signal_all(self_pointer self, int32_t signal) {
  auto& state = self->state;
  for (uint32_t rank = 0; rank < state.members.size(); ++rank)
    if (state.members[rank].is_running())
      self->send(state.directory.launcher,
                 signal_process{proc_of(state, rank), signal});
}

/// Tells all processes to end, and kills what has not ended after the grace.
void end_all(self_pointer self, int32_t signal) {
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
  // Not those on their way: they end when the launcher has answered.
  for (auto& x : state.members)
    if (x.state == proc_state::prepped) {
      x.state = proc_state::killed_by_cmd;
      x.drained = true;
    }
  if (signal != SIGKILL)
    call_later(self, defaults::kill_grace,
               [self] { signal_all(self, SIGKILL); });
  finish_if_over(self);
}

// -- events
// ------------------------------------------------------------------------

status event_of(proc_state state) {
  switch (state) {
    case proc_state::aborted_by_sig:
      return status::proc_aborted_by_sig;
    case proc_state::term_wo_sync:
      return status::proc_term_wo_sync;
    case proc_state::term_non_zero:
      return status::exit_nonzero_term;
    case proc_state::called_abort:
      return status::proc_requested_abort;
    default:
      return status::event_proc_terminated;
  }
}

/// Tells the peers of a process that it failed. Only the affected process is of
/// type PROC among the infos: Open MPI takes every such info for a dead
/// process. Source: PMIx Standard v5, "Process-related events".
void raise_event(self_pointer self, uint32_t rank) {
  const auto& state = self->state;
  const auto& x = state.members[rank];
  if (!is_failure(x.state, true))
    return;
  auto what = event{};
  what.code = event_of(x.state);
  what.source = {"", rank_undef};
  what.range = data_range::nspace;
  what.infos.push_back({std::string{attr::event_affected_proc}, 0,
                        value::of_proc(proc_of(state, rank))});
  // A default handler of Open MPI aborts, unless the event is one of the two
  // that it takes for a failure to survive; and where the job ends anyway it
  // would only add noise.
  const auto is_survivable = what.code == status::proc_aborted_by_sig
                             || what.code == status::proc_term_wo_sync;
  if (!state.options.recoverable || !is_survivable)
    what.infos.push_back(
      {std::string{attr::event_non_default}, 0, value::boolean(true)});
  self->send(
    state.directory.events,
    deliver_event{std::move(what), {{state.context.nspace, rank_wildcard}}});
}

// -- end of a process
// --------------------------------------------------------------

void note_end(self_pointer self, const process_ended& what) {
  auto& state = self->state;
  const auto rank = what.proc.rank;
  if (rank >= state.members.size() || state.members[rank].has_ended())
    return;
  auto& x = state.members[rank];
  x.state = x.called_abort ? proc_state::called_abort
                           : final_state(what, x.connected, x.finalized);
  state.outcome.add({rank, x.state, what.exit_code, what.signal, state.ending});
  self->send(state.directory.server, proc_ended{what.proc, x.state});
  raise_event(self, rank);
  observe(self, rank, what.exit_code, what.signal);
  if (is_failure(x.state, state.options.abort_non_zero)
      && !state.options.recoverable && !state.ending)
    end_all(self, SIGTERM);
  else
    finish_if_over(self);
}

// -- start
// -------------------------------------------------------------------------

/// Gives up a job that could not be started, whatever of it runs already.
void give_up(self_pointer self, const caf::error& why) {
  auto& state = self->state;
  const auto code = status_of(why);
  const auto exit_status = code == status::job_exe_not_found        ? 127
                           : code == status::job_app_not_executable ? 126
                                                                    : 1;
  // A process that asked for a job hears why it has none; what that means is
  // its own affair.
  const auto is_spawned = state.parent.role == peer_role::client;
  state.outcome.end(reason_of(why), is_spawned ? 0 : exit_status);
  state.reply.fail(why);
  end_all(self, SIGKILL);
}

void start_next(self_pointer self, uint32_t rank);

/// Sets variables of an environment; what they were before goes.
void set_variables(std::vector<std::string>& env,
                   std::vector<std::string> variables) {
  for (auto& x : variables) {
    const auto name = x.substr(0, x.find('=')) + "=";
    const auto is_old = [&](const std::string& y) {
      return y.compare(0, name.size(), name) == 0;
    };
    env.erase(std::remove_if(env.begin(), env.end(), is_old), env.end());
    env.push_back(std::move(x));
  }
}

/// Ends the start of a job that is ended meanwhile.
void cancel_start(self_pointer self) {
  self->state.reply.fail(status::job_canceled,
                         "the job was ended while it started");
}

void note_started(self_pointer self, uint32_t rank, uint32_t pid) {
  auto& state = self->state;
  auto& x = state.members[rank];
  x.pid = pid;
  if (!x.has_ended()) {
    // It may be connected before we hear that it runs.
    x.state = x.connected ? proc_state::connected : proc_state::running;
    if (state.ending)
      self->send(state.directory.launcher,
                 signal_process{proc_of(state, rank), SIGKILL});
    observe(self, rank);
  }
  if (state.ending || rank + 1 < state.members.size()) {
    start_next(self, rank + 1);
    return;
  }
  const auto data =
    job_data{state.context.nspace, state.plan.registration.infos};
  state.reply.give({state.context.nspace, data.job_level(), data.all()->ranks});
}

/// Starts a process and, when it runs, the next: the loop serves sockets in
/// between.
void start_next(self_pointer self, uint32_t rank) {
  auto& state = self->state;
  if (state.ending) {
    cancel_start(self);
    return;
  }
  auto& x = state.members[rank];
  x.state = proc_state::launch_underway;
  self
    ->request(state.directory.server, caf::infinite,
              setup_fork{proc_of(state, rank)})
    .then(
      [=](client_environment& env) {
        if (self->state.ending) {
          self->state.members[rank].state = proc_state::killed_by_cmd;
          self->state.members[rank].drained = true;
          cancel_start(self);
          finish_if_over(self);
          return;
        }
        auto& spec = self->state.plan.processes[rank];
        set_variables(spec.env, std::move(env.variables));
        self
          ->request(self->state.directory.launcher, caf::infinite,
                    std::move(spec), process_owner_actor{job_actor{self}},
                    self->state.directory.sink)
          .then(
            [=](process_started started) {
              note_started(self, rank, started.pid);
            },
            [=](const caf::error& err) {
              self->state.members[rank].state = proc_state::failed_to_start;
              self->state.members[rank].drained = true;
              observe(self, rank);
              give_up(self, err);
            });
      },
      [=](const caf::error& err) {
        self->state.members[rank].state = proc_state::failed_to_start;
        self->state.members[rank].drained = true;
        give_up(self, err);
      });
}

void register_and_start(self_pointer self, const node_topology& topology) {
  auto& state = self->state;
  if (state.ending) {
    cancel_start(self);
    return;
  }
  auto plan = plan_job(state.request, state.parent, state.options,
                       state.context, topology);
  if (!plan) {
    give_up(self, plan.error());
    return;
  }
  state.plan = std::move(*plan);
  state.members.resize(state.plan.processes.size());
  tell_observer(self, state.plan.map);
  if (state.options.timeout)
    call_later(self, *state.options.timeout, [self] {
      self->state.outcome.end("the job ran longer than its time-out", 124);
      end_all(self, SIGTERM);
    });
  self->request(state.directory.server, caf::infinite, state.plan.registration)
    .then([self](ack) { start_next(self, 0); },
          [self](const caf::error& err) { give_up(self, err); });
}

caf::result<spawn_result> start(self_pointer self, const requester& parent,
                                spawn_request& request) {
  auto& state = self->state;
  auto promise = self->make_response_promise<spawn_result>();
  state.reply = answer<spawn_result>{promise};
  state.request = std::move(request);
  state.parent = parent;
  auto options = read_options(state.request);
  if (!options) {
    give_up(self, options.error());
    return promise;
  }
  state.options = std::move(*options);
  if (state.context.oversubscribe)
    state.options.oversubscribe = true;
  if (!needs_topology(state.options)) {
    register_and_start(self, {});
    return promise;
  }
  self->request(state.directory.topology, caf::infinite, discover_topology{})
    .then(
      [self](const node_topology& found) { register_and_start(self, found); },
      [self](const caf::error& err) { give_up(self, err); });
  return promise;
}

// -- requests while it runs
// --------------------------------------------------------

/// Source: PMIx Standard v5, `PMIx_Abort`.
caf::result<ack> abort(self_pointer self, const requester& who,
                       const abort_request& request) {
  auto& state = self->state;
  const auto is_mine = who.proc.nspace == state.context.nspace
                       && who.proc.rank < state.members.size();
  const auto names_all =
    request.procs.empty()
    || std::any_of(
      request.procs.begin(), request.procs.end(),
      [&](const proc_id& x) { return x == proc_of(state, rank_wildcard); });
  state.outcome.abort(who.proc.rank, request.exit_status,
                      request.message.value_or(""));
  if (is_mine && names_all)
    state.members[who.proc.rank].called_abort = true;
  if (names_all) {
    end_all(self, SIGTERM);
    return ack{};
  }
  for (const auto& x : request.procs)
    if (x.nspace == state.context.nspace && x.rank < state.members.size()
        && state.members[x.rank].is_running())
      self->send(state.directory.launcher, signal_process{x, SIGKILL});
  return ack{};
}

/// The most paths that a job may register.
constexpr size_t max_leftovers = 4096;

caf::result<info_result> control(self_pointer self,
                                 const job_control_request& request) {
  auto paths = read_cleanup(request);
  if (!paths)
    return paths.error();
  auto& all = self->state.leftovers.paths;
  if (all.size() + paths->size() > max_leftovers)
    return make_error(status::out_of_resource, "the job has registered "
                                                 + std::to_string(max_leftovers)
                                                 + " paths already");
  std::move(paths->begin(), paths->end(), std::back_inserter(all));
  return info_result{};
}

job_description describe(const job_state_data& state) {
  auto result = job_description{};
  result.nspace = state.context.nspace;
  result.state =
    state.ending ? job_state::terminated_with_error : job_state::running;
  for (const auto& spec : state.plan.map.procs) {
    const auto& x = state.members[spec.rank];
    const auto& program = state.request.apps[spec.app];
    if (result.cmd.empty())
      result.cmd = program.cmd;
    result.procs.push_back({proc_of(state, spec.rank), state.context.hostname,
                            program.cmd, x.pid, static_cast<uint8_t>(x.state)});
  }
  return result;
}

member* member_of(job_state_data& state, const requester& who) {
  return who.proc.nspace == state.context.nspace
             && who.proc.rank < state.members.size()
           ? &state.members[who.proc.rank]
           : nullptr;
}

job_actor::behavior_type behavior(self_pointer self, job_context context,
                                  job_directory directory, journal log) {
  self->state.outcome = job_outcome{context.nspace};
  self->state.context = std::move(context);
  self->state.directory = std::move(directory);
  self->state.log = std::move(log);
  return {
    [self](const requester& parent, spawn_request& request) {
      return start(self, parent, request);
    },
    [self](const end_job& request) {
      self->state.outcome.end(request.reason, request.exit_status);
      end_all(self, request.signal);
      return ack{};
    },
    [self](const requester& who, const abort_request& request) {
      return abort(self, who, request);
    },
    [self](const requester&, const job_control_request& request) {
      return control(self, request);
    },
    [self](const list_jobs&) { return describe(self->state); },
    [self](write_stdin& request) -> caf::result<ack> {
      return self->delegate(self->state.directory.launcher, std::move(request));
    },
    [self](const close_stdin& request) {
      self->send(self->state.directory.launcher, request);
    },
    [self](const client_connected& what) {
      if (auto* x = member_of(self->state, what.who)) {
        x->connected = true;
        x->finalized = false;
        if (x->is_running())
          x->state = proc_state::connected;
        observe(self, what.who.proc.rank);
      }
    },
    [self](const client_finalized& what) {
      if (auto* x = member_of(self->state, what.who))
        x->finalized = true;
    },
    [](const client_lost&) {
      // The end of the process follows, and says more.
    },
    [self](const process_ended& what) { note_end(self, what); },
    [self](const process_drained& what) {
      if (what.proc.rank < self->state.members.size())
        self->state.members[what.proc.rank].drained = true;
      finish_if_over(self);
    },
    [self](deadline due) { self->state.waits.fire(due.id); },
  };
}

} // namespace

job_actor spawn_job(caf::actor_system& sys, job_context context,
                    job_directory directory, journal log) {
  return sys.spawn(behavior, std::move(context), std::move(directory),
                   std::move(log));
}

} // namespace troupe
