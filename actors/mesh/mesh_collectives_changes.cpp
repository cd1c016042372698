#include "actors/mesh/mesh_collectives_state.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

// What happens while operations over nodes are under way: jobs become known and
// end, processes end, nodes are lost.

namespace troupe {

void mesh_collectives::procs_gone(const std::vector<proc_ended>& procs) {
  auto& s = *state_;
  auto nspaces = std::set<std::string>{};
  for (const auto& x : procs) {
    s.gone[x.proc.nspace].insert(x.proc.rank);
    nspaces.insert(x.proc.nspace);
  }
  auto keys = std::vector<state::key>{};
  for (const auto& [k, x] : s.open)
    for (const auto& proc : x.id.procs)
      if (nspaces.count(proc.nspace) > 0) {
        keys.push_back(k);
        break;
      }
  for (const auto& k : keys)
    s.advance(k);
}

void mesh_collectives::procs_left(uint64_t salt,
                                  const std::vector<proc_id>& departed,
                                  const std::string& reason) {
  auto& s = *state_;
  const auto of = static_cast<uint32_t>(salt >> 32);
  if (s.left.size() >= defaults::groups_remembered && s.left.count(of) == 0)
    s.left.erase(s.left.begin());
  auto& all = s.left[of];
  all.procs.insert(departed.begin(), departed.end());
  all.reason = reason;
  auto keys = std::vector<state::key>{};
  for (const auto& [k, x] : s.open)
    if (static_cast<uint32_t>(k.generation >> 32) == of)
      keys.push_back(k);
  for (const auto& k : keys)
    s.advance(k);
}

void mesh_collectives::job_known(const std::string& nspace) {
  auto& s = *state_;
  s.locating.erase(nspace);
  auto keys = std::vector<state::key>{};
  for (const auto& [k, x] : s.open)
    if (x.is_parked())
      keys.push_back(k);
  for (const auto& k : keys) {
    auto* x = s.find(k);
    if (x == nullptr)
      continue;
    if (const auto unknown = s.places.first_unknown(x->id.procs)) {
      if (s.locating.insert(*unknown).second)
        s.out.locate(*unknown);
      continue;
    }
    --s.parked;
    s.resolve(*x);
    if (x->has_joined)
      x->joined[state::place_of(*x, s.self)] = true;
    auto parts = std::exchange(x->parked, {});
    s.advance(k);
    for (auto& [from, part] : parts)
      take(from, std::move(part));
  }
}

void mesh_collectives::job_unknown(const std::string& nspace,
                                   const std::string& why) {
  auto& s = *state_;
  s.locating.erase(nspace);
  auto keys = std::vector<state::key>{};
  for (const auto& [k, x] : s.open)
    for (const auto& proc : x.id.procs)
      if (x.is_parked() && proc.nspace == nspace) {
        keys.push_back(k);
        break;
      }
  for (const auto& k : keys)
    if (const auto* x = s.find(k)) {
      auto waiting = std::set<uint32_t>{};
      for (const auto& [from, part] : x->parked)
        waiting.insert(from);
      s.release(k, {status::invalid_namespace, why, s.self}, {});
      for (const auto rank : waiting)
        s.answer(k, rank, false);
    }
}

void mesh_collectives::job_forgotten(const std::string& nspace) {
  auto& s = *state_;
  auto keys = std::vector<state::key>{};
  const auto names = [&](const std::vector<proc_id>& procs) {
    return std::any_of(procs.begin(), procs.end(), [&](const proc_id& proc) {
      return proc.nspace == nspace;
    });
  };
  for (const auto& [k, x] : s.open)
    if (names(x.id.procs))
      keys.push_back(k);
  for (const auto& k : keys)
    if (s.find(k) != nullptr)
      s.release(k, {status::lost_connection, nspace + " is over", s.self}, {});
  for (auto i = s.released.begin(); i != s.released.end();)
    i = names(*i->first.procs) ? s.released.erase(i) : std::next(i);
  for (auto& [first, ks] : s.order)
    ks.erase(
      std::remove_if(ks.begin(), ks.end(),
                     [&](const state::key& k) { return names(*k.procs); }),
      ks.end());
  for (auto i = s.order.begin(); i != s.order.end();)
    i = i->second.empty() ? s.order.erase(i) : std::next(i);
  for (auto i = s.forgotten.begin(); i != s.forgotten.end();)
    i = names(std::get<1>(i->first)) ? s.forgotten.erase(i) : std::next(i);
  for (auto i = s.left.begin(); i != s.left.end();) {
    const auto& left = i->second.procs;
    i = names({left.begin(), left.end()}) ? s.left.erase(i) : std::next(i);
  }
  s.gone.erase(nspace);
  s.lost.erase(nspace);
  s.locating.erase(nspace);
}

void mesh_collectives::node_lost(uint32_t rank) {
  auto& s = *state_;
  for (const auto& nspace : s.places.nspaces()) {
    const auto nodes = s.places.nodes_of(nspace);
    if (std::binary_search(nodes.begin(), nodes.end(), rank))
      s.lost[nspace].insert(rank);
  }
  auto keys = std::vector<state::key>{};
  for (auto& [k, x] : s.open)
    if (state::place_of(x, rank) < x.nodes.size() && x.lost.insert(rank).second)
      keys.push_back(k);
  for (const auto& k : keys)
    s.advance(k);
}

} // namespace troupe
