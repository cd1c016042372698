#include "actors/mesh/members/node_membership.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// A number after `last` that keeps what was drawn by chance for `own`: two
/// daemons that are told the same number stay apart.
uint64_t later_incarnation(uint64_t last, uint64_t own) {
  constexpr auto chance = uint64_t{UINT32_MAX};
  return std::max(own, ((last | chance) + 1) | (own & chance));
}

} // namespace

// -- calls --------------------------------------------------------------------

node_membership::node_membership(node_settings settings)
  : settings_(std::move(settings)), list_(settings_.radix),
    watch_(settings_.times) {
  if (!settings_.names.empty())
    root_.emplace(settings_.times, settings_.names, settings_.incarnation,
                  settings_.addresses);
}

node_effects node_membership::tick(node_time now, node_time due) {
  if (root_ && duty_ == node_duty::joining) {
    adopt(root_->first_list(), now);
    set_duty(node_duty::active, "this is the root");
  }
  if (!is_over(now)) {
    excuse(now, due);
    if (duty_ == node_duty::joining) {
      ask_to_join(now);
    } else {
      look_for_root(now);
      look_for_silent(now);
      decide(now);
    }
  }
  last_tick_ = now;
  return std::exchange(out_, {});
}

node_effects node_membership::note_alive(uint32_t rank, uint64_t incarnation,
                                         node_time now) {
  if (!is_over(now) && duty_ != node_duty::joining
      && list_.is_live(rank, incarnation))
    heard(rank, now);
  return std::exchange(out_, {});
}

node_effects node_membership::receive(uint32_t rank, uint64_t incarnation,
                                      node_message what, node_time now) {
  if (is_over(now)) {
    if (std::holds_alternative<node_departure>(what))
      dismissed_.erase(rank);
    return std::exchange(out_, {});
  }
  if (duty_ == node_duty::joining) {
    if (rank == 0)
      on_joining(what, now);
  } else if (std::holds_alternative<node_dismissal>(what)) {
    // A fact for good, whoever says it.
    set_duty(node_duty::fenced,
             "the root has declared this node lost, or has ended the DVM");
  } else if (list_.is_live(rank, incarnation)) {
    heard(rank, now);
    std::visit([&](const auto& x) { on(rank, x, now); }, what);
  } else if (list_.is_dead(rank, incarnation)) {
    if (root_ && std::holds_alternative<node_departure>(what))
      root_->depart(list_, rank, incarnation, now);
    else
      send(rank, incarnation, node_dismissal{list_.epoch()});
  } else if (const auto* update = std::get_if<node_update>(&what)) {
    // Of somebody who joined with an epoch that we do not know yet.
    if (list_.check(*update) == node_list::fit::next)
      adopt(*update, now);
    else
      send(rank, incarnation, node_update_request{list_.epoch()});
  } else {
    send(rank, incarnation, node_update_request{list_.epoch()});
  }
  return std::exchange(out_, {});
}

node_effects node_membership::join(const node_join& x, uint64_t via,
                                   node_time now) {
  if (root_ && duty_ == node_duty::active) {
    root_->join(list_, x, via, now, out_);
    decide(now);
  }
  return std::exchange(out_, {});
}

node_effects node_membership::lost_route(uint32_t rank, node_time now) {
  if (!is_over(now) && duty_ != node_duty::joining && !root_
      && rank == upstream_) {
    // Not a lost lifeline: the next way is tried at once.
    contact_learned_ = now - 2 * settings_.times.idle;
    next_query_ = now;
    const auto ways = ways_up();
    const auto lost = std::find(ways.begin(), ways.end(), rank);
    next_way_ = static_cast<size_t>(lost - ways.begin()) + 1;
    look_for_root(now);
  }
  return std::exchange(out_, {});
}

node_effects node_membership::met(uint32_t rank, uint64_t incarnation,
                                  node_time now) {
  if (!is_over(now) && duty_ != node_duty::joining
      && !list_.is_live(rank, incarnation) && !list_.is_dead(rank, incarnation))
    send(rank, incarnation, node_update_request{list_.epoch()});
  return std::exchange(out_, {});
}

node_effects node_membership::moved(std::vector<node_address> addresses,
                                    node_time now) {
  settings_.addresses = std::move(addresses);
  if (is_over(now) || duty_ == node_duty::joining)
    return std::exchange(out_, {});
  if (root_) {
    root_->moved(list_, 0, settings_.addresses, now);
    decide(now);
  } else {
    send(0, own_join(now));
  }
  return std::exchange(out_, {});
}

node_effects node_membership::declare_lost(uint32_t rank, bool is_certain,
                                           node_time now) {
  if (root_ && duty_ == node_duty::active) {
    root_->declare_lost(list_, rank, is_certain, now);
    decide(now);
  }
  return std::exchange(out_, {});
}

node_effects node_membership::end(node_time) {
  if (!root_ && duty_ != node_duty::joining)
    send(0, node_departure{});
  if (root_ && duty_ == node_duty::active) {
    // The leaves of the tree first, which others may have to be asked for.
    const auto& rows = list_.rows();
    for (auto i = rows.rbegin(); i != rows.rend(); ++i)
      if (i->rank != rank_ && i->state == node_state::live) {
        dismissed_.insert(i->rank);
        send(i->rank, i->incarnation, node_dismissal{list_.epoch()});
      }
  }
  set_duty(node_duty::fenced, "this node ends");
  return std::exchange(out_, {});
}

// -- time ---------------------------------------------------------------------

bool node_membership::is_over(node_time now) {
  if (duty_ == node_duty::fenced)
    return true;
  if (root_ || duty_ == node_duty::joining)
    return false;
  const auto silence = now - contact_;
  if (silence >= settings_.times.fence)
    set_duty(node_duty::fenced, "no contact to the root for too long");
  else if (silence >= settings_.times.lease)
    set_duty(node_duty::suspended, "no contact to the root");
  else
    set_duty(node_duty::active, "in contact with the root");
  return duty_ == node_duty::fenced;
}

void node_membership::set_duty(node_duty x, std::string reason) {
  if (duty_ == x || duty_ == node_duty::fenced)
    return;
  duty_ = x;
  out_.push_back(duty_changed{x, std::move(reason)});
}

void node_membership::excuse(node_time now, node_time due) {
  if (!last_tick_)
    return;
  // Late by less than `probe` is no reason to doubt oneself.
  const auto lateness =
    now - std::max(*last_tick_ + settings_.times.probe, due);
  if (lateness <= settings_.times.probe)
    return;
  watch_.excuse(lateness, now);
  contact_learned_ = std::min(contact_learned_ + lateness, now);
  for (auto& [rank, x] : testimonies_)
    x.until += lateness;
  if (root_)
    root_->excuse(lateness, now);
}

// -- sending ------------------------------------------------------------------

void node_membership::send(uint32_t rank, node_message what) {
  if (const auto* row = list_.find(rank))
    send(rank, row->incarnation, std::move(what));
}

void node_membership::send(uint32_t rank, uint64_t incarnation,
                           node_message what) {
  out_.push_back(send_to_node{rank, incarnation, std::move(what)});
}

void node_membership::query(uint32_t rank, node_time now) {
  send(rank, node_query{now, list_.epoch()});
}

// -- joining ------------------------------------------------------------------

node_join node_membership::own_join(node_time now) const {
  return {settings_.name, settings_.incarnation, settings_.is_predecessor_gone,
          now, settings_.addresses};
}

void node_membership::ask_to_join(node_time now) {
  if (now < next_query_)
    return;
  next_query_ = now + settings_.times.idle;
  send(0, 0, own_join(now));
}

void node_membership::on_joining(const node_message& what, node_time now) {
  if (const auto* x = std::get_if<node_welcome>(&what)) {
    rank_ = x->rank;
    contact_ = x->stamp;
    contact_learned_ = now;
    set_duty(node_duty::active, "a member of the DVM");
    adopt({0, x->epoch, x->rows}, now);
  } else if (const auto* y = std::get_if<node_refusal>(&what)) {
    if (y->why == join_refusal::unknown_name)
      set_duty(node_duty::fenced, "the root knows no node named "
                                    + settings_.name
                                    + ": add it to the list of nodes");
    else if (y->why == join_refusal::stale)
      settings_.incarnation =
        later_incarnation(y->incarnation, settings_.incarnation);
  }
}

// -- epochs -------------------------------------------------------------------

void node_membership::adopt(const node_update& x, node_time now) {
  const auto before = list_.epoch();
  const auto is_first = before == 0;
  const auto changes = list_.adopt(x);
  if (!is_first && list_.is_dead(rank_, settings_.incarnation)) {
    set_duty(node_duty::fenced, "the root has declared this node lost");
    return;
  }
  // Report first. Who joins is told who is there, not what happened before.
  for (const auto& change : changes) {
    if (change.state != node_state::live)
      watch_.drop(change.rank);
    if (!is_first)
      out_.push_back(node_report{list_.epoch(), change});
  }
  // Repair second.
  const auto parent = list_.tree().parent(rank_);
  auto children = list_.tree().children(rank_);
  upstream_ = parent.value_or(0);
  next_query_ = now;
  next_way_ = 0;
  watch_children(now);
  out_.push_back(node_repair{list_.epoch(), parent, children});
  const auto update = list_.changes_since(before);
  for (const auto child : children)
    send(child, update);
}

void node_membership::on(uint32_t rank, const node_update& x, node_time now) {
  switch (list_.check(x)) {
    case node_list::fit::next:
      adopt(x, now);
      break;
    case node_list::fit::gap:
      send(rank, node_update_request{list_.epoch()});
      break;
    case node_list::fit::old:
      break;
  }
}

void node_membership::on(uint32_t rank, const node_update_request& x,
                         node_time) {
  if (x.epoch < list_.epoch())
    send(rank, list_.changes_since(x.epoch));
}

// -- at the root --------------------------------------------------------------

void node_membership::on(uint32_t, const node_suspicion& x, node_time now) {
  if (root_)
    root_->suspect(list_, x, now);
}

void node_membership::on(uint32_t rank, const node_departure&, node_time now) {
  if (root_)
    root_->depart(list_, rank, list_.find(rank)->incarnation, now);
}

void node_membership::decide(node_time now) {
  if (!root_)
    return;
  for (const auto rank : root_->to_probe())
    query(rank, now);
  if (const auto next = root_->tick(list_, now, out_)) {
    adopt(*next, now);
    root_->welcome(list_, out_);
  }
}

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
