// Invitations that a process has received.

#include "actors/groups/group_keys.hpp"
#include "actors/groups/invitations.hpp"
#include "messages/attributes.hpp"

#include <algorithm>

namespace troupe {

namespace {

info make(std::string_view key, value x) {
  return {std::string{key}, 0, std::move(x)};
}

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
    const auto seconds = troupe::number<uint32_t>(directives, attr::timeout);
    if (seconds && *seconds != 0)
      x.deadline = now + std::chrono::seconds{*seconds};
    x.notice = notify(accepts ? status::group_invite_accepted
                              : status::group_invite_declined,
                      {x.leader}, id, x.number, directives, out);
    return status::success;
  }
  // We lead the invitation that we have not answered before its inviter failed.
  for (auto& x : sent_)
    if (x.id == id && x.call == 0 && accepts && !x.is_over) {
      x.call = call;
      x.unanswered.clear();
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
    if (result == nullptr && id)
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
    out.formed.emplace_back(id ? *id : x->id, members);
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
  for (auto& x : received_) {
    if (!id || *id != x.id || !x.is_open() || !number || x.number != number)
      continue;
    if (!leader) {
      end(x, status::group_leader_failed, {}, out);
    } else if (*leader == self_) {
      take_over(x, what, out);
      x.is_over = true;
    } else {
      x.former.push_back(std::exchange(x.leader, *leader));
    }
  }
}

void invitations::confirm_answer(received& x, status code, time now,
                                 effects& out) {
  const auto is_late = code == status::not_a_member || code == status::unreach;
  if (x.how == reply::declined) {
    end(x, code, {}, out);
  } else if (is_late && x.number && x.is_open()) {
    x.refused = code;
    x.due = now + settings_.grace;
  } else if (code != status::success) {
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
