#include "actors/groups/process_group.hpp"

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

} // namespace troupe
