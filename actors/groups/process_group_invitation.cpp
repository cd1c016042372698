#include "actors/events/range_filter.hpp"
#include "actors/groups/group_keys.hpp"
#include "actors/groups/process_group.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

namespace troupe {

// Invitations. The library of the inviter, who leads, counts the answers and
// says when the group is complete or fails; what it says passes through the
// log, which knows better who has accepted: an answer counts once, those of
// strangers do not count, and the members are those that have accepted and
// still run.
//
// Source: RFC0033, Group_invite and Group_join; readings A29, A31.

namespace {

/// Each once, in the order in which they come first.
std::vector<proc_id> without_repeats(const std::vector<proc_id>& xs) {
  auto result = std::vector<proc_id>{};
  auto seen = std::set<proc_id>{};
  for (const auto& x : xs)
    if (x.rank <= rank_valid_max && seen.insert(x).second)
      result.push_back(x);
  return result;
}

std::vector<proc_id> targets_of(const std::vector<info>& infos) {
  const auto* x = find(infos, attr::event_custom_range);
  return x != nullptr ? procs_of(*x) : std::vector<proc_id>{};
}

} // namespace

// -- notices ------------------------------------------------------------------

void process_group::take(const group_notice& what, effects& out) {
  if (entries_ == 1)
    begin_invitation(what, out);
  if (invitation_.is_open && phase_ == group_phase::inviting
      && what.what.code == status::group_invite_accepted)
    note_invited(add_all({what.source}, out));
  if (find(what.source) == nullptr) {
    out.refused = status::not_a_member;
    return;
  }
  switch (what.what.code) {
    case status::group_invited:
      return invite(what, out);
    case status::group_invite_accepted:
      return accept(what, out);
    case status::group_invite_declined:
      return decline(what, out);
    case status::group_construct_complete:
      return conclude(what, out);
    case status::group_construct_abort:
      return call_off(what, out);
    case status::group_leader_selected:
      return announce_leader(what, out);
    case status::group_left:
      return take(group_departure{what.source}, out);
    default:
      return pass_on(what, targets_of(what.what.infos), out);
  }
}

void process_group::begin_invitation(const group_notice& what, effects& out) {
  const auto code = what.what.code;
  auto leader = what.source;
  auto named = spelt_out(targets_of(what.what.infos));
  if (code == status::group_invite_accepted && named.size() == 1) {
    // Whoever joins before it is invited knows the leader otherwise.
    leader = named.front();
    named = {what.source};
    invitation_.is_open = true;
  } else if (code != status::group_invited) {
    return;
  }
  phase_ = group_phase::inviting;
  invitation_.inviter = leader;
  auto all = named;
  all.push_back(leader);
  add_all(all, out);
  if (construct_)
    return;
  // Nobody of them is new: the log began with their nodes.
  out.added.clear();
  is_extended_ = false;
  const auto members = std::set<proc_id>(named.begin(), named.end());
  for (auto& x : participants_) {
    x.is_leader = x.proc == leader;
    const auto is_member = members.count(x.proc) > 0;
    if (x.is_leader && is_member)
      note_joined(x);
    else if (!x.is_leader && !is_member)
      set(x, standing::dropped);
  }
  if (invitation_.is_open)
    note_invited(named);
  if (const auto* order =
        troupe::find(what.what.infos, attr::group_final_membership_order))
    final_order_ = procs_of(*order);
}

void process_group::note_invited(const std::vector<proc_id>& procs) {
  for (const auto& proc : procs)
    if (auto* who = find(proc);
        who != nullptr && !std::exchange(who->is_invited, true))
      invitation_.invited.push_back(proc);
}

void process_group::set_owes_data(participant& who, bool owes) {
  if (who.owes_data == owes)
    return;
  who.owes_data = owes;
  if (owes)
    ++invitation_.owing;
  else
    --invitation_.owing;
}

bool process_group::is_undecided() const {
  return !construct_ && !invitation_.completion;
}

void process_group::invite(const group_notice& what, effects& out) {
  const auto* leader = find(what.source);
  if (phase_ != group_phase::inviting || !leader->is_leader
      || !leader->is_live() || invitation_.completion) {
    out.refused = refusal();
    return;
  }
  take_wishes(what.what.infos);
  const auto named = without_repeats(spelt_out(targets_of(what.what.infos)));
  const auto added = add_all(named, out);
  if (construct_)
    return;
  auto told = std::vector<proc_id>{};
  for (const auto& proc : named) {
    const auto* who = find(proc);
    if (who == nullptr || who->state == standing::ended)
      report_failed(proc, out);
    else if (!who->is_invited
             || std::binary_search(added.begin(), added.end(), proc))
      told.push_back(proc);
  }
  note_invited(named);
  // Who leads and names itself, now or when it began, has joined.
  if (auto* self = find(what.source);
      self->is_invited && self->state == standing::awaited)
    note_joined(*self);
  first_array_ = invitation_.invited;
  pass_on(what, std::move(told), out);
}

void process_group::accept(const group_notice& what, effects& out) {
  const auto& proc = what.source;
  auto& who = *find(proc);
  if (who.state == standing::joined)
    return;
  if (who.state != standing::awaited || construct_ || invitation_.completion
      || !who.is_invited) {
    // Nothing else would tell it that the group is made without it.
    out.refused = status::not_a_member;
    if (who.is_invited && who.state != standing::ended) {
      if (who.state == standing::awaited)
        set(who, standing::dropped);
      out.events.push_back(
        make_event(status::group_construct_abort, {}, {proc}, {}));
    }
    return;
  }
  note_joined(who);
  pass_on(what, leaders(), out);
  if (phase_ == group_phase::constructing) {
    who.has_answered = true;
    set_owes_data(who, true);
    out.needs_data = true;
  }
}

void process_group::decline(const group_notice& what, effects& out) {
  auto& who = *find(what.source);
  if (!who.is_invited) {
    out.refused = status::not_a_member;
    return;
  }
  if (construct_ || !who.is_live() || who.is_leader)
    return;
  const auto proc = what.source;
  set(who, standing::declined);
  stop_asking(proc, out);
  if (phase_ == group_phase::inviting) {
    pass_on(what, leaders(), out);
  } else if (is_optional_ || is_fault_tolerant_ || notifies_termination_) {
    pass_on(what, watchers(), out);
  } else {
    ask(topic::invite_declined, proc, status::group_invite_declined, proc,
        watchers(), {}, out);
  }
}

void process_group::conclude(const group_notice& what, effects& out) {
  const auto& who = *find(what.source);
  if (phase_ != group_phase::inviting || !who.is_leader || !who.is_live()
      || invitation_.completion) {
    out.refused = refusal();
    return;
  }
  take_wishes(what.what.infos);
  invitation_.completion = what;
  for (auto& x : participants_)
    if (x.state == standing::joined)
      set_owes_data(x, true);
  out.needs_data = true;
}

void process_group::call_off(const group_notice& what, effects& out) {
  const auto& who = *find(what.source);
  // Who leads may; so may everybody while nobody leads.
  const auto may = who.is_live() && (who.is_leader || leaders().empty());
  if (construct_ || invitation_.completion || !may) {
    out.refused = refusal();
    return;
  }
  invitation_.called_off = what.source;
  abort(status::group_construct_abort,
        to_string(what.source) + " has called it off", out);
}

void process_group::announce_leader(const group_notice& what, effects& out) {
  if (is_electing()) {
    if (!nominate(what.source))
      out.refused = status::not_a_member;
    else if (invitation_.is_open)
      // Others who joined so are in a group of their own: for them it is an
      // event like any other.
      out.refused = status::not_found;
  } else if (election_.count > 0) {
    out.refused = status::exists;
  } else {
    pass_on(what, targets_of(what.what.infos), out);
  }
}

status process_group::refusal() const {
  if (construct_ && members_ == nullptr)
    return construct_->code;
  return construct_ || invitation_.completion ? status::exists
                                              : status::no_permissions;
}

void process_group::take_wishes(const std::vector<info>& infos) {
  is_optional_ |= flag(infos, attr::group_optional);
  is_fault_tolerant_ |= flag(infos, attr::group_ft_collective);
  notifies_termination_ |= flag(infos, attr::group_notify_termination);
  wants_context_id_ |= flag(infos, attr::group_assign_context_id);
}

// -- what processes are told of an invitation ---------------------------------

// What processes are told of an invitation, and what it comes to.

namespace {

void drop(std::vector<proc_id>& xs, const proc_id& x) {
  xs.erase(std::remove(xs.begin(), xs.end(), x), xs.end());
}

/// Adds what is not there yet.
void put(std::vector<info>& infos, std::string_view key, value x) {
  if (find(infos, key) == nullptr)
    infos.push_back({std::string{key}, 0, std::move(x)});
}

/// The infos without those under these keys.
std::vector<info> without(std::vector<info> infos,
                          std::initializer_list<std::string_view> keys) {
  const auto is_unwanted = [&](const info& x) {
    return std::find(keys.begin(), keys.end(), x.key) != keys.end();
  };
  infos.erase(std::remove_if(infos.begin(), infos.end(), is_unwanted),
              infos.end());
  return infos;
}

} // namespace

// -- events -------------------------------------------------------------------

std::vector<info> process_group::invitation_infos() const {
  auto result = std::vector<info>{};
  if (!invitation_.invited.empty())
    result.push_back(
      {std::string{group_keys::invitation}, 0, value::uint64(key_.generation)});
  return result;
}

void process_group::pass_on(const group_notice& what,
                            std::vector<proc_id> targets, effects& out) const {
  drop(targets, what.source);
  const auto code = what.what.code;
  auto infos =
    without(what.what.infos, {attr::event_custom_range, group_keys::invitation,
                              group_keys::round, group_keys::status,
                              group_keys::accepted, group_keys::pending});
  if (code == status::group_invited)
    put(infos, attr::event_non_default, value::boolean(true));
  if (code == status::group_invite_accepted
      || code == status::group_invite_declined)
    put(infos, attr::event_affected_proc, value::of_proc(what.source));
  for (auto& x : invitation_infos())
    infos.push_back(std::move(x));
  raise(code, what.source, std::move(targets), std::move(infos), out);
}

void process_group::report_failed(const proc_id& proc, effects& out) const {
  auto infos = invitation_infos();
  put(infos, attr::event_affected_proc, value::of_proc(proc));
  put(infos, attr::event_non_default, value::boolean(true));
  raise(status::group_invite_failed, {}, leaders(), std::move(infos), out);
}

// -- the end of the construction ----------------------------------------------

void process_group::take(const group_data& what, effects& out) {
  for (const auto& x : what.procs) {
    auto* who = find(x.proc);
    if (who == nullptr || !who->owes_data)
      continue;
    set_owes_data(*who, false);
    out.data.push_back(x);
  }
}

void process_group::lose_invitee(participant& who, standing state,
                                 effects& out) {
  const auto proc = who.proc;
  const auto led = who.is_leader;
  set(who, state);
  stop_asking(proc, out);
  if (led)
    leader_ended(proc, out);
  else
    report_failed(proc, out);
}

void process_group::conclude_invitation(effects& out) {
  if (phase_ == group_phase::inviting && invitation_.completion
      && invitation_.owing == 0) {
    if (joined_ > 0)
      found(out);
    else
      abort(status::group_construct_abort, "nobody is left in group " + key_.id,
            out);
  }
  if (construct_ && !destruct_ && phase_ == group_phase::over)
    disband(out);
}

void process_group::found(effects& out) {
  const auto& what = *invitation_.completion;
  const auto leader = what.source;
  complete(out);
  for (auto& x : participants_)
    if (x.state == standing::awaited) {
      set(x, standing::dropped);
      stop_asking(x.proc, out);
    }
  auto infos =
    without(what.what.infos, {attr::event_custom_range, attr::group_membership,
                              attr::group_context_id, group_keys::invitation});
  put(infos, attr::group_membership, value::procs(*members_));
  if (context_id_)
    put(infos, attr::group_context_id, value::size(*context_id_));
  put(infos, attr::event_non_default, value::boolean(true));
  for (auto& x : invitation_infos())
    infos.push_back(std::move(x));
  auto targets = *members_;
  drop(targets, leader);
  raise(status::group_construct_complete, leader, std::move(targets), infos,
        out);
  // Our library waits for what has become of the group; another one has told
  // its handlers already.
  if (troupe::find(what.what.infos, group_keys::invitation) != nullptr) {
    put(infos, event_reaches_source, value::boolean(true));
    raise(status::group_construct_complete, leader, {leader}, std::move(infos),
          out);
  }
}

void process_group::disband(effects& out) {
  if (std::exchange(invitation_.is_disbanded, true))
    return;
  auto targets = std::vector<proc_id>{};
  for (auto& x : participants_) {
    // Who has called is answered, and who has joined a construction by an event
    // has been told.
    const auto is_told = invitation_.inviter ? x.is_invited || x.is_leader
                                             : x.is_invited && x.arrival == 0;
    if (is_told && x.state != standing::ended
        && x.proc != invitation_.called_off)
      targets.push_back(x.proc);
    if (invitation_.inviter && x.is_live())
      set(x, standing::dropped);
  }
  if (targets.empty())
    return;
  auto infos = invitation_infos();
  put(infos, attr::event_non_default, value::boolean(true));
  out.events.push_back(make_event(status::group_construct_abort,
                                  invitation_.called_off.value_or(proc_id{}),
                                  std::move(targets), std::move(infos)));
}

} // namespace troupe
