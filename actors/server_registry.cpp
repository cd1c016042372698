#include "actors/jobs/process_sets.hpp"
#include "actors/server_state.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

// What the host registers: namespaces, clients, resources, process sets.

namespace troupe::server_internals {

namespace {

/// Why a namespace may not have this name, if so.
caf::error name_refusal(const std::string& nspace) {
  if (nspace.empty() || nspace.size() > max_nspace_length)
    return make_error(status::bad_param, "a namespace has 1 to 255 bytes, not "
                                           + std::to_string(nspace.size()));
  return {};
}

/// Takes the data of a namespace whose processes are known already.
void complete(server_state& state, namespace_entry& entry, job_data data,
              const register_nspace& request) {
  entry.is_provisional = false;
  entry.data = std::move(data);
  for (const auto rank : request.local_ranks) {
    const auto [i, is_new] = entry.procs.try_emplace(rank);
    if (!is_new)
      continue;
    i->second.may_connect = !request.clients_follow;
    state.expect(entry, i->second);
    ++state.options.registered->total;
  }
}

/// What happens is kept for the processes of a namespace from now on.
void await_interest(self_pointer self, const std::string& nspace,
                    const namespace_entry& entry) {
  auto what = expect_procs{nspace, {}};
  for (const auto& [rank, proc] : entry.procs)
    if (!proc.is_gone())
      what.ranks.push_back(rank);
  self->send(self->state.directory.events, std::move(what));
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
    {std::string{attr::event_non_default}, 0, value::boolean(true)});
  caf::anon_send(self->state.directory.events, std::move(what));
}

} // namespace

caf::result<ack> add_namespace(self_pointer self, register_nspace& request) {
  auto& state = self->state;
  if (auto why = name_refusal(request.nspace))
    return why;
  auto* known = state.find_namespace(request.nspace);
  if (known != nullptr && known->is_foreign) {
    state.namespaces.erase(request.nspace);
    known = nullptr;
  }
  if (known != nullptr && !known->is_provisional && !request.clients_follow)
    return make_error(status::exists,
                      "namespace " + request.nspace + " is registered already");
  auto infos = std::move(request.infos);
  for (const auto& x : state.resources)
    if (find(infos, x.key) == nullptr)
      infos.push_back(x);
  auto data = job_data{request.nspace, infos};
  if (known != nullptr) {
    complete(state, *known, std::move(data), request);
    await_interest(self, request.nspace, *known);
    return ack{};
  }
  auto entry = namespace_entry{state.options.posted};
  entry.owner = request.owner;
  entry.data = std::move(data);
  for (const auto rank : request.local_ranks)
    entry.procs[rank].may_connect = !request.clients_follow;
  state.expect_procs(entry);
  await_interest(self, request.nspace, entry);
  state.namespaces.emplace(request.nspace, std::move(entry));
  return ack{};
}

caf::result<ack> add_client(self_pointer self, const register_client& request) {
  auto& state = self->state;
  const auto& [nspace, rank] = request.proc;
  if (auto why = name_refusal(nspace))
    return why;
  if (rank > rank_valid_max)
    return make_error(status::bad_param,
                      to_string(request.proc) + " names no single process");
  auto* entry = state.find_namespace(nspace);
  if (entry == nullptr) {
    auto fresh = namespace_entry{state.options.posted};
    fresh.is_provisional = true;
    entry = &state.namespaces.emplace(nspace, std::move(fresh)).first->second;
  }
  const auto is_first =
    std::none_of(entry->procs.begin(), entry->procs.end(),
                 [](const auto& x) { return x.second.may_connect; });
  if (is_first)
    entry->owner = request.owner;
  else if (entry->owner.uid != request.owner.uid)
    return make_error(status::bad_param,
                      "namespace " + nspace + " is user "
                        + std::to_string(entry->owner.uid) + "'s, not user "
                        + std::to_string(request.owner.uid) + "'s");
  const auto [i, is_new] = entry->procs.try_emplace(rank);
  if (!is_new && i->second.is_gone())
    i->second = local_proc{}; // It is started anew.
  i->second.may_connect = true;
  state.expect(*entry, i->second);
  if (is_new)
    ++state.options.registered->total;
  self->send(self->state.directory.events, expect_procs{nspace, {rank}});
  return ack{};
}

caf::result<ack> remove_client(self_pointer self, const proc_id& proc) {
  auto& state = self->state;
  auto* known = state.find_local(proc);
  if (known == nullptr)
    return make_error(status::not_found,
                      to_string(proc) + " is not registered on this node");
  state.stop_awaiting(*state.find_namespace(proc.nspace), *known);
  known->may_connect = false;
  known->state = proc_state::terminated;
  self->send(state.directory.events, proc_ended{proc, proc_state::terminated});
  tell_monitors(self, proc_ended{proc, proc_state::terminated});
  for (const auto& [index, session] : state.sessions)
    if (session.who.proc == proc)
      self->send(session.handle, close_connection{"the host let it go"});
  leave_collectives(self, proc, "the host let it go");
  tell_groups(self, proc_ended{proc, proc_state::terminated});
  wake_gets(self, proc);
  return ack{};
}

caf::result<ack> add_resources(self_pointer self, register_resources& request) {
  auto& known = self->state.resources;
  for (auto& x : request.infos) {
    const auto i = std::find_if(known.begin(), known.end(), [&](const info& y) {
      return x.key == y.key && x.key.find("array") == std::string::npos;
    });
    if (i != known.end())
      *i = std::move(x);
    else if (known.size() < defaults::resources)
      known.push_back(std::move(x));
    else
      return make_error(status::out_of_resource,
                        "more than " + std::to_string(defaults::resources)
                          + " resources registered");
  }
  return ack{};
}

caf::result<ack> remove_resources(self_pointer self,
                                  const deregister_resources& request) {
  auto& known = self->state.resources;
  for (const auto& x : request.infos)
    known.erase(std::remove_if(known.begin(), known.end(),
                               [&](const info& y) { return x.key == y.key; }),
                known.end());
  return ack{};
}

caf::result<ack> define_set(self_pointer self, define_process_set& request) {
  if (auto why = set_name_refusal(request.name))
    return why;
  if (request.members.empty())
    return make_error(status::bad_param,
                      "process set " + request.name + " has no members");
  auto& sets = self->state.process_sets;
  const auto known = sets.find(request.name);
  if (known != sets.end() && known->second == request.members)
    return ack{};
  if (sets.size() >= defaults::process_sets && sets.count(request.name) == 0)
    return make_error(status::out_of_resource,
                      "more than " + std::to_string(defaults::process_sets)
                        + " process sets");
  announce(
    self, status::process_set_define,
    {{std::string{attr::pset_name}, 0, value::string(request.name)},
     {std::string{attr::pset_members}, 0, value::procs(request.members)}});
  sets[request.name] = std::move(request.members);
  return ack{};
}

caf::result<ack> delete_set(self_pointer self,
                            const delete_process_set& request) {
  if (self->state.process_sets.erase(request.name) == 0)
    return make_error(status::not_found,
                      "there is no process set " + request.name);
  announce(self, status::process_set_delete,
           {{std::string{attr::pset_name}, 0, value::string(request.name)}});
  return ack{};
}

caf::result<ack> pass_output(self_pointer self, const requester& who,
                             io_delivery& what) {
  const auto i = self->state.sessions.find(who.index);
  if (i == self->state.sessions.end())
    return make_error(status::unreach,
                      to_string(who.proc) + " is not connected any more");
  return self->delegate(i->second.handle, std::move(what));
}

} // namespace troupe::server_internals
