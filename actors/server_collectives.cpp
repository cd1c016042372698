#include "actors/collective.hpp"
#include "actors/data/qualified_value.hpp"
#include "actors/groups/group_keys.hpp"
#include "actors/named_procs.hpp"
#include "actors/ranks_named.hpp"
#include "actors/server_state.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace troupe::server_internals {

namespace {

/// Names a few of many.
std::string names(const std::vector<proc_id>& procs) {
  constexpr auto most = size_t{8};
  auto result = std::string{};
  for (size_t i = 0; i < std::min(procs.size(), most); ++i)
    result += (i > 0 ? ", " : "") + to_string(procs[i]);
  if (procs.size() > most)
    result += " and " + std::to_string(procs.size() - most) + " more";
  return result;
}

std::string to_string(collective_kind kind) {
  switch (kind) {
    case collective_kind::connect:
      return "connect";
    case collective_kind::disconnect:
      return "disconnect";
    default:
      return "fence";
  }
}

/// The participants on this node.
std::set<proc_id> local_participants(server_state& state,
                                     const std::vector<proc_id>& procs) {
  auto result = std::set<proc_id>{};
  for (const auto& proc : procs) {
    auto* entry = state.find_namespace(proc.nspace);
    if (entry == nullptr)
      continue;
    if (proc.rank == rank_wildcard) {
      for (const auto& [rank, unused] : entry->procs)
        result.insert({proc.nspace, rank});
    } else if (entry->procs.count(proc.rank) > 0) {
      result.insert(proc);
    }
  }
  return result;
}

/// Each process once, and a namespace that is named whole as its wildcard, so
/// that naming all its ranks and naming the namespace mean the same operation.
std::vector<proc_id> canonical(server_state& state,
                               const std::vector<proc_id>& procs) {
  if (procs.size() == 1)
    return procs;
  auto result = std::vector<proc_id>{};
  for (const auto& [nspace, members] : ranks_named(procs)) {
    const auto* entry = state.find_namespace(nspace);
    const auto size = entry != nullptr ? entry->data.job_size() : std::nullopt;
    if (std::binary_search(members.begin(), members.end(), rank_wildcard)
        || (size && *size == members.size()))
      result.push_back({nspace, rank_wildcard});
    else
      for (const auto rank : members)
        result.push_back({nspace, rank});
  }
  return result;
}

/// Why a call may not take part, if so.
caf::error refusal(server_state& state, const requester& who,
                   const std::vector<proc_id>& procs) {
  const auto is_member =
    std::any_of(procs.begin(), procs.end(),
                [&](const proc_id& proc) { return matches(proc, who.proc); });
  if (!is_member)
    return make_error(status::bad_param,
                      troupe::to_string(who.proc)
                        + " is not among the processes it names");
  if (const auto count = count_named(state, procs); !count)
    return count.error();
  return {};
}

/// Why an operation on connections cannot begin, if so.
/// Source: PMIx Standard v5, `PMIx_Disconnect`.
caf::error connection_refusal(const server_state& state, collective_kind kind,
                              const std::vector<proc_id>& procs) {
  if (kind == collective_kind::disconnect && !state.connected.contains(procs))
    return make_error(status::invalid_operation,
                      names(procs)
                        + " are not connected: name those that PMIx_Connect "
                          "has connected, in the same way");
  if (kind == collective_kind::connect && !state.connected.has_room(procs))
    return make_error(status::out_of_resource,
                      "too many sets of processes are connected ("
                        + std::to_string(defaults::groups_per_namespace)
                        + " of one namespace); disconnect some");
  return {};
}

/// Whether a fence over connected processes ends their connection: Open MPI
/// calls one where it means `PMIx_Disconnect`. Its processes are known by what
/// they post.
/// Source: Open MPI 4.1 to 5.0, MPI_Comm_disconnect.
bool disconnects(server_state& state, const collective_table::operation& x) {
  if (x.kind != collective_kind::fence || x.procs.size() < 2
      || !state.connected.contains(x.procs))
    return false;
  const auto& joined = x.members.joined();
  return std::any_of(joined.begin(), joined.end(), [&](const proc_id& proc) {
    const auto* entry = state.find_namespace(proc.nspace);
    if (entry == nullptr)
      return false;
    const auto& posted = entry->posted.visible_here(proc.rank);
    return std::any_of(posted.begin(), posted.end(), [](const auto& y) {
      const auto key = posted_key(y.first);
      return key.compare(0, 4, "btl.") == 0 || key.compare(0, 4, "pml.") == 0
             || key.compare(0, 4, "mtl.") == 0;
    });
  });
}

/// Notes what an operation that has succeeded means for who is connected.
void note_connection(server_state& state,
                     const collective_table::operation& x) {
  if (x.kind == collective_kind::connect)
    state.connected.connect(x.procs);
  else if (x.kind == collective_kind::disconnect || disconnects(state, x))
    state.connected.disconnect(x.procs);
}

/// The operation has failed: tells whoever has joined it here.
void conclude(self_pointer self, uint64_t id, status code,
              const std::string& why) {
  auto& state = self->state;
  auto* found = state.table.find(id);
  if (found == nullptr)
    return;
  auto& x = *found;
  const auto i = state.collectives.find(x.id);
  if (i == state.collectives.end())
    return;
  // The first reason counts; a later one may settle it.
  if (!std::exchange(x.failed, true)) {
    const auto reason =
      to_string(x.kind) + " of " + names(x.procs) + ": " + why;
    state.log(severity::info, reason);
    self->send(i->second.handle, collective_failed{code, reason});
  }
  if (x.members.is_settled()) {
    self->send(i->second.handle, collective_retired{x.id});
    state.collectives.erase(i);
    state.table.retire(x.id);
  }
}

/// Tells the host that not all participants of this node have joined.
void tell_host(self_pointer self, const collective_table::operation& x,
               status code, const std::string& why) {
  auto ask = host_collective{};
  ask.kind = x.kind;
  ask.procs = x.procs;
  ask.generation = x.generation;
  ask.failure = code;
  ask.reason = why;
  ask.is_fault_tolerant = x.is_fault_tolerant;
  self->request(self->state.directory.host, caf::infinite, std::move(ask))
    .then(
      [](const host_collective_result&) {
        // It has completed; its actor hears of it.
      },
      [self, id = x.id](const caf::error& err) {
        conclude(self, id, status_of(err), reason_of(err));
      });
}

/// The operation cannot complete. If other nodes take part, it fails when all
/// agree on it: it may have been decided already.
void fail(self_pointer self, collective_table::operation& x, status code,
          const std::string& why) {
  auto& state = self->state;
  if (x.failed || x.generation == 0 || !state.options.spans_nodes) {
    conclude(self, x.id, code, why);
    return;
  }
  if (!std::exchange(x.is_given_up, true))
    tell_host(self, x, code, why);
}

/// Asks the host to be told if operations fail for which processes of this node
/// are missing. Most are over before it comes to that.
void watch(self_pointer self) {
  auto& state = self->state;
  state.is_watch_due = false;
  for (const auto id : state.table.incomplete()) {
    auto* x = state.table.find(id);
    if (x != nullptr && !std::exchange(x->is_watched, true))
      tell_host(self, *x, status::operation_in_progress, {});
  }
}

void time_out(self_pointer self, uint64_t id) {
  auto* x = self->state.table.find(id);
  if (x == nullptr || x->failed)
    return;
  const auto missing = x->members.missing();
  fail(self, *x, status::timeout,
       "timed out; missing "
         + (missing.empty() ? "processes of other nodes" : names(missing)));
}

/// Whether all participants are on this node.
bool is_local(server_state& state, const std::vector<proc_id>& procs) {
  return std::all_of(procs.begin(), procs.end(), [&](const proc_id& proc) {
    const auto* entry = state.find_namespace(proc.nspace);
    return entry != nullptr
           && (entry->is_local() || entry->procs.count(proc.rank) > 0);
  });
}

/// What local participants have posted for others.
std::vector<proc_data> contributions(server_state& state,
                                     const collective_table::operation& x) {
  auto result = std::vector<proc_data>{};
  for (const auto& proc : x.members.joined())
    if (const auto* entry = state.find_namespace(proc.nspace))
      result.push_back({proc, entry->posted.visible_elsewhere(proc.rank)});
  return result;
}

std::vector<job_info> jobs_of(server_state& state,
                              const std::vector<proc_id>& procs) {
  auto nspaces = std::set<std::string>{};
  for (const auto& proc : procs)
    nspaces.insert(proc.nspace);
  auto result = std::vector<job_info>{};
  for (const auto& nspace : nspaces)
    if (const auto* entry = state.find_namespace(nspace))
      result.push_back(*entry->data.all());
  return result;
}

/// The group by whose name a fence means its participants.
std::optional<group_key> group_of(server_state& state, const requester& who,
                                  collective_kind kind,
                                  const std::vector<info>& directives) {
  const auto id = kind == collective_kind::fence
                    ? text(directives, group_keys::fence)
                    : std::nullopt;
  auto result = std::optional<group_key>{};
  if (id)
    for (const auto& [key, group] : state.groups.of(who.proc, *id))
      if (group->members)
        result = *key;
  return result;
}

/// An actor for a new operation: one that has done with another, or a new one.
collective_actor obtain_collective(self_pointer self) {
  auto& idle = self->state.idle_collectives;
  if (idle.empty())
    return spawn_collective(self->home_system(), server_actor{self},
                            self->state.directory.host);
  auto result = std::move(idle.back());
  idle.pop_back();
  return result;
}

} // namespace

caf::expected<collective_actor> join(self_pointer self, const requester& who,
                                     collective_kind kind,
                                     std::vector<proc_id> procs,
                                     const std::vector<info>& directives,
                                     uint64_t& id) {
  auto& state = self->state;
  if (procs.empty())
    procs.push_back({who.proc.nspace, rank_wildcard});
  if (auto why = refusal(state, who, procs))
    return why;
  const auto participants = canonical(state, procs);
  if (auto why = connection_refusal(state, kind, participants))
    return why;
  const auto goes_on = flag(directives, attr::group_ft_collective);
  const auto group = group_of(state, who, kind, directives);
  auto* x = group ? state.table.join_reduced(*group, who.proc) : nullptr;
  auto is_new = false;
  if (x == nullptr)
    std::tie(x, is_new) = state.table.join(
      kind, who.proc, participants,
      [&] { return local_participants(state, participants); },
      [&] { return !is_local(state, participants); }, group);
  id = x->id;
  x->is_fault_tolerant |= goes_on;
  if (is_new) {
    if (state.table.size() > defaults::collectives_in_flight
        || state.table.counted() > defaults::collective_signatures) {
      state.table.retire(x->id);
      return make_error(status::out_of_resource,
                        "more than "
                          + std::to_string(defaults::collectives_in_flight)
                          + " collective operations in flight");
    }
    auto open = open_collective{};
    open.handle = obtain_collective(self);
    for (const auto& y : directives)
      if (y.key != group_keys::fence)
        open.directives.push_back(y);
    state.collectives.emplace(x->id, std::move(open));
  }
  auto& open = state.collectives.at(x->id);
  if (!open.has_deadline)
    if (const auto timeout = timeout_of(directives)) {
      open.has_deadline = true;
      call_later(self, *timeout, [self, id = x->id] { time_out(self, id); });
    }
  return open.handle;
}

void check_complete(self_pointer self, uint64_t id) {
  auto& state = self->state;
  auto* x = state.table.find(id);
  if (x == nullptr)
    return;
  // Whoever ended before the operation began will not join it; of those that
  // end later the server hears.
  if (!std::exchange(state.collectives.at(id).checked, true)) {
    for (const auto& proc : x->members.missing()) {
      const auto* local = state.find_local(proc);
      if (local != nullptr && local->is_gone() && x->members.drop(proc)
          && !x->is_fault_tolerant) {
        fail(self, *x, status::lost_connection,
             troupe::to_string(proc) + " had ended");
        if (state.table.find(id) == nullptr)
          return;
      }
    }
  }
  if (!x->members.is_settled()) {
    if (state.options.spans_nodes && x->generation > 0 && !x->is_watched
        && !std::exchange(state.is_watch_due, true))
      call_later(self, defaults::collective_watch, [self] { watch(self); });
    return;
  }
  if (x->is_given_up && !x->failed)
    return;
  auto& open = state.collectives.at(id);
  if (x->failed) {
    self->send(open.handle, collective_retired{id});
    state.collectives.erase(id);
    state.table.retire(id);
    return;
  }
  auto ready = collective_ready{};
  ready.id = id;
  ready.call.kind = x->kind;
  ready.call.procs = x->procs;
  ready.call.directives = open.directives;
  ready.call.generation = x->generation;
  ready.call.is_fault_tolerant = x->is_fault_tolerant;
  ready.call.is_local = is_local(state, x->procs);
  if (disconnects(state, *x))
    ready.call.directives.push_back(
      {std::string{disconnecting_fence}, 0, value::boolean(true)});
  if (!ready.call.is_local && flag(open.directives, attr::collect_data))
    ready.call.data = contributions(state, *x);
  if (x->kind == collective_kind::connect)
    ready.jobs = jobs_of(state, x->procs);
  self->send(open.handle, std::move(ready));
}

void retire_collective(self_pointer self, const collective_retired& what) {
  auto& state = self->state;
  const auto id = what.id;
  const auto* x = state.table.find(id);
  if (x != nullptr && what.succeeded && !x->failed)
    note_connection(state, *x);
  state.table.retire(id);
  auto node = state.collectives.extract(id);
  if (node.empty())
    return;
  auto& handle = node.mapped().handle;
  if (state.idle_collectives.size() < state.options.idle_collectives)
    state.idle_collectives.push_back(std::move(handle));
  else
    self->send(handle, collective_retired{id});
}

void leave_collectives(self_pointer self, const proc_id& proc,
                       const std::string& reason) {
  auto& table = self->state.table;
  auto ids = std::vector<uint64_t>{};
  for (const auto* x : table.drop(proc))
    ids.push_back(x->id);
  for (const auto id : ids) {
    auto* x = table.find(id);
    if (x != nullptr && x->is_fault_tolerant && !x->failed)
      check_complete(self, id);
    else if (x != nullptr)
      fail(self, *x, status::lost_connection,
           troupe::to_string(proc) + " can not join: " + reason);
  }
}

void reduce_collectives(self_pointer self, const group_changed& what) {
  auto& state = self->state;
  if (what.departed.empty())
    return;
  const auto found = state.table.reduce(what.group, what.departed);
  for (const auto id : found.remaining)
    check_complete(self, id);
  for (const auto id : found.failing)
    if (auto* x = state.table.find(id)) {
      // Who has not called will name the others only.
      const auto missing = x->members.missing();
      for (const auto& proc : missing)
        x->members.drop(proc);
      fail(self, *x, status::lost_connection,
           names(what.departed) + " left group " + what.group.id);
    }
  if (!state.options.spans_nodes)
    return;
  // The host tells the operations of a group by the upper half of their
  // generations; there is no first one.
  auto ask = host_collective{};
  ask.procs = what.departed;
  ask.generation = uint64_t{collective_table::salt_of(what.group)} << 32;
  ask.failure = status::lost_connection;
  ask.reason = "left group " + what.group.id;
  self->request(state.directory.host, caf::infinite, std::move(ask))
    .then([](const host_collective_result&) {}, [](const caf::error&) {});
}

} // namespace troupe::server_internals
