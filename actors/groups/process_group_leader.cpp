#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_wish.hpp"
#include "actors/groups/process_group.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

// Who leads after a leader has ended.
//
// All participants are asked, once for each leader that ends. Who leads is
// decided when all that were asked have answered, have ended, or have had their
// time: anybody's abort ends the construction; else the lowest in rank of those
// that nominated themselves leads; else the lowest of the leaders that are
// left, if there were several; else nobody does. Votes come in one round per
// failure, so "first nomination, then rank" (reading A30) and "lowest rank"
// (guarantees 5.6) are the same rule.
//
// Source: RFC0033, "Failure of the leader at any time"; guarantees 5.6, GRP-1,
// GRP-2, GRP-4.

namespace troupe {

bool process_group::is_electing() const {
  return std::any_of(inquiries_.begin(), inquiries_.end(), [](const auto& x) {
    return x.second.about == topic::leader_failed;
  });
}

void process_group::leader_ended(const proc_id& leader, effects& out) {
  auto* who = find(leader);
  if (who == nullptr || !who->is_leader || phase_ == group_phase::over)
    return;
  who->is_leader = false;
  ask(topic::leader_failed, leader, status::group_leader_failed, {}, others({}),
      invitation_infos(), out);
}

bool process_group::nominate(const proc_id& proc) {
  if (!is_electing() || !is_participant(proc))
    return false;
  election_.candidates.insert(proc);
  election_.announced.insert(proc);
  for (auto& [round, x] : inquiries_)
    if (x.about == topic::leader_failed)
      x.asked.erase(proc);
  return true;
}

void process_group::count_votes(const inquiry& x, effects& out) {
  for (const auto& verdict : x.verdicts) {
    const auto wish = wish_of(verdict, x.subject);
    if (wish.aborts && is_undecided()) {
      abort(status::group_construct_abort,
            to_string(verdict.proc) + " wants no group without its leader "
              + to_string(x.subject),
            out);
      return;
    }
    if (wish.leads)
      election_.candidates.insert(verdict.proc);
  }
  if (!is_electing())
    elect(x.subject, out);
}

std::optional<proc_id> process_group::choose_leader() const {
  auto order = members_ ? *members_ : current_array();
  // Those without a place in it come last.
  for (auto& proc : live_participants())
    order.push_back(std::move(proc));
  auto left = std::optional<proc_id>{};
  for (const auto& proc : order) {
    const auto* who = find(proc);
    if (who == nullptr || !who->is_live())
      continue;
    if (election_.candidates.count(proc) > 0)
      return proc;
    if (who->is_leader && !left)
      left = proc;
  }
  return left;
}

void process_group::elect(const proc_id& failed, effects& out) {
  const auto winner = choose_leader();
  const auto votes = std::exchange(election_, {});
  election_.count = votes.count + 1;
  for (auto& x : participants_)
    x.is_leader = false;
  if (winner) {
    auto& leader = *find(*winner);
    leader.is_leader = true;
    // Who leads an invitation has accepted it.
    if (phase_ == group_phase::inviting && leader.state == standing::awaited)
      note_joined(leader);
  }
  auto targets = others({});
  // Whoever has told all others knows; but its library takes an invitation over
  // by what this event says.
  if (winner && votes.announced.count(*winner) > 0
      && phase_ != group_phase::inviting)
    targets.erase(std::remove(targets.begin(), targets.end(), *winner),
                  targets.end());
  raise(status::group_leader_selected, {}, std::move(targets),
        selection_infos(winner), out);
  if (!is_undecided())
    return;
  const auto goes_on =
    is_optional_ || is_fault_tolerant_ || notifies_termination_;
  if (!winner && (phase_ == group_phase::inviting || !goes_on)) {
    abort(status::group_construct_abort,
          "the leader " + to_string(failed) + " has ended, and nobody leads",
          out);
    return;
  }
  if (phase_ == group_phase::inviting)
    return;
  // With a new leader, the group is made without the old one.
  is_reduced_ = true;
  if (goes_on)
    replace_ended(failed, out);
  for (const auto& subject : votes.waiting)
    ask(topic::invite_failed, subject, status::group_invite_failed, {},
        watchers(), invitation_infos(), out);
}

std::vector<info>
process_group::selection_infos(const std::optional<proc_id>& winner) const {
  auto result = invitation_infos();
  if (winner) {
    result.push_back(
      {std::string{attr::event_affected_proc}, 0, value::of_proc(*winner)});
    result.push_back(
      {std::string{attr::group_leader}, 0, value::of_proc(*winner)});
  } else {
    result.push_back(
      {std::string{group_keys::status}, 0,
       value::of_status(static_cast<int32_t>(status::group_leader_failed))});
  }
  result.push_back(
    {std::string{attr::event_non_default}, 0, value::boolean(true)});
  if (phase_ != group_phase::inviting)
    return result;
  auto accepted = std::vector<proc_id>{};
  auto pending = std::vector<proc_id>{};
  for (const auto& proc : invitation_.invited) {
    const auto* who = find(proc);
    if (who != nullptr && who->state == standing::joined)
      accepted.push_back(proc);
    else if (who != nullptr && who->state == standing::awaited)
      pending.push_back(proc);
  }
  result.push_back(
    {std::string{group_keys::accepted}, 0, value::procs(std::move(accepted))});
  result.push_back(
    {std::string{group_keys::pending}, 0, value::procs(std::move(pending))});
  return result;
}

} // namespace troupe
