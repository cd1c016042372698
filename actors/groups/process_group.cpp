#include "actors/groups/process_group.hpp"

#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_wish.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

process_group::process_group(group_key key, std::vector<proc_id> participants)
  : key_(std::move(key)) {
  std::sort(participants.begin(), participants.end());
  participants.erase(std::unique(participants.begin(), participants.end()),
                     participants.end());
  participants_.reserve(participants.size());
  for (auto& proc : participants) {
    participants_.emplace_back();
    participants_.back().proc = std::move(proc);
  }
  awaited_ = participants_.size();
  // Questions of groups of one name are told apart by their numbers.
  constexpr auto mix = uint64_t{0x9e3779b97f4a7c15};
  const auto start = (key_.participants ^ (key_.generation * mix)) * mix;
  next_round_ = ((start >> 33) << 20) + 1;
}

void process_group::apply(const group_entry& entry, effects& out) {
  ++entries_;
  if (offered_context_id_ == 0)
    offered_context_id_ = entry.context_id;
  std::visit([&](const auto& what) { take(what, out); }, entry.what);
  settle(out);
}

bool process_group::is_over() const {
  if (phase_ != group_phase::over || awaited_ > 0)
    return false;
  // A construction that has failed is over when all have called it.
  return !destruct_ || ending_ == joined_;
}

bool process_group::has_called(group_operation operation,
                               const proc_id& proc) const {
  const auto* x = find(proc);
  if (x == nullptr)
    return false;
  return operation == group_operation::construct ? x->arrival > 0
                                                 : x->has_called_destruct;
}

bool process_group::is_released(const proc_id& proc) const {
  const auto* x = find(proc);
  if (x == nullptr || !x->is_live())
    return true;
  if (x->state == standing::awaited || phase_ != group_phase::over)
    return false;
  return !destruct_ || x->has_called_destruct;
}

const process_group::outcome*
process_group::outcome_of(group_operation operation) const {
  const auto& x =
    operation == group_operation::construct ? construct_ : destruct_;
  return x ? &*x : nullptr;
}

std::optional<uint64_t>
process_group::round_of(group_operation operation) const {
  if (operation == group_operation::construct)
    return construct_ ? std::nullopt : std::optional<uint64_t>{0};
  if (destruct_round_ == 0 || destruct_)
    return std::nullopt;
  return destruct_round_;
}

process_group::participant* process_group::find(const proc_id& proc) {
  const auto i = std::lower_bound(
    participants_.begin(), participants_.end(), proc,
    [](const participant& x, const proc_id& y) { return x.proc < y; });
  return i != participants_.end() && i->proc == proc ? &*i : nullptr;
}

const process_group::participant*
process_group::find(const proc_id& proc) const {
  return const_cast<process_group*>(this)->find(proc);
}

process_group::participant& process_group::add(const proc_id& proc,
                                               effects& out) {
  auto* known = find(proc);
  if (known != nullptr && known->is_live())
    return *known;
  if (known == nullptr) {
    const auto i = std::lower_bound(
      participants_.begin(), participants_.end(), proc,
      [](const participant& x, const proc_id& y) { return x.proc < y; });
    known = &*participants_.emplace(i);
    known->proc = proc;
    known->state = standing::dropped;
  }
  known->is_added = true;
  is_extended_ = true;
  set(*known, standing::awaited);
  out.added.push_back(proc);
  return *known;
}

std::vector<proc_id> process_group::add_all(std::vector<proc_id> procs,
                                            effects& out) {
  std::sort(procs.begin(), procs.end());
  procs.erase(std::unique(procs.begin(), procs.end()), procs.end());
  auto result = std::vector<proc_id>{};
  auto unknown = std::vector<participant>{};
  for (auto& proc : procs) {
    if (proc.rank > rank_valid_max)
      continue;
    if (auto* known = find(proc)) {
      if (known->is_live() || known->state == standing::ended)
        continue;
      add(proc, out);
    } else if (participants_.size() + unknown.size()
               >= defaults::group_participants) {
      continue;
    } else {
      unknown.emplace_back();
      unknown.back().proc = proc;
      unknown.back().is_added = true;
      out.added.push_back(proc);
    }
    result.push_back(std::move(proc));
  }
  if (unknown.empty())
    return result;
  is_extended_ = true;
  awaited_ += unknown.size();
  const auto size = participants_.size();
  std::move(unknown.begin(), unknown.end(), std::back_inserter(participants_));
  std::inplace_merge(
    participants_.begin(), participants_.begin() + size, participants_.end(),
    [](const participant& x, const participant& y) { return x.proc < y.proc; });
  return result;
}

void process_group::set(participant& who, standing state) {
  const auto count = [&](int step) {
    if (who.state == standing::awaited)
      awaited_ += step;
    if (who.state == standing::joined) {
      joined_ += step;
      if (who.has_called_destruct)
        ending_ += step;
    }
  };
  count(-1);
  who.state = state;
  count(1);
  if (state != standing::joined)
    set_owes_data(who, false);
  if (phase_ == group_phase::over || !who.is_live())
    ++releases_;
}

void process_group::note_joined(participant& who) {
  who.arrival = ++arrivals_;
  set(who, standing::joined);
}

bool process_group::is_concerned(const participant& who) const {
  return members_ != nullptr ? who.state == standing::joined : who.is_live();
}

bool process_group::is_participant(const proc_id& proc) const {
  const auto* x = find(proc);
  return x != nullptr && x->is_live();
}

bool process_group::is_member(const proc_id& proc) const {
  const auto* x = find(proc);
  return members_ != nullptr && x != nullptr && x->state == standing::joined;
}

std::vector<proc_id> process_group::live_participants() const {
  auto result = std::vector<proc_id>{};
  for (const auto& x : participants_)
    if (x.is_live())
      result.push_back(x.proc);
  return result;
}

std::vector<proc_id> process_group::others(const proc_id& but) const {
  auto result = std::vector<proc_id>{};
  for (const auto& x : participants_)
    if (is_concerned(x) && x.proc != but)
      result.push_back(x.proc);
  return result;
}

std::vector<proc_id> process_group::leaders() const {
  auto result = std::vector<proc_id>{};
  for (const auto& x : participants_)
    if (x.is_leader && x.is_live())
      result.push_back(x.proc);
  return result;
}

std::vector<proc_id> process_group::watchers() const {
  auto result = leaders();
  return result.empty() ? others({}) : result;
}

std::vector<proc_id> process_group::asked(uint64_t round) const {
  const auto i = inquiries_.find(round);
  if (i == inquiries_.end())
    return {};
  return {i->second.asked.begin(), i->second.asked.end()};
}

deliver_event process_group::make_event(status code, const proc_id& source,
                                        std::vector<proc_id> targets,
                                        std::vector<info> infos) const {
  auto result = deliver_event{};
  result.what.code = code;
  result.what.source = source;
  result.what.range = data_range::custom;
  result.what.infos = std::move(infos);
  if (troupe::find(result.what.infos, attr::group_id) == nullptr)
    result.what.infos.push_back(
      {std::string{attr::group_id}, 0, value::string(key_.id)});
  result.targets = std::move(targets);
  return result;
}

void process_group::raise(status code, const proc_id& source,
                          std::vector<proc_id> targets, std::vector<info> infos,
                          effects& out) const {
  targets.erase(std::remove_if(targets.begin(), targets.end(),
                               [&](const proc_id& proc) {
                                 const auto* x = find(proc);
                                 return x != nullptr && !is_concerned(*x);
                               }),
                targets.end());
  if (!targets.empty())
    out.events.push_back(
      make_event(code, source, std::move(targets), std::move(infos)));
}

group_status process_group::describe() const {
  auto result = group_status{};
  result.group = key_;
  result.phase = phase_;
  result.leaders = leaders();
  result.context_id = context_id_;
  result.entries = entries_;
  result.members = members_ != nullptr ? *members_ : live_participants();
  for (const auto& x : participants_)
    if (members_ == nullptr
          ? x.state == standing::awaited
          : phase_ == group_phase::destructing && x.state == standing::joined
              && !x.has_called_destruct)
      result.missing.push_back(x.proc);
  return result;
}

// -- the end of members and of the group --------------------------------------

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

// -- the leader ---------------------------------------------------------------

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

// -- questions to handlers ----------------------------------------------------

namespace {

/// Questions of a group that are open at once; what fails beyond that, nobody
/// is asked about.
constexpr size_t max_questions = 64;

} // namespace

void process_group::ask(topic about, const proc_id& subject, status code,
                        const proc_id& source, std::vector<proc_id> targets,
                        std::vector<info> infos, effects& out) {
  const auto is_gone = [&](const proc_id& x) {
    const auto* who = find(x);
    return who == nullptr || !is_concerned(*who);
  };
  targets.erase(std::remove_if(targets.begin(), targets.end(), is_gone),
                targets.end());
  if (inquiries_.size() >= max_questions)
    targets.clear();
  const auto round = next_round_++;
  auto& x = inquiries_[round];
  x.about = about;
  x.subject = subject;
  x.asked = {targets.begin(), targets.end()};
  if (targets.empty())
    return;
  if (troupe::find(infos, attr::event_affected_proc) == nullptr)
    infos.push_back(
      {std::string{attr::event_affected_proc}, 0, value::of_proc(subject)});
  infos.push_back(
    {std::string{attr::event_non_default}, 0, value::boolean(true)});
  infos.push_back({std::string{group_keys::round}, 0, value::uint64(round)});
  out.questions.push_back(
    {round, make_event(code, source, std::move(targets), std::move(infos))});
}

void process_group::take(const group_verdicts& what, effects&) {
  for (const auto& x : what.verdicts) {
    const auto i = inquiries_.find(x.round);
    if (i == inquiries_.end() || i->second.asked.erase(x.proc) == 0)
      continue;
    i->second.verdicts.push_back(x);
    i->second.aborts |= wish_of(x, i->second.subject).aborts;
  }
}

void process_group::question_time_up(uint64_t round, effects&) {
  const auto i = inquiries_.find(round);
  if (i != inquiries_.end())
    i->second.asked.clear();
}

void process_group::stop_asking(const proc_id& proc, effects&) {
  election_.candidates.erase(proc);
  for (auto& [round, x] : inquiries_) {
    if (x.asked.erase(proc) != 0)
      continue;
    auto& verdicts = x.verdicts;
    verdicts.erase(
      std::remove_if(verdicts.begin(), verdicts.end(),
                     [&](const group_verdict& y) { return y.proc == proc; }),
      verdicts.end());
  }
}

void process_group::settle(effects& out) {
  const auto is_settled = [&](const auto& x) {
    return x.second.asked.empty() || (x.second.aborts && is_undecided());
  };
  while (phase_ != group_phase::over) {
    const auto i =
      std::find_if(inquiries_.begin(), inquiries_.end(), is_settled);
    if (i == inquiries_.end())
      break;
    const auto x = std::move(i->second);
    inquiries_.erase(i);
    if (x.about == topic::leader_failed)
      count_votes(x, out);
    else
      rule(x, out);
  }
  if (phase_ == group_phase::over) {
    inquiries_.clear();
    election_ = {};
  } else if (phase_ == group_phase::constructing) {
    check_complete(out);
  }
  conclude_invitation(out);
}

void process_group::rule(const inquiry& x, effects& out) {
  using kind = group_ruling::kind;
  if (phase_ != group_phase::constructing)
    return;
  auto ruling = rule_on(x.verdicts, x.subject);
  if (ruling.what == kind::nothing && is_electing()) {
    election_.waiting.push_back(x.subject);
    return;
  }
  if (ruling.what == kind::replaces)
    ruling.what = replace(x.subject, *ruling.by, ruling.replacements, out);
  if (ruling.what == kind::nothing && (is_optional_ || is_fault_tolerant_))
    ruling.what = kind::goes_on;
  switch (ruling.what) {
    case kind::replaces:
      break;
    case kind::goes_on:
      is_reduced_ = true;
      break;
    case kind::nothing:
      abort(status::group_construct_abort,
            to_string(x.subject) + " has ended before it joined", out);
      break;
    case kind::aborts:
      abort(status::group_construct_abort,
            to_string(*ruling.by) + " wants no group without "
              + to_string(x.subject),
            out);
      break;
  }
}

group_ruling::kind process_group::replace(const proc_id& failed,
                                          const proc_id& by,
                                          const std::vector<proc_id>& with,
                                          effects& out) {
  using kind = group_ruling::kind;
  const auto is_in = [&](const proc_id& x) { return is_participant(x); };
  const auto some_are_in = std::any_of(with.begin(), with.end(), is_in);
  auto chosen = add_all(with, out);
  if (chosen.empty())
    return some_are_in || construct_ ? kind::goes_on : kind::nothing;
  note_invited(chosen);
  replacements_.emplace_back(failed, chosen);
  auto infos = invitation_infos();
  infos.push_back(
    {std::string{attr::group_membership}, 0, value::procs(current_array())});
  infos.push_back(
    {std::string{attr::event_non_default}, 0, value::boolean(true)});
  raise(status::group_invited, by, std::move(chosen), std::move(infos), out);
  return kind::replaces;
}

} // namespace troupe
