#include "actors/server_groups.hpp"

#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_tracker.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

// Which groups there are on this node. What becomes of one is for its tracker.

namespace troupe::server_internals {

namespace {

/// Has a tracker let its construction fail with this status, for this reason.
void tell_fault(self_pointer self, const proc_id& proc,
                const group_tracker_actor& tracker, status code,
                std::string why) {
  auto what =
    notify_request{status::group_construct_abort, data_range::local, {}};
  what.infos.push_back(
    {std::string{group_conflict_key}, 0, value::string(std::move(why))});
  what.infos.push_back({std::string{group_conflict_code}, 0,
                        value::integer(static_cast<int32_t>(code))});
  auto who = requester{};
  who.proc = proc;
  self->request(tracker, caf::infinite, std::move(who), std::move(what))
    .then(
      [](ack) {
        // All its callers hear of it.
      },
      [](const caf::error&) {
        // It is over.
      });
}

} // namespace

void tell_conflict(self_pointer self, const proc_id& proc,
                   const group_tracker_actor& tracker, const std::string& id) {
  tell_fault(self, proc, tracker, status::exists,
             to_string(proc) + " names different participants for group " + id);
}

namespace {

/// A local participant that is in another group of the name.
std::optional<proc_id> busy_participant(server_state& state,
                                        const group_key& key) {
  auto* group = state.groups.find(key);
  if (group == nullptr || group->members != nullptr || group->leader)
    return std::nullopt;
  for (const auto& [proc, how] : group->local)
    if (how == use::awaited)
      for (const auto& [other, x] : state.groups.of(proc, key.id))
        if (other->participants != key.participants
            && x->local.at(proc) == use::taking_part)
          return proc;
  return std::nullopt;
}

/// A construction that waits for a member of another group of its name cannot
/// complete, unless that group is about to end. If that one is under
/// construction, too, both fail: whoever waits for the other is told by nobody
/// else once this one is over.
void look_for_conflict(self_pointer self, const group_key& key) {
  if (!busy_participant(self->state, key))
    return;
  call_later(self, defaults::group_decision, [self, key] {
    auto& groups = self->state.groups;
    const auto proc = busy_participant(self->state, key);
    if (!proc)
      return;
    for (const auto& [other, x] : groups.of(*proc, key.id))
      if (other->participants != key.participants && x->members == nullptr
          && !x->leader && x->local.at(*proc) == use::taking_part)
        tell_conflict(self, *proc, x->tracker, key.id);
    tell_conflict(self, *proc, groups.find(key)->tracker, key.id);
  });
}

} // namespace

open_group& open_tracker(self_pointer self, const group_key& key,
                         const std::string& nspace, bool is_counted,
                         const std::vector<proc_id>& participants,
                         std::vector<proc_id> written,
                         std::vector<uint32_t> hosts) {
  auto& state = self->state;
  auto& group = state.groups.add(key, nspace, is_counted);
  auto options = group_tracker_options{};
  options.key = key;
  options.participants = participants;
  options.written = std::move(written);
  for (const auto& proc : participants) {
    const auto* local = state.find_local(proc);
    if (local == nullptr)
      continue;
    options.local.push_back(proc);
    if (local->is_gone())
      options.gone.push_back(proc);
    else
      group.local.emplace(proc, use::awaited);
  }
  options.spans_nodes = state.options.spans_nodes;
  options.hosts = std::move(hosts);
  options.lost = state.groups.lost();
  for (const auto& proc : state.groups.ended())
    if (const auto* local = state.find_local(proc);
        local != nullptr && local->is_gone())
      options.ended.insert(proc);
  options.number = state.groups.next_number();
  options.log = state.options.log;
  group.tracker = spawn_group_tracker(self->home_system(), std::move(options),
                                      server_actor{self}, state.directory.host,
                                      state.directory.events);
  look_for_conflict(self, key);
  return group;
}

void tell_sessions(
  self_pointer self, const std::string& id,
  const std::map<proc_id, std::shared_ptr<const std::vector<proc_id>>>& news) {
  if (news.empty())
    return;
  // Most are about one process.
  const auto& first = news.begin()->first;
  for (const auto& [index, session] : self->state.sessions)
    if (const auto i = session.who.proc == first ? news.begin()
                       : news.size() == 1        ? news.end()
                                                 : news.find(session.who.proc);
        i != news.end())
      self->send(session.handle, group_known{id, i->second});
}

namespace {

/// Why a call may not begin or join a construction, if so.
caf::error refusal(server_state& state, const requester& who,
                   const group_construct_request& request) {
  if (auto why = id_refusal(state, request.id))
    return why;
  if (auto why = procs_refusal(state, request.id, request.procs))
    return why;
  if (auto why = timeout_refusal(request.directives))
    return why;
  const auto is_member =
    request.procs.empty()
    || std::any_of(request.procs.begin(), request.procs.end(),
                   [&](const proc_id& x) { return matches(x, who.proc); });
  if (!is_member)
    return make_error(status::not_a_member,
                      to_string(who.proc)
                        + " is not among the processes it names for group "
                        + request.id);
  return {};
}

/// The group in which a process takes part; null if there is none.
open_group* joined_group(server_state& state, const proc_id& proc,
                         const std::string& id) {
  for (auto& [key, group] : state.groups.of(proc, id))
    if (group->local.at(proc) == use::taking_part)
      return group;
  return nullptr;
}

caf::error no_group(const requester& who, const std::string& id) {
  return make_error(status::not_found,
                    to_string(who.proc) + " is in no group " + id);
}

/// Endpoints that clients from 6.0 on add to their call: what they have put
/// since they last committed. Source: OpenPMIx 6.1, construct_msg.
/// @returns why they are refused, if so.
caf::error take_endpoints(self_pointer self, const requester& who,
                          std::vector<info>& directives) {
  auto* entry = self->state.find_namespace(who.proc.nspace);
  auto blocks = std::vector<posted_data>{};
  for (const auto& x : directives) {
    if (x.key != attr::proc_data || entry == nullptr)
      continue;
    auto block = posted_data{scope::remote, {}};
    for (auto& y : infos_of(x.val))
      if (y.key != attr::procid && y.key != attr::data_scope)
        block.entries.push_back({std::move(y.key), std::move(y.val)});
    blocks.push_back(std::move(block));
  }
  if (blocks.empty())
    return {};
  if (const auto code = entry->posted.commit(who.proc.rank, blocks);
      code != status::success)
    return make_error(code, to_string(who.proc)
                              + " gives its group more than it may post");
  directives.erase(
    std::remove_if(directives.begin(), directives.end(),
                   [](const info& x) { return x.key == attr::proc_data; }),
    directives.end());
  wake_gets(self, who.proc);
  return {};
}

/// A construction that others may have added a process to.
open_group* construction_of(server_state& state, const std::string& id) {
  for (auto& [key, group] : state.groups.all())
    if (key.id == id && group.members == nullptr && !group.leader
        && key.participants != 0)
      return &group;
  return nullptr;
}

/// The first namespace that a call names and that may be on other nodes only,
/// those whom it adds included.
std::optional<std::string>
first_elsewhere_in(const server_state& state,
                   const group_construct_request& request) {
  auto result = first_elsewhere(state, request.procs);
  if (!result)
    if (const auto* x = find(request.directives, attr::group_add_members))
      result = first_elsewhere(state, procs_of(*x));
  return result;
}

/// Spells wildcards out among those that a call adds: each of them is awaited.
void spell_out_added(server_state& state, std::vector<info>& directives) {
  for (auto& x : directives)
    if (x.key == attr::group_add_members
        && !procs_refusal(state, {}, procs_of(x.val)))
      x.val = value::procs(spelt_out(state, procs_of(x.val)));
}

} // namespace

caf::result<group_construct_result>
construct_group(self_pointer self, const requester& who,
                group_construct_request& request) {
  auto& state = self->state;
  if (const auto nspace = first_elsewhere_in(state, request))
    return ask_again<group_construct_result>(self, who, *nspace, request,
                                             status::invalid_namespace);
  if (auto why = refusal(state, who, request))
    return why;
  spell_out_added(state, request.directives);
  // Those who bootstrap a group do not know each other; those who are added to
  // one name nobody.
  const auto leads =
    number<uint64_t>(request.directives, attr::group_bootstrap).value_or(0) > 0;
  if (leads) {
    request.procs.clear();
  } else if (request.procs.empty()) {
    auto* group = construction_of(state, request.id);
    if (group != nullptr && group->local.count(who.proc) == 0) {
      group->local[who.proc] = use::taking_part;
      return self->delegate(group->tracker, who, std::move(request));
    }
  }
  if (auto why = take_endpoints(self, who, request.directives))
    return why;
  const auto participants = spelt_out(state, request.procs);
  const auto is_local =
    !participants.empty()
    && std::all_of(participants.begin(), participants.end(),
                   [&](const proc_id& x) { return state.find_local(x); });
  const auto place =
    state.groups.place(who.proc, request.id, participants, is_local);
  if (!place)
    return place.error();
  auto& group = place->is_new ? open_tracker(self, place->key, who.proc.nspace,
                                             place->is_counted, participants,
                                             request.procs, {})
                              : *state.groups.find(place->key);
  group.local[who.proc] = use::taking_part;
  group.is_led = group.is_led || leads;
  tell_sessions(self, request.id, {{who.proc, nullptr}});
  const auto id = request.id;
  const auto tracker = group.tracker;
  const auto is_hopeless = request.procs.empty() && is_leaderless(state, group);
  auto result = self->delegate(tracker, who, std::move(request));
  if (is_hopeless)
    tell_fault(self, who.proc, tracker, status::bad_param,
               "nobody is named for group " + id
                 + ", and there is nobody left who could lead it: name its"
                   " processes, or give PMIX_GROUP_BOOTSTRAP");
  if (place->is_conflict)
    tell_conflict(self, who.proc, tracker, id);
  for (const auto& key : place->conflicting)
    tell_conflict(self, who.proc, state.groups.find(key)->tracker, id);
  return result;
}

caf::result<ack> destruct_group(self_pointer self, const requester& who,
                                group_destruct_request& request) {
  auto* group = joined_group(self->state, who.proc, request.id);
  if (group == nullptr)
    return no_group(who, request.id);
  if (auto why = timeout_refusal(request.directives))
    return why;
  return self->delegate(group->tracker, who, std::move(request));
}

caf::result<ack> leave_group(self_pointer self, const requester& who,
                             group_leave_request& request) {
  auto* group = joined_group(self->state, who.proc, request.id);
  if (group == nullptr)
    return no_group(who, request.id);
  return self->delegate(group->tracker, who, std::move(request));
}

void close_group(self_pointer self, const group_over& what) {
  self->state.table.forget(what.group);
  self->state.groups.remove(what.group);
}

caf::result<group_data> group_data_here(self_pointer self,
                                        const group_data& what) {
  auto& state = self->state;
  auto result = group_data{};
  for (const auto& x : what.procs) {
    auto* entry = state.find_namespace(x.proc.nspace);
    if (entry != nullptr && !x.entries.empty()) {
      entry->posted.store_remote(x.proc.rank, x.entries);
      wake_gets(self, x.proc);
    }
    result.procs.push_back(
      {x.proc, entry != nullptr && x.entries.empty()
                 ? entry->posted.visible_elsewhere(x.proc.rank)
                 : std::vector<key_value>{}});
  }
  return result;
}

void tell_groups(self_pointer self, const proc_ended& what) {
  auto& groups = self->state.groups;
  groups.note_ended(what.proc);
  for (auto& [key, group] : groups.all())
    // While a group is being made, others may add it.
    if (group.local.erase(what.proc) > 0 || group.members == nullptr)
      self->send(group.tracker, what);
}

void tell_groups(self_pointer self, const host_node_lost& what) {
  self->state.groups.note_lost(what.rank);
  for (const auto& [key, group] : self->state.groups.all())
    self->send(group.tracker, what);
}

void tell_session_groups(self_pointer self, const session_entry& session) {
  for (const auto& [key, group] : self->state.groups.all()) {
    const auto i = group.local.find(session.who.proc);
    if (group.members != nullptr && i != group.local.end()
        && i->second == use::taking_part)
      self->send(session.handle, group_known{key.id, group.members});
  }
}

caf::result<group_list> list_groups_here(self_pointer self) {
  auto& groups = self->state.groups.all();
  if (groups.empty())
    return group_list{};
  struct collection {
    answer<group_list> reply;
    group_list found;
    size_t missing = 0;
  };
  auto all = std::make_shared<collection>();
  all->reply = answer<group_list>{self->make_response_promise<group_list>()};
  all->missing = groups.size();
  auto promise = all->reply.promise();
  const auto count = [all] {
    if (--all->missing == 0)
      all->reply.give(std::move(all->found));
  };
  for (const auto& [key, group] : groups)
    self->request(group.tracker, caf::infinite, get_group_status{})
      .then(
        [all, count](group_status& x) {
          all->found.groups.push_back(std::move(x));
          count();
        },
        [count](const caf::error&) { count(); });
  return promise;
}

} // namespace troupe::server_internals
