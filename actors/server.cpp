#include "actors/server.hpp"

#include "actors/data/qualified_value.hpp"
#include "actors/server_state.hpp"
#include "actors/sturdy.hpp"

#include <caf/actor_system.hpp>

namespace troupe {

namespace server_internals {

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then) {
  const auto id = self->state.waits.add(std::move(then));
  self->delayed_send(server_actor{self}, delay, deadline{id});
}

namespace {

/// Other nodes that wait for data of a job that is over wait for nothing.
void refuse_modexes(server_state& state, const std::string& nspace) {
  for (auto i = state.modexes.begin(); i != state.modexes.end();) {
    auto& x = i->second;
    if (x.target.nspace != nspace) {
      ++i;
      continue;
    }
    x.reply.fail(status::not_found, "job " + nspace + " is over");
    i = state.modexes.erase(i);
  }
}

caf::result<ack> remove_namespace(self_pointer self,
                                  const deregister_nspace& request) {
  auto& state = self->state;
  const auto i = state.namespaces.find(request.nspace);
  if (i == state.namespaces.end())
    return make_error(status::not_found,
                      "namespace " + request.nspace + " is not registered");
  if (!i->second.is_tool)
    state.options.registered->total -= i->second.procs.size();
  for (auto& [rank, proc] : i->second.procs) {
    state.stop_awaiting(i->second, proc);
    proc.state = proc_state::terminated;
    leave_collectives(self, {request.nspace, rank}, "its job is over");
    tell_groups(self, proc_ended{{request.nspace, rank}, proc.state});
    wake_gets(self, {request.nspace, rank});
  }
  // Forgotten at once: the name may be registered anew before they are closed.
  for (auto j = state.sessions.begin(); j != state.sessions.end();) {
    const auto& session = j->second;
    if (session.who.proc.nspace != request.nspace) {
      ++j;
      continue;
    }
    self->send(session.handle, close_connection{"its job is over"});
    self->send(state.directory.events, session.who, connection_lost{});
    j = state.sessions.erase(j);
  }
  forget_namespace(self, request.nspace);
  return ack{};
}

caf::result<client_environment> environment_of(self_pointer self,
                                               const setup_fork& request) {
  auto& state = self->state;
  if (state.find_local(request.proc) == nullptr)
    return make_error(status::not_found,
                      to_string(request.proc)
                        + " is not a process of this node; register it first");
  auto result = state.environment;
  result.variables.push_back("PMIX_NAMESPACE=" + request.proc.nspace);
  result.variables.push_back("PMIX_RANK=" + std::to_string(request.proc.rank));
  return result;
}

void note_end(self_pointer self, const proc_ended& what) {
  auto& state = self->state;
  tell_monitors(self, what);
  auto* proc = state.find_local(what.proc);
  if (proc == nullptr || proc->is_gone())
    return;
  state.stop_awaiting(*state.find_namespace(what.proc.nspace), *proc);
  proc->state = what.state;
  leave_collectives(self, what.proc, "it ended");
  tell_groups(self, what);
  wake_gets(self, what.proc);
}

caf::result<ack> close_all(self_pointer self, const shut_down& request) {
  for (const auto& [index, session] : self->state.sessions)
    self->send(session.handle, close_connection{request.reason});
  return ack{};
}

/// Joins a collective and hands the call to its actor, which answers it.
template <class Result, class Request>
caf::result<Result> join_and_delegate(self_pointer self, const requester& who,
                                      collective_kind kind, Request& request) {
  if (const auto nspace = first_elsewhere(self->state, request.procs))
    return ask_again<Result>(self, who, *nspace, request,
                             status::invalid_namespace);
  auto id = uint64_t{0};
  // The COLLECTIVE asks only who calls.
  auto operation =
    join(self, who, kind, std::move(request.procs), request.directives, id);
  if (!operation)
    return operation.error();
  auto result = self->delegate(*operation, who, std::move(request));
  check_complete(self, id);
  return result;
}

// NOLINTNEXTLINE(readability-function-size): a flat list of messages.
server_actor::behavior_type behavior(self_pointer self, server_options options,
                                     server_directory directory) {
  self->state.options = std::move(options);
  self->state.directory = std::move(directory);
  auto handlers = server_actor::behavior_type{
    [self](const connect_request& request, const connection_actor& connection) {
      return accept(self, request, connection);
    },
    [self](const requester& who, job_info_request) {
      return get_job_info(self, who);
    },
    [self](const requester& who, const commit_request& request) {
      return commit(self, who, request);
    },
    [self](const requester& who, fence_request& request) {
      ++self->state.statistics.fences;
      return join_and_delegate<ack>(self, who, collective_kind::fence, request);
    },
    [self](const requester& who, connect_procs_request& request) {
      return join_and_delegate<connect_procs_result>(
        self, who, collective_kind::connect, request);
    },
    [self](const requester& who, disconnect_procs_request& request) {
      return join_and_delegate<ack>(self, who, collective_kind::disconnect,
                                    request);
    },
    [self](const requester& who, group_construct_request& request) {
      return construct_group(self, who, request);
    },
    [self](const requester& who, group_destruct_request& request) {
      return destruct_group(self, who, request);
    },
    [self](const requester& who, group_leave_request& request) {
      return leave_group(self, who, request);
    },
    [self](const requester& who, notify_request& request) {
      return notify_group(self, who, request);
    },
    [self](group_entry_ordered& what) { return take_group_entry(self, what); },
    [self](const host_node_lost& what) { tell_groups(self, what); },
    [self](list_groups) { return list_groups_here(self); },
    [self](const group_changed& what) { change_group(self, what); },
    [self](const group_over& what) { close_group(self, what); },
    [self](const group_data& what) { return group_data_here(self, what); },
    [self](const collective_retired& done) { retire_collective(self, done); },
    [self](const requester& who, get_request& request) {
      return get(self, who, request);
    },
    [self](const requester&, const refresh_cache_request& request)
      -> caf::result<refresh_cache_result> {
      const auto* entry = self->state.find_namespace(request.target.nspace);
      if (entry == nullptr)
        return make_error(status::not_found,
                          "no namespace " + request.target.nspace);
      auto result = refresh_cache_result{};
      for (const auto& [key, val] :
           entry->posted.visible_here(request.target.rank))
        result.entries.push_back({std::string{posted_key(key)}, val});
      return result;
    },
    [self](const requester&, const resolve_peers_request& request) {
      return resolve_peers(self, request);
    },
    [self](const requester&, const resolve_nodes_request& request) {
      return resolve_nodes(self, request);
    },
    [self](const requester& who, query_request& request) {
      return answer_query(self, who, request);
    },
    [self](const requester& who, const log_request& request) {
      return write_log(self, who, request);
    },
    [self](const requester& who, finalize_request) {
      return finalize(self, who);
    },
    [self](const requester& who, connection_lost lost) {
      end_session(self, who, lost.finalized);
    },
    [self](register_nspace& request) { return add_namespace(self, request); },
    [self](const deregister_nspace& request) {
      return remove_namespace(self, request);
    },
    [self](const register_client& request) {
      return add_client(self, request);
    },
    [self](const deregister_client& request) {
      return remove_client(self, request.proc);
    },
    [self](const direct_modex& request) { return answer_modex(self, request); },
    [self](register_resources& request) {
      return add_resources(self, request);
    },
    [self](const deregister_resources& request) {
      return remove_resources(self, request);
    },
    [self](define_process_set& request) { return define_set(self, request); },
    [self](const delete_process_set& request) {
      return delete_set(self, request);
    },
    [self](const requester& who, io_delivery& what) {
      return pass_output(self, who, what);
    },
    [self](const setup_fork& request) { return environment_of(self, request); },
    [self](client_environment& environment) {
      self->state.environment = std::move(environment);
    },
    [self](const proc_ended& what) { note_end(self, what); },
    [self](const procs_paused& what) { tell_monitors(self, what); },
    [self](const shut_down& request) { return close_all(self, request); },
    [self](get_statistics) { return self->state.statistics; },
    [self](get_gauges) { return gauges_of(self->state); },
    [self](host_collective_result& result) {
      for (auto& x : result.data)
        // A host may bring back what it got from here.
        if (auto* entry = self->state.find_namespace(x.proc.nspace);
            entry != nullptr && entry->procs.count(x.proc.rank) == 0) {
          entry->posted.store_remote(x.proc.rank, std::move(x.entries));
          wake_gets(self, x.proc);
        }
    },
    [self](deadline due) { self->state.waits.fire(due.id); },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

void forget_namespace(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  self->send(state.directory.events, deregister_nspace{nspace});
  tell_monitors(self, deregister_nspace{nspace});
  state.table.forget(nspace);
  state.connected.forget(nspace);
  state.groups.forget(nspace);
  state.namespaces.erase(nspace);
  refuse_modexes(state, nspace);
}

} // namespace server_internals

server_actor spawn_server(caf::actor_system& sys, server_options options,
                          server_directory directory) {
  return sys.spawn(server_internals::behavior, std::move(options),
                   std::move(directory));
}

} // namespace troupe
