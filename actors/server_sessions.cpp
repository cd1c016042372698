#include "actors/client.hpp"
#include "actors/server_state.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>

namespace troupe::server_internals {

namespace {

using accepted_promise =
  caf::typed_response_promise<connect_accepted, client_actor>;

/// Why nobody of this user may be `proc`, if so. The kernel's word counts, not
/// the peer's.
/// Source: PMIx Standard v5, "Security"; attacks X3, X12.
caf::error refusal(server_state& state, uint32_t uid, const proc_id& proc) {
  const auto* entry = state.find_namespace(proc.nspace);
  if (entry == nullptr)
    return make_error(status::not_found,
                      "namespace " + proc.nspace + " is not registered");
  if (entry->is_tool)
    return make_error(status::no_permissions,
                      "namespace " + proc.nspace + " is a tool's");
  if (entry->owner.uid != uid)
    return make_error(status::no_permissions,
                      "user " + std::to_string(uid) + " is not user "
                        + std::to_string(entry->owner.uid)
                        + ", whose namespace " + proc.nspace + " is");
  const auto local = entry->procs.find(proc.rank);
  if (local == entry->procs.end())
    return make_error(status::not_found,
                      to_string(proc) + " is not registered on this node");
  if (!local->second.may_connect)
    return make_error(status::not_found, "the host has not registered "
                                           + to_string(proc) + " as a client");
  if (local->second.is_gone())
    return make_error(status::not_found, to_string(proc) + " has ended");
  if (local->second.connections >= defaults::connections_per_rank)
    return make_error(status::out_of_resource,
                      to_string(proc) + " has "
                        + std::to_string(local->second.connections)
                        + " connections already");
  return {};
}

/// Why a tool may not have the name that it gives itself, if so: others would
/// take it for the server. Attack X12.
caf::error name_refusal(const server_state& state, const requester& who) {
  if (who.proc.nspace != state.options.id.nspace)
    return {};
  return make_error(status::no_permissions,
                    "a tool may not call itself " + to_string(who.proc)
                      + ", a name of servers; ask for an identity instead");
}

/// Why this user may not attach a tool, if so. Attack X11.
caf::error tool_refusal(const server_state& state, uint32_t uid) {
  if (uid != state.options.owner.uid)
    return make_error(status::no_permissions,
                      "user " + std::to_string(uid)
                        + " may not attach a tool to the server of user "
                        + std::to_string(state.options.owner.uid));
  const auto tools = std::count_if(
    state.sessions.begin(), state.sessions.end(), [&](const auto& x) {
      return x.second.who.creds.uid == uid
             && x.second.who.role != peer_role::client;
    });
  if (static_cast<size_t>(tools) >= defaults::tools_per_user)
    return make_error(status::out_of_resource,
                      "user " + std::to_string(uid) + " has "
                        + std::to_string(tools) + " tools attached already");
  return {};
}

void admit(self_pointer self, const requester& who,
           const connection_actor& connection, accepted_promise& promise) {
  auto& state = self->state;
  auto& proc = *state.find_local(who.proc);
  state.stop_awaiting(*state.find_namespace(who.proc.nspace), proc);
  ++proc.connections;
  proc.finalized = false;
  proc.state = proc_state::connected;
  auto session = spawn_client(self->home_system(), who, server_actor{self},
                              state.directory.events, state.directory.host,
                              connection, state.directory.monitors);
  const auto [i, is_new] =
    state.sessions.emplace(who.index, session_entry{who, session});
  tell_session_groups(self, i->second);
  ++state.statistics.connections;
  state.log(severity::debug, to_string(who.proc) + " connected");
  const auto accepted = connect_accepted{who.proc, state.options.id, who.index};
  self->send(state.directory.events, accepted);
  promise.deliver(accepted, std::move(session));
}

void refuse(server_state& state, accepted_promise& promise, caf::error err) {
  ++state.statistics.refused_connections;
  promise.deliver(std::move(err));
}

/// Asks the host before a registered process is let in.
void admit_client(self_pointer self, requester who,
                  const connection_actor& connection,
                  accepted_promise promise) {
  self
    ->request(self->state.directory.host, defaults::host_answer,
              client_connected{who})
    .then(
      [=](ack) mutable {
        // The job may have ended, or others may have connected meanwhile.
        if (auto why = refusal(self->state, who.creds.uid, who.proc))
          refuse(self->state, promise, std::move(why));
        else
          admit(self, who, connection, promise);
      },
      [=](caf::error& err) mutable {
        refuse(self->state, promise, std::move(err));
      });
}

/// A namespace of its own for a tool.
namespace_entry tool_namespace(const server_state& state,
                               const requester& who) {
  auto entry = namespace_entry{state.options.posted};
  entry.owner = who.creds;
  entry.is_tool = true;
  entry.procs.emplace(who.proc.rank, local_proc{});
  entry.data = job_data{
    who.proc.nspace,
    {{std::string{attr::job_size}, 0, value::uint32(1)},
     {std::string{attr::univ_size}, 0, value::uint32(1)},
     {std::string{attr::max_procs}, 0, value::uint32(1)},
     {std::string{attr::num_nodes}, 0, value::uint32(1)},
     {std::string{attr::jobid}, 0, value::string(who.proc.nspace)},
     {std::string{attr::hostname}, 0, value::string(state.options.hostname)},
     {std::string{attr::server_nspace}, 0,
      value::string(state.options.id.nspace)},
     {std::string{attr::server_rank}, 0, value::rank(state.options.id.rank)}}};
  return entry;
}

/// Refuses a tool that the host has given an identity: the host forgets the
/// connection. It names nobody: the identity may be that of another process.
void refuse_identified(self_pointer self, requester who,
                       accepted_promise& promise, caf::error err) {
  who.proc = {};
  self->send(self->state.directory.host, client_lost{std::move(who)});
  refuse(self->state, promise, std::move(err));
}

/// Whether a tool that is connected has the name that another one gives itself:
/// its events and answers would go to both.
bool is_taken(server_state& state, const requester& who) {
  if (needs_identity(who.role))
    return false;
  const auto* entry = state.find_namespace(who.proc.nspace);
  return entry != nullptr && entry->is_tool
         && entry->procs.count(who.proc.rank) > 0;
}

caf::error already_taken(const proc_id& name) {
  return make_error(status::exists,
                    "a tool that is connected is " + to_string(name)
                      + "; take another name, or ask for an identity");
}

/// Calls `then` when all that has come from those who are `proc` has been read,
/// up to the end of their connections: a tool may come back as soon as it has
/// closed its own.
void read_sessions_of(self_pointer self, const proc_id& proc,
                      const std::function<void()>& then) {
  const auto left = std::make_shared<size_t>(1);
  const auto done = [left, then] {
    if (--*left == 0)
      then();
  };
  for (const auto& [index, session] : self->state.sessions)
    if (session.who.proc == proc) {
      ++*left;
      self->request(session.handle, caf::infinite, read_now{})
        .then([done](const unread&) { done(); },
              [done](const caf::error&) { done(); });
    }
  done();
}

/// Asks the host for the identity of a tool and makes a namespace for it.
void admit_tool(self_pointer self, requester who,
                const std::vector<info>& infos,
                const connection_actor& connection, accepted_promise promise) {
  self
    ->request(self->state.directory.host, defaults::host_answer,
              tool_connected{who, infos})
    .then(
      [=](const proc_id& assigned) mutable {
        auto& state = self->state;
        const auto is_its_own = who.proc == assigned;
        who.proc = assigned;
        auto why = tool_refusal(state, who.creds.uid);
        if (!why && is_its_own && is_taken(state, who))
          why = already_taken(assigned);
        if (why) {
          refuse_identified(self, who, promise, std::move(why));
          return;
        }
        auto* entry = state.find_namespace(assigned.nspace);
        if (entry == nullptr) {
          state.namespaces.emplace(assigned.nspace, tool_namespace(state, who));
        } else if (!entry->is_tool || entry->owner.uid != who.creds.uid) {
          // A tool that joined a job would be waited for in its collectives.
          refuse_identified(
            self, who, promise,
            make_error(status::no_permissions,
                       "namespace " + assigned.nspace
                         + " is a job's or another user's; ask for an"
                           " identity instead"));
          return;
        } else {
          entry->procs.try_emplace(assigned.rank);
        }
        admit(self, who, connection, promise);
      },
      [=](caf::error& err) mutable {
        refuse(self->state, promise, std::move(err));
      });
}

/// Lets a tool in unless its user, or its name, is refused.
void receive_tool(self_pointer self, requester who, std::vector<info> infos,
                  const connection_actor& connection,
                  accepted_promise promise) {
  auto& state = self->state;
  if (auto why = tool_refusal(state, who.creds.uid)) {
    refuse(state, promise, std::move(why));
    return;
  }
  if (auto why = name_refusal(state, who)) {
    refuse(state, promise, std::move(why));
    return;
  }
  if (!is_taken(state, who)) {
    admit_tool(self, std::move(who), infos, connection, promise);
    return;
  }
  const auto name = who.proc;
  read_sessions_of(self, name, [=]() mutable {
    if (is_taken(self->state, who))
      refuse(self->state, promise, already_taken(name));
    else
      admit_tool(self, std::move(who), infos, connection, promise);
  });
}

} // namespace

caf::result<connect_accepted, client_actor>
accept(self_pointer self, const connect_request& request,
       const connection_actor& connection) {
  auto& state = self->state;
  auto promise = self->make_response_promise<connect_accepted, client_actor>();
  if (request.claimed && request.claimed->uid != request.actual.uid) {
    refuse(state, promise,
           make_error(status::invalid_cred,
                      "the peer claims user "
                        + std::to_string(request.claimed->uid) + " but is "
                        + std::to_string(request.actual.uid)));
    return promise;
  }
  auto who = requester{request.claimed_proc.value_or(proc_id{}), request.actual,
                       request.role, request.version, state.next_index++};
  // A tool started by a job has a client's identity and is let in as one.
  const auto* entry = state.find_namespace(who.proc.nspace);
  const auto is_client = request.role == peer_role::client
                         || (entry != nullptr && !entry->is_tool
                             && entry->procs.count(who.proc.rank) > 0);
  if (!is_client)
    receive_tool(self, std::move(who), request.infos, connection, promise);
  else if (auto why = refusal(state, request.actual.uid, who.proc))
    refuse(state, promise, std::move(why));
  else
    admit_client(self, std::move(who), connection, promise);
  return promise;
}

caf::result<ack> finalize(self_pointer self, const requester& who) {
  if (auto* proc = self->state.find_local(who.proc))
    proc->finalized = true;
  self->state.log(severity::debug, to_string(who.proc) + " finalized");
  return self->delegate(self->state.directory.host, client_finalized{who});
}

void end_session(self_pointer self, const requester& who, bool finalized) {
  auto& state = self->state;
  if (state.sessions.erase(who.index) == 0)
    return;
  self->send(state.directory.events, who, connection_lost{finalized});
  // Nobody is there any more to take the answers.
  for (auto i = state.gets.begin(); i != state.gets.end();)
    i = i->second.who.index == who.index ? state.gets.erase(i) : std::next(i);
  auto* entry = state.find_namespace(who.proc.nspace);
  if (entry == nullptr)
    return;
  const auto i = entry->procs.find(who.proc.rank);
  if (i == entry->procs.end())
    return;
  auto& proc = i->second;
  --proc.connections;
  if (proc.connections > 0)
    return;
  if (entry->is_tool) {
    proc.state = proc_state::terminated;
    leave_collectives(self, who.proc, "the tool has left");
    tell_groups(self, proc_ended{who.proc, proc_state::terminated});
    wake_gets(self, who.proc);
    entry->procs.erase(i);
    state.groups.forget(who.proc);
    if (entry->procs.empty())
      forget_namespace(self, who.proc.nspace);
  } else if (!finalized && !proc.is_gone()) {
    state.log(severity::info,
              to_string(who.proc) + " lost its connection without finalizing");
    leave_collectives(self, who.proc, "its connection is lost");
    tell_groups(self, proc_ended{who.proc, proc_state::comm_failed});
    wake_gets(self, who.proc);
  }
  if (!finalized)
    self->send(state.directory.host, client_lost{who});
}

} // namespace troupe::server_internals
