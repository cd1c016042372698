// How a daemon holds on to the root, and notices who falls silent.

#include "actors/mesh/node_membership.hpp"

#include <algorithm>

namespace troupe {

// -- contact to the root ------------------------------------------------------

std::vector<uint32_t> node_membership::ways_up() const {
  // The parent, its parent, and so on to the root; then those beside and below.
  auto result = list_.tree().lineage(rank_);
  const auto own = result.size();
  for (size_t i = 0; i < own; ++i)
    for (const auto x : list_.tree().children(result[i]))
      if (x != rank_ && std::count(result.begin(), result.end(), x) == 0)
        result.push_back(x);
  for (const auto x : list_.tree().children(rank_))
    result.push_back(x);
  return result;
}

bool node_membership::is_contact_old(node_time now) const {
  return now - contact_learned_ >= 2 * settings_.times.idle
         || now - contact_ >= settings_.times.dead;
}

void node_membership::look_for_root(node_time now) {
  if (root_) {
    contact_ = now;
    return;
  }
  if (now < next_query_)
    return;
  const auto parent = list_.tree().parent(rank_);
  if (!is_contact_old(now)) {
    next_query_ = now + settings_.times.idle;
    query(upstream_, now);
    // It may be back.
    if (parent && *parent != upstream_)
      query(*parent, now);
    return;
  }
  next_query_ = now + settings_.times.probe;
  const auto ways = ways_up();
  if (ways.empty())
    return;
  query(ways[next_way_ % ways.size()], now);
  ++next_way_;
}

void node_membership::on(uint32_t rank, const node_query& x, node_time now) {
  if (x.epoch < list_.epoch())
    send(rank, list_.changes_since(x.epoch));
  else if (x.epoch > list_.epoch())
    send(rank, node_update_request{list_.epoch()});
  const auto age = root_ ? node_time{0} : now - contact_;
  send(rank, node_answer{x.stamp, age, list_.epoch()});
}

void node_membership::on(uint32_t rank, const node_answer& x, node_time now) {
  if (x.epoch > list_.epoch()) {
    // It may have heard of our death.
    send(rank, node_update_request{list_.epoch()});
    return;
  }
  const auto at = x.stamp - std::max(x.age, node_time{0});
  if (root_ || x.stamp > now || at <= contact_)
    return;
  const auto is_searching = is_contact_old(now);
  contact_ = at;
  contact_learned_ = now;
  is_over(now);
  // Who knows of a fresh contact is kept; the parent is the first choice.
  const auto is_parent = list_.tree().parent(rank_) == rank;
  if (is_parent || (is_searching && !is_contact_old(now))) {
    upstream_ = rank;
    next_way_ = 0;
  }
}

node_time node_membership::rest(node_time now) const {
  const auto& times = settings_.times;
  if (duty_ == node_duty::fenced)
    return times.idle;
  if (duty_ != node_duty::active || !testimonies_.empty()
      || !watch_.suspects().empty() || (root_ && root_->is_busy()))
    return times.probe;
  auto due = watch_.due();
  if (!root_)
    due = std::min({due, next_query_, contact_learned_ + 2 * times.idle,
                    contact_ + times.dead});
  return std::clamp(due - now, times.probe, times.idle);
}

// -- silence ------------------------------------------------------------------

void node_membership::watch_children(node_time now) {
  auto ranks = std::set<uint32_t>{};
  for (const auto child : list_.tree().children(rank_))
    ranks.insert(child);
  for (const auto suspect : watch_.suspects())
    for (const auto child : list_.tree().children(suspect))
      if (child != rank_)
        ranks.insert(child);
  watch_.set(ranks, now);
}

void node_membership::look_for_silent(node_time now) {
  for (auto i = testimonies_.begin(); i != testimonies_.end();) {
    const auto suspect = i->first;
    const auto is_late = now >= i->second.until;
    ++i;
    if (is_late)
      testify(suspect, false);
    else
      query(suspect, now);
  }
  watch_children(now);
  const auto others = [this] {
    auto result = std::vector<uint32_t>{};
    for (const auto& row : list_.rows())
      if (row.state == node_state::live && row.rank != rank_)
        result.push_back(row.rank);
    return result;
  };
  for (const auto& x : watch_.tick(others, now)) {
    const auto* row = list_.find(x.suspect);
    if (x.what == node_watch::step::kind::probe) {
      query(x.rank, now);
    } else if (x.what == node_watch::step::kind::ask) {
      send(x.rank, node_witness_request{x.suspect, row->incarnation});
    } else {
      const auto report =
        node_suspicion{x.suspect, row->incarnation, x.silence, x.witnesses};
      if (root_)
        root_->suspect(list_, report, now);
      else
        send(0, report);
    }
  }
}

void node_membership::on(uint32_t rank, const node_witness_request& x,
                         node_time now) {
  if (!list_.is_live(x.suspect, x.incarnation) || x.suspect == rank_)
    return;
  auto& testimony = testimonies_[x.suspect];
  if (testimony.askers.empty() || testimony.incarnation != x.incarnation) {
    testimony = {
      x.incarnation, now + settings_.times.path - settings_.times.probe, {}};
    query(x.suspect, now);
  }
  testimony.askers[rank] = list_.find(rank)->incarnation;
}

void node_membership::testify(uint32_t suspect, bool is_reachable) {
  const auto i = testimonies_.find(suspect);
  if (i == testimonies_.end())
    return;
  for (const auto& [asker, incarnation] : i->second.askers)
    send(asker, incarnation,
         node_witness{suspect, i->second.incarnation, is_reachable});
  testimonies_.erase(i);
}

void node_membership::heard(uint32_t rank, node_time now) {
  watch_.heard(rank, now);
  testify(rank, true);
  if (root_)
    root_->heard(rank, now);
}

void node_membership::on(uint32_t rank, const node_witness& x, node_time now) {
  if (list_.is_live(x.suspect, x.incarnation))
    watch_.answer(x.suspect, rank, x.is_reachable, now);
}

} // namespace troupe
