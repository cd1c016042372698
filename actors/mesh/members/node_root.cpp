#include "actors/mesh/members/node_root.hpp"

#include <algorithm>

namespace troupe {

namespace defaults {

/// How much two clocks may differ in rate, in millionths.
inline constexpr auto clock_drift_ppm = 200;

} // namespace defaults

node_root::node_root(node_times times, const std::vector<std::string>& names,
                     uint64_t incarnation, std::vector<node_address> addresses)
  : times_(times), missing_(names.size() - 1) {
  for (auto rank = uint32_t{0}; rank < names.size(); ++rank) {
    const auto is_root = rank == 0;
    first_.push_back({rank,
                      names[rank],
                      is_root ? incarnation : 0,
                      is_root ? node_state::live : node_state::expected,
                      1,
                      {}});
    ranks_.emplace(names[rank], rank);
  }
  if (!first_.empty())
    first_.front().addresses = std::move(addresses);
}

node_update node_root::first_list() const {
  return {0, 1, first_};
}

void node_root::change(const node_list& list, uint32_t rank, node_state state,
                       uint64_t incarnation, node_time now,
                       std::vector<node_address> addresses) {
  const auto* row = list.find(rank);
  if (pending_.empty())
    pending_since_ = now;
  if (row->state == node_state::expected && state == node_state::live
      && pending_.count(rank) == 0)
    --missing_;
  pending_[rank] = {rank,  row->name, incarnation,
                    state, 0,         std::move(addresses)};
  suspicions_.erase(rank);
}

void node_root::bury(uint32_t rank, uint64_t incarnation, node_time now) {
  // By its own clock the dead ends `fence` after its last contact, which was
  // before the verdict.
  const auto drift = times_.fence / 1'000'000 * defaults::clock_drift_ppm;
  graves_[rank] = {incarnation, now + times_.fence + drift + times_.dead};
}

void node_root::fence(uint32_t rank, uint64_t incarnation) {
  graves_.erase(rank);
  fenced_.push_back({rank, incarnation});
}

void node_root::tell_fenced(node_effects& out) {
  for (auto i = fenced_.begin(); i != fenced_.end();) {
    if (pending_.count(i->rank) > 0) {
      ++i;
      continue;
    }
    out.push_back(*i);
    i = fenced_.erase(i);
  }
}

void node_root::join(const node_list& list, const node_join& x, uint64_t via,
                     node_time now, node_effects& out) {
  const auto i = ranks_.find(x.name);
  if (i == ranks_.end()) {
    out.push_back(
      answer_join{via, node_refusal{join_refusal::unknown_name, 0}});
    return;
  }
  const auto rank = i->second;
  const auto pending = pending_.find(rank);
  const auto& row =
    pending != pending_.end() ? pending->second : *list.find(rank);
  const auto refuse = [&](join_refusal why) {
    out.push_back(answer_join{via, node_refusal{why, row.incarnation}});
  };
  const auto is_live = row.state == node_state::live;
  if (is_live && row.incarnation == x.incarnation) {
    // Asked again: the answer was lost, or is still to come.
    heard(rank, now);
    moved(list, rank, x.addresses, now);
    joins_[rank] = {via, x};
    if (pending == pending_.end())
      welcome(list, out);
    return;
  }
  if (x.incarnation <= row.incarnation) {
    refuse(join_refusal::stale);
    return;
  }
  if (is_live && !x.is_predecessor_gone) {
    out.push_back(node_alarm{"node " + x.name
                             + " is a member, and another daemon joins under "
                               "its name: end one of them"});
    refuse(join_refusal::taken);
    return;
  }
  const auto was_lost = pending == pending_.end()
                          ? graves_.count(rank) > 0
                          : row.state == node_state::lost;
  if (was_lost && !x.is_predecessor_gone) {
    refuse(join_refusal::too_early);
    return;
  }
  // The predecessor, if there is one that is not fenced yet, is gone.
  const auto former = *list.find(rank);
  if (former.state == node_state::live || graves_.count(rank) > 0)
    fence(rank, former.incarnation);
  joins_[rank] = {via, x};
  change(list, rank, node_state::live, x.incarnation, now, x.addresses);
}

void node_root::moved(const node_list& list, uint32_t rank,
                      const std::vector<node_address>& addresses,
                      node_time now) {
  const auto pending = pending_.find(rank);
  const auto& row =
    pending != pending_.end() ? pending->second : *list.find(rank);
  if (row.state == node_state::live && !(row.addresses == addresses))
    change(list, rank, node_state::live, row.incarnation, now, addresses);
}

void node_root::suspect(const node_list& list, const node_suspicion& x,
                        node_time now) {
  if (x.suspect == 0 || !list.is_live(x.suspect, x.incarnation)
      || pending_.count(x.suspect) > 0)
    return;
  auto since = now - std::max(x.silence, node_time{0});
  if (const auto i = last_heard_.find(x.suspect); i != last_heard_.end())
    since = std::max(since, i->second);
  auto [i, is_new] = suspicions_.try_emplace(x.suspect);
  if (is_new)
    i->second = {x.incarnation, since, now};
}

void node_root::heard(uint32_t rank, node_time now) {
  last_heard_[rank] = now;
  suspicions_.erase(rank);
}

void node_root::depart(const node_list& list, uint32_t rank,
                       uint64_t incarnation, node_time now) {
  if (rank == 0)
    return;
  const auto i = graves_.find(rank);
  if (i != graves_.end() && i->second.incarnation == incarnation) {
    fence(rank, incarnation);
    return;
  }
  if (!list.is_live(rank, incarnation) || pending_.count(rank) > 0)
    return;
  change(list, rank, node_state::left, incarnation, now);
  fence(rank, incarnation);
}

void node_root::declare_lost(const node_list& list, uint32_t rank,
                             bool is_certain, node_time now) {
  const auto* row = list.find(rank);
  if (rank == 0 || row == nullptr)
    return;
  if (row->state == node_state::live && pending_.count(rank) == 0) {
    change(list, rank, node_state::lost, row->incarnation, now);
    bury(rank, row->incarnation, now);
  }
  if (is_certain && graves_.count(rank) > 0)
    fence(rank, graves_[rank].incarnation);
}

void node_root::excuse(node_time lateness, node_time now) {
  for (auto& [rank, x] : suspicions_) {
    x.since = std::min(x.since + lateness, now);
    x.first_report = std::min(x.first_report + lateness, now);
  }
}

std::vector<uint32_t> node_root::to_probe() const {
  auto result = std::vector<uint32_t>{};
  for (const auto& [rank, x] : suspicions_)
    result.push_back(rank);
  return result;
}

bool node_root::is_complete(const node_list& list) const {
  return missing_ == 0 && list.epoch() > 0
         && std::all_of(pending_.begin(), pending_.end(), [](const auto& x) {
              return x.second.state == node_state::live;
            });
}

std::optional<node_update> node_root::tick(const node_list& list, node_time now,
                                           node_effects& out) {
  for (auto i = suspicions_.begin(); i != suspicions_.end();) {
    const auto [rank, x] = *i++;
    if (now < x.since + times_.dead || now < x.first_report + times_.path)
      continue;
    change(list, rank, node_state::lost, x.incarnation, now);
    bury(rank, x.incarnation, now);
  }
  for (auto i = graves_.begin(); i != graves_.end();) {
    const auto [rank, x] = *i++;
    if (now >= x.fenced_at)
      fence(rank, x.incarnation);
  }
  tell_fenced(out);
  if (pending_.empty()
      || (now < pending_since_ + times_.probe && !is_complete(list)))
    return std::nullopt;
  auto result = node_update{list.epoch(), list.epoch() + 1, {}};
  for (auto& [rank, row] : pending_) {
    row.changed = result.epoch;
    last_heard_.erase(rank);
    result.rows.push_back(std::move(row));
  }
  pending_.clear();
  return result;
}

void node_root::welcome(const node_list& list, node_effects& out) {
  for (auto i = joins_.begin(); i != joins_.end();) {
    const auto& [rank, x] = *i;
    if (!list.is_live(rank, x.request.incarnation)) {
      ++i;
      continue;
    }
    out.push_back(answer_join{
      x.via, node_welcome{rank, list.epoch(), list.rows(), x.request.stamp}});
    i = joins_.erase(i);
  }
  tell_fenced(out);
}

} // namespace troupe
