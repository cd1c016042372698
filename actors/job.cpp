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
#include <memory>

namespace troupe {

namespace {

/// One process of the share.
struct member {
  uint32_t rank = 0;
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

  prepare_share order;
  job_options options;
  job_plan plan;
  answer<job_map> prepared;
  answer<spawn_result> started;

  /// As in the plan: in the order of their ranks.
  std::vector<member> members;
  reminders waits;

  /// What goes when the share has ended.
  remove_paths leftovers;

  /// Whether the processes have been told to end.
  bool ending = false;

  /// Whether what they left behind is being removed.
  bool sweeping = false;
  bool swept = false;

  /// Whether the end has been reported.
  bool over = false;

  const std::string& nspace() const {
    return order.map.nspace;
  }

  member* find(const proc_id& proc) {
    if (proc.nspace != nspace())
      return nullptr;
    const auto i = std::lower_bound(
      members.begin(), members.end(), proc.rank,
      [](const member& x, uint32_t rank) { return x.rank < rank; });
    return i != members.end() && i->rank == proc.rank ? &*i : nullptr;
  }
};

using self_pointer = job_actor::stateful_pointer<job_state_data>;

proc_id proc_of(const job_state_data& state, const member& x) {
  return {state.nspace(), x.rank};
}

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then) {
  const auto id = self->state.waits.add(std::move(then));
  self->delayed_send(job_actor{self}, delay, deadline{id});
}

/// Tells the host what state a process is in.
void report(self_pointer self, const member& x, int32_t exit_code = 0,
            int32_t signal = 0) {
  const auto& state = self->state;
  self->send(
    state.directory.host,
    share_progress{state.nspace(),
                   {{proc_of(state, x), x.state, x.pid, exit_code, signal}}});
}

// -- end of the share
// --------------------------------------------------------------

void report_end(self_pointer self) {
  self->send(self->state.directory.host, share_ended{self->state.nspace()});
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
                sweep_job{state.nspace()})
      .then([=](ack) { swept(); }, [=](const caf::error&) { swept(); });
  }
  if (state.over || !state.swept
      || !all([](const member& x) { return x.drained; }))
    return;
  state.over = true;
  self
    ->request(state.directory.cleaner, caf::infinite,
              std::move(state.leftovers))
    .then([=](ack) { report_end(self); },
          [=](const caf::error&) { report_end(self); });
}

/// Ends for good. The namespace goes first: whoever hears of the end may reuse
/// what it held.
caf::result<ack> forget(self_pointer self) {
  auto& state = self->state;
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
    case proc_state::comm_failed:
      return status::proc_aborted;
    default:
      return status::event_proc_terminated;
  }
}

/// Tells the peers of a process on this node that it failed. Only the affected
/// process is of type PROC among the infos: Open MPI takes every such info for
/// a dead process. Source: PMIx Standard v5, "Process-related events".
void raise_event(self_pointer self, const proc_id& proc, proc_state how) {
  const auto& state = self->state;
  if (!is_failure(how, true))
    return;
  auto what = event{};
  what.code = event_of(how);
  what.source = {"", rank_undef};
  what.range = data_range::nspace;
  what.infos.push_back(
    {std::string{attr::event_affected_proc}, 0, value::of_proc(proc)});
  // A default handler of Open MPI aborts, unless the event is one of the two
  // that it takes for a failure to survive; and where the job ends anyway it
  // would only add noise.
  const auto is_survivable = what.code == status::proc_aborted_by_sig
                             || what.code == status::proc_term_wo_sync;
  if (!state.options.recoverable || !is_survivable)
    what.infos.push_back(
      {std::string{attr::event_non_default}, 0, value::boolean(true)});
  self->send(state.directory.events,
             deliver_event{std::move(what), {{state.nspace(), rank_wildcard}}});
}

// -- end of a process
// --------------------------------------------------------------

void note_end(self_pointer self, const process_ended& what) {
  auto& state = self->state;
  auto* x = state.find(what.proc);
  if (x == nullptr || x->has_ended())
    return;
  x->state = x->called_abort ? proc_state::called_abort
                             : final_state(what, x->connected, x->finalized);
  self->send(state.directory.server, proc_ended{what.proc, x->state});
  raise_event(self, what.proc, x->state);
  report(self, *x, what.exit_code, what.signal);
  finish_if_over(self);
}

// -- start
// -------------------------------------------------------------------------

void start_next(self_pointer self, size_t index);

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

/// Ends the start of a share that is ended meanwhile.
void cancel_start(self_pointer self) {
  self->state.started.fail(status::job_canceled,
                           "the job was ended while it started");
}

/// All processes run. The first node of the job describes it for whoever asked.
void finish_start(self_pointer self) {
  auto& state = self->state;
  auto result = spawn_result{state.nspace(), {}, {}};
  if (state.order.map.shares.front().node == state.context.node) {
    const auto data = job_data{state.nspace(), state.plan.registration.infos};
    result.entries = data.job_level();
    result.ranks = data.all()->ranks;
  }
  state.started.give(std::move(result));
}

void note_started(self_pointer self, size_t index, uint32_t pid) {
  auto& state = self->state;
  auto& x = state.members[index];
  x.pid = pid;
  if (!x.has_ended()) {
    // It may be connected before we hear that it runs.
    x.state = x.connected ? proc_state::connected : proc_state::running;
    if (state.ending)
      self->send(state.directory.launcher,
                 signal_process{proc_of(state, x), SIGKILL});
    report(self, x);
  }
  if (state.ending || index + 1 < state.members.size())
    start_next(self, index + 1);
  else
    finish_start(self);
}

void note_failed_start(self_pointer self, size_t index, const caf::error& err) {
  auto& state = self->state;
  auto& x = state.members[index];
  x.state = proc_state::failed_to_start;
  x.drained = true;
  report(self, x);
  state.started.fail(err);
  if (state.ending)
    finish_if_over(self);
}

/// Starts a process and, when it runs, the next: the loop serves sockets in
/// between.
void start_next(self_pointer self, size_t index) {
  auto& state = self->state;
  if (state.ending) {
    cancel_start(self);
    return;
  }
  auto& x = state.members[index];
  x.state = proc_state::launch_underway;
  self
    ->request(state.directory.server, caf::infinite,
              setup_fork{proc_of(state, x)})
    .then(
      [=](client_environment& env) {
        if (self->state.ending) {
          self->state.members[index].state = proc_state::killed_by_cmd;
          self->state.members[index].drained = true;
          cancel_start(self);
          finish_if_over(self);
          return;
        }
        auto& spec = self->state.plan.processes[index];
        set_variables(spec.env, std::move(env.variables));
        self
          ->request(self->state.directory.launcher, caf::infinite,
                    std::move(spec), process_owner_actor{job_actor{self}},
                    self->state.directory.sink)
          .then(
            [=](process_started started) {
              note_started(self, index, started.pid);
            },
            [=](const caf::error& err) {
              note_failed_start(self, index, err);
            });
      },
      [=](const caf::error& err) { note_failed_start(self, index, err); });
}

caf::result<spawn_result> start(self_pointer self) {
  auto& state = self->state;
  auto promise = self->make_response_promise<spawn_result>();
  state.started = answer<spawn_result>{promise};
  if (state.members.empty())
    state.started.fail(status::bad_param, "the share has no process");
  else
    start_next(self, 0);
  return promise;
}

/// Binds the processes and makes the job known to the server.
void bind_and_register(self_pointer self, const node_topology& topology) {
  auto& state = self->state;
  if (state.ending) {
    state.prepared.fail(status::job_canceled,
                        "the job was ended while it started");
    return;
  }
  auto& map = state.order.map;
  for (auto& x : map.shares)
    if (x.node == state.context.node)
      bind_share(x, state.options, topology);
  state.plan = plan_job(map, state.order.request, state.order.parent,
                        state.options, state.context, topology);
  self->request(state.directory.server, caf::infinite, state.plan.registration)
    .then(
      [self](ack) {
        auto& state = self->state;
        auto result = job_map{state.nspace(), state.order.map.number, {}};
        for (const auto& x : state.order.map.shares)
          if (x.node == state.context.node)
            result.shares.push_back(x);
        state.prepared.give(std::move(result));
      },
      [self](const caf::error& err) { self->state.prepared.fail(err); });
}

caf::result<job_map> prepare(self_pointer self, prepare_share& order) {
  auto& state = self->state;
  auto promise = self->make_response_promise<job_map>();
  state.prepared = answer<job_map>{promise};
  state.order = std::move(order);
  for (const auto& x : state.order.map.shares)
    if (x.node == state.context.node)
      for (const auto& proc : x.procs) {
        state.members.emplace_back();
        state.members.back().rank = proc.rank;
      }
  auto options = read_options(state.order.request);
  if (!options) {
    state.prepared.fail(options.error());
    return promise;
  }
  state.options = std::move(*options);
  if (!needs_topology(state.options)) {
    bind_and_register(self, {});
    return promise;
  }
  self->request(state.directory.topology, caf::infinite, discover_topology{})
    .then(
      [self](const node_topology& found) { bind_and_register(self, found); },
      [self](const caf::error& err) { self->state.prepared.fail(err); });
  return promise;
}

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

job_actor::behavior_type behavior(self_pointer self, job_context context,
                                  job_directory directory, journal log) {
  self->state.context = std::move(context);
  self->state.directory = std::move(directory);
  self->state.log = std::move(log);
  return {
    [self](prepare_share& order) { return prepare(self, order); },
    [self](const start_share&) { return start(self); },
    [self](const end_share& request) {
      end_all(self, request.how.signal);
      return ack{};
    },
    [self](const requester& who, const abort_request& request) {
      note_abort(self, who, request);
      return ack{};
    },
    [self](const requester&, const job_control_request& request) {
      return control(self, request);
    },
    [self](const procs_gone& what) {
      for (const auto& x : what.procs)
        if (self->state.find(x.proc) == nullptr)
          raise_event(self, x.proc, x.state);
    },
    [self](const forget_job&) { return forget(self); },
    [self](const client_connected& what) {
      if (auto* x = self->state.find(what.who.proc)) {
        x->connected = true;
        x->finalized = false;
        if (x->is_running())
          x->state = proc_state::connected;
        report(self, *x);
      }
    },
    [self](const client_finalized& what) {
      if (auto* x = self->state.find(what.who.proc))
        x->finalized = true;
    },
    [](const client_lost&) {
      // The end of the process follows, and says more.
    },
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

job_actor spawn_job(caf::actor_system& sys, job_context context,
                    job_directory directory, journal log) {
  return sys.spawn(behavior, std::move(context), std::move(directory),
                   std::move(log));
}

} // namespace troupe
