#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>

#include <utility>

// Checkpoints, preemption, restart and provision: what the root's controller is
// given for them, and the hooks of a node's site.

namespace troupe::mesh_internals {

namespace {

std::vector<proc_id> connected_of(const job_record& job) {
  auto result = std::vector<proc_id>{};
  for (uint32_t rank = 0; rank < job.procs.size(); ++rank)
    if (job.procs[rank].state == proc_state::connected)
      result.push_back({job.map.nspace, rank});
  return result;
}

const std::vector<std::string>& command_of(const mesh_host_state& state,
                                           site_hook hook) {
  return hook == site_hook::checkpoint ? state.options.hooks.checkpoint
                                       : state.options.hooks.provision;
}

void run_hook_at(self_pointer self, uint32_t node, run_site_hook what,
                 completion<site_hook_result> then) {
  if (const auto* job = self->state.find_job(what.proc.nspace);
      job != nullptr && what.proc.rank < job->procs.size()) {
    what.environment.push_back(
      std::string{checkpoint_pid_variable} + "="
      + std::to_string(job->procs[what.proc.rank].pid));
    what.environment.push_back(std::string{checkpoint_rank_variable} + "="
                               + std::to_string(what.proc.rank));
  }
  ask(self, node, std::move(what), reply_to<site_hook_result>(std::move(then)));
}

/// Exactly these processes: an event of the system, which does not come from a
/// process, in the order of each of their namespaces.
void raise_at(self_pointer self, const event& what,
              const std::vector<proc_id>& targets, completion<ack> then) {
  auto request = notify_request{};
  request.code = what.code;
  request.range = data_range::custom;
  request.infos = what.infos;
  request.infos.push_back(
    {std::string{attr::event_custom_range}, 0, value::procs(targets)});
  self->state.spread->notify(what.source, std::move(request), std::move(then));
}

} // namespace

void add_checkpoint_means(self_pointer self, control_means& to) {
  to.raise = [self](const event& what, const std::vector<proc_id>& targets,
                    completion<ack> then) {
    raise_at(self, what, targets, std::move(then));
  };
  to.record = [self](const std::string& nspace) {
    const auto* job = self->state.find_job(nspace);
    return job != nullptr ? job->recorded : nullptr;
  };
  to.connected = [self](const std::string& nspace) {
    const auto* job = self->state.find_job(nspace);
    return job != nullptr ? connected_of(*job) : std::vector<proc_id>{};
  };
  to.spawn = [self](const requester& who, spawn_request what,
                    completion<spawn_result> then) {
    auto order = job_order{};
    order.who = who;
    order.request = std::move(what);
    order.origin = self->state.options.rank;
    order.reply = std::move(then);
    begin_job(self, std::move(order));
  };
  to.has_hook = [self](site_hook hook) {
    return !command_of(self->state, hook).empty();
  };
  to.run_hook = [self](uint32_t node, run_site_hook what,
                       completion<site_hook_result> then) {
    run_hook_at(self, node, std::move(what), std::move(then));
  };
  to.restart_command = self->state.options.hooks.restart;
  to.is_administrator = [self](const requester& who) {
    const auto owner = self->state.options.owner.value_or(who.creds.uid);
    return who.creds.uid == owner || who.creds.uid == 0;
  };
}

void start_checkpoints(self_pointer self) {
  auto& state = self->state;
  state.checkpoints.join(*state.control);
  state.control->take_declarations(
    [self](const requester& who, const control_directives& what) {
      auto& state = self->state;
      const auto* job = state.find_job(who.proc.nspace);
      return state.checkpoints.declare(who, what, job != nullptr);
    });
}

void record_job(const mesh_host_state& state, job_record& job,
                const spawn_request& request) {
  auto x = std::make_shared<recorded_job>();
  x->request = request;
  x->owner = job.parent.creds;
  x->is_recoverable = job.options.recoverable;
  for (const auto& proc : job.procs) {
    x->hosts.push_back(state.name_of(proc.node));
    x->apps.push_back(proc.app);
  }
  job.recorded = std::move(x);
}

void run_hook(self_pointer self, const run_site_hook& what,
              completion<site_hook_result> done) {
  const auto& state = self->state;
  const auto& command = command_of(state, what.hook);
  if (command.empty() || !state.directory.commands) {
    done(make_error(status::not_supported,
                    "node " + state.options.hostname + " has no such hook"));
    return;
  }
  auto order = run_command{};
  order.argv = command;
  order.argv.insert(order.argv.end(), what.arguments.begin(),
                    what.arguments.end());
  order.env = what.environment;
  order.limit = defaults::site_hook_time;
  self->request(state.directory.commands, caf::infinite, std::move(order))
    .then(
      [done](command_result& x) {
        if (x.timed_out)
          done(make_error(status::timeout, "the site's hook took too long"));
        else
          done(site_hook_result{x.signal != 0 ? 128 + x.signal : x.exit_code,
                                std::move(x.output)});
      },
      [done](caf::error& why) { done(std::move(why)); });
}

} // namespace troupe::mesh_internals
