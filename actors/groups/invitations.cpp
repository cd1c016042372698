#include "actors/groups/invitations.hpp"

#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_wish.hpp"
#include "base/make_info.hpp"
#include "base/timeout.hpp"
#include "messages/attributes.hpp"

#include <algorithm>

namespace troupe {

namespace {

info make(std::string_view key, value x) {
  return make_info(key, std::move(x));
}

/// Whether the code says that a process is no more.
/// Source: PMIx Standard v5, "Process-related events"; OpenPMIx 6, -400 to
/// -404.
bool is_death(status code) {
  switch (code) {
    case status::proc_terminated:
    case status::event_proc_terminated:
    case status::proc_aborted:
    case status::proc_term_wo_sync:
    case status::proc_killed_by_cmd:
    case status::proc_aborted_by_sig:
    case status::proc_sensor_bound_exceeded:
    case status::exit_nonzero_term:
      return true;
    default:
      return false;
  }
}

} // namespace

const std::vector<status>& invitations::codes() {
  static const auto result = std::vector{
    status::group_invite_accepted, status::group_invite_declined,
    status::group_invite_failed,   status::group_construct_complete,
    status::group_construct_abort, status::group_leader_selected,
    status::group_leader_failed,   status::proc_terminated,
    status::event_proc_terminated, status::proc_aborted,
    status::proc_term_wo_sync,     status::proc_killed_by_cmd,
    status::proc_aborted_by_sig,   status::proc_sensor_bound_exceeded,
    status::exit_nonzero_term};
  return result;
}

void invitations::observe(const event& what, time now, effects& out) {
  note_number(what);
  if (is_death(what.code)) {
    const auto* affected = find(what.infos, attr::event_affected_proc);
    auto dead =
      affected != nullptr ? procs_of(*affected) : std::vector{what.source};
    for (const auto& x : dead) {
      lose_invitee(x, now);
      lose_leader(x, now);
    }
  } else if (what.code == status::group_invited) {
    take_invitation(what);
  } else if (what.code == status::group_construct_complete
             || what.code == status::group_construct_abort) {
    end_sent(what, out);
    end_received(what, out);
  } else if (what.code == status::group_leader_selected) {
    take_new_leader(what, out);
  }
  remove_sent();
  remove_received();
}

void invitations::decide(const event& what, const group_verdict& verdict,
                         time now, effects& out) {
  if (what.code == status::group_invite_accepted
      || what.code == status::group_invite_declined)
    take_answer(what, verdict, now, out);
  else if (what.code == status::group_invite_failed)
    take_failure(what, verdict, now, out);
}

void invitations::raise(const notify_request& what, effects& out) {
  const auto id = text(what.infos, attr::group_id);
  if (what.code != status::group_construct_abort || !id)
    return;
  for (auto& x : sent_) {
    if (x.id != *id || x.last_notice != 0)
      continue;
    if (x.number)
      end(x, what.code, out); // Its server tells all who are invited.
    else
      abort(x, what.code, out);
  }
  remove_sent();
}

void invitations::confirm(uint64_t notice, status code, time now,
                          effects& out) {
  for (auto& x : sent_) {
    if (x.last_notice == notice) {
      // A server that keeps a log shows members what has become of the group.
      const auto is_member =
        std::find(x.members.begin(), x.members.end(), self_) != x.members.end();
      if (is_member && x.number && code == status::success && !x.was_shown)
        x.is_confirmed = true;
      else
        end(x, x.code == status::success ? code : x.code, out);
    } else if (x.first_notice == notice && code != status::success
               && x.last_notice == 0) {
      if (x.is_extended)
        abort(x, code, out);
      else
        end(x, code, out); // Nobody has heard of it.
    }
  }
  for (auto& x : received_)
    if (x.notice == notice)
      confirm_answer(x, code, now, out);
  remove_sent();
  remove_received();
}

void invitations::lose(status code, effects& out) {
  for (auto& x : sent_)
    if (x.call != 0)
      out.outcomes.push_back({x.call, code, {}});
  for (auto& x : received_)
    if (x.call != 0)
      out.outcomes.push_back({x.call, code, {}});
  sent_.clear();
  received_.clear();
}

std::optional<invitations::time> invitations::next() const {
  auto result = std::optional<time>{};
  const auto consider = [&](const std::optional<time>& x) {
    if (x && (!result || *x < *result))
      result = x;
  };
  for (const auto& x : sent_) {
    consider(x.deadline);
    for (const auto& y : x.invitees)
      if (y.how == standing::lost && x.last_notice == 0)
        consider(y.due);
  }
  for (const auto& x : received_) {
    consider(x.deadline);
    consider(x.due);
  }
  return result;
}

void invitations::advance(time now, effects& out) {
  advance_sent(now, out);
  advance_received(now, out);
}

std::vector<std::string> invitations::open_groups() const {
  auto result = std::vector<std::string>{};
  for (const auto& x : sent_)
    result.push_back(x.id);
  for (const auto& x : received_)
    if (x.is_open())
      result.push_back(x.id);
  return result;
}

uint64_t invitations::notify(status code, std::vector<proc_id> range,
                             const std::string& id,
                             const std::optional<uint64_t>& number,
                             std::vector<info> more, effects& out) {
  auto what = notify_request{code, data_range::custom, {}};
  // A single process goes without an array, as OpenPMIx has it.
  auto whom = range.size() == 1 ? value::of_proc(std::move(range.front()))
                                : value::procs(std::move(range));
  const auto add = [&](std::string_view key, value x) {
    what.infos.push_back(make_info(key, std::move(x)));
  };
  add(attr::event_custom_range, std::move(whom));
  add(attr::event_non_default, value::boolean(true));
  add(attr::group_id, value::string(id));
  if (number)
    add(group_keys::invitation, value::uint64(*number));
  for (auto& x : more)
    if (find(what.infos, x.key) == nullptr || x.key == attr::proc_info_array)
      what.infos.push_back(std::move(x));
  out.notices.emplace_back(++last_notice_, std::move(what));
  return last_notice_;
}

// -- invitations that a process has sent --------------------------------------

namespace {

/// Whether two numbers may be of the same invitation.
bool agree(const std::optional<uint64_t>& x, const std::optional<uint64_t>& y) {
  return !x || !y || *x == *y;
}

} // namespace

status invitations::invite(uint64_t call, const std::string& id,
                           std::vector<proc_id> range,
                           const std::vector<proc_id>& procs,
                           const std::vector<info>& directives, time now,
                           effects& out) {
  if (procs.empty() || !has_sound_timeout(directives))
    return status::bad_param;
  if (procs.size() > settings_.max_invitees
      || sent_.size() >= settings_.max_received)
    return status::out_of_resource;
  const auto is_same = [&](const sent& x) { return x.id == id; };
  if (std::any_of(sent_.begin(), sent_.end(), is_same))
    return status::exists;
  auto& x = sent_.emplace_back();
  x.id = id;
  x.call = call;
  x.is_optional = flag(directives, attr::group_optional);
  x.directives = directives;
  x.patience = timeout_of(directives);
  if (x.patience)
    x.deadline = now + *x.patience;
  for (const auto& y : procs)
    x.invitees.push_back(
      {y, y == self_ ? standing::accepted : standing::pending});
  x.first_notice =
    notify(status::group_invited, std::move(range), id, {}, directives, out);
  settle(x, out);
  return status::success;
}

invitations::sent* invitations::find_sent(const event& what,
                                          const proc_id& who) {
  const auto id = text(what.infos, attr::group_id);
  const auto number =
    troupe::number<uint64_t>(what.infos, group_keys::invitation);
  for (auto& x : sent_) {
    if (x.last_notice != 0 || (id && *id != x.id) || !agree(x.number, number))
      continue;
    const auto* y = find_invitee(x, who);
    // Those of old libraries do not say which group they answer.
    if (y == nullptr || (!id && y->how == standing::accepted)
        || (!id && y->how == standing::out))
      continue;
    if (number)
      x.number = number;
    return &x;
  }
  return nullptr;
}

/// A server that keeps a log numbers invitations: we say the number from the
/// first event on that has come, whatever our handlers make of it.
void invitations::note_number(const event& what) {
  const auto id = text(what.infos, attr::group_id);
  const auto number =
    troupe::number<uint64_t>(what.infos, group_keys::invitation);
  const auto* affected = find(what.infos, attr::event_affected_proc);
  if (!id || !number
      || (what.code != status::group_invite_failed
          && what.code != status::group_invite_accepted
          && what.code != status::group_invite_declined))
    return;
  auto procs =
    affected != nullptr ? procs_of(*affected) : std::vector{what.source};
  for (auto& x : sent_)
    for (const auto& proc : procs)
      if (x.id == *id && !x.number && x.last_notice == 0
          && find_invitee(x, proc) != nullptr)
        x.number = number;
}

invitations::invitee* invitations::find_invitee(sent& x, const proc_id& who) {
  const auto i = std::find_if(x.invitees.begin(), x.invitees.end(),
                              [&](const invitee& y) { return y.proc == who; });
  return i != x.invitees.end() ? &*i : nullptr;
}

/// Somebody has accepted or declined, and our handlers have seen it. The first
/// answer counts.
void invitations::take_answer(const event& what, const group_verdict& verdict,
                              time now, effects& out) {
  auto* x = find_sent(what, what.source);
  if (x == nullptr) {
    refuse_late(what, out);
    return;
  }
  auto& who = *find_invitee(*x, what.source);
  if (who.how == standing::accepted || who.how == standing::out
      || who.has_declined)
    return;
  if (what.code == status::group_invite_declined) {
    take_decline(*x, who, verdict, now, out);
    return;
  }
  if (wish_of(verdict, who.proc).aborts) {
    abort(*x, status::group_construct_abort, out);
    return;
  }
  who.is_back = who.how == standing::doubtful;
  who.how = standing::accepted;
  // What it has posted, under servers that do not exchange it themselves.
  // Source: OpenPMIx 7, PMIx_Group_join.
  for (const auto& y : what.infos)
    if (y.key == attr::proc_info_array)
      x->infos.push_back(y);
  settle(*x, out);
}

/// Somebody accepts what is over. Servers that keep no log let that through.
void invitations::refuse_late(const event& what, effects& out) {
  const auto id = text(what.infos, attr::group_id);
  if (what.code != status::group_invite_accepted || !id)
    return;
  for (const auto& [over, members] : ended_) {
    if (over != *id)
      continue;
    if (std::find(members.begin(), members.end(), what.source) == members.end())
      notify(status::group_construct_abort, {what.source}, *id, {}, {}, out);
    return;
  }
}

/// An invitee has failed, and our handlers have seen it.
void invitations::take_failure(const event& what, const group_verdict& verdict,
                               time now, effects& out) {
  const auto* affected = find(what.infos, attr::event_affected_proc);
  for (const auto& proc :
       affected ? procs_of(*affected) : std::vector<proc_id>{}) {
    auto* x = find_sent(what, proc);
    if (x == nullptr)
      continue;
    auto& who = *find_invitee(*x, proc);
    // What we have shown of it ourselves asks nothing if it is invited anew.
    const auto is_shown_only =
      what.source == self_ && who.how != standing::doubtful && !who.is_back;
    if (who.how == standing::out || is_shown_only
        || std::exchange(who.is_back, false))
      continue;
    drop(*x, who,
         who.was_silent ? status::timeout : status::group_construct_abort,
         verdict, now, out);
  }
}

/// An invitee will be no member: does what our handlers say of it.
/// @param why What the invitation comes to if they say nothing.
/// Source: RFC0033, Group_invite; requirements, G39, G46.
void invitations::drop(sent& x, invitee& who, status why,
                       const group_verdict& verdict, time now, effects& out) {
  auto wish = wish_of(verdict, who.proc);
  who.how = standing::out;
  if (wish.aborts)
    abort(x, status::group_construct_abort, out);
  else if (!wish.replacements.empty())
    add_invitees(x, wish.replacements, now, out); // `who` may be gone.
  else if (!wish.goes_on && !x.is_optional)
    abort(x, why, out);
  settle(x, out);
}

void invitations::add_invitees(sent& x, const std::vector<proc_id>& procs,
                               time now, effects& out) {
  auto added = std::vector<proc_id>{};
  for (const auto& y : procs) {
    auto* known = find_invitee(x, y);
    if (known != nullptr && known->how != standing::out)
      continue;
    if (known == nullptr) {
      if (x.invitees.size() >= settings_.max_invitees)
        continue;
      x.invitees.push_back({y});
      known = &x.invitees.back();
    }
    *known = {y, y == self_ ? standing::accepted : standing::pending};
    added.push_back(y);
  }
  if (added.empty())
    return;
  if (x.patience)
    x.deadline = now + *x.patience;
  x.is_extended = true;
  x.first_notice = notify(status::group_invited, std::move(added), x.id,
                          x.number, x.directives, out);
}

/// An invitee has declined: what handlers of that say counts, or else what those of
/// its failure say. They see it in any case, as under OpenPMIx 7.
void invitations::take_decline(sent& x, invitee& who,
                               const group_verdict& verdict, time now,
                               effects& out) {
  who.has_declined = true;
  const auto wish = wish_of(verdict, who.proc);
  if (!wish.aborts && !wish.goes_on && wish.replacements.empty()) {
    doubt(x, who, out);
    return;
  }
  show_failure(x, who.proc, out);
  drop(x, who, status::group_construct_abort, verdict, now, out);
}

/// Asks our handlers what becomes of the invitation without `who`.
void invitations::doubt(sent& x, invitee& who, effects& out) {
  who.how = standing::doubtful;
  show_failure(x, who.proc, out);
}

void invitations::show_failure(const sent& x, const proc_id& who,
                               effects& out) const {
  auto what = event{};
  what.code = status::group_invite_failed;
  what.source = self_;
  what.range = data_range::proc_local;
  what.infos = {make(attr::group_id, value::string(x.id)),
                make(attr::event_affected_proc, value::of_proc(who)),
                make(attr::event_non_default, value::boolean(true))};
  out.own.push_back(std::move(what));
}

void invitations::settle(sent& x, effects& out) {
  const auto is_open = [](const invitee& y) {
    return y.how != standing::accepted && y.how != standing::out;
  };
  if (x.last_notice == 0
      && std::none_of(x.invitees.begin(), x.invitees.end(), is_open))
    complete(x, out);
}

/// All have answered: the members are those that have accepted.
/// Source: requirements, G44.
void invitations::complete(sent& x, effects& out) {
  for (const auto& y : x.invitees)
    if (y.how == standing::accepted)
      x.members.push_back(y.proc);
  if (x.members.empty()) {
    abort(x, status::group_construct_abort, out);
    return;
  }
  x.deadline = std::nullopt;
  auto more = x.infos;
  more.push_back(make(attr::group_membership, value::procs(x.members)));
  x.last_notice = notify(status::group_construct_complete, x.members, x.id,
                         x.number, std::move(more), out);
}

/// Tells all who have been invited that there will be no group.
/// Source: RFC0033, Group_invite; requirements, G46.
void invitations::abort(sent& x, status code, effects& out) {
  if (x.last_notice != 0)
    return;
  x.deadline = std::nullopt;
  x.code = code;
  x.members.clear();
  auto all = std::vector<proc_id>{};
  for (const auto& y : x.invitees)
    all.push_back(y.proc);
  x.last_notice = notify(status::group_construct_abort, std::move(all), x.id,
                         x.number, {}, out);
}

/// An own invitation has come to its end: tells the caller, and our own
/// handlers what they would hear as invitees.
void invitations::end(sent& x, status code, effects& out) {
  const auto is_named =
    std::any_of(x.invitees.begin(), x.invitees.end(),
                [&](const invitee& y) { return y.proc == self_; });
  auto result = outcome{x.call, code, {}};
  if (code == status::success) {
    result.infos = {make(attr::group_id, value::string(x.id)),
                    make(attr::group_membership, value::procs(x.members))};
    if (x.context_id)
      result.infos.push_back(
        make(attr::group_context_id, value::size(*x.context_id)));
    if (is_named)
      out.formed.push_back({x.id, x.members, x.context_id});
  }
  if (is_named && !x.was_shown && x.last_notice != 0) {
    auto what = event{};
    what.code = code == status::success ? status::group_construct_complete
                                        : status::group_construct_abort;
    what.source = self_;
    what.range = data_range::proc_local;
    what.infos = {make(attr::group_id, value::string(x.id)),
                  make(attr::event_non_default, value::boolean(true))};
    if (code == status::success)
      what.infos.push_back(
        make(attr::group_membership, value::procs(x.members)));
    out.own.push_back(std::move(what));
  }
  if (x.call != 0 && x.is_declined) {
    const auto is_member = code == status::success;
    out.outcomes.push_back(
      {x.call, is_member ? status::exists : status::success, {}});
  } else if (x.call != 0) {
    out.outcomes.push_back(std::move(result));
  } else if (!x.unanswered.empty()) {
    auto& late = received_.emplace_back();
    late.id = x.id;
    late.leader = self_;
    late.former = x.unanswered;
    late.number = x.number;
    late.fate = code;
    late.fate_infos = std::move(result.infos);
  }
  ended_.emplace_front(x.id, x.members);
  if (ended_.size() > settings_.max_received)
    ended_.pop_back();
  x.is_over = true;
}

/// The end of an own invitation, as the server or an invitee has it.
void invitations::end_sent(const event& what, effects& out) {
  const auto id = text(what.infos, attr::group_id);
  const auto number =
    troupe::number<uint64_t>(what.infos, group_keys::invitation);
  for (auto& x : sent_) {
    if (!id || *id != x.id || x.is_over || !agree(x.number, number))
      continue;
    if (what.code == status::group_construct_abort) {
      x.was_shown = true;
      if (x.code == status::success && x.last_notice != 0)
        x.code = what.code;
      if (x.is_confirmed)
        end(x, x.code, out);
      else if (x.last_notice != 0)
        return; // The server's answer is on its way.
      else if (number)
        end(x, what.code, out); // Its server has told all.
      else
        abort(x, what.code, out);
      return;
    }
    if (what.source != self_ || x.last_notice == 0)
      continue;
    x.was_shown = true;
    if (const auto* members = find(what.infos, attr::group_membership))
      x.members = procs_of(*members);
    x.context_id = troupe::number<uint64_t>(what.infos, attr::group_context_id);
    if (x.is_confirmed)
      end(x, x.code, out);
    return;
  }
}

/// We lead an invitation whose inviter has failed.
/// Source: RFC0033, Group_invite; requirements, G27 to G29.
void invitations::take_over(const received& from, const event& what,
                            effects& out) {
  auto& x = sent_.emplace_back();
  x.id = from.id;
  x.call = from.call;
  x.is_declined = from.how == reply::declined;
  x.number = from.number;
  x.deadline = from.deadline;
  if (from.how == reply::none) {
    x.unanswered = from.former;
    x.unanswered.push_back(from.leader);
  }
  const auto add = [&](std::string_view key, standing how) {
    if (const auto* procs = find(what.infos, key))
      for (auto& y : procs_of(*procs))
        if (find_invitee(x, y) == nullptr)
          x.invitees.push_back({std::move(y), how});
  };
  add(group_keys::accepted, standing::accepted);
  add(group_keys::pending, standing::pending);
  if (auto* self = find_invitee(x, self_))
    self->how = standing::accepted;
  else
    x.invitees.push_back({self_, standing::accepted});
  settle(x, out);
}

void invitations::lose_invitee(const proc_id& who, time now) {
  for (auto& x : sent_) {
    auto* y = x.last_notice == 0 ? find_invitee(x, who) : nullptr;
    if (y == nullptr || y->how == standing::out || y->how == standing::doubtful
        || y->how == standing::lost)
      continue;
    y->how = standing::lost;
    y->due = now + settings_.grace;
  }
}

void invitations::advance_sent(time now, effects& out) {
  for (auto& x : sent_) {
    if (x.last_notice != 0)
      continue;
    const auto is_late = x.deadline && *x.deadline <= now;
    if (is_late)
      x.deadline = std::nullopt;
    for (auto& y : x.invitees) {
      const auto is_lost = y.how == standing::lost;
      if (is_late && (is_lost || y.how == standing::pending)) {
        y.was_silent = true;
        doubt(x, y, out);
      } else if (is_lost && y.due <= now) {
        doubt(x, y, out);
      }
    }
  }
}

void invitations::remove_sent() {
  sent_.erase(std::remove_if(sent_.begin(), sent_.end(),
                             [](const sent& x) { return x.is_over; }),
              sent_.end());
}

// -- invitations that a process has received ----------------------------------

namespace {

/// Who leads now; nothing if nobody does.
std::optional<proc_id> leader_in(const event& what) {
  if (find(what.infos, group_keys::status) != nullptr)
    return std::nullopt;
  for (const auto key : {attr::group_leader, attr::event_affected_proc})
    if (const auto* x = find(what.infos, key))
      if (const auto* proc = x->proc())
        return *proc;
  return what.source;
}

/// The members of a group that is complete. Old libraries do not list them.
/// Source: OpenPMIx 4.2, PMIx_Group_invite.
std::vector<proc_id> members_in(const event& what) {
  if (const auto* x = find(what.infos, attr::group_membership))
    return procs_of(*x);
  if (const auto* x = find(what.infos, attr::event_custom_range))
    return procs_of(*x);
  return {};
}

} // namespace

/// An invitation has come. Our handlers answer it, so it is known before they
/// run.
void invitations::take_invitation(const event& what) {
  const auto id = text(what.infos, attr::group_id);
  if (!id || what.source == self_)
    return;
  const auto number =
    troupe::number<uint64_t>(what.infos, group_keys::invitation);
  for (auto& x : received_)
    if (x.id == *id && x.leader == what.source && !x.is_over
        && (x.how == reply::none || !number || x.number == number)) {
      x.number = number;
      x.fate = std::nullopt;
      return;
    }
  if (received_.size() >= settings_.max_received) {
    const auto i =
      std::find_if(received_.begin(), received_.end(),
                   [](const received& x) { return x.how == reply::none; });
    if (i == received_.end())
      return;
    received_.erase(i);
  }
  auto& x = received_.emplace_back();
  x.id = *id;
  x.leader = what.source;
  x.number = number;
}

status invitations::join(uint64_t call, const std::string& id,
                         const proc_id* leader, bool accepts,
                         const std::vector<info>& directives, time now,
                         effects& out) {
  const auto is_from = [&](const received& x) {
    return leader == nullptr || *leader == x.leader
           || std::find(x.former.begin(), x.former.end(), *leader)
                != x.former.end();
  };
  if (!has_sound_timeout(directives))
    return status::bad_param;
  auto fault = status::not_found;
  auto* ended = static_cast<received*>(nullptr);
  for (auto& x : received_) {
    if (x.id != id || x.is_over)
      continue;
    if (!is_from(x)) {
      if (fault == status::not_found)
        fault = status::bad_param;
      continue;
    }
    if (x.how != reply::none) {
      fault = status::exists;
      continue;
    }
    if (x.fate) {
      ended = ended != nullptr ? ended : &x;
      continue;
    }
    x.how = accepts ? reply::accepted : reply::declined;
    x.call = call;
    if (const auto patience = timeout_of(directives))
      x.deadline = now + *patience;
    x.notice = notify(accepts ? status::group_invite_accepted
                              : status::group_invite_declined,
                      {x.leader}, id, x.number, directives, out);
    return status::success;
  }
  // We lead the invitation that we have not answered before its inviter failed.
  for (auto& x : sent_)
    if (x.id == id && x.call == 0 && (accepts || !x.unanswered.empty())
        && !x.is_over) {
      x.call = call;
      x.is_declined = !accepts;
      x.unanswered.clear();
      if (const auto patience = timeout_of(directives))
        x.deadline = now + *patience;
      return status::success;
    }
  if (ended == nullptr)
    return fault;
  // It has led the invitation, and is in the group.
  if (!accepts && *ended->fate == status::success)
    return status::exists;
  if (accepts)
    out.outcomes.push_back({call, *ended->fate, std::move(ended->fate_infos)});
  else
    out.outcomes.push_back({call, status::success, {}});
  ended->is_over = true;
  remove_received();
  return status::success;
}

invitations::received* invitations::find_received(const event& what,
                                                  reply how) {
  const auto id = text(what.infos, attr::group_id);
  const auto number =
    troupe::number<uint64_t>(what.infos, group_keys::invitation);
  received* result = nullptr;
  for (auto& x : received_) {
    if (!x.is_open() || x.how != how || (id && *id != x.id)
        || (number && x.number && *number != *x.number))
      continue;
    const auto is_leader =
      what.source == x.leader
      || std::find(x.former.begin(), x.former.end(), what.source)
           != x.former.end();
    if (is_leader || (number && x.number))
      return &x;
    // What we tell ourselves is of an invitation of our own.
    if (result == nullptr && id && what.source != self_)
      result = &x;
  }
  return result;
}

/// The group is complete, or there will be none.
void invitations::end_received(const event& what, effects& out) {
  const auto id = text(what.infos, attr::group_id);
  auto* x = find_received(what, reply::accepted);
  if (x == nullptr)
    x = find_received(what, reply::none);
  if (x == nullptr) {
    // One that has declined waits for nothing but the word that it leads.
    x = find_received(what, reply::declined);
    if (x != nullptr && x->call != 0)
      x = nullptr;
  }
  if (what.code == status::group_construct_abort) {
    if (x != nullptr)
      end(*x, what.code, {}, out);
    return;
  }
  const auto members = members_in(what);
  const auto is_member =
    std::any_of(members.begin(), members.end(),
                [&](const proc_id& y) { return matches(y, self_); });
  if (is_member && (id || x != nullptr))
    out.formed.push_back(
      {id ? *id : x->id, members,
       troupe::number<uint64_t>(what.infos, attr::group_context_id)});
  if (x == nullptr)
    return;
  auto infos = std::vector<info>{make(attr::group_id, value::string(x->id))};
  infos.push_back(make(attr::group_membership, value::procs(members)));
  if (const auto* y = find(what.infos, attr::group_context_id))
    infos.push_back(make(attr::group_context_id, *y));
  if (is_member)
    end(*x, status::success, std::move(infos), out);
  else
    end(*x, status::not_a_member, {}, out);
}

/// Who leads an invitation whose inviter has failed.
/// Source: RFC0033, Group_join; requirements, G27 to G30.
void invitations::take_new_leader(const event& what, effects& out) {
  const auto id = text(what.infos, attr::group_id);
  const auto number =
    troupe::number<uint64_t>(what.infos, group_keys::invitation);
  const auto leader = leader_in(what);
  // If not, the leader before has said that it is complete.
  const auto is_undecided = find(what.infos, group_keys::accepted) != nullptr;
  for (auto& x : received_) {
    if (!id || *id != x.id || !x.is_open() || !number || x.number != number)
      continue;
    if (!leader) {
      if (is_undecided)
        end(x, status::group_leader_failed, {}, out);
    } else if (*leader == self_ && is_undecided) {
      take_over(x, what, out);
      x.is_over = true;
    } else {
      x.former.push_back(std::exchange(x.leader, *leader));
    }
  }
}

void invitations::confirm_answer(received& x, status code, time now,
                                 effects& out) {
  const auto declines = x.how == reply::declined;
  // We lead it, or it is over: an event says so.
  const auto is_told =
    declines ? code == status::exists
             : code == status::not_a_member || code == status::unreach;
  if (is_told && x.number && x.is_open()) {
    x.refused = code;
    x.due = now + settings_.grace;
  } else if (declines || code != status::success) {
    end(x, code, {}, out);
  }
}

void invitations::lose_leader(const proc_id& who, time now) {
  for (auto& x : received_)
    if (x.leader == who && !x.number && !x.due && x.is_open())
      x.due = now + settings_.grace;
}

void invitations::end(received& x, status code, std::vector<info> infos,
                      effects& out) {
  if (x.call != 0)
    out.outcomes.push_back({x.call, code, std::move(infos)});
  x.due = std::nullopt;
  if (x.how == reply::none)
    x.fate = code;
  else
    x.is_over = true;
}

void invitations::advance_received(time now, effects& out) {
  for (auto& x : received_) {
    if (x.deadline && *x.deadline <= now) {
      // What it has accepted it has accepted: the group may come yet.
      x.deadline = std::nullopt;
      if (const auto call = std::exchange(x.call, 0); call != 0)
        out.outcomes.push_back({call, status::timeout, {}});
    }
    if (!x.due || *x.due > now)
      continue;
    if (x.refused && x.how == reply::declined) {
      // The call has waited long enough; that it leads it may hear yet.
      if (const auto call = std::exchange(x.call, 0); call != 0)
        out.outcomes.push_back({call, *x.refused, {}});
      x.due = std::nullopt;
      x.refused = std::nullopt;
      continue;
    }
    if (x.refused) {
      end(x, *x.refused, {}, out);
      continue;
    }
    auto what = event{};
    what.code = status::group_leader_failed;
    what.source = self_;
    what.range = data_range::proc_local;
    what.infos = {make(attr::group_id, value::string(x.id)),
                  make(attr::event_affected_proc, value::of_proc(x.leader)),
                  make(attr::event_non_default, value::boolean(true))};
    out.own.push_back(std::move(what));
    end(x, status::group_leader_failed, {}, out);
  }
  remove_received();
}

void invitations::remove_received() {
  received_.erase(std::remove_if(received_.begin(), received_.end(),
                                 [](const received& x) { return x.is_over; }),
                  received_.end());
}

} // namespace troupe
