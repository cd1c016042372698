#include "actors/groups/process_group.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <set>
#include <utility>

// Invitations. The library of the inviter, who leads, counts the answers and
// says when the group is complete or fails; what it says passes through the
// log, which knows better who has accepted: an answer counts once, those of
// strangers do not count, and the members are those that have accepted and
// still run.
//
// Source: RFC0033, Group_invite and Group_join; readings A29, A31.

namespace troupe {

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

// -- notices
// ---------------------------------------------------------------------

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

} // namespace troupe
