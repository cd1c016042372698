#include "actors/groups/process_group.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

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

} // namespace

// -- calls
// ---------------------------------------------------------------------

void process_group::take(const group_calls& what, effects& out) {
  if (what.operation == group_operation::destruct) {
    take_destruct(what, out);
    return;
  }
  for (const auto& caller : what.callers)
    join(what, caller, out);
  check_complete(out);
}

void process_group::join(const group_calls& what, const group_caller& caller,
                         effects& out) {
  auto* who = find(caller.proc);
  if (who == nullptr) {
    // Nobody is named when a group is bootstrapped.
    if (key_.participants != 0 || construct_)
      return;
    who = &add(caller.proc, out);
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
    contributions_.push_back({caller.proc, std::move(infos)});
  if (!caller.posted.empty())
    out.data.push_back({caller.proc, caller.posted});
  if (const auto* more = troupe::find(asks, attr::group_add_members)) {
    auto invited = add_all(procs_of(*more), out);
    note_invited(invited);
    raise(status::group_invited, caller.proc, std::move(invited),
          invitation_infos(), out);
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

// -- the end of the construction
// ---------------------------------------------------------

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
                   info{std::string{attr::procid}, 0, value::of_proc(x.proc)});
    arrays.push_back(
      {std::string{attr::group_info}, 0, value::infos(std::move(x.infos))});
  }
  if (!arrays.empty())
    result.infos.push_back({std::string{attr::group_info_array}, 0,
                            value::infos(std::move(arrays))});
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
      {std::string{attr::group_membership}, 0, value::procs(*members_)}};
  };
  auto answered = std::vector<proc_id>{};
  for (const auto& x : participants_)
    if (x.has_answered && x.state == standing::joined)
      answered.push_back(x.proc);
  if (!answered.empty()) {
    auto infos = membership();
    if (context_id_)
      infos.push_back(
        {std::string{attr::group_context_id}, 0, value::size(*context_id_)});
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

// -- deaths
// --------------------------------------------------------------------

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
    {std::string{attr::event_affected_proc}, 0, value::of_proc(proc)}};
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

// -- with a host that conducts groups
// ----------------------------------------------------

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

} // namespace troupe
