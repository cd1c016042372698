#include "actors/mesh/host/mesh_host.hpp"

#include "actors/control/control_log.hpp"
#include "actors/mesh/exchange/connected_tools.hpp"
#include "actors/mesh/exchange/environment_spread.hpp"
#include "actors/mesh/exchange/event_routes.hpp"
#include "actors/mesh/exchange/modex_desk.hpp"
#include "actors/mesh/host/host_questions.hpp"
#include "actors/mesh/host/job_shares.hpp"
#include "actors/mesh/host/log_desk.hpp"
#include "actors/mesh/host/mesh_queries.hpp"
#include "actors/mesh/refuse.hpp"
#include "base/reminders.hpp"
#include "base/sturdy.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace troupe {

namespace {

struct mesh_host_state {
  static inline const char* name = "mesh-host";

  mesh_host_options options;
  host_actors actors;
  mesh_duty duty = mesh_duty::active;

  /// What the sensors have been told.
  environment_interest watched;

  /// The incarnations of the other members.
  std::map<uint32_t, uint64_t> lives;

  /// Shared with whoever marks output with hosts.
  std::shared_ptr<job_locations> places = std::make_shared<job_locations>();

  // The parts, of which later ones use earlier ones; and `jobs`.
  std::optional<host_calls> calls;
  reminders waits;
  std::optional<log_desk> logs;
  std::optional<mesh_collectives> collectives;
  std::optional<modex_desk> modex;
  std::optional<connected_tools> tools;
  std::optional<event_routes> events;
  std::optional<environment_spread> environment;
  std::optional<dvm_publishing> published;

  std::optional<host_streams> streams;
  std::optional<job_shares> shares;
  std::optional<mesh_queries> queries;
  std::optional<host_questions> questions;

  /// At the root; empty elsewhere. Goes before the others: whoever still waits
  /// for a job is answered then, by way of `calls` and `streams`.
  std::optional<dvm_jobs> jobs;

  bool is_root() const {
    return options.rank == host_calls::root;
  }

  /// Whether it takes work: the root always, unless it is fenced.
  bool may_work() const {
    return is_root() ? duty != mesh_duty::fenced : duty == mesh_duty::active;
  }
};

TROUPE_SELF_POINTER(mesh_host_actor, mesh_host_state);

template <class T>
caf::result<T> result_of(caf::expected<T> x) {
  if (!x)
    return std::move(x.error());
  return std::move(*x);
}

// -- means of the parts --

/// Calls `then` after `delay`.
void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then) {
  const auto id = self->state.waits.add(std::move(then));
  self->delayed_send(mesh_host_actor{self}, delay, deadline{id});
}

mesh_calls::effects means_of_calls(self_pointer self) {
  auto out = mesh_calls::effects{};
  out.now = [self] { return self->clock().now().time_since_epoch(); };
  out.send = [self](send_to_member what) {
    if (self->state.actors.node)
      self->send(self->state.actors.node, std::move(what));
  };
  out.execute = [self](const mesh_calls::member& from, host_question& what,
                       const mesh_calls::answerer& reply) {
    self->state.questions->carry_out(from, what, reply);
  };
  return out;
}

mesh_collectives::effects means_of_collectives(mesh_host_state& state) {
  auto out = mesh_collectives::effects{};
  out.tell = [&state](uint32_t rank, host_question what) {
    state.logs->note_sent(rank, what);
    state.calls->tell(rank, std::move(what));
  };
  out.locate = [&state](const std::string& nspace) {
    state.calls->locate(nspace, [&state, nspace](const caf::error& why) {
      if (why)
        state.collectives->job_unknown(nspace, reason_of(why));
      else
        state.collectives->job_known(nspace);
    });
  };
  out.is_live = [&state](uint32_t rank) { return state.calls->is_live(rank); };
  return out;
}

modex_desk::effects means_of_modex(mesh_host_state& state) {
  auto out = modex_desk::effects{};
  out.ask = [&state](uint32_t rank, direct_modex what,
                     std::chrono::nanoseconds limit,
                     modex_desk::completion then) {
    state.calls->ask_for<get_result>(rank, std::move(what), std::move(then),
                                     limit);
  };
  out.locate = [&state](const std::string& nspace,
                        std::function<void(const caf::error&)> then) {
    state.calls->locate(nspace, std::move(then));
  };
  return out;
}

event_routes::effects means_of_events(self_pointer self) {
  auto out = event_routes::effects{};
  // One message to the EVENT CACHE, and its answer.
  out.give = [self](deliver_event what, event_routes::action then) {
    if (self->state.actors.events)
      ask<ack>(
        self, self->state.actors.events,
        [then = std::move(then)](const caf::expected<ack>&) { then(); },
        std::move(what));
    else
      then();
  };
  out.carry_out = [self](group_entry_ordered what, event_routes::action then) {
    if (self->state.actors.server)
      ask<ack>(
        self, self->state.actors.server,
        [then = std::move(then)](const caf::expected<ack>&) { then(); },
        std::move(what));
    else
      then();
  };
  out.call_later = [self](caf::timespan delay, std::function<void()> then) {
    call_later(self, delay, std::move(then));
  };
  out.trace = self->state.options.trace;
  return out;
}

/// Gives an event of the environment to the server of this node.
void deliver(mesh_host_state& state, environment_event what) {
  auto nspaces = std::set<std::string>{};
  for (const auto& [nspace, job] : state.shares->all())
    nspaces.insert(nspace);
  for (const auto& [connection, tool] : state.tools->all())
    nspaces.insert(tool.nspace);
  auto event = event_for_server(std::move(what), nspaces);
  if (event && state.actors.events)
    caf::anon_send(state.actors.events, std::move(*event));
}

/// Tells the sensors of this node what they are to look out for.
void tell_sensors(self_pointer self) {
  if (self->state.actors.sensors)
    self->send(self->state.actors.sensors, self->state.watched,
               environment_user_actor{self});
}

environment_spread::effects means_of_environment(self_pointer self) {
  auto& state = self->state;
  auto out = environment_spread::effects{};
  // A node that is lost meanwhile is owed nothing.
  const auto ignore = [](const caf::expected<host_reply>&) {};
  out.tell = [&state, ignore](uint32_t rank, environment_interest what) {
    state.calls->ask(rank, std::move(what), ignore);
  };
  out.pass = [&state, ignore](uint32_t rank, environment_event what) {
    state.calls->ask(rank, std::move(what), ignore);
  };
  out.deliver = [&state](environment_event what) {
    deliver(state, std::move(what));
  };
  out.watch = [self](environment_interest what) {
    self->state.watched = std::move(what);
    tell_sensors(self);
  };
  return out;
}

dvm_jobs::settings settings_of_jobs(const mesh_host_options& options) {
  auto result = dvm_jobs::settings{};
  result.nspace = options.server.nspace;
  result.environment = options.environment;
  result.working_directory = options.working_directory;
  result.owner = options.owner;
  result.on_terminate = options.on_terminate;
  result.has_hook = [&options](site_hook hook) {
    return !command_of(options.hooks, hook).empty();
  };
  result.restart_command = options.hooks.restart;
  result.checkpoints = options.checkpoints;
  result.keep_checkpoints = options.keep_checkpoints;
  result.log = about(options.log, log_subject::jobs);
  return result;
}

/// Only the root knows any.
dvm_nodes nodes_of(const mesh_host_options& options) {
  if (options.rank != host_calls::root)
    return {};
  auto result = dvm_nodes::table{};
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

dvm_jobs::effects means_of_jobs(self_pointer self) {
  auto& state = self->state;
  auto out = dvm_jobs::effects{};
  out.can_serve = [&state] { return static_cast<bool>(state.actors.server); };
  out.ask = [&state](uint32_t node, host_question what,
                     completion<host_reply> then) {
    state.calls->ask(node, std::move(what), std::move(then));
  };
  out.live = [&state] { return state.calls->live(); };
  out.is_live = [&state](uint32_t node) { return state.calls->is_live(node); };
  out.now = [self] { return self->clock().now().time_since_epoch(); };
  out.call_later = [self](dvm_jobs::time delay, std::function<void()> then) {
    call_later(self, delay, std::move(then));
  };
  out.raise = [&state](const event& what,
                       const std::vector<std::string>& audience) {
    state.events->raise(what, audience);
  };
  out.raise_for = [&state](const event& what,
                           const std::vector<proc_id>& audience) {
    state.events->raise(what, audience);
  };
  out.raise_for_askers = [&state](event copy) {
    state.environment->raise({copy.code, std::move(copy.infos)});
  };
  out.notify = [&state](const event& what, const std::vector<proc_id>& targets,
                        completion<ack> then) {
    state.events->notify(what, targets, std::move(then));
  };
  out.watchers = [&state](const job_record& job, const spawn_request& request) {
    return state.streams->spread().watchers_of(job.map.nspace,
                                               job.parent.proc.nspace, request);
  };
  out.proc_gone = [&state](const proc_id& proc) {
    state.published->proc_ended(proc);
  };
  out.job_over = [&state](const std::string& nspace) {
    state.events->orders().job_forgotten(nspace);
    state.streams->outputs().forget(nspace);
    state.streams->spread().close(nspace);
    state.published->job_ended(nspace);
  };
  return out;
}

/// What this host says of itself. Source: guarantees 5.9, LOAD-2.
mesh_status describe(const mesh_host_state& state) {
  auto result = mesh_status{};
  result.rank = state.options.rank;
  result.name = state.options.hostname;
  result.incarnation = state.options.incarnation;
  result.duty = state.duty;
  const auto limits = mesh_calls::limits{};
  const auto live = state.calls->live().size();
  const auto& orders = state.events->orders();
  result.gauges = {
    {"host.calls", state.calls->open(), limits.open * live, "calls"},
    {"host.remembered_answers", state.calls->remembered(),
     limits.remembered * live, "answers"},
    {"host.collectives", state.collectives->open(), 0, "operations"},
    {"host.remembered_collectives", state.collectives->remembered(), 0,
     "operations"},
    {"host.gets", state.modex->open(), 0, "requests"},
    {"host.lookups", state.published->waiting_here(), defaults::waiting_lookups,
     "requests"},
    {"host.events", state.events->waiting(), 0, "events"},
    {"host.unstable_events", orders.kept(), 0, "events"},
    {"host.group_logs", orders.logs(), 0, "groups"},
    {"host.groups_remembered", orders.closed_logs(),
     defaults::groups_remembered, "groups"},
    {"host.shares", state.shares->all().size(), 0, "jobs"},
    {"host.progress", state.shares->rules().untold(), 0, "changes"}};
  if (const auto& trace = state.options.trace)
    result.gauges.push_back(
      {"host.traced_steps", trace->size(), trace->bound(), "steps"});
  if (state.is_root()) {
    result.gauges.push_back({"root.lookups", state.published->waiting_for_all(),
                             defaults::waiting_lookups, "requests"});
    auto more = state.jobs->gauges();
    std::move(more.begin(), more.end(), std::back_inserter(result.gauges));
  }
  return result;
}

/// Makes the parts.
void start(self_pointer self) {
  auto& state = self->state;
  const auto& options = state.options;
  const auto me = mesh_calls::member{options.rank, options.incarnation};
  const auto later = [self](caf::timespan delay, std::function<void()> then) {
    call_later(self, delay, std::move(then));
  };
  auto& places = *state.places;
  auto& calls = state.calls.emplace(me, means_of_calls(self), places, later);
  auto& logs = state.logs.emplace(
    log_desk::settings{options.rank, options.hostname, options.owner,
                       options.trace, log_levels_of(options.log)},
    calls);
  auto& collectives = state.collectives.emplace(options.rank, places,
                                                means_of_collectives(state));
  state.modex.emplace(places, means_of_modex(state));
  auto& tools = state.tools.emplace(options.server.nspace, options.rank);
  auto& events =
    state.events.emplace(me, calls, places, tools, means_of_events(self));
  auto& environment =
    state.environment.emplace(options.rank, means_of_environment(self));
  auto& published = state.published.emplace(calls, later);
  auto& jobs = state.jobs.emplace(settings_of_jobs(options), nodes_of(options),
                                  places, means_of_jobs(self));
  auto& streams =
    state.streams.emplace(self, options, state.actors, calls, state.places,
                          jobs, [&state](const std::string& nspace) {
                            return state.shares->find(nspace) != nullptr;
                          });
  auto& shares = state.shares.emplace(
    self, options, state.actors,
    job_shares::parts{calls, places, collectives, events.orders(), published,
                      streams});
  auto& queries = state.queries.emplace(
    self, options, state.actors, calls, places, jobs, streams.spread(),
    mesh_queries::effects{[&state] { return describe(state); },
                          [&logs](const requester& who,
                                  const std::vector<query>& what,
                                  std::function<void(std::vector<info>)> done) {
                            logs.answer(who, what, std::move(done));
                          }});
  state.questions.emplace(
    self, options, state.actors,
    host_questions::parts{places, tools, collectives, events, environment,
                          published, jobs, streams, shares, queries, logs,
                          [&state] { return state.may_work(); }});
}

// -- processes and tools of this node --

template <class Message>
void pass_to_share(self_pointer self, const Message& what) {
  if (const auto* x = self->state.shares->find(what.who.proc.nspace))
    self->send(*x, what);
}

/// Lets a process of a job in if its process runs here, and ran when the peer
/// was looked at: before the start, and after the end, whoever speaks as it is
/// somebody else. Attack X12.
caf::result<ack> admit(self_pointer self, const client_connected& what) {
  if (self->state.shares->find(what.who.proc.nspace) == nullptr)
    return ack{};
  const auto refusal = [proc = what.who.proc] {
    return make_error(status::no_permissions,
                      "no process of this node has been started as "
                        + to_string(proc) + ", or it has ended");
  };
  if (what.is_not_started)
    return refusal();
  return answer_later<ack>(self, [&](completion<ack> done) {
    self
      ->request(self->state.actors.launcher, caf::infinite,
                find_process{what.who.proc})
      .then(
        [=](const local_process&) {
          pass_to_share(self, what);
          done(ack{});
        },
        [=](const caf::error&) { done(refusal()); });
  });
}

/// A job for a launcher of this process. Only at the root.
caf::result<spawn_result> spawn_here(self_pointer self, const requester& who,
                                     spawn_request& request,
                                     const job_observer_actor& observer,
                                     const output_sink_actor& sink) {
  auto& state = self->state;
  if (!state.is_root())
    return make_error(status::not_supported,
                      "jobs of launchers start at the root");
  return answer_later<spawn_result>(self, [&](completion<spawn_result> done) {
    auto order = job_order{};
    order.who = who;
    order.request = std::move(request);
    order.origin = state.options.rank;
    if (observer)
      order.observer = [self, observer](const job_news& news) {
        std::visit([&](const auto& x) { self->send(observer, x); }, news);
      };
    order.reply = std::move(done);
    // Its number is the next; there its output will look for its way.
    state.streams->outputs().expect(state.jobs->next_nspace(), sink);
    state.jobs->begin(std::move(order));
  });
}

/// Source: PMIx Standard v5, `PMIx_Abort`.
caf::result<ack> request_abort(self_pointer self, const requester& who,
                               abort_request& request) {
  // Its state at the end is known here, and decided there.
  if (const auto* x = self->state.shares->find(who.proc.nspace))
    caf::anon_send(*x, who, request);
  return answer_later<ack>(self, [&](completion<ack> done) {
    self->state.calls->ask_root_for(who, std::move(request), std::move(done));
  });
}

/// Takes an event of a sensor.
void raise(mesh_host_state& state, environment_event what) {
  if (find(what.infos, attr::nodeid) == nullptr)
    what.infos.push_back(
      {std::string{attr::nodeid}, 0, value::uint32(state.options.rank)});
  state.environment->raise(std::move(what));
}

// -- who else is a member, and what this one may do --

/// Notes which incarnation of a node lives.
/// @returns whether the one that lived does not any more.
bool note_life(mesh_host_state& state, const member_changed& what) {
  const auto i = state.lives.find(what.rank);
  const auto known = i != state.lives.end() ? i->second : 0;
  if (what.state == node_state::live) {
    state.lives[what.rank] = what.incarnation;
    return known != 0 && known != what.incarnation;
  }
  if (what.state == node_state::expected || known != what.incarnation)
    return false;
  state.lives.erase(i);
  return known != 0;
}

/// Tells the root, once it can be asked, what this node offers: whether it is a
/// member, and whether it may work, are heard in any order.
void tell_resources(mesh_host_state& state) {
  if (!state.is_root() && state.duty == mesh_duty::active
      && state.calls->is_live(0))
    state.calls->ask(host_calls::root, node_resources{state.options.slots},
                     [](const caf::expected<host_reply>&) {
                       // A root that is gone needs to know nothing.
                     });
}

/// Tells of a member that has come or gone, as an event of the environment.
void note_member(mesh_host_state& state, const member_changed& what,
                 bool was_live) {
  const auto& options = state.options;
  const auto is_live = state.calls->is_live(what.rank);
  const auto told = state.jobs->take_told();
  if (is_live == was_live || what.rank == options.rank)
    return;
  state.environment->change_member(what.rank, is_live);
  if (!state.is_root())
    return;
  const auto name =
    !what.name.empty() ? what.name : state.jobs->nodes().name_of(what.rank);
  const auto time = options.wall_clock
                      ? std::optional<int64_t>{options.wall_clock()}
                      : std::nullopt;
  state.environment->raise(event_of_member(what, is_live, name, time, told));
}

void change_member(self_pointer self, const member_changed& what) {
  auto& state = self->state;
  // Before anything else is decided: whoever comes back is another one.
  const auto is_over = note_life(state, what);
  if (is_over)
    state.places->node_lost(what.rank);
  if (state.is_root())
    state.jobs->change_member(what);
  const auto was_live = state.calls->is_live(what.rank);
  state.calls->change_member(what);
  if (is_over) {
    state.events->orders().node_lost(what.rank);
    if (state.actors.server)
      self->send(state.actors.server, host_node_lost{what.rank});
    state.streams->spread().lose_node(what.rank);
  }
  if (was_live && !state.calls->is_live(what.rank))
    state.collectives->node_lost(what.rank);
  if (!was_live && what.rank == 0)
    tell_resources(state);
  note_member(state, what, was_live);
  if (state.is_root() && state.calls->is_live(what.rank)
      && (!was_live || is_over))
    state.jobs->tell_sets(what.rank);
  state.calls->arm();
  if (state.options.on_member)
    state.options.on_member(what);
}

void change_duty(self_pointer self, const mesh_duty_changed& what) {
  auto& state = self->state;
  const auto was_active = state.duty == mesh_duty::active && state.actors.node;
  state.duty = what.now;
  tell_resources(state);
  if (was_active && what.now == mesh_duty::suspended && state.options.log)
    state.options.log(severity::warning,
                      "out of contact with the root: " + what.reason);
  if (what.now == mesh_duty::fenced)
    state.shares->rules().fence(what.reason);
  if (state.options.on_duty)
    state.options.on_duty(what);
}

// -- what processes of several nodes have with each other --

bool spans_jobs(const std::vector<proc_id>& procs) {
  return std::any_of(procs.begin(), procs.end(), [&](const proc_id& x) {
    return x.nspace != procs.front().nspace;
  });
}

/// How an operation changes who is connected; nothing if it does not.
std::optional<connection_changed>
connection_change(const host_collective& what) {
  // Questions about an operation are no operation.
  if (what.failure != status::success || !spans_jobs(what.procs))
    return std::nullopt;
  if (what.kind == collective_kind::fence
      && !flag(what.directives, disconnecting_fence))
    return std::nullopt;
  return connection_changed{what.procs, what.kind == collective_kind::connect};
}

/// Tells the root, which acts on it.
void tell_connection(mesh_host_state& state, const connection_changed& what,
                     completion<ack> then) {
  state.calls->ask_for<ack>(
    host_calls::root, what, [then = std::move(then)](caf::expected<ack> x) {
      // A root that is gone needs to know nothing.
      if (!x && status_of(x.error()) == status::out_of_resource)
        then(std::move(x.error()));
      else
        then(ack{});
    });
}

caf::result<host_collective_result> join_collective(self_pointer self,
                                                    host_collective& what) {
  // Members have left a group: no operation.
  if (what.failure != status::success && what.generation != 0
      && static_cast<uint32_t>(what.generation) == 0) {
    self->state.collectives->procs_left(what.generation, what.procs,
                                        what.reason);
    return host_collective_result{};
  }
  const auto change = connection_change(what);
  return answer_later<host_collective_result>(
    self, [&](completion<host_collective_result> done) {
      // Before anybody goes on: whoever fails then has failed all of them.
      if (change)
        done = [self, change = *change,
                done](caf::expected<host_collective_result> x) {
          if (!x) {
            done(std::move(x));
            return;
          }
          tell_connection(self->state, change,
                          [done, x = std::move(x)](caf::expected<ack> y) {
                            if (y)
                              done(x);
                            else
                              done(std::move(y.error()));
                          });
        };
      if (what.is_local)
        done(host_collective_result{});
      else
        self->state.collectives->join(std::move(what), std::move(done));
    });
}

/// Job control; what it says of logs is for those of this node.
caf::result<info_result> control(self_pointer self, const requester& who,
                                 job_control_request& request) {
  auto& state = self->state;
  if (log_desk::sets_levels(request))
    return answer_later<info_result>(self, [&](completion<info_result> done) {
      state.logs->set_levels(who, request, std::move(done));
    });
  if (!asks_for_log(request.directives))
    return state.shares->control(who, request);
  auto out = control_log_means{};
  out.write = [self, who](log_request what, completion<ack> then) {
    ask<ack>(self, self->state.actors.server, std::move(then), who,
             std::move(what));
  };
  out.perform = [self, who](job_control_request what,
                            completion<info_result> then) {
    ask<info_result>(self, mesh_host_actor{self}, std::move(then), who,
                     std::move(what));
  };
  out.now = state.options.wall_clock;
  return answer_later<info_result>(self, [&](completion<info_result> done) {
    control_and_log(who, std::move(request), std::move(out), std::move(done));
  });
}

// NOLINTNEXTLINE(readability-function-size): a flat list of messages.
mesh_host_actor::behavior_type behavior(self_pointer self,
                                        mesh_host_options options,
                                        mesh_host_directory directory) {
  auto& state = self->state;
  state.options = std::move(options);
  static_cast<mesh_host_directory&>(state.actors) = std::move(directory);
  start(self);
  // The jobs have taken what an earlier DVM has kept, which may be much.
  state.options.checkpoints = {};
  if (state.options.on_hosts)
    state.options.on_hosts(state.streams->hosts());
  auto handlers = with_refusals<mesh_host_actor::behavior_type>(
    // -- what comes most often: CAF tries one after another --
    [self](member_message& what) { self->state.calls->take(std::move(what)); },
    [self](host_collective& what) { return join_collective(self, what); },
    [self](direct_modex& request) {
      return answer_later<get_result>(self, [&](completion<get_result> done) {
        self->state.modex->get(std::move(request), std::move(done));
      });
    },
    [self](uint32_t to, io_fragment& what) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.streams->spread().send(to, what, std::move(done));
      });
    },
    // -- the host interface, in its order --
    [self](const client_connected& what) { return admit(self, what); },
    [self](const client_finalized& what) {
      pass_to_share(self, what);
      self->state.streams->drop_readers(what.who);
      self->state.tools->forget(what.who.index);
      return ack{};
    },
    [self](const client_lost& what) {
      pass_to_share(self, what);
      auto& state = self->state;
      state.tools->forget(what.who.index);
      state.published->proc_ended(what.who.proc);
      state.streams->drop_readers(what.who);
      if (is_tool(what.who.role))
        state.streams->outputs().lose_tool(what.who);
    },
    [self](const tool_connected& what) {
      return result_of(self->state.tools->identify(what.who));
    },
    [self](const requester& who, abort_request& request) {
      return request_abort(self, who, request);
    },
    [self](const requester& who, publish_request& request) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.published->publish(who, request, std::move(done));
      });
    },
    [self](const requester& who, lookup_request& request) {
      return answer_later<lookup_result>(
        self, [&](completion<lookup_result> done) {
          self->state.published->look_up(who, request, std::move(done));
        });
    },
    [self](const requester& who, unpublish_request& request) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.published->unpublish(who, request, std::move(done));
      });
    },
    [self](const requester& who, spawn_request& request) {
      return answer_later<spawn_result>(
        self, [&](completion<spawn_result> done) {
          self->state.streams->spawn(who, request, std::move(done));
        });
    },
    [self](const requester& who, notify_request& request) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.events->notify(who, std::move(request), std::move(done));
      });
    },
    [self](const requester&, const register_events_request& request) {
      self->state.environment->add(request.codes);
      return ack{};
    },
    [self](const requester&, const deregister_events_request& request) {
      self->state.environment->remove(request.codes);
    },
    refuse<ack, requester, log_request>(
      "another log is not supported by this host"),
    [self](const requester& who, query_request& request) {
      return answer_later<info_result>(self, [&](completion<info_result> done) {
        self->state.queries->answer(who, request, std::move(done));
      });
    },
    [self](const requester& who, job_control_request& request) {
      return control(self, who, request);
    },
    [self](const requester& who, monitor_request& request) {
      return answer_later<info_result>(self, [&](completion<info_result> done) {
        self->state.queries->sample_others(who, request, std::move(done));
      });
    },
    [self](locate_procs& what) {
      return answer_later<proc_places>(self, [&](completion<proc_places> done) {
        self->state.events->locate(std::move(what.procs), std::move(done));
      });
    },
    [self](order_group_entry& what) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.events->orders().submit(std::move(what), std::move(done));
      });
    },
    [self](const extend_group_log& what) {
      self->state.events->orders().extend(what.group, what.hosts);
    },
    [self](const close_group_log& what) {
      self->state.events->orders().close_log(what.group);
    },
    refuse<info_result, host_group>("this host conducts no groups itself"),
    [self](const requester& who, io_pull_request& request) {
      return self->state.streams->pull(who, request);
    },
    [self](const requester& who, const io_deregister_request& request) {
      return self->state.streams->deregister(who, request);
    },
    [self](const requester& who, io_push_request& request) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.streams->push(who, request, std::move(done));
      });
    },
    // -- its own --
    [self](const server_actor& server, const event_cache_actor& events) {
      self->state.actors.server = server;
      self->state.actors.events = events;
    },
    [self](const node_actor& node) {
      self->state.actors.node = node;
      self->state.duty = mesh_duty::joining;
      if (self->state.is_root())
        self->state.duty = mesh_duty::active;
    },
    [self](const requester& who, spawn_request& request,
           const job_observer_actor& observer, const output_sink_actor& sink) {
      return spawn_here(self, who, request, observer, sink);
    },
    [self](const end_job& request) -> caf::result<ack> {
      if (request.nspace.empty())
        return answer_later<ack>(self, [&](completion<ack> done) {
          self->state.jobs->end_all(request, std::move(done));
        });
      return result_of(self->state.jobs->end(request));
    },
    [self](const list_jobs& request) {
      return answer_later<job_list>(self, [&](completion<job_list> done) {
        self->state.calls->ask_for<job_list>(host_calls::root, request,
                                             std::move(done));
      });
    },
    [self](io_input& request) {
      return answer_later<io_input_taken>(
        self, [&](completion<io_input_taken> done) {
          self->state.streams->give(std::move(request), std::move(done));
        });
    },
    [self](list_io& request) {
      return answer_later<io_list>(self, [&](completion<io_list> done) {
        self->state.streams->spread().list_all(request, std::move(done));
      });
    },
    [self](io_interest& what) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.streams->spread().want(what, std::move(done));
      });
    },
    [self](io_fetch& what) {
      return answer_later<io_fragment>(self, [&](completion<io_fragment> done) {
        self->state.streams->spread().fetch(what, std::move(done));
      });
    },
    [self](const sensor_desk_actor& desk) {
      self->state.actors.sensors = desk;
      tell_sensors(self);
    },
    [self](const usage_monitor_actor& x) { self->state.actors.usage = x; },
    [self](get_mesh_status) {
      return answer_later<mesh_status>(self, [&](completion<mesh_status> done) {
        self->state.queries->describe_node(std::move(done));
      });
    },
    [self](environment_event& what) { raise(self->state, std::move(what)); },
    [self](share_progress& what) {
      self->state.shares->rules().note_progress(std::move(what));
    },
    [self](const share_ended& what) {
      self->state.shares->rules().note_end(what.nspace);
    },
    [self](const member_changed& what) { change_member(self, what); },
    [self](const member_fenced& what) {
      self->state.jobs->fenced(what.rank, what.incarnation);
    },
    [self](const mesh_duty_changed& what) { change_duty(self, what); },
    [self](deadline due) { self->state.waits.fire(due.id); });
  return sturdy(self, std::move(handlers));
}

} // namespace

mesh_host_actor spawn_mesh_host(caf::actor_system& sys,
                                mesh_host_options options,
                                mesh_host_directory directory) {
  return sys.spawn(behavior, std::move(options), std::move(directory));
}

} // namespace troupe
