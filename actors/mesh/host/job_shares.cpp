#include "actors/mesh/host/job_shares.hpp"

#include "actors/control/job_controller.hpp"
#include "actors/jobs/job.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace troupe {

namespace defaults {

/// How long a site's hook may take.
inline constexpr auto site_hook_time = std::chrono::minutes{30};

} // namespace defaults

const std::vector<std::string>& command_of(const site_hooks& hooks,
                                           site_hook which) {
  return which == site_hook::checkpoint ? hooks.checkpoint : hooks.provision;
}

job_shares::job_shares(mesh_host_actor::pointer self,
                       const mesh_host_options& options,
                       const host_actors& actors, const parts& others)
  : self_(self), options_(options), actors_(actors), others_(others),
    rules_(means_of_rules()) {
  // nop
}

shares::effects job_shares::means_of_rules() {
  const auto tell = [this](host_question what, shares::action then) {
    others_.calls.ask(
      host_calls::root, std::move(what),
      [then = std::move(then)](const caf::expected<host_reply>&) { then(); });
  };
  auto out = shares::effects{};
  out.tell_progress = tell;
  out.tell_end = tell;
  out.procs_ended = [this](const std::vector<proc_ended>& procs) {
    if (!procs.empty())
      others_.collectives.procs_gone(procs);
    for (const auto& x : procs)
      others_.published.proc_ended_here(x.proc);
  };
  out.end = [this](const end_share& how) {
    caf::anon_send(jobs_.at(how.how.nspace), how);
  };
  out.discard = [this](const std::string& nspace) {
    forget(forget_job{{nspace, job_state::terminated_with_error, 1, ""}},
           [](const caf::expected<ack>&) {
             // Nobody waits for it.
           });
  };
  out.cut_off = [this] {
    others_.orders.stop();
    others_.calls.lose_all("this node is no member of the DVM any more");
  };
  out.leave = [this](const std::string& reason) { leave(reason); };
  return out;
}

/// Leaves the mesh, then says so.
void job_shares::leave(const std::string& reason) {
  const auto done = [this, reason] {
    if (options_.on_fenced)
      options_.on_fenced(reason);
  };
  if (!actors_.node) {
    done();
    return;
  }
  ask<ack>(
    self_, actors_.node, [done](const caf::expected<ack>&) { done(); },
    leave_mesh{});
}

// -- the life of a share --

job_context job_shares::context_of(const prepare_share& order) const {
  auto result = job_context{};
  result.server = options_.server;
  result.node = options_.rank;
  result.hostname = options_.hostname;
  result.universe = order.universe;
  result.environment = options_.environment;
  result.session_directory = options_.session_directory;
  result.environment.insert(result.environment.end(), order.environment.begin(),
                            order.environment.end());
  result.working_directory = order.working_directory.empty()
                               ? options_.working_directory
                               : order.working_directory;
  result.with_pmi1 = options_.with_pmi1;
  result.descriptors = options_.descriptors;
  result.bound = bound_;
  return result;
}

namespace {

/// Whether processes of a job run on a node.
bool has_processes_on(const job_map& map, uint32_t node) {
  for (const auto& x : map.shares)
    if (x.node == node && !x.procs.empty())
      return true;
  return false;
}

} // namespace

void job_shares::prepare(prepare_share& order, completion<job_map> done) {
  if (!order.packed_map.empty()) {
    auto map = unpack_map(std::exchange(order.packed_map, {}));
    if (!map || map->nspace != order.map.nspace) {
      done(make_error(status::bad_param,
                      "the map of job " + order.map.nspace
                        + " cannot be read; give all nodes of the DVM the same "
                          "release"));
      return;
    }
    order.map = std::move(*map);
  }
  const auto& nspace = order.map.nspace;
  if (!actors_.server) {
    done(make_error(status::init, "the host has no server to serve the job"));
    return;
  }
  if (rules_.contains(nspace)) {
    done(make_error(status::exists, "job " + nspace + " is here already"));
    return;
  }
  others_.places.add(order.map);
  others_.streams.begin(order);
  if (!has_processes_on(order.map, options_.rank)) {
    done(job_map{nspace, order.map.number, {}});
    return;
  }
  auto directory = job_directory{};
  directory.host = mesh_host_actor{self_};
  directory.server = actors_.server;
  directory.launcher = actors_.launcher;
  directory.topology = actors_.topology;
  directory.cleaner = actors_.cleaner;
  directory.output = actors_.io_desk;
  rules_.add(nspace);
  const auto job = spawn_job(self_->home_system(), context_of(order),
                             std::move(directory), options_.log);
  jobs_.emplace(nspace, job);
  ask<job_map>(self_, job, std::move(done), std::move(order));
}

void job_shares::start(const start_share& request,
                       completion<spawn_result> done) {
  const auto* x = find(request.nspace);
  if (x == nullptr) {
    done(make_error(status::not_found, "no share of " + request.nspace));
    return;
  }
  // All nodes are prepared.
  others_.orders.job_started(request.nspace);
  ask<spawn_result>(self_, *x, std::move(done), request);
}

void job_shares::hear_of_gone(const procs_gone& what) {
  auto gone = what.procs;
  // Who is started again takes part in what comes.
  gone.erase(std::remove_if(gone.begin(), gone.end(),
                            [](const proc_ended& x) {
                              return x.state == proc_state::restart;
                            }),
             gone.end());
  if (!gone.empty())
    others_.collectives.procs_gone(gone);
  for (const auto& x : what.procs)
    self_->send(actors_.server, x);
}

void job_shares::forget(const forget_job& what, completion<ack> done) {
  others_.streams.end(what.outcome.nspace,
                      [this, what, done = std::move(done)] {
                        others_.streams.outputs().close(what.outcome);
                        forget_share(what, done);
                      });
}

/// Its output has been taken.
void job_shares::forget_share(const forget_job& what, completion<ack> done) {
  const auto nspace = what.outcome.nspace;
  others_.collectives.job_forgotten(nspace);
  others_.published.job_ended_here(nspace);
  if (options_.rank != host_calls::root) {
    others_.places.remove(nspace);
    others_.orders.job_forgotten(nspace);
  }
  if (!rules_.remove(nspace)) {
    // A process may have been connected to it.
    if (actors_.server)
      caf::anon_send(actors_.server, deregister_nspace{nspace});
    done(ack{});
    return;
  }
  const auto job = std::move(jobs_.extract(nspace).mapped());
  ask<ack>(
    self_, job,
    [this, done = std::move(done)](const caf::expected<ack>&) {
      done(ack{});
      rules_.removed();
    },
    what);
}

// -- what is done to processes --

void job_shares::run_hook(const run_site_hook& what,
                          completion<site_hook_result> done) {
  const auto& command = command_of(options_.hooks, what.hook);
  if (command.empty() || !actors_.commands) {
    done(make_error(status::not_supported,
                    "node " + options_.hostname
                      + " has no such hook; give it by --hook to troupe up"));
    return;
  }
  auto order = run_command{};
  order.argv = command;
  order.argv.insert(order.argv.end(), what.arguments.begin(),
                    what.arguments.end());
  order.env = what.environment;
  order.limit = defaults::site_hook_time;
  ask<command_result>(
    self_, actors_.commands,
    [done = std::move(done)](caf::expected<command_result> x) {
      if (!x)
        done(std::move(x.error()));
      else if (x->timed_out)
        done(
          make_error(status::timeout,
                     "the site's hook took too long; see what it waits for"));
      else
        done(site_hook_result{x->signal != 0 ? 128 + x->signal : x->exit_code,
                              std::move(x->output)});
    },
    std::move(order));
}

void job_shares::control(const control_procs& what,
                         completion<procs_controlled> done) {
  const auto* x = find(what.nspace);
  if (x == nullptr) {
    done(procs_controlled{});
    return;
  }
  ask<procs_controlled>(
    self_, *x,
    [this, nspace = what.nspace,
     done = std::move(done)](caf::expected<procs_controlled> x) {
      if (!x) {
        // The share has gone: so have its processes.
        done(procs_controlled{});
        return;
      }
      // A process that is not among these has ended, which the root hears first.
      rules_.when_root_knows(nspace, [done, x = std::move(*x)] { done(x); });
    },
    what);
}

namespace {

/// The parts of a request: what is registered for cleanup stays here.
struct split_request {
  job_control_request cleanup;
  job_control_request others;
};

split_request split(job_control_request what) {
  auto result = split_request{};
  for (auto& x : what.directives)
    (is_cleanup(x.key) ? result.cleanup : result.others)
      .directives.push_back(std::move(x));
  // There may be many: they are copied only if both parts need them.
  if (result.cleanup.directives.empty())
    result.others.targets = std::move(what.targets);
  else if (result.others.directives.empty())
    result.cleanup.targets = std::move(what.targets);
  else
    result.cleanup.targets = result.others.targets = std::move(what.targets);
  return result;
}

/// Whether a request is for the root: it does something, or has to be refused.
bool is_for_root(const split_request& x) {
  if (x.cleanup.directives.empty())
    return true;
  if (x.others.directives.empty())
    return false;
  const auto parsed = read_directives(x.others.directives);
  return parsed || status_of(parsed.error()) != status::not_supported
         || std::any_of(
           x.others.directives.begin(), x.others.directives.end(),
           [](const info& y) { return (y.flags & info_required) != 0; });
}

} // namespace

caf::result<info_result> job_shares::control(const requester& who,
                                             job_control_request& request) {
  auto parts = split(std::move(request));
  const auto* x = find(who.proc.nspace);
  if (!parts.cleanup.directives.empty()) {
    if (x == nullptr)
      return make_error(status::not_supported,
                        to_string(who.proc)
                          + " has no job here at whose end to clean up");
    if (!is_for_root(parts))
      return self_->delegate(*x, who, std::move(parts.cleanup));
  }
  return answer_later<info_result>(self_, [&](completion<info_result> done) {
    if (parts.cleanup.directives.empty()) {
      others_.calls.ask_root_for(who, std::move(parts.others), std::move(done));
      return;
    }
    ask<info_result>(
      self_, *x,
      [this, who, done = std::move(done),
       others = std::move(parts.others)](caf::expected<info_result> x) {
        if (x)
          others_.calls.ask_root_for(who, others, done);
        else
          done(std::move(x.error()));
      },
      who, std::move(parts.cleanup));
  });
}

} // namespace troupe
