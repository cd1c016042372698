#include "actors/groups/invitations.hpp"

#include "actors/groups/group_keys.hpp"
#include "messages/attributes.hpp"

#include <algorithm>

namespace troupe {

namespace {

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

bool invitations::has_sound_timeout(const std::vector<info>& directives) {
  return find(directives, attr::timeout) == nullptr
         || number<int32_t>(directives, attr::timeout);
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
    what.infos.push_back({std::string{key}, 0, std::move(x)});
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

} // namespace troupe
