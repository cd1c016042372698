#include "actors/groups/process_group.hpp"

#include "actors/events/range_filter.hpp"
#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_wish.hpp"
#include "base/make_info.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <utility>

namespace troupe {

namespace {

/// Questions of a group that are open at once; what fails beyond that, nobody
/// is asked about.
constexpr size_t max_questions = 64;

// How a participant of a group at rest stands: its standing, and these.
constexpr auto standing_mask = 7;
constexpr auto leader_bit = 8;
constexpr auto invited_bit = 16;
constexpr auto arrived_bit = 32;

/// What a caller gives to the other members: the content of PMIX_GROUP_INFO,
/// and what older releases give beside it. Source: OpenPMIx 6.1,
/// src/client/pmix_client_group.c.
std::vector<info> contributed(const std::vector<info>& directives) {
  auto result = std::vector<info>{};
  for (const auto& x : directives) {
    if (x.key == attr::group_info) {
      for (auto& y : infos_of(x.val))
        if (y.key != attr::procid)
          result.push_back(std::move(y));
    } else if (x.key == attr::group_local_cid
               || x.key == attr::group_endpt_data) {
      result.push_back(x);
    }
  }
  return result;
}

/// A value that holds in one group only: found with the qualifier
/// PMIX_GROUP_CONTEXT_ID.
key_value qualified(info what, uint64_t context_id) {
  auto id = info{std::string{attr::group_context_id}, info_qualifier,
                 value::size(context_id)};
  return {std::string{attr::qualified_value},
          value::infos({std::move(what), std::move(id)})};
}

/// Shows those that have called, one by one; of what nobody means, nothing.
template <class F>
void for_each_caller(const group_calls& what, F show) {
  for (const auto& x : what.callers) {
    auto proc = x.proc;
    for (uint32_t i = 0; i < x.count && x.count <= defaults::group_participants;
         ++i, ++proc.rank)
      show(proc, x);
  }
}

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

void drop(std::vector<proc_id>& xs, const proc_id& x) {
  xs.erase(std::remove(xs.begin(), xs.end(), x), xs.end());
}

/// Adds what is not there yet.
void put(std::vector<info>& infos, std::string_view key, value x) {
  if (find(infos, key) == nullptr)
    infos.push_back(make_info(key, std::move(x)));
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

// Of a complete group much is never asked again: the wishes of its callers, but
// for NOTIFY_TERMINATION, and whoever was named or invited in which order.

process_group process_group::after(group_key key, rest from) {
  auto result = process_group{std::move(key), std::vector<proc_id>{}};
  result.phase_ = group_phase::complete;
  auto& all = result.participants_;
  all.resize(std::min(from.participants.size(), from.standings.size()));
  for (size_t i = 0; i < all.size(); ++i) {
    auto& x = all[i];
    const auto how = static_cast<uint8_t>(from.standings[i]);
    x.proc = std::move(from.participants[i]);
    x.state = static_cast<standing>(how & standing_mask);
    x.is_leader = (how & leader_bit) != 0;
    x.is_invited = (how & invited_bit) != 0;
    if ((how & arrived_bit) != 0)
      x.arrival = ++result.arrivals_;
    result.awaited_ += x.state == standing::awaited ? 1 : 0;
    result.joined_ += x.state == standing::joined ? 1 : 0;
    if (x.is_invited)
      result.invitation_.invited.push_back(x.proc);
  }
  result.members_ =
    std::make_shared<const std::vector<proc_id>>(std::move(from.members));
  result.construct_ =
    outcome{group_operation::construct, from.code, {}, nullptr};
  result.context_id_ = from.context_id;
  result.lost_ = std::move(from.lost);
  result.notifies_termination_ = from.notifies_termination;
  result.invitation_.is_open = from.is_open;
  if (from.is_concluded)
    result.invitation_.completion.emplace();
  result.election_.count = from.elections;
  result.next_round_ = from.next_round;
  result.entries_ = from.entries;
  return result;
}

std::optional<process_group::rest> process_group::at_rest() const {
  if (phase_ != group_phase::complete || !inquiries_.empty()
      || invitation_.owing > 0)
    return std::nullopt;
  auto result = rest{};
  for (const auto& x : participants_) {
    result.participants.push_back(x.proc);
    const auto how =
      static_cast<uint8_t>(x.state) | (x.is_leader ? leader_bit : 0)
      | (x.is_invited ? invited_bit : 0) | (x.arrival > 0 ? arrived_bit : 0);
    result.standings.push_back(static_cast<char>(how));
  }
  result.members = *members_;
  result.code = construct_->code;
  result.context_id = context_id_;
  result.lost = lost_;
  result.notifies_termination = notifies_termination_;
  result.is_open = invitation_.is_open;
  result.is_concluded = invitation_.completion.has_value();
  result.elections = election_.count;
  result.next_round = next_round_;
  result.entries = entries_;
  return result;
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
      make_info(attr::group_id, value::string(key_.id)));
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
  raise(status::group_left, what.proc, others(what.proc),
        {make_info(attr::event_affected_proc, value::of_proc(what.proc))}, out);
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
          {make_info(attr::event_affected_proc, value::of_proc(proc))}, out);
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
  for_each_caller(what, [&](const proc_id& proc, const group_caller& caller) {
    auto* who = find(proc);
    if (who == nullptr || who->state != standing::joined
        || std::exchange(who->has_called_destruct, true))
      return;
    ++ending_;
    ++releases_;
    ends_fault_tolerant_ |= flag(caller.directives, attr::group_ft_collective);
  });
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
    // Once it has been said that all have come, who has not cannot lead them.
    if (who == nullptr || !who->is_live()
        || (invitation_.completion && who->state != standing::joined))
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
      make_info(attr::event_affected_proc, value::of_proc(*winner)));
    result.push_back(make_info(attr::group_leader, value::of_proc(*winner)));
  } else {
    result.push_back(make_info(
      group_keys::status,
      value::of_status(static_cast<int32_t>(status::group_leader_failed))));
  }
  result.push_back(make_info(attr::event_non_default, value::boolean(true)));
  // By these the library of the new leader takes the invitation over.
  if (phase_ != group_phase::inviting || invitation_.completion)
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
    make_info(group_keys::accepted, value::procs(std::move(accepted))));
  result.push_back(
    make_info(group_keys::pending, value::procs(std::move(pending))));
  return result;
}

// -- questions to handlers ----------------------------------------------------

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
      make_info(attr::event_affected_proc, value::of_proc(subject)));
  infos.push_back(make_info(attr::event_non_default, value::boolean(true)));
  infos.push_back(make_info(group_keys::round, value::uint64(round)));
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
    make_info(attr::group_membership, value::procs(current_array())));
  infos.push_back(make_info(attr::event_non_default, value::boolean(true)));
  raise(status::group_invited, by, std::move(chosen), std::move(infos), out);
  return kind::replaces;
}

// -- the construction: calls --------------------------------------------------

void process_group::take(const group_calls& what, effects& out) {
  if (what.operation == group_operation::destruct) {
    take_destruct(what, out);
    return;
  }
  for_each_caller(what, [&](const proc_id& proc, const group_caller& caller) {
    join(what, proc, caller, out);
  });
  check_complete(out);
}

void process_group::join(const group_calls& what, const proc_id& proc,
                         const group_caller& caller, effects& out) {
  auto* who = find(proc);
  if (who == nullptr) {
    // Nobody is named when a group is bootstrapped.
    if (key_.participants != 0 || construct_)
      return;
    who = &add(proc, out);
    who->is_added = false;
  }
  if (who->state != standing::awaited)
    return;
  if (construct_) {
    // Too late: a group that is complete goes on without it.
    who->arrival = ++arrivals_;
    set(*who, members_ != nullptr ? standing::dropped : standing::joined);
    return;
  }
  note_joined(*who);
  const auto& asks = caller.directives;
  is_optional_ |= flag(asks, attr::group_optional);
  is_fault_tolerant_ |= flag(asks, attr::group_ft_collective);
  notifies_termination_ |= flag(asks, attr::group_notify_termination);
  wants_context_id_ |= flag(asks, attr::group_assign_context_id);
  const auto leads = flag(asks, attr::group_leader);
  who->is_leader |= leads;
  if (const auto expected = number<uint64_t>(asks, attr::group_bootstrap);
      expected && *expected > 0) {
    who->is_leader = true;
    leaders_expected_ = std::max(leaders_expected_, *expected);
    ++leaders_come_;
  }
  if (!what.procs.empty()) {
    if (first_array_.empty())
      first_array_ = what.procs;
    else if (!arrays_differ_ && what.procs != first_array_)
      arrays_differ_ = spelt_out(what.procs) != spelt_out(first_array_);
  }
  if (const auto* order =
        troupe::find(asks, attr::group_final_membership_order))
    if (final_order_.empty() || (leads && !is_order_of_leader_)) {
      final_order_ = procs_of(*order);
      is_order_of_leader_ = leads;
    }
  if (auto infos = contributed(asks); !infos.empty())
    contributions_.push_back({proc, std::move(infos)});
  if (!caller.posted.empty()) {
    who->has_given = true;
    out.data.push_back({proc, caller.posted});
  }
  if (who->is_added && key_.participants != 0)
    want_data(out);
  if (const auto* more = troupe::find(asks, attr::group_add_members)) {
    auto invited = add_all(procs_of(*more), out);
    note_invited(invited);
    raise(status::group_invited, proc, std::move(invited), invitation_infos(),
          out);
  }
}

std::vector<proc_id> process_group::current_array() const {
  auto result = spelt_out(first_array_);
  for (const auto& [gone, others] : replacements_) {
    // In its place, so that the ranks of the others stay.
    const auto place = std::find(result.begin(), result.end(), gone);
    const auto is_listed = place != result.end();
    const auto first = result.insert(place, others.begin(), others.end());
    if (is_listed)
      result.erase(first + static_cast<std::ptrdiff_t>(others.size()));
  }
  return result;
}

std::vector<proc_id>
process_group::spelt_out(const std::vector<proc_id>& procs) const {
  auto result = std::vector<proc_id>{};
  for (const auto& proc : procs) {
    if (proc.rank != rank_wildcard) {
      result.push_back(proc);
      continue;
    }
    for (const auto& x : participants_)
      if (x.proc.nspace == proc.nspace && !x.is_added)
        result.push_back(x.proc);
  }
  return result;
}

// -- the end of the construction ----------------------------------------------

void process_group::check_complete(effects& out) {
  if (construct_ || phase_ != group_phase::constructing || awaited_ > 0
      || !inquiries_.empty() || invitation_.owing > 0
      || leaders_come_ < leaders_expected_)
    return;
  if (joined_ == 0)
    abort(status::group_construct_abort,
          "all participants of group " + key_.id + " have ended", out);
  else if (key_.participants != 0 || leaders_expected_ > 0)
    complete(out); // Else they wait for the leaders of a bootstrap.
}

std::vector<proc_id> process_group::ordered_members() const {
  const auto has_joined = [this](const proc_id& proc) {
    const auto* x = find(proc);
    return x != nullptr && x->state == standing::joined;
  };
  auto result = std::vector<proc_id>{};
  auto seen = std::vector<bool>(participants_.size());
  const auto append = [&](const std::vector<proc_id>& procs) {
    for (const auto& proc : procs)
      if (const auto* x = find(proc);
          has_joined(proc) && !seen[x - participants_.data()]) {
        seen[x - participants_.data()] = true;
        result.push_back(proc);
      }
  };
  append(spelt_out(final_order_));
  if (!arrays_differ_)
    append(current_array());
  for (size_t i = 0; i < participants_.size(); ++i)
    if (participants_[i].state == standing::joined && !seen[i])
      result.push_back(participants_[i].proc);
  return result;
}

void process_group::complete(effects& out) {
  for (const auto& x : participants_)
    if (x.state != standing::joined && !x.is_added && !invitation_.inviter)
      is_reduced_ = true;
  members_ = std::make_shared<const std::vector<proc_id>>(ordered_members());
  phase_ = group_phase::complete;
  // Who leads is told all the same.
  for (auto i = inquiries_.begin(); i != inquiries_.end();)
    i = i->second.about == topic::leader_failed ? std::next(i)
                                                : inquiries_.erase(i);
  if (wants_context_id_ && !context_id_ && offered_context_id_ != 0)
    context_id_ = offered_context_id_;
  auto result = group_construct_result{};
  result.members = *members_;
  result.context_id = context_id_;
  if (is_reduced_ && is_optional_)
    result.outcome = status::partial_success;
  auto arrays = std::vector<info>{};
  for (auto& x : contributions_) {
    const auto* who = find(x.proc);
    if (who == nullptr || who->state != standing::joined)
      continue;
    auto data = proc_data{x.proc, {}};
    for (const auto& y : x.infos)
      data.entries.push_back(context_id_ ? qualified(y, *context_id_)
                                         : key_value{y.key, y.val});
    out.infos.push_back(std::move(data));
    x.infos.insert(x.infos.begin(),
                   make_info(attr::procid, value::of_proc(x.proc)));
    arrays.push_back(
      make_info(attr::group_info, value::infos(std::move(x.infos))));
  }
  if (!arrays.empty())
    result.infos.push_back(
      make_info(attr::group_info_array, value::infos(std::move(arrays))));
  contributions_ = {};
  first_array_ = {};
  replacements_ = {};
  final_order_ = {};
  out.is_changed = true;
  construct_ = outcome{group_operation::construct, result.outcome, {}, nullptr};
  out.outcomes.push_back(*construct_);
  out.outcomes.back().result =
    std::make_shared<const group_construct_result>(std::move(result));
  const auto membership = [this] {
    return std::vector<info>{
      make_info(attr::group_membership, value::procs(*members_))};
  };
  auto answered = std::vector<proc_id>{};
  for (const auto& x : participants_)
    if (x.has_answered && x.state == standing::joined)
      answered.push_back(x.proc);
  if (!answered.empty()) {
    auto infos = membership();
    if (context_id_)
      infos.push_back(
        make_info(attr::group_context_id, value::size(*context_id_)));
    // Nobody hears an event of its own.
    const auto source =
      std::find_if(members_->begin(), members_->end(), [&](const proc_id& x) {
        return std::find(answered.begin(), answered.end(), x) == answered.end();
      });
    raise(status::group_construct_complete,
          source != members_->end() ? *source : proc_id{}, std::move(answered),
          std::move(infos), out);
  }
  if ((is_reduced_ && !is_optional_)
      || (is_extended_ && key_.participants != 0))
    raise(status::group_membership_update, {}, *members_, membership(), out);
}

void process_group::abort(status code, std::string reason, effects& out) {
  if (construct_)
    return;
  auto answered = std::vector<proc_id>{};
  for (const auto& x : participants_)
    if (x.has_answered && x.state == standing::joined)
      answered.push_back(x.proc);
  raise(status::group_construct_abort, {}, std::move(answered), {}, out);
  // Who has been invited only has no call that could be answered.
  for (auto& x : participants_)
    if (x.is_added && x.is_live() && (x.has_answered || x.arrival == 0))
      set(x, standing::dropped);
  phase_ = group_phase::over;
  ++releases_;
  inquiries_.clear();
  contributions_ = {};
  first_array_ = {};
  replacements_ = {};
  final_order_ = {};
  construct_ =
    outcome{group_operation::construct, code, std::move(reason), nullptr};
  out.outcomes.push_back(*construct_);
}

void process_group::take(const group_conflict& what, effects& out) {
  if (phase_ == group_phase::constructing)
    abort(what.code, what.reason, out);
  else if (auto* who = find(what.proc);
           phase_ == group_phase::inviting && who != nullptr && who->is_live())
    lose_invitee(*who, standing::declined, out);
}

// -- deaths -------------------------------------------------------------------

void process_group::constructor_ended(participant& who, effects& out) {
  const auto proc = who.proc;
  set(who, standing::ended);
  stop_asking(proc, out);
  if (construct_)
    return;
  if (who.is_leader && leaders().empty())
    leader_ended(proc, out);
  else
    replace_ended(proc, out);
}

void process_group::replace_ended(const proc_id& proc, effects& out) {
  if (construct_)
    return;
  const auto about = std::vector<info>{
    make_info(attr::event_affected_proc, value::of_proc(proc))};
  const auto goes_on =
    is_optional_ || is_fault_tolerant_ || notifies_termination_;
  if (notifies_termination_ || is_fault_tolerant_)
    raise(status::group_member_failed, {}, watchers(), about, out);
  if (!goes_on) {
    ask(topic::invite_failed, proc, status::group_invite_failed, {}, watchers(),
        about, out);
    return;
  }
  if (!is_optional_)
    raise(status::group_invite_failed, {}, watchers(), about, out);
  check_complete(out);
}

// -- with a host that conducts groups -----------------------------------------

void process_group::take(const group_host_outcome& what, effects& out) {
  if (what.operation == group_operation::destruct) {
    if (!destruct_)
      end(what.code, "the host has ended group " + key_.id, out);
    return;
  }
  if (construct_)
    return;
  if (what.code != status::success) {
    abort(what.code, "the host has not made group " + key_.id, out);
  } else {
    if (const auto id = number<uint64_t>(what.infos, attr::group_context_id))
      context_id_ = *id;
    const auto* members = troupe::find(what.infos, attr::group_membership);
    if (members != nullptr)
      final_order_ = spelt_out(procs_of(*members));
    else
      final_order_ = live_participants();
    add_all(final_order_, out);
    for (const auto& proc : final_order_)
      if (auto* who = find(proc);
          who != nullptr && who->state == standing::awaited)
        set(*who, standing::joined);
    if (!construct_)
      complete(out);
  }
  // All that are here have called, and those elsewhere are the host's.
  for (auto& x : participants_)
    if (x.state == standing::awaited)
      set(x, standing::dropped);
}

void process_group::take(const group_snapshot&, effects&) {
  // nop
}

// Invitations. The library of the inviter, who leads, counts the answers and
// says when the group is complete or fails; what it says passes through the
// log, which knows better who has accepted: an answer counts once, those of
// strangers do not count, and the members are those that have accepted and
// still run.
//
// Source: RFC0033, Group_invite and Group_join; readings A29, A31.

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

void process_group::want_data(effects& out) {
  for (auto& x : participants_)
    if (x.state == standing::joined && !x.has_given) {
      set_owes_data(x, true);
      out.needs_data = true;
    }
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
    want_data(out);
  }
}

void process_group::decline(const group_notice& what, effects& out) {
  auto& who = *find(what.source);
  if (!who.is_invited) {
    out.refused = status::not_a_member;
    return;
  }
  // Who leads has accepted, and may not have heard yet that it leads.
  if (phase_ == group_phase::inviting && who.is_leader && who.is_live())
    out.refused = status::exists;
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

// -- events of an invitation --------------------------------------------------

std::vector<info> process_group::invitation_infos() const {
  auto result = std::vector<info>{};
  if (!invitation_.invited.empty())
    result.push_back(
      make_info(group_keys::invitation, value::uint64(key_.generation)));
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
    who->has_given = true;
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
