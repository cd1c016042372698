#include "actors/jobs/job.hpp"

#include "actors/control/checkpoint_records.hpp"
#include "actors/control/cleanup_request.hpp"
#include "actors/data/job_data.hpp"
#include "actors/jobs/job_outcome.hpp"
#include "base/all_of.hpp"
#include "base/answer.hpp"
#include "base/pass_on.hpp"
#include "base/reminders.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace troupe {

namespace {

/// One process of the share.
struct member {
  uint32_t rank = 0;
  proc_state state = proc_state::prepped;
  uint32_t pid = 0;
  bool connected = false;
  bool finalized = false;

  /// Whether its connection broke.
  bool lost = false;

  /// How it ended, if that cannot be judged yet.
  std::optional<process_ended> end;

  /// Whether it has failed by an exit, which may follow the loss of a peer
  /// whose end is not known yet.
  bool may_follow = false;

  /// How often it has connected.
  uint32_t connections = 0;
  bool called_abort = false;
  bool drained = false;

  /// Whether it stands still because somebody wants it to.
  bool is_paused = false;

  /// Whether somebody wants its end: then that is no failure.
  bool told_to_end = false;

  /// How often it has been started again, and how often because it failed.
  uint32_t lives = 0;
  uint32_t failures = 0;

  /// How its former life ended.
  process_ended former;

  /// Whether somebody wants it started again, and the checkpoint it begins from.
  bool told_to_restart = false;

  /// Whether it has waited long enough for its next life.
  bool is_due = false;
  std::string checkpoint;

  bool is_running() const {
    return state >= proc_state::running && state <= proc_state::connected;
  }

  /// Whether its next life is about to begin.
  bool is_starting_again() const {
    return lives > 0 && state == proc_state::launch_underway;
  }

  bool has_ended() const {
    return state >= proc_state::terminated;
  }
};

struct job_state_data {
  static inline const char* name = "job";

  job_state_data() = default;

  job_state_data(const job_state_data&) = delete;

  job_state_data& operator=(const job_state_data&) = delete;

  ~job_state_data() {
    if (context.descriptors)
      context.descriptors->give_back(nspace());
  }

  job_context context;
  job_directory directory;
  journal log;

  /// Where the output of processes goes: if they may be started again, past
  /// somebody who keeps the ends of their streams to himself.
  output_receiver_actor output;

  prepare_share order;
  job_options options;
  job_plan plan;
  answer<job_map> prepared;
  answer<spawn_result> started;

  /// As in the plan: in the order of their ranks.
  std::vector<member> members;
  reminders waits;

  /// What goes when the share has ended.
  cleanup_list leftovers;

  /// Who waits for the ends of processes that have lost their connections.
  std::vector<std::function<void()>> once_known;

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

TROUPE_SELF_POINTER(job_actor, job_state_data);

void report(self_pointer self, const member& x, int32_t exit_code = 0,
            int32_t signal = 0);

void when_ends_are_known(self_pointer self, std::function<void()> then);

void finish_if_over(self_pointer self);

void start_next(self_pointer self, size_t index);

void end_for_good(self_pointer self, member& x, proc_state how);

void judge_followers(self_pointer self, bool at_once = false);

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then);

inline proc_id proc_of(const job_state_data& state, const member& x) {
  return {state.nspace(), x.rank};
}

// -- control of single processes ----------------------------------------------

/// Whether it leaves processes standing still.
bool pauses(const control_procs& what) {
  return what.action == control_action::pause
         || (what.action == control_action::signal && what.signal == SIGSTOP);
}

/// Whether it has processes go on that stand still.
bool resumes(const control_procs& what) {
  switch (what.action) {
    case control_action::resume:
    case control_action::terminate:
    case control_action::kill:
      return true;
    default:
      return what.action == control_action::signal && what.signal == SIGCONT;
  }
}

/// Tells those who watch processes what they cannot expect of them.
void note_paused(self_pointer self, const std::vector<uint32_t>& ranks,
                 bool paused) {
  auto& state = self->state;
  auto what = procs_paused{{}, paused};
  for (const auto rank : ranks) {
    auto* x = state.find({state.nspace(), rank});
    if (x == nullptr || x->has_ended() || x->is_paused == paused)
      continue;
    x->is_paused = paused;
    what.procs.push_back(proc_of(state, *x));
  }
  if (!what.procs.empty())
    self->send(state.directory.server, std::move(what));
}

/// Who runs: known when those who have ended, or are about to, have been
/// reaped.
caf::result<procs_controlled> find_running(self_pointer self,
                                           control_procs order) {
  const auto promise = self->make_response_promise<procs_controlled>();
  const auto done = pass_on(promise);
  self->request(self->state.directory.launcher, caf::infinite, order)
    .then(
      [self, done, order](const procs_controlled&) {
        when_ends_are_known(self, [self, done, order] {
          auto result = procs_controlled{};
          for (const auto rank : order.ranks)
            if (const auto* x = self->state.find({order.nspace, rank});
                x != nullptr && x->is_running())
              result.ranks.push_back(rank);
          done(std::move(result));
        });
      },
      [done](caf::error& why) { done(std::move(why)); });
  return promise;
}

/// Processes go on, whoever made them stand still.
void note_resumed(self_pointer self, const std::vector<uint32_t>& ranks) {
  note_paused(self, ranks, false);
}

/// Signals, pauses, resumes, ends or restarts some of the processes.
caf::result<procs_controlled> control(self_pointer self,
                                      const control_procs& what) {
  auto& state = self->state;
  const auto restarts = what.action == control_action::restart;
  if (restarts && !state.options.max_restarts)
    return make_error(status::not_supported,
                      "job " + state.nspace()
                        + " was not started with PMIX_MAX_RESTARTS; start it "
                          "with --max-restarts");
  const auto ends = what.action == control_action::terminate
                    || what.action == control_action::kill;
  auto order = what;
  order.ranks.clear();
  // Those between two lives, of whom the launcher knows nothing.
  auto others = procs_controlled{};
  for (const auto rank : what.ranks)
    if (auto* x = state.find({what.nspace, rank});
        x != nullptr && x->state == proc_state::restart && (ends || restarts)) {
      others.ranks.push_back(rank);
      if (ends)
        end_for_good(self, *x, proc_state::killed_by_cmd);
      else
        x->checkpoint = what.checkpoint;
    } else if (x != nullptr && x->is_starting_again() && ends) {
      others.ranks.push_back(rank);
      x->told_to_end = true;
    } else if (x != nullptr && x->is_running()) {
      x->told_to_end |= ends;
      if (restarts && !x->told_to_end) {
        x->told_to_restart = true;
        x->checkpoint = what.checkpoint;
      }
      order.ranks.push_back(rank);
    }
  if (order.ranks.empty())
    return others;
  if (what.action == control_action::signal && what.signal == 0)
    return find_running(self, std::move(order));
  // Excused before it stands still.
  if (pauses(what))
    note_paused(self, order.ranks, true);
  const auto promise = self->make_response_promise<procs_controlled>();
  auto owed = std::make_shared<answer<procs_controlled>>(promise);
  self->request(state.directory.launcher, caf::infinite, std::move(order))
    .then(
      [self, owed, what, others](procs_controlled& x) {
        if (resumes(what))
          note_paused(self, x.ranks, false);
        x.ranks.insert(x.ranks.end(), others.ranks.begin(), others.ranks.end());
        owed->give(std::move(x));
      },
      [owed](caf::error& why) { owed->fail(std::move(why)); });
  return promise;
}

// -- the streams of processes that may be started again -------------------------

/// Takes the output of processes whose streams go on in their next lives: passes
/// on all but their ends, which are told when a process has ended for good.
output_receiver_actor::behavior_type
keep_streams(output_receiver_actor::pointer self,
             const output_receiver_actor& to) {
  return {[self, to](process_output& what) -> caf::result<ack> {
    if (what.bytes.empty())
      return ack{};
    return self->delegate(to, std::move(what));
  }};
}

/// Ends the streams of a process; nothing of it comes any more.
void end_streams(self_pointer self, const proc_id& proc) {
  const auto done = [self, proc] {
    if (auto* x = self->state.find(proc))
      x->drained = true;
    finish_if_over(self);
  };
  auto all = all_of<std::monostate>{{}, [done](std::monostate) { done(); }};
  for (const auto channel :
       {io_channels::stdout_, io_channels::stderr_, io_channels::stddiag}) {
    all.add();
    self
      ->request(self->state.directory.output, caf::infinite,
                process_output{proc, channel, {}, 0, 0})
      .then([all](ack) { all.done(); },
            [all](const caf::error&) { all.done(); });
  }
  all.done();
}

// -- the start ----------------------------------------------------------------

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
                    self->state.output)
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

/// Starts the processes one after another.
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

/// Descriptors for files of output: a file for each stream, so many at a time.
uint64_t files_of(const job_state_data& state) {
  const auto& io = state.options.io;
  if (io.file.empty() && io.directory.empty())
    return 0;
  return std::min(2 * state.plan.processes.size(), defaults::io_files_open);
}

/// Binds the processes of this node, away from those of other jobs.
caf::error bind(job_state_data& state, node_share& share,
                const node_topology& topology) {
  const auto ledger = state.context.bound;
  if (auto why = bind_share(share, state.options, topology,
                            ledger ? ledger->taken() : std::set<uint32_t>{}))
    return why;
  auto bound = std::set<uint32_t>{};
  for (const auto& x : share.procs)
    bound.insert(x.cpus.begin(), x.cpus.end());
  if (ledger)
    ledger->take(state.nspace(), bound);
  return {};
}

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
      if (auto why = bind(state, x, topology)) {
        state.prepared.fail(why);
        return;
      }
  state.plan = plan_job(map, state.order.request, state.order.parent,
                        state.options, state.context, topology);
  if (const auto& budget = state.context.descriptors)
    if (auto why = budget->take(state.nspace(), state.plan.processes,
                                files_of(state), state.context.hostname)) {
      state.prepared.fail(std::move(why));
      return;
    }
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

/// Binds the processes and makes the job known to the server.
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
  state.output = state.options.max_restarts
                   ? self->spawn(keep_streams, state.directory.output)
                   : state.directory.output;
  auto size = size_t{0};
  for (const auto& x : state.order.map.shares)
    size += x.procs.size();
  settle(state.options, static_cast<uint32_t>(size));
  if (!needs_topology(state.options)) {
    bind_and_register(self, {});
    return promise;
  }
  self->request(state.directory.topology, caf::infinite, discover_topology{})
    .then(
      [self](const node_topology& found) { bind_and_register(self, found); },
      [self](const caf::error& err) {
        if (is_binding_required(self->state.options))
          self->state.prepared.fail(err);
        else
          bind_and_register(self, {});
      });
  return promise;
}

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then) {
  const auto id = self->state.waits.add(std::move(then));
  self->delayed_send(job_actor{self}, delay, deadline{id});
}

/// Tells the host what state a process is in.
void report(self_pointer self, const member& x, int32_t exit_code,
            int32_t signal) {
  const auto& state = self->state;
  self->send(
    state.directory.host,
    share_progress{state.nspace(),
                   {{proc_of(state, x), x.state, x.pid, exit_code, signal}}});
}

// -- end of the share ---------------------------------------------------------

void report_end(self_pointer self) {
  self->send(self->state.directory.host, share_ended{self->state.nspace()});
}

/// Others may be bound to what it had.
void release_processors(const job_state_data& state) {
  if (state.context.bound)
    state.context.bound->release(state.nspace());
}

/// Reports the end when all processes have ended, and nothing is left of them.
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
    } else if (x.state == proc_state::restart) {
      end_for_good(self, x, proc_state::killed_by_cmd);
    }
  if (signal != SIGKILL)
    call_later(self, how.grace.value_or(defaults::kill_grace),
               [self] { signal_all(self, SIGKILL); });
  finish_if_over(self);
}

// -- another life of a process --------------------------------------------------

/// How much longer each failure of a process has it wait for its next life, and
/// the longest wait.
constexpr auto restart_pause = std::chrono::milliseconds{100};
constexpr auto most_restart_pauses = uint32_t{20};

/// In the environment of a process: how often it has been started again.
constexpr auto restarts_variable = "TROUPE_RESTARTS=";

/// Whether a process whose life is over, in the state that this comes to, gets
/// another one. Whoever aborts its job, or is told to end, does not.
/// Source: PMIx Standard v5, PMIX_MAX_RESTARTS; RFC0015, PMIX_JOB_CTRL_RESTART.
bool lives_on(const job_state_data& state, const member& x) {
  if (!state.options.max_restarts || state.ending || x.told_to_end
      || x.called_abort)
    return false;
  return x.told_to_restart
         || (is_failure(x.state, state.options.abort_non_zero)
             && x.failures < *state.options.max_restarts);
}

/// It ends, though nothing of it runs.
void end_for_good(self_pointer self, member& x, proc_state how) {
  auto& state = self->state;
  const auto proc = proc_of(state, x);
  x.state = how;
  self->send(state.directory.server, proc_ended{proc, how});
  report(self, x, x.former.exit_code, x.former.signal);
  if (x.drained) {
    x.drained = false;
    end_streams(self, proc);
  }
}

/// What starts a process that has run before. Its former life has read what came
/// for its standard input.
start_process plan_restart(const job_state_data& state, const member& x) {
  const auto& order = state.order;
  auto plan = plan_job(order.map, order.request, order.parent, state.options,
                       state.context, {});
  const auto index = static_cast<size_t>(&x - state.members.data());
  auto result = std::move(plan.processes[index]);
  result.with_stdin = false;
  auto variables =
    std::vector<std::string>{restarts_variable + std::to_string(x.lives)};
  if (!x.checkpoint.empty())
    variables.push_back(checkpoint_variable(x.checkpoint));
  set_variables(result.env, std::move(variables));
  return result;
}

void note_restarted(self_pointer self, const proc_id& proc, uint32_t pid) {
  auto& state = self->state;
  auto* x = state.find(proc);
  if (x == nullptr)
    return;
  x->pid = pid;
  if (x->has_ended())
    return;
  x->state = x->connected ? proc_state::connected : proc_state::running;
  report(self, *x);
  if (state.ending || x->told_to_end)
    self->send(state.directory.launcher, signal_process{proc, SIGKILL});
}

void note_failed_restart(self_pointer self, const proc_id& proc,
                         const caf::error& why) {
  auto* x = self->state.find(proc);
  if (x == nullptr || x->has_ended())
    return;
  const auto is_wanted = self->state.ending || x->told_to_end;
  if (self->state.log && !is_wanted)
    self->state.log(severity::error,
                    to_string(proc)
                      + " cannot be started again: " + reason_of(why));
  x->drained = true;
  end_for_good(self, *x,
               is_wanted ? proc_state::killed_by_cmd
                         : proc_state::cannot_restart);
}

/// Has the server forget the former life, then starts the next one.
void start_again(self_pointer self, const proc_id& proc) {
  auto& state = self->state;
  auto* x = state.find(proc);
  if (x == nullptr || x->state != proc_state::restart || !x->drained
      || !x->is_due)
    return;
  x->state = proc_state::launch_underway;
  x->drained = x->is_due = false;
  const auto fail = [self, proc](const caf::error& why) {
    note_failed_restart(self, proc, why);
  };
  const auto launch = [self, proc, fail](client_environment& env) {
    auto* x = self->state.find(proc);
    if (self->state.ending || x->told_to_end) {
      fail(make_error(status::job_canceled, "it is being ended"));
      return;
    }
    auto spec = plan_restart(self->state, *x);
    set_variables(spec.env, std::move(env.variables));
    self
      ->request(self->state.directory.launcher, caf::infinite, std::move(spec),
                process_owner_actor{job_actor{self}}, self->state.output)
      .then(
        [self, proc](process_started started) {
          note_restarted(self, proc, started.pid);
        },
        fail);
  };
  self
    ->request(state.directory.server, caf::infinite,
              register_client{proc, state.order.parent.creds})
    .then(
      [self, proc, launch, fail](ack) {
        self
          ->request(self->state.directory.server, caf::infinite,
                    setup_fork{proc})
          .then(launch, fail);
      },
      fail);
}

/// A life of a process is over, and another one follows when its output has been
/// taken: it keeps its name and its place.
void begin_restart(self_pointer self, member& x, const process_ended& what) {
  auto& state = self->state;
  const auto is_wanted = std::exchange(x.told_to_restart, false);
  if (!is_wanted)
    ++x.failures;
  ++x.lives;
  x.former = what;
  x.state = proc_state::restart;
  x.connected = x.finalized = x.lost = x.is_paused = false;
  // Before others hear of it: they may join a fence that waits for its next
  // life.
  self->send(state.directory.server, proc_ended{what.proc, x.state});
  report(self, x, what.exit_code, what.signal);
  // What it has started goes with it.
  self->send(state.directory.launcher, signal_process{what.proc, SIGKILL});
  const auto pauses =
    is_wanted ? 0 : std::min(x.failures - 1, most_restart_pauses);
  call_later(self, pauses * restart_pause, [self, proc = what.proc] {
    if (auto* x = self->state.find(proc)) {
      x->is_due = true;
      start_again(self, proc);
    }
  });
  judge_followers(self);
}

// -- end of a process ---------------------------------------------------------

/// How long what a process wrote last to its server may take to be read when
/// its connection does not end with it, as somebody else has it, too.
constexpr auto last_words_wait = std::chrono::seconds{5};

void judge_end(self_pointer self, const process_ended& what) {
  auto& state = self->state;
  auto* x = state.find(what.proc);
  if (x == nullptr || x->has_ended() || x->state == proc_state::restart)
    return;
  x->end.reset();
  x->may_follow = false;
  x->state = x->called_abort ? proc_state::called_abort
                             : final_state(what, x->connected, x->finalized);
  if (x->told_to_end && x->state != proc_state::terminated)
    x->state = proc_state::killed_by_cmd;
  if (lives_on(state, *x)) {
    begin_restart(self, *x, what);
    return;
  }
  self->send(state.directory.server, proc_ended{what.proc, x->state});
  report(self, *x, what.exit_code, what.signal);
  if (state.options.max_restarts && x->drained) {
    x->drained = false;
    end_streams(self, what.proc);
  }
  judge_followers(self);
  finish_if_over(self);
}

/// Judges an end later, which is one of the life that the process has now.
std::function<void()> judge_later(self_pointer self, const member& x,
                                  const process_ended& what) {
  return [self, what, lives = x.lives] {
    if (const auto* x = self->state.find(what.proc);
        x != nullptr && x->lives == lives)
      judge_end(self, what);
  };
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

/// Judges a failing exit, unless the end of a peer is due first.
void conclude_exit(self_pointer self, const process_ended& what) {
  auto* x = self->state.find(what.proc);
  if (x == nullptr || x->has_ended() || x->may_follow)
    return;
  if (self->state.ending || !is_any_end_due(self->state)) {
    judge_end(self, what);
    return;
  }
  x->may_follow = true;
  call_later(self, defaults::lost_connection_wait, judge_later(self, *x, what));
}

/// Judges an end as soon as it is known whether it is a consequence.
void conclude(self_pointer self, const process_ended& what) {
  auto& state = self->state;
  auto& x = *state.find(what.proc);
  if (state.ending || !is_failing_exit(x, what)) {
    judge_end(self, what);
    return;
  }
  x.end = what;
  if (is_any_end_due(state)) {
    conclude_exit(self, what);
    return;
  }
  // The launcher tells us of an exit at once; that a connection is lost comes by
  // way of the server and the host. The host knew before the peers did: when it
  // answers anything, we know, too. One that answers nothing holds back no end.
  const auto then = [self, what, lives = x.lives] {
    if (const auto* x = self->state.find(what.proc);
        x != nullptr && x->lives == lives)
      conclude_exit(self, what);
  };
  self
    ->request(state.directory.host, defaults::lost_connection_wait,
              locate_procs{})
    .then([=](const proc_places&) { then(); },
          [=](const caf::error&) { then(); });
}

void note_end(self_pointer self, const process_ended& what) {
  auto* x = self->state.find(what.proc);
  if (x == nullptr || x->has_ended())
    return;
  // Where many end at once it may have finalized, and nobody has read that yet.
  if (x->connected && !x->finalized && !x->lost && what.signal == 0
      && what.exit_code == 0) {
    x->end = what;
    call_later(self, last_words_wait, judge_later(self, *x, what));
    return;
  }
  conclude(self, what);
}

/// All output of a life of a process has been taken. Its end may not be judged
/// yet.
void note_drained(self_pointer self, const proc_id& proc) {
  auto* x = self->state.find(proc);
  if (x == nullptr)
    return;
  if (!self->state.options.max_restarts) {
    x->drained = true;
    finish_if_over(self);
  } else if (x->has_ended()) {
    end_streams(self, proc);
  } else {
    x->drained = true;
    start_again(self, proc);
  }
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
  if (x->lives > 0 && !x->connected)
    return; // Of its former life.
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

/// Calls `then` when it is known how the processes ended that have lost their
/// connections; soon in any case.
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

// -- requests while it runs ---------------------------------------------------

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
      if (auto* x = self->state.find(what.who.proc);
          x != nullptr && x->state != proc_state::restart) {
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
      if (auto* x = self->state.find(what.who.proc);
          x != nullptr && x->state != proc_state::restart) {
        x->finalized = true;
        note_last_words(self, *x);
      }
    },
    [self](const client_lost& what) { note_lost(self, what.who.proc); },
    [self](const process_ended& what) { note_end(self, what); },
    [self](const process_drained& what) { note_drained(self, what.proc); },
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
