#include "actors/jobs/job.hpp"
#include "actors/mesh/mesh_host_state.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <csignal>

// The shares of this node in jobs: one JOB actor each. They are told what the
// root decides, and the root is told how they do.

namespace troupe::mesh_internals {

namespace {

job_context context_of(const mesh_host_state& state,
                       const prepare_share& order) {
  auto result = job_context{};
  result.server = state.options.server;
  result.node = state.options.rank;
  result.hostname = state.options.hostname;
  result.universe = order.universe;
  result.environment = state.options.environment;
  result.session_directory = state.options.session_directory;
  result.environment.insert(result.environment.end(), order.environment.begin(),
                            order.environment.end());
  result.working_directory = order.working_directory.empty()
                               ? state.options.working_directory
                               : order.working_directory;
  result.with_pmi1 = state.options.with_pmi1;
  result.descriptors = state.options.descriptors;
  result.bound = state.bound;
  return result;
}

void tell_root(self_pointer self, const std::string& nspace);

/// Says good-bye once nothing runs here any more.
void leave_if_empty(self_pointer self) {
  auto& state = self->state;
  if (state.duty != mesh_duty::fenced || !state.shares.empty() || state.leaving)
    return;
  state.leaving = true;
  const auto done = [self] {
    if (self->state.options.on_fenced)
      self->state.options.on_fenced(self->state.fence_reason);
  };
  if (!state.node) {
    done();
    return;
  }
  self->request(state.node, caf::infinite, leave_mesh{})
    .then([=](ack) { done(); }, [=](const caf::error&) { done(); });
}

/// A share that the root will never ask for again.
void discard(self_pointer self, const std::string& nspace) {
  forget(self, forget_job{{nspace, job_state::terminated_with_error, 1, ""}},
         [](const caf::expected<ack>&) {
           // Nobody waits for it.
         });
}

/// The root knows all that there is.
void note_told(share& x) {
  for (const auto& then : std::exchange(x.once_told, {}))
    then();
}

void tell_root(self_pointer self, const std::string& nspace) {
  auto* x = self->state.find_share(nspace);
  if (x == nullptr || x->telling)
    return;
  const auto told = [self, nspace](const caf::expected<host_reply>&) {
    if (auto* x = self->state.find_share(nspace)) {
      x->telling = false;
      tell_root(self, nspace);
    }
  };
  if (!x->progress.empty()) {
    x->telling = true;
    ask(self, 0, share_progress{nspace, std::exchange(x->progress, {})}, told);
    return;
  }
  note_told(*x);
  if (x->ended) {
    x->telling = true;
    // Nothing follows. A root that is gone fences this node.
    ask(self, 0, share_ended{nspace},
        [self, nspace](const caf::expected<host_reply>&) {
          if (auto* x = self->state.find_share(nspace)) {
            x->telling = false;
            note_told(*x);
          }
        });
  }
}

} // namespace

void when_root_knows(self_pointer self, const std::string& nspace,
                     std::function<void()> then) {
  auto* x = self->state.find_share(nspace);
  if (x == nullptr || (x->progress.empty() && !x->telling))
    then();
  else
    x->once_told.push_back(std::move(then));
}

bool has_processes_on(const job_map& map, uint32_t node) {
  for (const auto& x : map.shares)
    if (x.node == node && !x.procs.empty())
      return true;
  return false;
}

void prepare(self_pointer self, prepare_share& order,
             completion<job_map> done) {
  auto& state = self->state;
  const auto& nspace = order.map.nspace;
  if (!state.server) {
    done(make_error(status::init, "the host has no server to serve the job"));
    return;
  }
  if (state.shares.count(nspace) > 0) {
    done(make_error(status::exists, "job " + nspace + " is here already"));
    return;
  }
  state.locations.add(order.map);
  begin_streams(self, order);
  if (!has_processes_on(order.map, state.options.rank)) {
    done(job_map{nspace, order.map.number, {}});
    return;
  }
  auto directory = job_directory{};
  directory.host = mesh_host_actor{self};
  directory.server = state.server;
  directory.launcher = state.directory.launcher;
  directory.topology = state.directory.topology;
  directory.cleaner = state.directory.cleaner;
  directory.output = state.directory.io_desk;
  auto& x = state.shares[nspace];
  x.handle = spawn_job(self->home_system(), context_of(state, order),
                       std::move(directory), state.options.log);
  self->request(x.handle, caf::infinite, std::move(order))
    .then([done](job_map& map) { done(std::move(map)); },
          [done](caf::error& why) { done(std::move(why)); });
}

void start(self_pointer self, const start_share& request,
           completion<spawn_result> done) {
  auto* x = self->state.find_share(request.nspace);
  if (x == nullptr) {
    done(make_error(status::not_found, "no share of " + request.nspace));
    return;
  }
  // All nodes are prepared.
  self->state.sequencer->job_started(request.nspace);
  self->request(x->handle, caf::infinite, request)
    .then([done](spawn_result& result) { done(std::move(result)); },
          [done](caf::error& why) { done(std::move(why)); });
}

caf::expected<ack> end(self_pointer self, const end_share& request) {
  auto* x = self->state.find_share(request.how.nspace);
  if (x == nullptr)
    return make_error(status::not_found, "no share of " + request.how.nspace);
  caf::anon_send(x->handle, request);
  return ack{};
}

void hear_of_gone(self_pointer self, const procs_gone& what) {
  note_gone(self, what.procs);
  for (const auto& x : what.procs)
    self->send(self->state.server, x);
}

namespace {

/// Its output has been taken.
void forget_share(self_pointer self, const forget_job& what,
                  completion<ack> done) {
  auto& state = self->state;
  const auto nspace = what.outcome.nspace;
  state.collectives->job_forgotten(nspace);
  state.published_here.nspace_ended(nspace);
  if (!state.is_root()) {
    state.locations.remove(nspace);
    state.sequencer->job_forgotten(nspace);
  }
  auto node = state.shares.extract(nspace);
  if (node.empty()) {
    // A process may have been connected to it.
    if (state.server)
      caf::anon_send(state.server, deregister_nspace{nspace});
    done(ack{});
    return;
  }
  const auto finish = [self, done] {
    done(ack{});
    leave_if_empty(self);
  };
  self->request(node.mapped().handle, caf::infinite, what)
    .then([=](ack) { finish(); }, [=](const caf::error&) { finish(); });
}

} // namespace

void forget(self_pointer self, const forget_job& what, completion<ack> done) {
  end_streams(self, what.outcome.nspace, [self, what, done = std::move(done)] {
    close_outlet(self, what.outcome);
    forget_share(self, what, done);
  });
}

void pass_progress(self_pointer self, share_progress& what) {
  auto* x = self->state.find_share(what.nspace);
  if (x == nullptr)
    return;
  // Before anybody else hears of it.
  auto ended = std::vector<proc_ended>{};
  for (const auto& proc : what.procs)
    if (proc.state >= proc_state::terminated)
      ended.push_back({proc.proc, proc.state});
  note_gone(self, ended);
  for (const auto& proc : ended)
    self->state.published_here.proc_ended(proc.proc);
  std::move(what.procs.begin(), what.procs.end(),
            std::back_inserter(x->progress));
  tell_root(self, what.nspace);
}

void pass_end(self_pointer self, const share_ended& what) {
  auto& state = self->state;
  auto* x = state.find_share(what.nspace);
  if (x == nullptr)
    return;
  x->ended = true;
  if (state.duty == mesh_duty::fenced)
    discard(self, what.nspace);
  else
    tell_root(self, what.nspace);
}

void fence(self_pointer self, const std::string& reason) {
  auto& state = self->state;
  if (state.fence_reason.empty())
    state.fence_reason = reason.empty() ? "the root is gone" : reason;
  // Nobody answers any more, and the end of a share waits for its output.
  state.sequencer->stop();
  state.calls->lose_all("this node is no member of the DVM any more");
  auto over = std::vector<std::string>{};
  for (auto& [nspace, x] : state.shares) {
    auto what = end_share{};
    what.how = {nspace, reason, std::nullopt, SIGKILL};
    caf::anon_send(x.handle, std::move(what));
    if (x.ended)
      over.push_back(nspace);
  }
  for (const auto& nspace : over)
    discard(self, nspace);
  leave_if_empty(self);
}

} // namespace troupe::mesh_internals
