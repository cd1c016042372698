#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_tracker.hpp"
#include "actors/server_groups.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

// What happens to groups: events that processes raise, entries of their logs,
// and what follows for the sessions.

namespace troupe::server_internals {

namespace {

/// An invitation makes a group of the invited and the inviter. So does the
/// answer of a process that knows its leader otherwise.
caf::expected<open_group*> begin_by_event(self_pointer self,
                                          const requester& who,
                                          const std::string& id,
                                          const notify_request& request) {
  auto& state = self->state;
  const auto* range = find(request.infos, attr::event_custom_range);
  auto written = range != nullptr ? procs_of(*range) : std::vector<proc_id>{};
  if (written.empty())
    return nullptr;
  written.push_back(who.proc);
  if (auto why = id_refusal(state, id))
    return why;
  if (auto why = procs_refusal(state, id, written))
    return why;
  const auto participants = spelt_out(state, written);
  const auto key = state.groups.invitation(who.proc, id, participants);
  if (!key)
    return key.error();
  auto& group = open_tracker(self, *key, who.proc.nspace, false, participants,
                             std::move(written), {});
  group.leader = who.proc;
  group.local[who.proc] = use::taking_part;
  return &group;
}

/// Whether a process takes part in a group of this name other than `but`.
bool has_another(server_state& state, const proc_id& proc,
                 const std::string& id, const open_group* but) {
  const auto of = state.groups.of(proc, id);
  return std::any_of(of.begin(), of.end(), [&](const auto& x) {
    return x.second != but && x.second->local.at(proc) == use::taking_part;
  });
}

caf::error name_in_use(const proc_id& proc, const std::string& id) {
  return make_error(status::exists,
                    to_string(proc) + " has to do with a group " + id
                      + " already; let it end, or take another name");
}

/// A process accepts an invitation: it is in one group of a name at most, and
/// whoever has invited it to another hears that it cannot come.
caf::error begin_to_take_part(self_pointer self, const proc_id& proc,
                              open_group& group) {
  auto& groups = self->state.groups;
  const auto i =
    std::find_if(groups.all().begin(), groups.all().end(),
                 [&](const auto& x) { return &x.second == &group; });
  if (has_another(self->state, proc, i->first.id, &group)) {
    tell_conflict(self, proc, group.tracker, i->first.id);
    return name_in_use(proc, i->first.id);
  }
  if (group.members == nullptr)
    group.local[proc] = use::taking_part;
  return {};
}

/// A group to which others may have added a process later: an answer says which
/// invitation it is about, or names the inviter.
open_group* later_group_of(server_state& state,
                           const std::optional<std::string>& id,
                           std::optional<uint64_t> invitation,
                           const std::vector<proc_id>& named) {
  for (auto& [key, group] : state.groups.all()) {
    if (group.members != nullptr || (id && key.id != *id)
        || (invitation && key.generation != *invitation))
      continue;
    const auto is_named =
      group.leader
        ? std::find(named.begin(), named.end(), *group.leader) != named.end()
        : id && key.participants != 0;
    if (invitation || is_named)
      return &group;
  }
  return nullptr;
}

/// The group that an event is about; null if it is about none.
open_group* group_of(server_state& state, const requester& who,
                     const notify_request& request) {
  const auto id = text(request.infos, attr::group_id);
  const auto invitation =
    number<uint64_t>(request.infos, group_keys::invitation);
  const auto* range = find(request.infos, attr::event_custom_range);
  const auto named =
    range != nullptr ? procs_of(*range) : std::vector<proc_id>{};
  auto found = std::pair<uint64_t, open_group*>{UINT64_MAX, nullptr};
  for (auto& [key, group] : state.groups.all()) {
    const auto local = group.local.find(who.proc);
    if (local == group.local.end() || local->second == use::released
        || (id && key.id != *id)
        || (invitation && key.generation != *invitation))
      continue;
    // A leader invites once for each group that is open; one who leads since
    // knows which.
    if (request.code == status::group_invited
        && ((group.leader != who.proc && !invitation)
            || group.members != nullptr))
      continue;
    // Answers of older clients name their inviter only.
    if (!id
        && (!group.leader || group.members != nullptr
            || std::find(named.begin(), named.end(), *group.leader)
                 == named.end()))
      continue;
    const auto age = key.generation & 0xffffffff;
    if (age < found.first)
      found = {age, &group};
  }
  if (found.second != nullptr
      || (request.code != status::group_invite_accepted
          && request.code != status::group_invite_declined
          && request.code != status::group_verdict))
    return found.second;
  // Those that are added to a group are not named when it begins.
  return later_group_of(state, id, invitation, named);
}

/// Gives an answer to an invitation to its group. The tracker may be gone by
/// then: whoever declines has its will, whoever accepts is too late.
/// Source: requirements, G36.
caf::result<ack> pass_answer(self_pointer self, const requester& who,
                             const open_group& group, notify_request request) {
  auto owed = std::make_shared<answer<ack>>(self->make_response_promise<ack>());
  const auto promise = owed->promise();
  const auto declines = request.code == status::group_invite_declined;
  self->request(group.tracker, caf::infinite, who, std::move(request))
    .then([owed](const ack&) { owed->give({}); },
          [owed, declines, who](caf::error& why) {
            if (status_of(why) != status::unreach)
              owed->fail(why);
            else if (declines)
              owed->give({});
            else
              owed->fail(status::not_a_member, "the invitation that "
                                                 + to_string(who.proc)
                                                 + " means is over");
          });
  return promise;
}

/// Opens a group that has begun on another node, and gives its tracker what has
/// come for it.
caf::result<ack> enter(self_pointer self, group_entry_ordered& what) {
  auto& state = self->state;
  const auto& key = what.entry.group;
  auto* group = state.groups.find(key);
  if (group == nullptr) {
    const auto& written = what.entry.participants;
    if ((written.empty() && key.participants != 0) || state.groups.is_over(key))
      return ack{};
    auto nspace = written.empty() ? std::string{} : written.front().nspace;
    const auto* notice = std::get_if<group_notice>(&what.entry.what);
    if (notice != nullptr)
      nspace = notice->source.nspace;
    else if (const auto* calls = std::get_if<group_calls>(&what.entry.what);
             calls != nullptr && !calls->callers.empty())
      nspace = calls->callers.front().proc.nspace;
    group = &open_tracker(self, key, nspace, notice == nullptr,
                          spelt_out(state, written), written, what.hosts);
    if (notice != nullptr)
      group->leader = notice->source;
  }
  return self->delegate(group->tracker, std::move(what));
}

} // namespace

caf::result<ack> notify_group(self_pointer self, const requester& who,
                              notify_request& request) {
  auto& state = self->state;
  auto& infos = request.infos;
  infos.erase(
    std::remove_if(infos.begin(), infos.end(),
                   [](const info& x) { return x.key == group_conflict_key; }),
    infos.end());
  const auto id = text(infos, attr::group_id);
  auto* group = group_of(state, who, request);
  // No plain event, and not the beginning of another group.
  if (group == nullptr && find(infos, group_keys::invitation) != nullptr)
    return make_error(status::not_a_member, "the invitation that "
                                              + to_string(who.proc)
                                              + " means is over");
  if (request.code == status::group_invited && id)
    if (auto why = timeout_refusal(infos))
      return why;
  if (group == nullptr && id
      && (request.code == status::group_invited
          || request.code == status::group_invite_accepted)) {
    if (has_another(state, who.proc, *id, nullptr))
      return name_in_use(who.proc, *id);
    auto begun = begin_by_event(self, who, *id, request);
    if (!begun)
      return begun.error();
    group = *begun;
  }
  if (group == nullptr)
    return make_error(status::not_found,
                      "the event of " + to_string(who.proc)
                        + " concerns no group that it is in");
  if (request.code == status::group_invite_accepted)
    if (auto why = begin_to_take_part(self, who.proc, *group))
      return why;
  if (request.code == status::group_invite_accepted
      || request.code == status::group_invite_declined)
    return pass_answer(self, who, *group, std::move(request));
  return self->delegate(group->tracker, who, std::move(request));
}

caf::result<ack> take_group_entry(self_pointer self,
                                  group_entry_ordered& what) {
  auto& state = self->state;
  const auto nspace = state.groups.find(what.entry.group) == nullptr
                        ? first_elsewhere(state, what.entry.participants)
                        : std::nullopt;
  auto waiting = state.group_entries.find(what.entry.group);
  if (!nspace && waiting == state.group_entries.end())
    return enter(self, what);
  // Its participants are made known first; entries keep their order.
  auto owed = std::make_shared<answer<ack>>(self->make_response_promise<ack>());
  auto promise = owed->promise();
  const auto key = what.entry.group;
  const auto is_first = waiting == state.group_entries.end();
  state.group_entries[key].emplace_back(std::move(what), std::move(owed));
  if (is_first)
    fetch_namespace(
      self, requester{}, *nspace, [self, key](const caf::error& why) {
        if (why)
          self->state.log(severity::warning, reason_of(why));
        auto node = self->state.group_entries.extract(key);
        for (auto& [entry, reply] : node.mapped())
          self->request(server_actor{self}, caf::infinite, std::move(entry))
            .then([reply](ack) { reply->give({}); },
                  [reply](caf::error& err) { reply->fail(std::move(err)); });
      });
  return promise;
}

void change_group(self_pointer self, const group_changed& what) {
  auto& state = self->state;
  reduce_collectives(self, what);
  auto* group = state.groups.find(what.group);
  if (group == nullptr)
    return;
  auto news = std::map<proc_id, std::shared_ptr<const std::vector<proc_id>>>{};
  const auto had_members = group->members != nullptr;
  for (const auto& proc : what.released) {
    group->local[proc] = use::released;
    news[proc] = nullptr;
  }
  if (group->members != what.members) {
    // Members are those now who were awaited, invited or added.
    auto now = std::set<proc_id>{};
    if (what.members != nullptr)
      for (const auto& proc : *what.members)
        if (const auto* local = state.find_local(proc);
            local != nullptr && !local->is_gone()) {
          auto& it = group->local[proc];
          if (it == use::released)
            continue;
          it = use::taking_part;
          news[proc] = what.members;
          now.insert(proc);
        }
    // Whoever has done with it may have made another of its name.
    if (had_members)
      for (const auto& proc : *group->members)
        if (const auto i = group->local.find(proc);
            i != group->local.end() && now.count(proc) == 0
            && i->second != use::released)
          news[proc] = nullptr;
    group->members = what.members;
  }
  tell_sessions(self, what.group.id, news);
}

} // namespace troupe::server_internals
