#include "actors/mesh/remoting/export_table.hpp"

#include <algorithm>

namespace troupe {

namespace {

template <class Holders>
auto find_holder(Holders& xs, uint32_t rank) {
  return std::find_if(xs.begin(), xs.end(),
                      [=](const auto& x) { return x.rank == rank; });
}

} // namespace

uint64_t export_table::give(caf::actor_id id,
                            const caf::strong_actor_ptr& actor, uint32_t rank,
                            std::optional<uint64_t> key) {
  auto& x = obtain(id, actor, key);
  add(x, rank);
  return x.key;
}

std::optional<uint64_t> export_table::key_of(caf::actor_id id) const {
  const auto i = rows_.find(id);
  if (i == rows_.end())
    return std::nullopt;
  return i->second.key;
}

void export_table::announce(caf::actor_id id,
                            const std::vector<uint64_t>& digests) {
  if (const auto i = rows_.find(id); i != rows_.end())
    i->second.interface.add(digests);
}

const known_interface* export_table::interface_of(caf::actor_id id) const {
  const auto i = rows_.find(id);
  return i == rows_.end() ? nullptr : &i->second.interface;
}

bool export_table::claim(caf::actor_id id, uint64_t key, uint32_t rank) {
  const auto i = rows_.find(id);
  if (i == rows_.end() || i->second.key != key)
    return false;
  add(i->second, rank);
  return true;
}

void export_table::release(caf::actor_id id, uint32_t rank, uint64_t count) {
  const auto i = rows_.find(id);
  if (i == rows_.end())
    return;
  auto& holders = i->second.holders;
  const auto j = find_holder(holders, rank);
  if (j == holders.end())
    return;
  j->count -= std::min(j->count, count);
  if (j->count == 0)
    holders.erase(j);
  settle(i);
}

void export_table::drop_node(uint32_t rank) {
  for (auto i = rows_.begin(); i != rows_.end();) {
    auto& holders = i->second.holders;
    if (const auto j = find_holder(holders, rank); j != holders.end())
      holders.erase(j);
    i = settle(i);
  }
}

void export_table::keep(caf::actor_id id, const caf::strong_actor_ptr& actor) {
  ++obtain(id, actor).kept;
}

void export_table::unkeep(caf::actor_id id) {
  const auto i = rows_.find(id);
  if (i == rows_.end() || i->second.kept == 0)
    return;
  --i->second.kept;
  settle(i);
}

std::vector<uint32_t> export_table::remove(caf::actor_id id) {
  auto result = std::vector<uint32_t>{};
  const auto i = rows_.find(id);
  if (i == rows_.end())
    return result;
  for (const auto& x : i->second.holders)
    result.push_back(x.rank);
  out_.forget(id, i->second.actor);
  rows_.erase(i);
  return result;
}

caf::strong_actor_ptr export_table::find(caf::actor_id id,
                                         uint32_t rank) const {
  const auto i = rows_.find(id);
  if (i == rows_.end()
      || find_holder(i->second.holders, rank) == i->second.holders.end())
    return nullptr;
  return i->second.actor;
}

caf::strong_actor_ptr export_table::find_by_key(caf::actor_id id,
                                                uint64_t key) const {
  const auto i = rows_.find(id);
  return i == rows_.end() || i->second.key != key ? nullptr : i->second.actor;
}

void export_table::clear() {
  for (const auto& [id, x] : rows_)
    out_.forget(id, x.actor);
  rows_.clear();
}

export_table::row& export_table::obtain(caf::actor_id id,
                                        const caf::strong_actor_ptr& actor,
                                        std::optional<uint64_t> key) {
  auto& x = rows_[id];
  if (!x.actor) {
    x.actor = actor;
    x.key = key ? *key : out_.random();
    out_.watch(id, actor);
  }
  return x;
}

export_table::rows::iterator export_table::settle(rows::iterator i) {
  if (!i->second.holders.empty() || i->second.kept > 0)
    return std::next(i);
  out_.forget(i->first, i->second.actor);
  return rows_.erase(i);
}

void export_table::add(row& x, uint32_t rank) {
  const auto i = find_holder(x.holders, rank);
  if (i == x.holders.end())
    x.holders.push_back({rank, 1});
  else
    ++i->count;
}

} // namespace troupe
