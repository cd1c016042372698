#include "actors/jobs/job.hpp"
#include "actors/mesh/mesh_host_state.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

// The shares of this node in jobs: one JOB actor each, which is told what the
// root decides.

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

/// Leaves the mesh, then says so.
void leave(self_pointer self, const std::string& reason) {
  const auto done = [self, reason] {
    if (self->state.options.on_fenced)
      self->state.options.on_fenced(reason);
  };
  if (!self->state.node) {
    done();
    return;
  }
  self->request(self->state.node, caf::infinite, leave_mesh{})
    .then([=](ack) { done(); }, [=](const caf::error&) { done(); });
}

shares::effects means_of_shares(self_pointer self) {
  const auto tell = [self](host_question what, shares::action then) {
    ask(self, 0, std::move(what),
        [then = std::move(then)](const caf::expected<host_reply>&) { then(); });
  };
  auto out = shares::effects{};
  out.tell_progress = tell;
  out.tell_end = tell;
  out.procs_ended = [self](const std::vector<proc_ended>& procs) {
    note_gone(self, procs);
    for (const auto& x : procs)
      self->state.published_here.proc_ended(x.proc);
  };
  out.end = [self](const end_share& how) {
    caf::anon_send(self->state.shares.at(how.how.nspace), how);
  };
  out.discard = [self](const std::string& nspace) {
    forget(self, forget_job{{nspace, job_state::terminated_with_error, 1, ""}},
           [](const caf::expected<ack>&) {
             // Nobody waits for it.
           });
  };
  out.cut_off = [self] {
    self->state.sequencer->stop();
    self->state.calls->lose_all("this node is no member of the DVM any more");
  };
  out.leave = [self](const std::string& reason) { leave(self, reason); };
  return out;
}

} // namespace

void start_shares(self_pointer self) {
  self->state.share_rules = std::make_unique<shares>(means_of_shares(self));
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
  if (state.share_rules->contains(nspace)) {
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
  state.share_rules->add(nspace);
  const auto job = spawn_job(self->home_system(), context_of(state, order),
                             std::move(directory), state.options.log);
  state.shares.emplace(nspace, job);
  self->request(job, caf::infinite, std::move(order))
    .then([done](job_map& map) { done(std::move(map)); },
          [done](caf::error& why) { done(std::move(why)); });
}

void start(self_pointer self, const start_share& request,
           completion<spawn_result> done) {
  const auto* x = self->state.find_share(request.nspace);
  if (x == nullptr) {
    done(make_error(status::not_found, "no share of " + request.nspace));
    return;
  }
  // All nodes are prepared.
  self->state.sequencer->job_started(request.nspace);
  self->request(*x, caf::infinite, request)
    .then([done](spawn_result& result) { done(std::move(result)); },
          [done](caf::error& why) { done(std::move(why)); });
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
  if (!state.share_rules->remove(nspace)) {
    // A process may have been connected to it.
    if (state.server)
      caf::anon_send(state.server, deregister_nspace{nspace});
    done(ack{});
    return;
  }
  const auto finish = [self, done] {
    done(ack{});
    self->state.share_rules->removed();
  };
  const auto job = std::move(state.shares.extract(nspace).mapped());
  self->request(job, caf::infinite, what)
    .then([=](ack) { finish(); }, [=](const caf::error&) { finish(); });
}

} // namespace

void forget(self_pointer self, const forget_job& what, completion<ack> done) {
  end_streams(self, what.outcome.nspace, [self, what, done = std::move(done)] {
    close_outlet(self, what.outcome);
    forget_share(self, what, done);
  });
}

} // namespace troupe::mesh_internals
