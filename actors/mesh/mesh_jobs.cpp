#include "actors/control/job_controller.hpp"
#include "actors/io/outlets.hpp"
#include "actors/io/stream_spread.hpp"
#include "actors/jobs/job.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

// The sends of the host for jobs: at the root for `dvm_jobs`, which decides; at
// every node for its shares, one JOB actor each.

namespace troupe::mesh_internals {

namespace {

// -- at the root

const std::vector<std::string>& command_of(const mesh_host_state& state,
                                           site_hook hook) {
  return hook == site_hook::checkpoint ? state.options.hooks.checkpoint
                                       : state.options.hooks.provision;
}

dvm_jobs::settings settings_of_jobs(self_pointer self) {
  const auto& options = self->state.options;
  auto result = dvm_jobs::settings{};
  result.nspace = options.server.nspace;
  result.environment = options.environment;
  result.working_directory = options.working_directory;
  result.owner = options.owner;
  result.on_terminate = options.on_terminate;
  result.has_hook = [self](site_hook hook) {
    return !command_of(self->state, hook).empty();
  };
  result.restart_command = options.hooks.restart;
  result.log = options.log;
  return result;
}

/// Only the root knows any.
dvm_nodes nodes_of(const mesh_host_state& state) {
  auto result = dvm_nodes::table{};
  if (!state.is_root())
    return {};
  const auto& options = state.options;
  for (uint32_t rank = 0; rank < options.nodes.size(); ++rank) {
    auto& x = result[rank];
    x.name = options.nodes[rank].name;
    x.slots = options.nodes[rank].slots;
    x.max_slots = options.nodes[rank].max_slots;
  }
  auto& own = result[options.rank];
  own.name = options.hostname;
  if (!own.slots)
    own.slots = options.slots;
  own.processors = options.processors;
  own.state = node_state::live;
  own.incarnation = options.incarnation;
  return dvm_nodes{std::move(result)};
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

dvm_jobs::effects means_of_jobs(self_pointer self) {
  auto out = dvm_jobs::effects{};
  out.can_serve = [self] { return static_cast<bool>(self->state.server); };
  out.ask = [self](uint32_t node, host_question what,
                   completion<host_reply> then) {
    ask(self, node, std::move(what), std::move(then));
  };
  out.live = [self] { return self->state.calls->live(); };
  out.is_live = [self](uint32_t node) {
    return self->state.calls->is_live(node);
  };
  out.now = [self] { return self->clock().now().time_since_epoch(); };
  out.call_later = [self](dvm_jobs::time delay, std::function<void()> then) {
    call_later(self, delay, std::move(then));
  };
  out.raise = [self](const event& what,
                     const std::vector<std::string>& audience) {
    raise_event(self, what, audience);
  };
  out.raise_for = [self](const event& what,
                         const std::vector<proc_id>& audience) {
    raise_event_for(self, what, audience);
  };
  out.raise_for_askers = [self](event copy) {
    self->state.environment->raise({copy.code, std::move(copy.infos)});
  };
  out.notify = [self](const event& what, const std::vector<proc_id>& targets,
                      completion<ack> then) {
    raise_at(self, what, targets, std::move(then));
  };
  out.watchers = [self](const job_record& job, const spawn_request& request) {
    return self->state.streams->watchers_of(job.map.nspace,
                                            job.parent.proc.nspace, request);
  };
  out.proc_gone = [self](const proc_id& proc) {
    forget_process(self->state, proc);
  };
  out.job_over = [self](const std::string& nspace) {
    self->state.sequencer->job_forgotten(nspace);
    self->state.outputs->forget(nspace);
    self->state.streams->close(nspace);
    self->state.published.nspace_ended(nspace);
  };
  return out;
}

/// One request, by its kind.
struct root_executor {
  self_pointer self;
  uint32_t from;
  requester& who;
  const mesh_calls::answerer& reply;

  template <class T>
  void give(caf::expected<T> x) {
    to_member<T>(reply)(std::move(x));
  }

  void operator()(spawn_request& x) {
    self->state.jobs->spawn(from, who, x, to_member<spawn_result>(reply));
  }

  void operator()(abort_request& x) {
    give(self->state.jobs->abort(who, x));
  }

  void operator()(publish_request& x) {
    give(publish(self, who, x));
  }

  void operator()(lookup_request& x) {
    look_up(self, who, x, to_member<lookup_result>(reply));
  }

  void operator()(unpublish_request& x) {
    give(unpublish(self, who, x));
  }

  void operator()(query_request& x) {
    reply(answer_query(self, from, who, x));
  }

  void operator()(job_control_request& x) {
    self->state.jobs->control(from, who, x, to_member<info_result>(reply));
  }

  void operator()(io_pull_request& x) {
    give(watchable(self->state, who, x));
  }

  void operator()(io_push_request& x) {
    push_at_root(self, who, x, to_member<ack>(reply));
  }
};

} // namespace

void start_jobs(self_pointer self) {
  auto& state = self->state;
  state.jobs =
    std::make_unique<dvm_jobs>(settings_of_jobs(self), nodes_of(state),
                               state.locations, means_of_jobs(self));
}

void carry_out_at_root(self_pointer self, uint32_t from, ask_root& request,
                       const mesh_calls::answerer& reply) {
  // X41: a daemon speaks for its own processes only.
  auto& state = self->state;
  if (state.jobs->is_foreign(from, request.who.proc)) {
    state.log(severity::error, "node " + std::to_string(from) + " asks for "
                                 + to_string(request.who.proc)
                                 + ", which is not its own: refused");
    reply(refusal(make_error(status::no_permissions,
                             "a daemon speaks for its own processes only")));
    return;
  }
  std::visit(root_executor{self, from, request.who, reply}, request.what);
}

// -- at every node: shares

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

namespace {

/// Whether processes of a job run on a node.
bool has_processes_on(const job_map& map, uint32_t node) {
  for (const auto& x : map.shares)
    if (x.node == node && !x.procs.empty())
      return true;
  return false;
}

} // namespace

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
    self->state.outputs->close(what.outcome);
    forget_share(self, what, done);
  });
}

// -- at every node: what the root asks besides

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

void count_objects_here(self_pointer self, completion<info_result> done) {
  self
    ->request(self->state.directory.topology, caf::infinite,
              discover_topology{})
    .then([done](const node_topology& found) { done(count_objects(found)); },
          [done](caf::error& why) { done(std::move(why)); });
}

void define_set_here(self_pointer self, const define_process_set& what,
                     completion<ack> done) {
  self->request(self->state.server, caf::infinite, what)
    .then([done](ack) { done(ack{}); },
          [done](caf::error& why) { done(std::move(why)); });
}

void delete_set_here(self_pointer self, const delete_process_set& what,
                     completion<ack> done) {
  self->request(self->state.server, caf::infinite, what)
    .then([done](ack) { done(ack{}); },
          [done](caf::error& why) { done(std::move(why)); });
}

// -- at every node: job control

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

caf::result<info_result> control(self_pointer self, const requester& who,
                                 job_control_request& request) {
  auto parts = split(std::move(request));
  const auto ask_root_for = [self](const requester& who,
                                   job_control_request what,
                                   completion<info_result> done) {
    ask(self, 0, ask_root{who, std::move(what)},
        reply_to<info_result>(std::move(done)));
  };
  if (parts.cleanup.directives.empty())
    return answer_later<info_result>(self, [&](completion<info_result> done) {
      ask_root_for(who, std::move(parts.others), std::move(done));
    });
  const auto* x = self->state.find_share(who.proc.nspace);
  if (x == nullptr)
    return make_error(status::not_supported,
                      to_string(who.proc)
                        + " has no job here at whose end to clean up");
  if (!is_for_root(parts))
    return self->delegate(*x, who, std::move(parts.cleanup));
  return answer_later<info_result>(self, [&](completion<info_result> done) {
    self->request(*x, caf::infinite, who, std::move(parts.cleanup))
      .then(
        [=, others = std::move(parts.others)](const info_result&) mutable {
          ask_root_for(who, std::move(others), done);
        },
        [done](caf::error& why) { done(std::move(why)); });
  });
}

void control_share(self_pointer self, const control_procs& what,
                   completion<procs_controlled> done) {
  const auto* x = self->state.find_share(what.nspace);
  if (x == nullptr) {
    done(procs_controlled{});
    return;
  }
  self->request(*x, caf::infinite, what)
    .then(
      [self, nspace = what.nspace, done](procs_controlled& x) {
        // Whoever is not among these has ended, which the root hears first.
        self->state.share_rules->when_root_knows(nspace,
                                                 [done, x] { done(x); });
      },
      [done](const caf::error&) {
        // The share has gone: so have its processes.
        done(procs_controlled{});
      });
}

} // namespace troupe::mesh_internals
