#include "actors/mesh/members/node_watch.hpp"

#include <algorithm>
#include <cstddef>

namespace troupe {

namespace defaults {

/// Members that have to confirm a suspicion before the root hears of it.
inline constexpr size_t suspicion_witnesses = 3;

} // namespace defaults

namespace {

/// How often others are asked before the root hears of a silence that nobody
/// could confirm.
constexpr int most_rounds = 2;

} // namespace

void node_watch::set(const std::set<uint32_t>& ranks, node_time now) {
  for (auto i = watched_.begin(); i != watched_.end();) {
    if (ranks.count(i->first) == 0 && !i->second.is_suspect)
      i = watched_.erase(i);
    else
      ++i;
  }
  for (const auto rank : ranks) {
    auto [i, is_new] = watched_.try_emplace(rank);
    if (is_new)
      i->second.last_heard = now;
  }
}

void node_watch::heard(uint32_t rank, node_time now) {
  const auto i = watched_.find(rank);
  if (i == watched_.end())
    return;
  const auto trusted_until = i->second.trusted_until;
  i->second = entry{};
  i->second.last_heard = now;
  i->second.trusted_until = trusted_until;
}

void node_watch::excuse(node_time lateness, node_time now) {
  for (auto& [rank, x] : watched_) {
    x.last_heard = std::min(x.last_heard + lateness, now);
    x.round_ends += lateness;
  }
}

void node_watch::answer(uint32_t suspect, uint32_t witness, bool is_reachable,
                        node_time now) {
  const auto i = watched_.find(suspect);
  if (i == watched_.end() || i->second.asked.count(witness) == 0)
    return;
  if (!is_reachable) {
    i->second.confirmed.insert(witness);
    return;
  }
  const auto last_heard = i->second.last_heard;
  i->second = entry{};
  i->second.last_heard = last_heard;
  i->second.trusted_until = now + times_.suspect;
}

void node_watch::suspect(uint32_t rank, entry& x, const members& others,
                         node_time now, std::vector<step>& out) {
  const auto is_over = now >= x.round_ends;
  const auto is_confirmed = x.confirmed.size() >= defaults::suspicion_witnesses;
  if (x.rounds > 0 && !is_over && !is_confirmed
      && x.confirmed.size() < x.asked.size())
    return;
  auto can_ask = std::vector<uint32_t>{};
  for (const auto other : others())
    if (other != rank && x.asked.count(other) == 0)
      can_ask.push_back(other);
  const auto may_ask = x.rounds < most_rounds && !can_ask.empty();
  if (is_confirmed || !may_ask) {
    if (!x.reported || now - *x.reported >= times_.path) {
      x.reported = now;
      out.push_back({step::kind::report, 0, rank, now - x.last_heard,
                     static_cast<uint32_t>(x.confirmed.size())});
    }
    return;
  }
  ++x.rounds;
  x.round_ends = now + times_.path;
  // Not the same ones for every suspect.
  const auto first = can_ask.empty() ? 0 : rank * 7 % can_ask.size();
  const auto count = std::min(defaults::suspicion_witnesses, can_ask.size());
  for (size_t i = 0; i < count; ++i) {
    const auto witness = can_ask[(first + i) % can_ask.size()];
    x.asked.insert(witness);
    out.push_back({step::kind::ask, witness, rank, {}, 0});
  }
}

std::vector<node_watch::step> node_watch::tick(const members& others,
                                               node_time now) {
  auto result = std::vector<step>{};
  for (auto& [rank, x] : watched_) {
    const auto silence = now - x.last_heard;
    if (silence >= times_.idle + times_.probe)
      result.push_back({step::kind::probe, rank, rank, silence, 0});
    if (silence < times_.suspect || now < x.trusted_until)
      continue;
    x.is_suspect = true;
    suspect(rank, x, others, now, result);
  }
  return result;
}

node_time node_watch::due() const {
  auto result = node_time::max();
  for (const auto& [rank, x] : watched_)
    result = std::min(result, x.last_heard + times_.idle + times_.probe);
  return result;
}

std::set<uint32_t> node_watch::suspects() const {
  auto result = std::set<uint32_t>{};
  for (const auto& [rank, x] : watched_)
    if (x.is_suspect)
      result.insert(rank);
  return result;
}

} // namespace troupe
