#include "actors/jobs/process_dealer.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace troupe {

namespace {

using unit_list = std::vector<size_t>;

/// The units of each object of `kind`, in logical order.
std::vector<unit_list> objects(const node_topology& topology,
                               resource_kind kind) {
  auto by_number = std::map<uint32_t, unit_list>{};
  for (size_t i = 0; i < topology.units.size(); ++i)
    by_number[object_of(topology.units[i], kind)].push_back(i);
  auto result = std::vector<unit_list>{};
  for (auto& [number, units] : by_number)
    result.push_back(std::move(units));
  return result;
}

/// The units on which processes land in turn within an object: the first of
/// each object of `bind_to` in it, so that nobody shares one that could have
/// its own.
unit_list landings(const unit_list& units, resource_kind bind_to,
                   const node_topology& topology) {
  auto result = unit_list{};
  auto seen = std::set<uint32_t>{};
  for (const auto unit : units)
    if (seen.insert(object_of(topology.units[unit], bind_to)).second)
      result.push_back(unit);
  return result;
}

} // namespace

uint32_t object_of(const processing_unit& unit, resource_kind kind) {
  switch (kind) {
    case resource_kind::hwthread:
      return unit.hwthread;
    case resource_kind::l1:
      return unit.l1;
    case resource_kind::l2:
      return unit.l2;
    case resource_kind::l3:
      return unit.l3;
    case resource_kind::numa:
      return unit.numa;
    case resource_kind::package:
      return unit.package;
    case resource_kind::node:
      return 0;
    default:
      return unit.core;
  }
}

std::vector<placed_seat> process_dealer::deal(size_t count) const {
  auto homes = objects(topology_, map_kind());
  auto result = options_.cpus_per_proc > 0 ? deal_blocks(homes, count)
                                           : deal_in_turn(homes, count);
  rank(result);
  return result;
}

bool process_dealer::is_overloaded(
  const std::vector<placed_seat>& seats) const {
  auto used = std::map<uint32_t, std::pair<size_t, size_t>>{};
  for (const auto& x : seats) {
    auto& [procs, cpus] =
      used[object_of(topology_.units[x.home], options_.bind_to)];
    ++procs;
    cpus = count_cpus(x.units);
  }
  return std::any_of(used.begin(), used.end(), [](const auto& x) {
    return x.second.first > x.second.second;
  });
}

resource_kind process_dealer::cpu_kind() const {
  return options_.threads_are_cpus
             || options_.bind_to == resource_kind::hwthread
           ? resource_kind::hwthread
           : resource_kind::core;
}

resource_kind process_dealer::map_kind() const {
  const auto kind =
    options_.nodes == node_policy::ppr ? options_.ppr_object : options_.map_by;
  return kind == resource_kind::slot ? resource_kind::node : kind;
}

size_t process_dealer::count_cpus(const unit_list& units) const {
  auto result = std::set<uint32_t>{};
  for (const auto x : units)
    result.insert(object_of(topology_.units[x], cpu_kind()));
  return result.size();
}

size_t process_dealer::object_for(size_t number, size_t num_objects) const {
  if (options_.nodes == node_policy::ppr)
    return std::min(number / options_.per_object, num_objects - 1);
  return number % num_objects;
}

std::vector<placed_seat>
process_dealer::deal_in_turn(std::vector<unit_list> homes, size_t count) const {
  for (auto& units : homes)
    units = landings(units, options_.bind_to, topology_);
  auto result = std::vector<placed_seat>{};
  auto next = std::vector<size_t>(homes.size());
  for (size_t i = 0; i < count; ++i) {
    const auto number = object_for(i, homes.size());
    const auto& units = homes[number];
    auto& added = result.emplace_back();
    added.home = units[next[number]++ % units.size()];
    const auto object =
      object_of(topology_.units[added.home], options_.bind_to);
    for (size_t unit = 0; unit < topology_.units.size(); ++unit)
      if (object_of(topology_.units[unit], options_.bind_to) == object)
        added.units.push_back(unit);
  }
  return result;
}

std::vector<placed_seat>
process_dealer::deal_blocks(const std::vector<unit_list>& homes,
                            size_t count) const {
  auto cpus = std::vector<std::vector<unit_list>>{};
  for (const auto& units : homes) {
    auto by_number = std::map<uint32_t, unit_list>{};
    for (const auto x : units)
      by_number[object_of(topology_.units[x], cpu_kind())].push_back(x);
    auto& of_object = cpus.emplace_back();
    for (auto& [number, list] : by_number)
      of_object.push_back(std::move(list));
  }
  auto result = std::vector<placed_seat>{};
  auto next = std::vector<size_t>(cpus.size());
  const auto size = options_.cpus_per_proc;
  while (result.size() < count) {
    auto object = object_for(result.size(), cpus.size());
    auto tries = size_t{0};
    for (; tries < cpus.size() && next[object] + size > cpus[object].size();
         ++tries)
      object = (object + 1) % cpus.size();
    if (tries == cpus.size()) {
      const auto is_possible =
        std::any_of(cpus.begin(), cpus.end(),
                    [&](const auto& x) { return x.size() >= size; });
      if (!options_.overload || !is_possible)
        return result;
      std::fill(next.begin(), next.end(), 0);
      continue;
    }
    auto& added = result.emplace_back();
    for (size_t i = 0; i < size; ++i) {
      const auto& units = cpus[object][next[object]++];
      added.units.insert(added.units.end(), units.begin(), units.end());
    }
    added.home = added.units.front();
  }
  return result;
}

void process_dealer::rank(std::vector<placed_seat>& seats) const {
  const auto in_turn = options_.rank_by == rank_policy::object;
  if (!in_turn && options_.rank_by != rank_policy::fill)
    return;
  const auto kind = in_turn ? options_.rank_object : map_kind();
  // The round in which an object has its turn, then the object.
  auto keys = std::vector<std::pair<size_t, uint32_t>>{};
  auto rounds = std::map<uint32_t, size_t>{};
  for (const auto& x : seats) {
    const auto object = object_of(topology_.units[x.home], kind);
    keys.emplace_back(in_turn ? rounds[object]++ : 0, object);
  }
  auto order = std::vector<size_t>(seats.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return keys[x] < keys[y]; });
  auto result = std::vector<placed_seat>{};
  for (const auto i : order)
    result.push_back(std::move(seats[i]));
  seats = std::move(result);
}

} // namespace troupe
