#include "actors/groups/process_group.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

void process_group::take(const group_procs_ended& what, effects& out) {
  for (const auto& x : what.procs) {
    auto* who = find(x.proc);
    if (who == nullptr || !who->is_live())
      continue;
    if (phase_ == group_phase::constructing)
      constructor_ended(*who, out);
    else if (phase_ == group_phase::inviting)
      lose_invitee(*who, standing::ended, out);
    else if (who->state == standing::joined && members_ != nullptr)
      member_ended(*who, out);
    else
      set(*who, standing::ended);
  }
}

void process_group::take(const group_departure& what, effects& out) {
  auto* who = find(what.proc);
  if (members_ == nullptr || who == nullptr || who->state != standing::joined)
    return;
  set(*who, standing::left);
  stop_asking(what.proc, out);
  remove_member(what.proc, out);
  raise(
    status::group_left, what.proc, others(what.proc),
    {{std::string{attr::event_affected_proc}, 0, value::of_proc(what.proc)}},
    out);
  check_destructed(out);
}

void process_group::take(const group_time_up& what, effects& out) {
  if (what.operation == group_operation::destruct) {
    if (what.round == destruct_round_ && !destruct_)
      end(status::timeout,
          "not all members of group " + key_.id + " ended it in time", out);
    return;
  }
  if (what.round > 0) {
    question_time_up(what.round, out);
    return;
  }
  if (construct_ || phase_ != group_phase::constructing)
    return;
  const auto is_named = key_.participants != 0;
  if (is_optional_ && joined_ > 0)
    complete(out);
  else
    abort(status::timeout,
          is_named || leaders_expected_ > 0
            ? "not all participants of group " + key_.id + " called in time"
            : "nobody is named for group " + key_.id
                + ", and nobody has called in time who leads it",
          out);
}

void process_group::member_ended(participant& who, effects& out) {
  const auto proc = who.proc;
  const auto led = who.is_leader;
  set(who, standing::ended);
  stop_asking(proc, out);
  const auto goes_on = notifies_termination_ || ends_fault_tolerant_;
  if (notifies_termination_) {
    remove_member(proc, out);
    raise(status::group_member_failed, {}, watchers(),
          {{std::string{attr::event_affected_proc}, 0, value::of_proc(proc)}},
          out);
  } else if (!lost_) {
    lost_ = proc;
  }
  if (led && leaders().empty() && joined_ > 0)
    leader_ended(proc, out);
  if (phase_ == group_phase::destructing && !goes_on)
    end(status::lost_connection,
        to_string(proc) + " has ended without having left group " + key_.id,
        out);
  else
    check_destructed(out);
}

void process_group::remove_member(const proc_id& proc, effects& out) {
  auto rest = *members_;
  rest.erase(std::remove(rest.begin(), rest.end(), proc), rest.end());
  members_ = std::make_shared<const std::vector<proc_id>>(std::move(rest));
  out.departed.push_back(proc);
  out.is_changed = true;
}

void process_group::take_destruct(const group_calls& what, effects& out) {
  if (phase_ != group_phase::complete && phase_ != group_phase::destructing
      && !destruct_)
    return;
  for (const auto& caller : what.callers) {
    auto* who = find(caller.proc);
    if (who == nullptr || who->state != standing::joined
        || std::exchange(who->has_called_destruct, true))
      continue;
    ++ending_;
    ++releases_;
    ends_fault_tolerant_ |= flag(caller.directives, attr::group_ft_collective);
  }
  if (destruct_ || ending_ == 0)
    return;
  if (destruct_round_ == 0) {
    phase_ = group_phase::destructing;
    destruct_round_ = next_round_++;
    out.begun.emplace_back(group_operation::destruct, destruct_round_);
  }
  if (lost_ && !ends_fault_tolerant_)
    end(status::lost_connection,
        to_string(*lost_) + " has ended without having left group " + key_.id,
        out);
  else
    check_destructed(out);
}

void process_group::check_destructed(effects& out) {
  if (members_ != nullptr && !destruct_ && ending_ == joined_)
    end(status::success, {}, out);
}

void process_group::end(status code, std::string reason, effects& out) {
  phase_ = group_phase::over;
  ++releases_;
  members_.reset();
  inquiries_.clear();
  out.is_changed = true;
  destruct_ =
    outcome{group_operation::destruct, code, std::move(reason), nullptr};
  out.outcomes.push_back(*destruct_);
}

} // namespace troupe
