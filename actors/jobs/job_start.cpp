#include "actors/data/job_data.hpp"
#include "actors/jobs/job_state.hpp"
#include "config/defaults.hpp"

#include <csignal>

namespace troupe::job_internals {

namespace {

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
                    self->state.directory.output)
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

} // namespace

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

namespace {

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

} // namespace

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

} // namespace troupe::job_internals
