#include "actors/server/sessions.hpp"

#include "actors/server/client.hpp"
#include "actors/server/defaults.hpp"
#include "base/all_of.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace troupe {

namespace {

caf::error already_taken(const proc_id& name) {
  return make_error(status::exists,
                    "a tool that is connected is " + to_string(name)
                      + "; take another name, or ask for an identity");
}

} // namespace

sessions::sessions(server_actor::pointer self, const server_options& options,
                   const server_directory& directory, registry& known,
                   server_statistics& statistics, sharer share,
                   std::function<void(const entry&)> on_admitted)
  : self_(self), options_(options), directory_(directory), known_(known),
    statistics_(statistics), share_(std::move(share)),
    on_admitted_(std::move(on_admitted)) {
  // nop
}

// -- why somebody is refused --

caf::error sessions::refusal(uint32_t uid, const proc_id& proc) const {
  const auto* entry = known_.find(proc.nspace);
  if (entry == nullptr)
    return make_error(status::not_found,
                      "namespace " + proc.nspace
                        + " is not registered; register it first");
  if (entry->is_tool)
    return make_error(status::no_permissions, "namespace " + proc.nspace
                                                + " is a tool's; take another");
  if (entry->owner.uid != uid)
    return make_error(status::no_permissions,
                      "user " + std::to_string(uid) + " is not user "
                        + std::to_string(entry->owner.uid)
                        + ", whose namespace " + proc.nspace + " is");
  const auto local = entry->procs.find(proc.rank);
  if (local == entry->procs.end())
    return make_error(status::not_found,
                      to_string(proc)
                        + " is not registered on this node; register it first");
  if (!local->second.may_connect)
    return make_error(status::not_found, "the host has not registered "
                                           + to_string(proc)
                                           + " as a client; register it first");
  if (local->second.is_gone())
    return make_error(status::not_found, to_string(proc) + " has ended");
  if (local->second.connections >= defaults::connections_per_rank)
    return make_error(status::out_of_resource,
                      to_string(proc) + " has "
                        + std::to_string(local->second.connections)
                        + " connections already; close some");
  return {};
}

caf::error sessions::name_refusal(const requester& who) const {
  if (who.proc.nspace != options_.id.nspace)
    return {};
  return make_error(status::no_permissions,
                    "a tool may not call itself " + to_string(who.proc)
                      + ", a name of servers; ask for an identity instead");
}

caf::error sessions::tool_refusal(uint32_t uid) const {
  if (uid != options_.owner.uid)
    return make_error(status::no_permissions,
                      "user " + std::to_string(uid)
                        + " may not attach a tool to the server of user "
                        + std::to_string(options_.owner.uid)
                        + "; ask as that user");
  const auto tools =
    std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& x) {
      return x.second.who.creds.uid == uid
             && x.second.who.role != peer_role::client;
    });
  if (static_cast<size_t>(tools) >= options_.tools_per_user)
    return make_error(status::out_of_resource,
                      "user " + std::to_string(uid) + " has "
                        + std::to_string(tools)
                        + " tools attached already; end some");
  return {};
}

bool sessions::is_taken(const requester& who) const {
  if (needs_identity(who.role))
    return false;
  const auto* entry = known_.find(who.proc.nspace);
  return entry != nullptr && entry->is_tool
         && entry->procs.count(who.proc.rank) > 0;
}

void sessions::refuse(promise& reply, caf::error why) {
  ++statistics_.refused_connections;
  reply.deliver(std::move(why));
}

void sessions::refuse_identified(requester who, promise& reply,
                                 caf::error why) {
  who.proc = {};
  self_->send(directory_.host, client_lost{std::move(who)});
  refuse(reply, std::move(why));
}

// -- how somebody is let in --

caf::result<connect_accepted, client_actor>
sessions::accept(const connect_request& request,
                 const connection_actor& connection) {
  auto reply = self_->make_response_promise<connect_accepted, client_actor>();
  if (request.claimed && request.claimed->uid != request.actual.uid) {
    refuse(reply,
           make_error(status::invalid_cred,
                      "the peer claims user "
                        + std::to_string(request.claimed->uid) + " but is "
                        + std::to_string(request.actual.uid)));
    return reply;
  }
  const auto who =
    requester{request.claimed_proc.value_or(proc_id{}), request.actual,
              request.role, request.version, next_index_++};
  // A tool started by a job has a client's identity and is let in as one.
  const auto* entry = known_.find(who.proc.nspace);
  const auto is_client = request.role == peer_role::client
                         || (entry != nullptr && !entry->is_tool
                             && entry->procs.count(who.proc.rank) > 0);
  if (!is_client)
    receive_tool(who, request.infos, connection, reply);
  else if (auto why = refusal(request.actual.uid, who.proc))
    refuse(reply, std::move(why));
  else
    admit_client({who, request.is_not_started}, request.can_share, connection,
                 reply);
  return reply;
}

void sessions::admit_client(const client_connected& what, bool can_share,
                            const connection_actor& connection, promise reply) {
  self_->request(directory_.host, defaults::host_answer, what)
    .then(
      [this, who = what.who, can_share, connection, reply](ack) mutable {
        // The job may have ended, or others may have connected meanwhile.
        if (auto why = refusal(who.creds.uid, who.proc))
          refuse(reply, std::move(why));
        else
          admit(who, can_share ? lend(who) : std::string{}, connection, reply);
      },
      [this, reply](caf::error& why) mutable {
        refuse(reply, std::move(why));
      });
}

std::string sessions::lend(const requester& who) {
  auto* entry = known_.find(who.proc.nspace);
  auto* proc = known_.find_local(who.proc);
  if (entry == nullptr || proc == nullptr || entry->is_tool
      || who.role != peer_role::client)
    return {};
  // Only who is the same user finds what this process has open.
  if (who.creds.uid != options_.owner.uid) {
    tell_unshared(*entry, who.proc.nspace,
                  "they are of user " + std::to_string(who.creds.uid)
                    + ", the server of user "
                    + std::to_string(options_.owner.uid),
                  options_.log);
    return {};
  }
  const auto memory = share_(*entry, who.proc.nspace);
  if (!memory)
    return {};
  if (proc->posts_by != 0)
    return memory->address();
  proc->posts_by = who.index;
  return memory->lend(who.proc.rank);
}

void sessions::receive_tool(const requester& who,
                            const std::vector<info>& infos,
                            const connection_actor& connection, promise reply) {
  auto why = tool_refusal(who.creds.uid);
  if (!why)
    why = name_refusal(who);
  if (why) {
    refuse(reply, std::move(why));
    return;
  }
  if (!is_taken(who)) {
    admit_tool(who, infos, connection, std::move(reply));
    return;
  }
  read_sessions_of(who.proc, [=]() mutable {
    if (is_taken(who))
      refuse(reply, already_taken(who.proc));
    else
      admit_tool(who, infos, connection, reply);
  });
}

void sessions::read_sessions_of(const proc_id& proc,
                                std::function<void()> then) {
  const auto all =
    all_of<std::monostate>{{}, [then](std::monostate) { then(); }};
  for (const auto& [index, session] : sessions_)
    if (session.who.proc == proc) {
      all.add();
      self_->request(session.handle, caf::infinite, read_now{})
        .then([all](const unread&) { all.done(); },
              [all](const caf::error&) { all.done(); });
    }
  all.done();
}

void sessions::admit_tool(const requester& who, const std::vector<info>& infos,
                          const connection_actor& connection, promise reply) {
  self_
    ->request(directory_.host, defaults::host_answer,
              tool_connected{who, infos})
    .then(
      [this, who, connection, reply](const proc_id& assigned) mutable {
        auto named = who;
        named.proc = assigned;
        admit_identified(named, who.proc == assigned, connection, reply);
      },
      [this, reply](caf::error& why) mutable {
        refuse(reply, std::move(why));
      });
}

void sessions::admit_identified(const requester& who, bool is_its_own,
                                const connection_actor& connection,
                                promise& reply) {
  auto why = tool_refusal(who.creds.uid);
  if (!why && is_its_own && is_taken(who))
    why = already_taken(who.proc);
  auto* entry = known_.find(who.proc.nspace);
  // A tool that joined a job would be waited for in its collectives.
  if (!why && entry != nullptr
      && (!entry->is_tool || entry->owner.uid != who.creds.uid))
    why = make_error(status::no_permissions,
                     "namespace " + who.proc.nspace
                       + " is a job's or another user's; ask for an"
                         " identity instead");
  if (why) {
    refuse_identified(who, reply, std::move(why));
    return;
  }
  if (entry == nullptr)
    add_tool(who);
  else
    entry->procs.try_emplace(who.proc.rank);
  admit(who, {}, connection, reply);
}

void sessions::add_tool(const requester& who) {
  const auto& id = options_.id;
  auto& entry = known_.add(
    who.proc.nspace, who.creds,
    job_data{who.proc.nspace,
             {make_info(attr::job_size, value::uint32(1)),
              make_info(attr::univ_size, value::uint32(1)),
              make_info(attr::max_procs, value::uint32(1)),
              make_info(attr::num_nodes, value::uint32(1)),
              make_info(attr::jobid, value::string(who.proc.nspace)),
              make_info(attr::hostname, value::string(options_.hostname)),
              make_info(attr::server_nspace, value::string(id.nspace)),
              make_info(attr::server_rank, value::rank(id.rank))}});
  entry.is_tool = true;
  entry.procs.try_emplace(who.proc.rank);
}

void sessions::admit(const requester& who, const std::string& shared,
                     const connection_actor& connection, promise& reply) {
  known_.stop_awaiting(who.proc);
  auto& proc = *known_.find_local(who.proc);
  ++proc.connections;
  proc.finalized = false;
  proc.state = proc_state::connected;
  auto session = spawn_client(self_->home_system(), who, server_actor{self_},
                              directory_.events, directory_.host, connection,
                              directory_.monitors, options_.next);
  on_admitted_(sessions_.emplace(who.index, entry{who, session}).first->second);
  ++statistics_.connections;
  log(severity::debug, to_string(who.proc) + " connected");
  auto accepted = connect_accepted{who.proc, options_.id, who.index, {}};
  self_->send(directory_.events, accepted);
  accepted.shared = shared;
  reply.deliver(accepted, std::move(session));
}

// -- how it ends --

bool sessions::end(const requester& who, bool finalized) {
  if (sessions_.erase(who.index) == 0)
    return false;
  self_->send(directory_.events, who, connection_lost{finalized});
  return true;
}

void sessions::close(const proc_id& proc, const std::string& reason) const {
  for (const auto& [index, session] : sessions_)
    if (session.who.proc == proc)
      self_->send(session.handle, close_connection{reason});
}

void sessions::close_all(const std::string& reason) const {
  for (const auto& [index, session] : sessions_)
    self_->send(session.handle, close_connection{reason});
}

template <class Predicate>
void sessions::forget_those(Predicate are_meant, const char* reason) {
  for (auto i = sessions_.begin(); i != sessions_.end();) {
    const auto& session = i->second;
    if (!are_meant(session.who.proc)) {
      ++i;
      continue;
    }
    self_->send(session.handle, close_connection{reason});
    self_->send(directory_.events, session.who, connection_lost{});
    i = sessions_.erase(i);
  }
}

void sessions::forget(const std::string& nspace) {
  forget_those([&](const proc_id& x) { return x.nspace == nspace; },
               "its job is over");
}

void sessions::drop(const proc_id& proc) {
  forget_those([&](const proc_id& x) { return x == proc; },
               "its process has been started again");
}

caf::result<ack> sessions::pass_output(const requester& who,
                                       io_delivery& what) const {
  const auto i = sessions_.find(who.index);
  if (i == sessions_.end())
    return make_error(status::unreach,
                      to_string(who.proc) + " is not connected any more");
  return self_->delegate(i->second.handle, std::move(what));
}

caf::result<client_actor> sessions::find(const proc_id& proc) const {
  for (const auto& [index, session] : sessions_)
    if (session.who.proc == proc)
      return session.handle;
  return make_error(status::not_found, to_string(proc) + " is not connected");
}

void sessions::log(severity level, const std::string& line) const {
  if (options_.log)
    options_.log(level, line);
}

} // namespace troupe
