#include "actors/server/server.hpp"

#include "actors/control/logs.hpp"
#include "actors/groups/group_keys.hpp"
#include "actors/server/collectives.hpp"
#include "actors/server/defaults.hpp"
#include "actors/server/gets.hpp"
#include "actors/server/groups.hpp"
#include "actors/server/queries.hpp"
#include "actors/server/registry.hpp"
#include "actors/server/sessions.hpp"
#include "base/log_levels.hpp"
#include "base/make_info.hpp"
#include "base/pass_on.hpp"
#include "base/reminders.hpp"
#include "base/sturdy.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace troupe {

namespace {

struct server_state {
  static inline const char* name = "server";

  server_options options;
  server_directory directory;

  /// The part of the environment of every client besides namespace and rank.
  client_environment environment;

  server_statistics statistics;
  reminders waits;
  std::optional<registry> known;
  std::optional<gets> data;
  std::optional<class sessions> sessions;
  std::optional<class groups> groups;
  std::optional<class collectives> collectives;
  std::optional<class queries> queries;
};

TROUPE_SELF_POINTER(server_actor, server_state);

/// Tells the MONITOR DESK, if there is one.
template <class T>
void tell_monitors(self_pointer self, const T& what) {
  if (self->state.directory.monitors)
    self->send(self->state.directory.monitors, what);
}

/// An event of the server itself for all local processes.
void announce(self_pointer self, status code, std::vector<info> infos) {
  auto what = deliver_event{};
  what.what.code = code;
  what.what.source = self->state.options.id;
  what.what.range = data_range::local;
  what.what.infos = std::move(infos);
  // Open MPI aborts on events that it does not expect in a default handler.
  what.what.infos.push_back(
    make_info(attr::event_non_default, value::boolean(true)));
  caf::anon_send(self->state.directory.events, std::move(what));
}

/// Asks the HOST.
template <class Result>
auto host_asker(self_pointer self) {
  return [self](auto what, completion<Result> then) {
    ask(self, self->state.directory.host, std::move(then), std::move(what));
  };
}

/// Makes the parts of a server, of which later ones use earlier ones.
void start(self_pointer self) {
  auto& state = self->state;
  const auto& options = state.options;
  const auto call_later = [self](caf::timespan delay,
                                 std::function<void()> then) {
    const auto id = self->state.waits.add(std::move(then));
    self->delayed_send(server_actor{self}, delay, deadline{id});
  };
  state.known.emplace(
    options.posted, options.registered,
    registry::effects{[self](expect_procs what) {
                        self->send(self->state.directory.events,
                                   std::move(what));
                      },
                      [self](status code, std::vector<info> infos) {
                        announce(self, code, std::move(infos));
                      }});
  state.data.emplace(
    *state.known, options.posted, options.spans_nodes,
    gets::effects{host_asker<get_result>(self), call_later, options.log});
  state.sessions.emplace(
    self, options, state.directory, *state.known, state.statistics,
    [&state](namespace_entry& entry, const std::string& nspace) {
      const auto& make = state.options.make_memory;
      auto memory = make ? state.data->share(entry, nspace, make)
                         : std::shared_ptr<job_memory>{};
      if (memory)
        state.options.beats->add(nspace, memory);
      return memory;
    },
    [&state](const sessions::entry& session) {
      state.groups->greet(session);
      const auto& id = session.who.proc;
      if (const auto* proc = state.known->find_local(id)) {
        state.collectives->share(id, proc->connections == 1);
        state.groups->share(id, proc->connections == 1);
      }
    });
  state.groups.emplace(self, options, state.directory, *state.known,
                       *state.data, *state.sessions, call_later);
  state.collectives.emplace(
    *state.known, options.spans_nodes, options.collectives_in_flight,
    collectives::effects{host_asker<host_collective_result>(self), call_later,
                         [&state](std::vector<proc_data> data) {
                           state.data->store(std::move(data));
                         },
                         [&state](const proc_id& proc, const std::string& id) {
                           return state.groups->find_member(proc, id);
                         },
                         about(options.log, log_subject::collectives),
                         options.trace,
                         [self] { return self->clock().now(); }});
  state.queries.emplace(self, options, state.directory, *state.known,
                        [&state] { return state.collectives->waits(); });
}

caf::result<ack> done(caf::error why) {
  if (why)
    return why;
  return ack{};
}

// -- how processes and namespaces end --

/// A process takes part in nothing any more.
void end_proc(server_state& state, const proc_ended& what,
              const std::string& reason) {
  state.collectives->leave(what.proc, reason);
  state.groups->tell(what);
  state.data->wake(what.proc);
}

/// Nobody has a name of this namespace any more: a job's, or a tool's.
void forget_namespace(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  self->send(state.directory.events, deregister_nspace{nspace});
  tell_monitors(self, deregister_nspace{nspace});
  state.collectives->forget(nspace);
  state.groups->forget(nspace);
  state.known->forget(nspace);
  state.data->forget(nspace);
  state.options.beats->remove(nspace);
}

caf::result<ack> remove_namespace(self_pointer self,
                                  const deregister_nspace& request) {
  auto& state = self->state;
  auto* entry = state.known->find(request.nspace);
  if (entry == nullptr)
    return make_error(status::not_found,
                      "namespace " + request.nspace
                        + " is not registered; register it first");
  state.known->stop_counting(*entry);
  for (auto& [rank, proc] : entry->procs) {
    const auto id = proc_id{request.nspace, rank};
    state.known->stop_awaiting(id);
    proc.state = proc_state::terminated;
    end_proc(state, {id, proc.state}, "its job is over");
  }
  state.sessions->forget(request.nspace);
  forget_namespace(self, request.nspace);
  return ack{};
}

caf::result<ack> remove_client(self_pointer self, const proc_id& proc) {
  auto& state = self->state;
  auto* known = state.known->find_local(proc);
  if (known == nullptr)
    return make_error(status::not_found,
                      to_string(proc) + " is not registered on this node");
  state.known->stop_awaiting(proc);
  known->may_connect = false;
  known->state = proc_state::terminated;
  const auto what = proc_ended{proc, proc_state::terminated};
  self->send(state.directory.events, what);
  tell_monitors(self, what);
  // Its place may be another process's.
  state.data->take_over(proc);
  state.sessions->close(proc, "the host let it go");
  end_proc(state, what, "the host let it go");
  return ack{};
}

/// The former life of a process is over, and another one begins: whoever waits
/// for what it does waits for that.
void forget_life(server_state& state, const proc_id& proc) {
  state.collectives->renew(proc);
  if (auto* entry = state.known->find(proc.nspace))
    entry->posted.forget_life(proc.rank);
}

/// A process of this node is about to be started again.
caf::error begin_anew(self_pointer self, const register_client& what) {
  auto& state = self->state;
  auto* entry = state.known->find(what.proc.nspace);
  auto* proc = state.known->find_local(what.proc);
  if (entry == nullptr || proc == nullptr)
    return make_error(status::not_found,
                      to_string(what.proc) + " is not registered any more");
  state.known->stop_awaiting(what.proc);
  state.sessions->drop(what.proc);
  proc->state = proc_state::aborted;
  const auto ended = proc_ended{what.proc, proc->state};
  self->send(state.directory.events, ended);
  tell_monitors(self, ended);
  state.groups->tell(ended);
  // Also what it has said since its end was known.
  forget_life(state, what.proc);
  entry->data.count_restart(what.proc.rank);
  return state.known->add(what);
}

caf::result<ack> add_client(self_pointer self, const register_client& request) {
  auto& state = self->state;
  const auto* entry = state.known->find(request.proc.nspace);
  if (entry == nullptr || !entry->restarts()
      || state.known->find_local(request.proc) == nullptr)
    return done(state.known->add(request));
  // What it has said last counts.
  return answer_later<ack>(self, [&](completion<ack> reply) {
    state.sessions->read_sessions_of(request.proc,
                                     [self, request, reply = std::move(reply)] {
                                       if (auto why = begin_anew(self, request))
                                         reply(std::move(why));
                                       else
                                         reply(ack{});
                                     });
  });
}

void note_end(self_pointer self, const proc_ended& what) {
  auto& state = self->state;
  if (what.state == proc_state::restart) {
    // One of this node begins anew when its output has been taken.
    forget_life(state, what.proc);
    return;
  }
  tell_monitors(self, what);
  auto* proc = state.known->find_local(what.proc);
  if (proc == nullptr || proc->is_gone())
    return;
  state.known->stop_awaiting(what.proc);
  proc->state = what.state;
  end_proc(state, what, "it ended");
}

caf::result<ack> finalize(self_pointer self, const requester& who) {
  auto& state = self->state;
  if (auto* proc = state.known->find_local(who.proc))
    proc->finalized = true;
  if (state.options.log)
    state.options.log(severity::debug, to_string(who.proc) + " finalized");
  return self->delegate(state.directory.host, client_finalized{who});
}

void end_session(self_pointer self, const requester& who, bool finalized) {
  auto& state = self->state;
  // Also when its job has been deregistered: what it waits for may be another's.
  state.data->forget(who.index);
  if (!state.sessions->end(who, finalized))
    return;
  auto* proc = state.known->find_local(who.proc);
  if (proc != nullptr && proc->posts_by == who.index)
    proc->posts_by = 0;
  if (proc == nullptr || --proc->connections > 0)
    return;
  auto& entry = *state.known->find(who.proc.nspace);
  if (entry.is_tool) {
    proc->state = proc_state::terminated;
    end_proc(state, {who.proc, proc_state::terminated}, "the tool has left");
    entry.procs.erase(who.proc.rank);
    state.groups->forget(who.proc);
    if (entry.procs.empty())
      forget_namespace(self, who.proc.nspace);
  } else if (!finalized && !proc->is_gone() && !entry.restarts()) {
    if (state.options.log)
      state.options.log(severity::info,
                        to_string(who.proc)
                          + " lost its connection without finalizing");
    end_proc(state, {who.proc, proc_state::comm_failed},
             "its connection is lost");
  }
  if (!finalized)
    self->send(state.directory.host, client_lost{who});
}

// -- what processes and the host ask --

caf::result<client_environment> environment_of(server_state& state,
                                               const setup_fork& request) {
  if (state.known->find_local(request.proc) == nullptr)
    return make_error(status::not_found,
                      to_string(request.proc)
                        + " is not a process of this node; register it first");
  auto result = state.environment;
  result.variables.push_back("PMIX_NAMESPACE=" + request.proc.nspace);
  result.variables.push_back("PMIX_RANK=" + std::to_string(request.proc.rank));
  return result;
}

/// Answers a get. Members of a group see what all of them had posted when it was
/// made. Source: OpenPMIx 7, PMIx_Group_construct and PMIX_GROUP_CONTEXT_ID.
void look_up(server_state& state, const requester& who, get_request& request,
             completion<get_result> reply) {
  const auto id = text(request.directives, group_keys::exchanged);
  if (!id)
    state.data->get(who, std::move(request), std::move(reply));
  else if (state.groups->are_members(who.proc, *id, request.target))
    reply(state.data->exchanged(request));
  else
    reply(make_error(status::not_found, to_string(request.target)
                                          + " is no member of group " + *id));
}

/// Has a process join an operation when all jobs that it names are known.
void join(server_state& state, const requester& who, collective_kind kind,
          std::vector<proc_id> procs, std::vector<info> directives,
          completion<connect_procs_result> reply) {
  const auto nspace = state.data->first_elsewhere(procs);
  if (!nspace) {
    state.collectives->join(who, kind, std::move(procs), directives,
                            std::move(reply));
    return;
  }
  state.data->fetch(
    who, *nspace,
    [&state, who, kind, procs = std::move(procs),
     directives = std::move(directives),
     reply = std::move(reply)](const caf::error& why) {
      if (why)
        reply(make_error(status::invalid_namespace, reason_of(why)));
      else
        join(state, who, kind, procs, directives, reply);
    });
}

/// Joins an operation that brings nothing back.
template <class Request>
caf::result<ack> join(self_pointer self, const requester& who,
                      collective_kind kind, Request& request) {
  return answer_later<ack>(self, [&](completion<ack> reply) {
    join(self->state, who, kind, std::move(request.procs),
         std::move(request.directives),
         [reply](const caf::expected<connect_procs_result>& x) {
           if (x)
             reply(ack{});
           else
             reply(x.error());
         });
  });
}

caf::result<ack> write(self_pointer self, const requester& who,
                       const log_request& request) {
  const auto& directory = self->state.directory;
  const auto out = log_effects{
    [self, &directory](log_entry what, completion<ack> then) {
      ask(self, directory.logs, std::move(then), std::move(what));
    },
    [self, &directory](const requester& x, log_request what,
                       completion<ack> then) {
      ask(self, directory.host, std::move(then), x, std::move(what));
    },
    self->state.options.log};
  return answer_later<ack>(self, [&](completion<ack> reply) {
    write_log(who, request, out, std::move(reply));
  });
}

server_statistics statistics_of(const server_state& state) {
  auto result = state.statistics;
  result.bytes_posted = state.data->bytes_posted();
  return result;
}

/// Source: guarantees 5.9, LOAD-2.
gauge_list gauges_of(const server_state& state) {
  const auto& known = *state.known;
  const auto& groups = state.groups->known();
  auto posted = uint64_t{0};
  auto shared = uint64_t{0};
  auto most_shared = uint64_t{0};
  auto met = state.collectives->fences_of_parts();
  auto met_for_groups = uint64_t{0};
  for (const auto& [nspace, entry] : known.namespaces()) {
    posted = std::max<uint64_t>(posted, entry.posted.size_bytes());
    if (entry.memory) {
      shared += entry.memory->used();
      most_shared += entry.memory->size();
      met += entry.memory->fences(job_memory::whole_job);
      met_for_groups += entry.memory->group_rounds();
    }
  }
  // The waits of processes are bounded by what one connection may have asked
  // and not been answered.
  return {
    {{"server.posted_by_largest_namespace", posted,
      state.options.posted.namespace_bytes, "bytes"},
     {"server.shared_memory", shared, most_shared, "bytes"},
     {"server.fences_in_memory", met, 0, "fences"},
     {"server.group_calls_in_memory", met_for_groups, 0, "operations"},
     {"server.namespaces", known.namespaces().size(), 0, "namespaces"},
     {"server.sessions", state.sessions->all().size(),
      known.counts().total * defaults::connections_per_rank, "connections"},
     {"server.collectives", state.collectives->size(),
      state.options.collectives_in_flight, "operations"},
     {"server.fence_parts", state.collectives->parts(), 0, "sets"},
     {"server.connected", state.collectives->connected().size(),
      defaults::connected_sets, "sets"},
     {"server.processes", known.counts().total, 0, "processes"},
     {"server.processes_ended", groups.ended().size(), known.counts().total,
      "processes"},
     {"server.groups", groups.all().size(), 0, "groups"},
     {"server.collective_signatures", state.collectives->counted(),
      defaults::collective_signatures, "signatures"},
     {"server.group_signatures", groups.counted(),
      defaults::collective_signatures, "signatures"},
     {"server.gets", state.data->waiting(), 0, "requests"},
     {"server.modexes", state.data->modexes(), 0, "requests"},
     {"server.fetches", state.data->fetches(), 0, "namespaces"}}};
}

// NOLINTNEXTLINE(readability-function-size): a flat list of messages.
server_actor::behavior_type behavior(self_pointer self, server_options options,
                                     server_directory directory) {
  auto& state = self->state;
  state.options = std::move(options);
  state.directory = std::move(directory);
  start(self);
  auto handlers = server_actor::behavior_type{
    // -- from connections --
    [&state](const connect_request& request,
             const connection_actor& connection) {
      return state.sessions->accept(request, connection);
    },
    // -- from sessions --
    [&state](const requester& who, job_info_request) {
      return state.data->job(who);
    },
    [&state](const requester& who, const commit_request& request) {
      return done(state.data->commit(who, request));
    },
    [self](const requester& who, fence_request& request) {
      ++self->state.statistics.fences;
      return join(self, who, collective_kind::fence, request);
    },
    [self](const requester& who, connect_procs_request& request) {
      return answer_later<connect_procs_result>(
        self, [&](completion<connect_procs_result> reply) {
          join(self->state, who, collective_kind::connect,
               std::move(request.procs), std::move(request.directives),
               std::move(reply));
        });
    },
    [self](const requester& who, disconnect_procs_request& request) {
      return join(self, who, collective_kind::disconnect, request);
    },
    [&state](const requester& who, group_construct_request& request) {
      return state.groups->construct(who, request);
    },
    [&state](const requester& who, group_destruct_request& request) {
      return state.groups->destruct(who, request);
    },
    [&state](const requester& who, group_leave_request& request) {
      return state.groups->leave(who, request);
    },
    [&state](const requester& who, notify_request& request) {
      return state.groups->notify(who, request);
    },
    [self](const requester& who, get_request& request) {
      return answer_later<get_result>(self, [&](completion<get_result> reply) {
        look_up(self->state, who, request, std::move(reply));
      });
    },
    [self](const requester&, const refresh_cache_request& request) {
      return answer_later<refresh_cache_result>(
        self, [&](completion<refresh_cache_result> reply) {
          self->state.data->refresh(request.target, std::move(reply));
        });
    },
    [&state](const requester&, const resolve_peers_request& request) {
      return state.queries->peers(request);
    },
    [&state](const requester&, const resolve_nodes_request& request) {
      return state.queries->nodes(request);
    },
    [&state](const requester& who, query_request& request) {
      return state.queries->answer(who, request);
    },
    [self](const requester& who,
           const log_request& request) -> caf::result<ack> {
      const auto unseen = number<int32_t>(request.data, unseen_memory_key);
      if (!unseen)
        return write(self, who, request);
      return done(self->state.data->note_unseen(
        who, *unseen, text(request.data, memory_inbox_key).value_or("")));
    },
    [self](const requester& who, finalize_request) {
      return finalize(self, who);
    },
    [self](const requester& who, connection_lost lost) {
      end_session(self, who, lost.finalized);
    },
    // -- from the host --
    [&state](register_nspace& request) {
      state.groups->note_namespace(request.nspace);
      return done(state.known->add(request));
    },
    [self](const deregister_nspace& request) {
      return remove_namespace(self, request);
    },
    [self](const register_client& request) {
      return add_client(self, request);
    },
    [self](const deregister_client& request) {
      return remove_client(self, request.proc);
    },
    [self](const direct_modex& request) {
      return answer_later<get_result>(self, [&](completion<get_result> reply) {
        self->state.data->answer_modex(request, std::move(reply));
      });
    },
    [&state](register_resources& request) {
      return done(state.known->add_resources(request));
    },
    [&state](const deregister_resources& request) {
      state.known->remove_resources(request);
      return ack{};
    },
    [&state](define_process_set& request) {
      return done(state.known->define_set(request));
    },
    [&state](const delete_process_set& request) {
      return done(state.known->delete_set(request));
    },
    [&state](const requester& who, io_delivery& what) {
      return state.sessions->pass_output(who, what);
    },
    [&state](const setup_fork& request) {
      return environment_of(state, request);
    },
    [&state](client_environment& environment) {
      state.environment = std::move(environment);
    },
    [self](const proc_ended& what) { note_end(self, what); },
    [self](const procs_paused& what) { tell_monitors(self, what); },
    [&state](const shut_down& request) {
      state.sessions->close_all(request.reason);
      return ack{};
    },
    [&state](get_statistics) { return statistics_of(state); },
    [&state](get_gauges) { return gauges_of(state); },
    [&state](group_entry_ordered& what) { return state.groups->take(what); },
    [&state](const host_node_lost& what) { state.groups->tell(what); },
    [&state](list_groups) { return state.groups->list(); },
    [&state](const find_group& what) {
      return state.groups->tracker_of(what.group);
    },
    [&state](const find_session& what) {
      return state.sessions->find(what.proc);
    },
    // -- from its groups and itself --
    [&state](const group_changed& what) {
      state.collectives->reduce(what);
      state.groups->change(what);
    },
    [&state](group_rests& what) { state.groups->let_rest(what); },
    [&state](const group_over& what) {
      state.collectives->forget(what.group);
      state.groups->close(what);
    },
    [&state](const group_data& what) { return state.groups->exchange(what); },
    [&state](host_collective_result& result) {
      state.data->store_exchanged(std::move(result.data));
    },
    [&state](deadline due) { state.waits.fire(due.id); },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

server_actor spawn_server(caf::actor_system& sys, server_options options,
                          server_directory directory) {
  return sys.spawn(behavior, std::move(options), std::move(directory));
}

} // namespace troupe
