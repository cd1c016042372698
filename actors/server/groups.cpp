#include "actors/server/groups.hpp"

#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_tracker.hpp"
#include "base/all_of.hpp"
#include "base/log_levels.hpp"
#include "base/make_info.hpp"
#include "base/timeout.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace troupe {

namespace {

caf::error no_group(const requester& who, const std::string& id) {
  return make_error(status::not_found, to_string(who.proc) + " is in no group "
                                         + id + "; wait until it is complete");
}

caf::error name_in_use(const proc_id& proc, const std::string& id) {
  return make_error(status::exists,
                    to_string(proc) + " has to do with a group " + id
                      + " already; let it end, or take another name");
}

caf::error invitation_over(const requester& who) {
  return make_error(status::not_a_member, "the invitation that "
                                            + to_string(who.proc)
                                            + " means is over");
}

/// Why the directives of a call cannot be followed, if so: a time-out that is
/// no number. Source: edge case 171.
caf::error timeout_refusal(const std::vector<info>& directives) {
  if (has_sound_timeout(directives))
    return {};
  return make_error(status::bad_param,
                    "PMIX_TIMEOUT is a number of seconds, not a value of type "
                      + to_string(find(directives, attr::timeout)->type)
                      + "; give 1 or more");
}

} // namespace

groups::groups(server_actor::pointer self, const server_options& options,
               const server_directory& directory, registry& known, gets& data,
               const sessions& connections, call_later later)
  : self_(self), options_(options), actors_(directory), known_(known),
    data_(data), sessions_(connections), call_later_(std::move(later)),
    directory_(options.groups_per_namespace),
    meetings_(
      known,
      {[this](const std::string& nspace, const shared_group& what) {
         carry_out(nspace, what);
       },
       [this] {
         return uint64_t{here_.value_or(0)} << 32 | directory_.next_number();
       },
       [this](const std::string& nspace) { return directory_.room(nspace); }}) {
  // Of a server by itself there is one node.
  if (!options.spans_nodes)
    here_ = 0;
}

template <class Result, class Request>
caf::result<Result> groups::ask_again(const requester& who,
                                      const std::string& nspace,
                                      Request& request) {
  return answer_later<Result>(self_, [&](completion<Result> done) {
    data_.fetch(who, nspace,
                [this, who, done = std::move(done),
                 request = std::move(request)](const caf::error& why) {
                  if (why)
                    done(make_error(status::invalid_namespace, reason_of(why)));
                  else
                    ask(self_, server_actor{self_}, done, who, request);
                });
  });
}

// -- checks --

caf::error groups::id_refusal(const std::string& id) const {
  if (id.empty() || id.size() > max_nspace_length)
    return make_error(status::bad_param,
                      "the name of a group has 1 to "
                        + std::to_string(max_nspace_length) + " bytes, not "
                        + std::to_string(id.size()) + "; choose another");
  if (known_.find(id) != nullptr)
    return make_error(status::bad_param,
                      id + " is a namespace; give the group a name of its own");
  return {};
}

caf::error groups::procs_refusal(const std::string& id,
                                 const std::vector<proc_id>& procs) const {
  const auto count = known_.count_named(procs);
  if (!count)
    return count.error();
  if (*count > defaults::group_participants)
    return make_error(status::out_of_resource,
                      "group " + id + " has more than "
                        + std::to_string(defaults::group_participants)
                        + " participants; name fewer");
  return {};
}

bool groups::is_leaderless(const open_group& group) const {
  if (group.is_led || options_.spans_nodes)
    return false;
  for (const auto& [nspace, entry] : known_.namespaces()) {
    if (!entry.is_tool && !entry.is_local())
      return false;
    for (const auto& [rank, proc] : entry.procs) {
      if (!proc.is_gone() && group.local.of({nspace, rank}) != use::taking_part)
        return false;
    }
  }
  return true;
}

caf::error groups::refusal(const requester& who,
                           const group_construct_request& request) const {
  if (auto why = id_refusal(request.id))
    return why;
  if (auto why = procs_refusal(request.id, request.procs))
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
                        + request.id + "; name it, too");
  return {};
}

std::optional<std::string>
groups::first_elsewhere(const group_construct_request& request) const {
  auto result = data_.first_elsewhere(request.procs);
  if (!result)
    if (const auto* x = find(request.directives, attr::group_add_members))
      result = data_.first_elsewhere(procs_of(*x));
  return result;
}

// -- conflicts --

void groups::tell_fault(const proc_id& proc, open_group& group, status code,
                        std::string why) {
  auto what =
    notify_request{status::group_construct_abort, data_range::local, {}};
  what.infos.push_back(
    make_info(group_conflict_key, value::string(std::move(why))));
  what.infos.push_back(
    make_info(group_conflict_code, value::integer(static_cast<int32_t>(code))));
  auto who = requester{};
  who.proc = proc;
  self_->request(reach(group), caf::infinite, std::move(who), std::move(what))
    .then(
      [](ack) {
        // All its callers hear of it.
      },
      [](const caf::error&) {
        // It is over.
      });
}

void groups::tell_conflict(const proc_id& proc, open_group& group) {
  tell_fault(proc, group, status::exists,
             to_string(proc) + " names different participants for group "
               + group.key->id);
}

std::optional<proc_id> groups::busy_participant(const group_key& key) {
  auto* group = directory_.find(key);
  if (group == nullptr || group->members != nullptr || group->leader)
    return std::nullopt;
  auto result = std::optional<proc_id>{};
  group->local.for_each([&](const proc_id& proc, use how) {
    if (result || how != use::awaited)
      return;
    for (const auto& [other, x] : directory_.of(proc, key.id))
      if (other->participants != key.participants
          && x->local.of(proc) == use::taking_part)
        result = proc;
  });
  return result;
}

/// A construction that waits for a member of another group of its name cannot
/// complete, unless that group is about to end. If that one is under
/// construction, too, both fail: whoever waits for the other is told by nobody
/// else once this one is over.
void groups::look_for_conflict(const group_key& key) {
  if (!busy_participant(key))
    return;
  call_later_(defaults::group_decision, [this, key] {
    const auto proc = busy_participant(key);
    if (!proc)
      return;
    for (const auto& [other, x] : directory_.of(*proc, key.id))
      if (other->participants != key.participants && x->members == nullptr
          && !x->leader && x->local.of(*proc) == use::taking_part)
        tell_conflict(*proc, *x);
    tell_conflict(*proc, *directory_.find(key));
  });
}

// -- groups that are made without us --

bool groups::are_whole_job(const std::vector<proc_id>& procs) const {
  const auto* entry =
    procs.empty() ? nullptr : known_.find(procs.front().nspace);
  return entry != nullptr && entry->is_local()
         && procs.size() == entry->procs.size()
         && std::all_of(procs.begin(), procs.end(), [&](const proc_id& x) {
              return x.nspace == procs.front().nspace;
            });
}

void groups::share(const proc_id& proc, bool is_first) {
  if (!is_first)
    // Calls of its rank may come by both connections.
    meetings_.bar(proc.nspace);
  else if (!meetings_.is_known(proc.nspace))
    let_meet(proc.nspace);
}

void groups::let_meet(const std::string& nspace) {
  if (here_) {
    meetings_.open(nspace);
    return;
  }
  if (!is_host_asked_ || !asked_.empty())
    asked_.insert(nspace);
  if (is_host_asked_)
    return;
  // A host that conducts groups itself does not say it: then all ask us.
  is_host_asked_ = true;
  self_
    ->request(actors_.host, caf::infinite,
              locate_procs{{{nspace, rank_wildcard}}})
    .then(
      [this](const proc_places& found) {
        here_ = found.here;
        for (const auto& x : std::exchange(asked_, {}))
          if (!meetings_.is_known(x))
            meetings_.open(x);
      },
      [this](const caf::error& why) {
        asked_.clear();
        is_host_asked_ = status_of(why) == status::not_supported;
      });
}

void groups::carry_out(const std::string& nspace, const shared_group& what) {
  if (what.has_ended)
    note_ended(nspace, what.id);
  else
    note_made(nspace, what);
}

void groups::note_made(const std::string& nspace, const shared_group& what) {
  const auto procs = known_.spelt_out({{nspace, rank_wildcard}});
  const auto key =
    group_key{what.id, group_directory::hash(procs), directory_.next_number()};
  auto& group = directory_.add(key, nspace, false);
  group.rest = rest_of_made_group(key, procs, what.context_id);
  group.members = std::make_shared<const std::vector<proc_id>>(procs);
  auto news = news_of_sessions{};
  for (const auto& proc : procs) {
    group.local.set(proc, use::taking_part);
    news.emplace(proc, group.members);
  }
  for (const auto& proc : procs)
    if (const auto* local = known_.find_local(proc);
        local != nullptr && local->is_gone())
      self_->send(reach(group), proc_ended{proc, proc_state::terminated});
  tell_sessions(what.id, news);
}

void groups::note_ended(const std::string& nspace, const std::string& id) {
  const auto procs = known_.spelt_out({{nspace, rank_wildcard}});
  const auto of = procs.empty()
                    ? std::vector<std::pair<const group_key*, open_group*>>{}
                    : directory_.of(procs.front(), id);
  const auto which = group_directory::hash(procs);
  const auto i = std::find_if(of.begin(), of.end(), [&](const auto& x) {
    return x.first->participants == which && x.second->members != nullptr;
  });
  if (i == of.end())
    return;
  const auto key = *i->first;
  auto news = news_of_sessions{};
  i->second->local.for_each(
    [&](const proc_id& proc, use) { news.emplace(proc, nullptr); });
  if (i->second->tracker)
    caf::anon_send_exit(i->second->tracker, caf::exit_reason::user_shutdown);
  directory_.remove(key);
  tell_sessions(id, news);
  self_->send(server_actor{self_}, group_over{key});
}

// -- which group --

groups::open_group* groups::joined(const proc_id& proc, const std::string& id) {
  for (auto& [key, group] : directory_.of(proc, id))
    if (group->local.of(proc) == use::taking_part)
      return group;
  return nullptr;
}

groups::open_group* groups::construction_of(const std::string& id) {
  for (auto& [key, group] : directory_.all())
    if (key.id == id && group.members == nullptr && !group.leader
        && key.participants != 0)
      return &group;
  return nullptr;
}

groups::open_group* groups::group_of(const requester& who,
                                     const notify_request& request) {
  const auto id = text(request.infos, attr::group_id);
  const auto invitation =
    number<uint64_t>(request.infos, group_keys::invitation);
  const auto* range = find(request.infos, attr::event_custom_range);
  const auto named =
    range != nullptr ? procs_of(*range) : std::vector<proc_id>{};
  // What a leader says before it has heard the number is of what it leads, not of a
  // group of that name that waits for its call.
  const auto prefers_led =
    !invitation
    && (request.code == status::group_construct_complete
        || request.code == status::group_construct_abort);
  auto* result = static_cast<open_group*>(nullptr);
  auto first = std::pair{true, UINT64_MAX};
  for (auto& [key, group] : directory_.all()) {
    const auto how = group.local.of(who.proc);
    if (!how || how == use::released || (id && key.id != *id)
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
    const auto leads = group.leader == who.proc && group.members == nullptr;
    const auto order =
      std::pair{prefers_led && !leads, key.generation & 0xffffffff};
    if (order < first) {
      first = order;
      result = &group;
    }
  }
  if (result != nullptr
      || (request.code != status::group_invite_accepted
          && request.code != status::group_invite_declined
          && request.code != status::group_verdict))
    return result;
  // Those that are added to a group are not named when it begins.
  return later_group_of(id, invitation, named);
}

groups::open_group* groups::later_group_of(const std::optional<std::string>& id,
                                           std::optional<uint64_t> invitation,
                                           const std::vector<proc_id>& named) {
  for (auto& [key, group] : directory_.all()) {
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

bool groups::has_another(const proc_id& proc, const std::string& id,
                         const open_group* but) {
  const auto of = directory_.of(proc, id);
  return std::any_of(of.begin(), of.end(), [&](const auto& x) {
    return x.second != but && x.second->local.of(proc) == use::taking_part;
  });
}

// -- trackers -----------------------------------------------------------------

const group_tracker_actor& groups::reach(open_group& group) {
  if (!group.tracker) {
    auto options = group_tracker_options{};
    options.key = *group.key;
    options.spans_nodes = options_.spans_nodes;
    options.rest = group.rest;
    options.log = about(options_.log, log_subject::groups);
    group.tracker =
      spawn_group_tracker(self_->home_system(), std::move(options),
                          server_actor{self_}, actors_.host, actors_.events);
    group.rest = {};
    group.sent = 0;
  }
  ++group.sent;
  return group.tracker;
}

void groups::let_rest(group_rests& what) {
  auto* group = directory_.find(what.group);
  if (group == nullptr || !group->tracker || group->is_lent
      || group->sent != what.taken)
    return;
  group->rest = std::move(what.state);
  caf::anon_send_exit(std::exchange(group->tracker, {}),
                      caf::exit_reason::user_shutdown);
}

// -- how a group begins --

group_tracker_options
groups::options_of(const group_key& key,
                   const std::vector<proc_id>& participants,
                   std::vector<proc_id> written) const {
  auto result = group_tracker_options{};
  result.key = key;
  result.participants = participants;
  result.written = std::move(written);
  for (const auto& proc : participants)
    if (const auto* local = known_.find_local(proc)) {
      result.local.push_back(proc);
      if (local->is_gone())
        result.gone.push_back(proc);
    }
  result.spans_nodes = options_.spans_nodes;
  result.lost = directory_.lost();
  for (const auto& proc : directory_.ended())
    if (const auto* local = known_.find_local(proc);
        local != nullptr && local->is_gone())
      result.ended.insert(proc);
  result.log = about(options_.log, log_subject::groups);
  return result;
}

groups::open_group&
groups::open_tracker(const group_key& key, const std::string& nspace,
                     bool is_counted, const std::vector<proc_id>& participants,
                     std::vector<proc_id> written,
                     std::vector<uint32_t> hosts) {
  auto& group = directory_.add(key, nspace, is_counted);
  auto options = options_of(key, participants, std::move(written));
  for (const auto& proc : options.local)
    if (!known_.find_local(proc)->is_gone())
      group.local.set(proc, use::awaited);
  options.hosts = std::move(hosts);
  options.number = directory_.next_number();
  group.tracker =
    spawn_group_tracker(self_->home_system(), std::move(options),
                        server_actor{self_}, actors_.host, actors_.events);
  look_for_conflict(key);
  return group;
}

caf::error groups::take_endpoints(const requester& who,
                                  std::vector<info>& directives) {
  auto* entry = known_.find(who.proc.nspace);
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
  data_.take_over(who.proc);
  if (const auto code = entry->posted.commit(who.proc.rank, blocks);
      code != status::success)
    return make_error(code,
                      to_string(who.proc)
                        + " gives its group more than it may post; post less");
  directives.erase(
    std::remove_if(directives.begin(), directives.end(),
                   [](const info& x) { return x.key == attr::proc_data; }),
    directives.end());
  data_.wake(who.proc);
  return {};
}

caf::expected<groups::open_group*>
groups::begin_by_event(const requester& who, const std::string& id,
                       const notify_request& request) {
  const auto* range = find(request.infos, attr::event_custom_range);
  auto written = range != nullptr ? procs_of(*range) : std::vector<proc_id>{};
  if (written.empty())
    return nullptr;
  written.push_back(who.proc);
  if (auto why = id_refusal(id))
    return why;
  if (auto why = procs_refusal(id, written))
    return why;
  const auto participants = known_.spelt_out(written);
  const auto key = directory_.invitation(who.proc, id, participants);
  if (!key)
    return key.error();
  auto& group = open_tracker(*key, who.proc.nspace, false, participants,
                             std::move(written), {});
  group.leader = who.proc;
  group.local.set(who.proc, use::taking_part);
  return &group;
}

caf::error groups::begin_to_take_part(const proc_id& proc, open_group& group) {
  if (has_another(proc, group.key->id, &group)) {
    tell_conflict(proc, group);
    return name_in_use(proc, group.key->id);
  }
  if (group.members == nullptr)
    group.local.set(proc, use::taking_part);
  return {};
}

// -- calls of processes --

caf::result<group_construct_result>
groups::construct(const requester& who, group_construct_request& request) {
  catch_up();
  if (const auto nspace = first_elsewhere(request))
    return ask_again<group_construct_result>(who, *nspace, request);
  if (auto why = refusal(who, request))
    return why;
  // Those that a call adds are awaited one by one.
  for (auto& x : request.directives)
    if (x.key == attr::group_add_members && !procs_refusal({}, procs_of(x.val)))
      x.val = value::procs(known_.spelt_out(procs_of(x.val)));
  // Those who bootstrap a group do not know each other; those who are added to
  // one name nobody.
  const auto leads =
    number<uint64_t>(request.directives, attr::group_bootstrap).value_or(0) > 0;
  if (leads) {
    request.procs.clear();
  } else if (request.procs.empty()) {
    auto* group = construction_of(request.id);
    if (group != nullptr && !group->local.of(who.proc)) {
      group->local.set(who.proc, use::taking_part);
      return self_->delegate(reach(*group), who, std::move(request));
    }
  }
  if (auto why = take_endpoints(who, request.directives))
    return why;
  const auto participants = known_.spelt_out(request.procs);
  if (are_whole_job(participants))
    meetings_.interrupt(participants.front().nspace);
  const auto is_local =
    !participants.empty()
    && std::all_of(participants.begin(), participants.end(),
                   [&](const proc_id& x) { return known_.find_local(x); });
  const auto place =
    directory_.place(who.proc, request.id, participants, is_local);
  if (!place)
    return place.error();
  auto& group = place->is_new
                  ? open_tracker(place->key, who.proc.nspace, place->is_counted,
                                 participants, request.procs, {})
                  : *directory_.find(place->key);
  group.local.set(who.proc, use::taking_part);
  group.is_led = group.is_led || leads;
  tell_sessions(request.id, {{who.proc, nullptr}});
  const auto id = request.id;
  const auto is_hopeless = request.procs.empty() && is_leaderless(group);
  auto result = self_->delegate(reach(group), who, std::move(request));
  if (is_hopeless)
    tell_fault(who.proc, group, status::bad_param,
               "nobody is named for group " + id
                 + ", and there is nobody left who could lead it: name its"
                   " processes, or give PMIX_GROUP_BOOTSTRAP");
  if (place->is_conflict)
    tell_conflict(who.proc, group);
  for (const auto& key : place->conflicting)
    tell_conflict(who.proc, *directory_.find(key));
  return result;
}

caf::result<ack> groups::destruct(const requester& who,
                                  group_destruct_request& request) {
  catch_up();
  auto* group = joined(who.proc, request.id);
  if (group == nullptr)
    return no_group(who, request.id);
  if (auto why = timeout_refusal(request.directives))
    return why;
  meetings_.note_end(who.proc.nspace, request.id);
  return self_->delegate(reach(*group), who, std::move(request));
}

caf::result<ack> groups::leave(const requester& who,
                               group_leave_request& request) {
  catch_up();
  auto* group = joined(who.proc, request.id);
  if (group == nullptr)
    return no_group(who, request.id);
  // The others are to end it without this one.
  meetings_.close(who.proc.nspace);
  return self_->delegate(reach(*group), who, std::move(request));
}

caf::result<ack> groups::notify(const requester& who, notify_request& request) {
  catch_up();
  auto& infos = request.infos;
  infos.erase(
    std::remove_if(infos.begin(), infos.end(),
                   [](const info& x) { return x.key == group_conflict_key; }),
    infos.end());
  const auto id = text(infos, attr::group_id);
  auto* group = group_of(who, request);
  // No plain event, and not the beginning of another group.
  if (group == nullptr && find(infos, group_keys::invitation) != nullptr)
    return invitation_over(who);
  if (request.code == status::group_invited && id)
    if (auto why = timeout_refusal(infos))
      return why;
  if (group == nullptr && id
      && (request.code == status::group_invited
          || request.code == status::group_invite_accepted)) {
    if (has_another(who.proc, *id, nullptr))
      return name_in_use(who.proc, *id);
    auto begun = begin_by_event(who, *id, request);
    if (!begun)
      return begun.error();
    group = *begun;
  }
  if (group == nullptr)
    return make_error(status::not_found,
                      "the event of " + to_string(who.proc)
                        + " concerns no group that it is in");
  if (request.code == status::group_invite_accepted)
    if (auto why = begin_to_take_part(who.proc, *group))
      return why;
  if (request.code == status::group_invite_accepted
      || request.code == status::group_invite_declined)
    return pass_answer(who, *group, std::move(request));
  return self_->delegate(reach(*group), who, std::move(request));
}

caf::result<ack> groups::pass_answer(const requester& who, open_group& group,
                                     notify_request request) {
  const auto declines = request.code == status::group_invite_declined;
  return answer_later<ack>(self_, [&](completion<ack> done) {
    ask<ack>(
      self_, reach(group),
      [done = std::move(done), declines, who](caf::expected<ack> x) {
        if (x || status_of(x.error()) != status::unreach)
          done(std::move(x));
        else if (declines)
          done(ack{});
        else
          done(invitation_over(who));
      },
      who, std::move(request));
  });
}

// -- logs of groups, and trackers --

caf::result<ack> groups::take(group_entry_ordered& what) {
  catch_up();
  const auto nspace = directory_.find(what.entry.group) == nullptr
                        ? data_.first_elsewhere(what.entry.participants)
                        : std::nullopt;
  auto waiting = waiting_.find(what.entry.group);
  if (!nspace && waiting == waiting_.end())
    return enter(what);
  // Its participants are made known first; entries keep their order.
  return answer_later<ack>(self_, [&](completion<ack> done) {
    const auto key = what.entry.group;
    const auto is_first = waiting == waiting_.end();
    waiting_[key].emplace_back(std::move(what), std::move(done));
    if (is_first)
      data_.fetch({}, *nspace, [this, key](const caf::error& why) {
        if (why && options_.log)
          options_.log(severity::warning, reason_of(why));
        auto node = waiting_.extract(key);
        for (auto& [entry, reply] : node.mapped())
          ask(self_, server_actor{self_}, reply, std::move(entry));
      });
  });
}

caf::result<ack> groups::enter(group_entry_ordered& what) {
  const auto& key = what.entry.group;
  auto* group = directory_.find(key);
  if (group == nullptr) {
    const auto& written = what.entry.participants;
    if ((written.empty() && key.participants != 0) || directory_.is_over(key))
      return ack{};
    auto nspace = written.empty() ? std::string{} : written.front().nspace;
    const auto* notice = std::get_if<group_notice>(&what.entry.what);
    if (notice != nullptr)
      nspace = notice->source.nspace;
    else if (const auto* calls = std::get_if<group_calls>(&what.entry.what);
             calls != nullptr && !calls->callers.empty())
      nspace = calls->callers.front().proc.nspace;
    group = &open_tracker(key, nspace, notice == nullptr,
                          known_.spelt_out(written), written, what.hosts);
    if (notice != nullptr)
      group->leader = notice->source;
  }
  return self_->delegate(reach(*group), std::move(what));
}

void groups::change(const group_changed& what) {
  auto* group = directory_.find(what.group);
  if (group == nullptr)
    return;
  auto news = news_of_sessions{};
  const auto had_members = group->members != nullptr;
  const auto is_known =
    had_members && what.members != nullptr && *group->members == *what.members;
  if (is_known)
    group->members = what.members;
  for (const auto& proc : what.released) {
    group->local.set(proc, use::released);
    news[proc] = nullptr;
  }
  if (group->members != what.members) {
    // Members are those now who were awaited, invited or added.
    auto now = std::set<proc_id>{};
    if (what.members != nullptr)
      for (const auto& proc : *what.members)
        if (const auto* local = known_.find_local(proc);
            local != nullptr && !local->is_gone()) {
          if (group->local.of(proc) == use::released)
            continue;
          group->local.set(proc, use::taking_part);
          news[proc] = what.members;
          now.insert(proc);
        }
    // Whoever has done with it may have made another of its name.
    if (had_members)
      for (const auto& proc : *group->members)
        if (const auto how = group->local.of(proc);
            how && now.count(proc) == 0 && how != use::released)
          news[proc] = nullptr;
    group->members = what.members;
  }
  tell_sessions(what.group.id, news);
  if (!had_members && what.members != nullptr)
    let_meet_again(what);
}

/// All that are named have asked us for a group: if they are a whole job, none of
/// it waits in the memory.
void groups::let_meet_again(const group_changed& what) {
  if (!are_whole_job(*what.members))
    return;
  auto procs = *what.members;
  std::sort(procs.begin(), procs.end());
  if (what.group.participants == group_directory::hash(procs)
      && !directory_.find(what.group)->leader)
    let_meet(procs.front().nspace);
}

void groups::close(const group_over& what) {
  directory_.remove(what.group);
}

group_data groups::exchange(const group_data& what) {
  auto result = group_data{};
  for (const auto& x : what.procs) {
    auto* entry = known_.find(x.proc.nspace);
    if (entry != nullptr && !x.entries.empty()) {
      entry->posted.store_given(x.proc.rank, x.entries);
      data_.wake(x.proc);
    }
    result.procs.push_back(
      {x.proc, entry != nullptr && x.entries.empty()
                 ? entry->posted.visible_elsewhere(x.proc.rank)
                 : std::vector<key_value>{}});
  }
  return result;
}

// -- processes, nodes and sessions --

void groups::tell(const proc_ended& what) {
  meetings_.close(what.proc.nspace);
  catch_up();
  directory_.note_ended(what.proc);
  for (auto& [key, group] : directory_.all())
    // While a group is being made, others may add it.
    if (group.local.erase(what.proc) || group.members == nullptr)
      self_->send(reach(group), what);
}

void groups::tell(const host_node_lost& what) {
  catch_up();
  directory_.note_lost(what.rank);
  for (auto& [key, group] : directory_.all())
    self_->send(reach(group), what);
}

void groups::greet(const sessions::entry& session) {
  catch_up();
  for (const auto& [key, group] : directory_.all()) {
    if (group.members != nullptr
        && group.local.of(session.who.proc) == use::taking_part)
      self_->send(session.handle, group_known{key.id, group.members});
  }
}

void groups::tell_sessions(const std::string& id,
                           const news_of_sessions& news) {
  if (news.empty())
    return;
  // Most are about one process.
  const auto& first = news.begin()->first;
  for (const auto& [index, session] : sessions_.all())
    if (const auto i = session.who.proc == first ? news.begin()
                       : news.size() == 1        ? news.end()
                                                 : news.find(session.who.proc);
        i != news.end())
      self_->send(session.handle, group_known{id, i->second});
}

bool groups::are_members(const proc_id& who, const std::string& id,
                         const proc_id& other) {
  catch_up();
  for (const auto& [key, group] : directory_.of(who, id))
    if (group->members
        && std::find(group->members->begin(), group->members->end(), other)
             != group->members->end())
      return true;
  return false;
}

std::optional<group_key> groups::find_member(const proc_id& proc,
                                             const std::string& id) {
  catch_up();
  auto result = std::optional<group_key>{};
  for (const auto& [key, group] : directory_.of(proc, id))
    if (group->members)
      result = *key;
  return result;
}

caf::result<group_list> groups::list() {
  catch_up();
  if (directory_.all().empty())
    return group_list{};
  return answer_later<group_list>(self_, [this](completion<group_list> done) {
    const auto all = all_of<group_list>{
      {}, [done = std::move(done)](group_list& found) {
        const auto by_key = [](const group_status& x, const group_status& y) {
          return x.group < y.group;
        };
        std::sort(found.groups.begin(), found.groups.end(), by_key);
        done(std::move(found));
      }};
    for (auto& [key, group] : directory_.all()) {
      if (!group.tracker) {
        all->groups.push_back(describe_rest(key, group.rest));
        continue;
      }
      all.add();
      self_->request(reach(group), caf::infinite, get_group_status{})
        .then(
          [all](group_status& x) {
            all->groups.push_back(std::move(x));
            all.done();
          },
          [all](const caf::error&) { all.done(); });
    }
    all.done();
  });
}

caf::result<group_tracker_actor> groups::tracker_of(const group_key& key) {
  if (auto* group = directory_.find(key)) {
    group->is_lent = true;
    return reach(*group);
  }
  return make_error(status::not_found, "no group " + key.id + " is here");
}

} // namespace troupe
