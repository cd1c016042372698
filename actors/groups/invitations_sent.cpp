// Invitations that a process has sent.

#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_wish.hpp"
#include "actors/groups/invitations.hpp"
#include "messages/attributes.hpp"

#include <algorithm>

namespace troupe {

namespace {

info make(std::string_view key, value x) {
  return {std::string{key}, 0, std::move(x)};
}

/// Whether two numbers may be of the same invitation.
bool agree(const std::optional<uint64_t>& x, const std::optional<uint64_t>& y) {
  return !x || !y || *x == *y;
}

std::optional<std::chrono::nanoseconds>
patience_in(const std::vector<info>& directives) {
  const auto seconds = number<uint32_t>(directives, attr::timeout);
  if (!seconds || *seconds == 0)
    return std::nullopt;
  return std::chrono::seconds{*seconds};
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
  x.patience = patience_in(directives);
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
  if (who.how == standing::accepted || who.how == standing::out)
    return;
  if (what.code == status::group_invite_declined) {
    drop(*x, who, status::group_construct_abort, verdict, now, out);
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
    if (who.how == standing::out || std::exchange(who.is_back, false))
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

/// Asks our handlers what becomes of the invitation without `who`.
void invitations::doubt(sent& x, invitee& who, effects& out) {
  who.how = standing::doubtful;
  auto what = event{};
  what.code = status::group_invite_failed;
  what.source = self_;
  what.range = data_range::proc_local;
  what.infos = {make(attr::group_id, value::string(x.id)),
                make(attr::event_affected_proc, value::of_proc(who.proc)),
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
      out.formed.emplace_back(x.id, x.members);
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
  if (x.call != 0) {
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

} // namespace troupe
