#include "actors/jobs/placement.hpp"

#include "actors/jobs/job_options.hpp"
#include "actors/jobs/number_list.hpp"
#include "messages/status.hpp"
#include "messages/topology.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

namespace {

/// The logical number of the object of `kind` that contains `unit`.
uint32_t object_of(const processing_unit& unit, resource_kind kind);

/// A process that has its place on a node.
struct placed_seat {
  /// A unit of the topology where it is.
  size_t home = 0;

  /// The units that it is bound to.
  std::vector<size_t> units;
};

/// Deals processes to the objects of a node.
class process_dealer {
public:
  /// Both stay with the caller.
  process_dealer(const job_options& options, const node_topology& topology)
    : options_(options), topology_(topology) {
    // nop
  }

  /// @returns the processes in the order of their ranks; fewer if there are not
  ///          enough processors for all.
  std::vector<placed_seat> deal(size_t count) const;

  /// Whether more are bound to an object than it has processors.
  bool is_overloaded(const std::vector<placed_seat>& seats) const;

private:
  using unit_list = std::vector<size_t>;

  resource_kind cpu_kind() const;

  /// A slot is anywhere on the node.
  resource_kind map_kind() const;

  size_t count_cpus(const unit_list& units) const;

  /// The object that takes a process: each in turn, or `per_object` to the
  /// first, then to the second ...
  size_t object_for(size_t number, size_t num_objects) const;

  std::vector<placed_seat> deal_in_turn(std::vector<unit_list> homes,
                                        size_t count) const;

  /// Each process gets processors of its own, in a row within its object, or
  /// the next object that has enough left.
  std::vector<placed_seat> deal_blocks(const std::vector<unit_list>& homes,
                                       size_t count) const;

  /// Puts them into the order of their ranks.
  void rank(std::vector<placed_seat>& seats) const;

  const job_options& options_;
  const node_topology& topology_;
};

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

constexpr auto no_level = UINT32_MAX;

using cpu_list = std::vector<uint32_t>;

cpu_list cpus_of(const std::vector<size_t>& units,
                 const node_topology& topology) {
  auto result = cpu_list{};
  for (const auto x : units)
    result.push_back(topology.units[x].os_index);
  return result;
}

caf::error overloaded(const local_share& share, const job_options& options,
                      const node_topology& topology) {
  const auto kind =
    options.threads_are_cpus || options.bind_to == resource_kind::hwthread
      ? resource_kind::hwthread
      : resource_kind::core;
  const auto each =
    options.cpus_per_proc > 1
      ? " with " + std::to_string(options.cpus_per_proc) + " processors each"
      : std::string{};
  return make_error(
    status::job_insufficient_resources,
    "binding " + std::to_string(share.ranks.size()) + " processes" + each
      + " to " + to_string(options.bind_to) + ", mapped by "
      + mapping_of(options) + ", needs more than the "
      + std::to_string(count_objects(topology, kind)) + " "
      + (kind == resource_kind::core ? "cores" : "hardware threads")
      + " of node " + share.hostname
      + "; bind to none, or allow that by --bind-to "
      + to_string(options.bind_to) + ":overload-allowed");
}

/// The processors that the options leave.
caf::expected<node_topology> listed_part(const local_share& share,
                                         const job_options& options,
                                         const node_topology& topology) {
  auto result = topology;
  if (options.cpu_list.empty())
    return result;
  result.units.clear();
  const auto kind =
    options.threads_are_cpus ? resource_kind::hwthread : resource_kind::core;
  auto found = std::set<uint32_t>{};
  for (const auto& x : topology.units)
    if (const auto number = object_of(x, kind);
        std::find(options.cpu_list.begin(), options.cpu_list.end(), number)
        != options.cpu_list.end()) {
      found.insert(number);
      result.units.push_back(x);
    }
  for (const auto number : options.cpu_list)
    if (found.count(number) == 0)
      return make_error(
        status::bad_param,
        "the list of processors names " + std::to_string(number)
          + ", which node " + share.hostname
          + " does not have or may not use; it counts "
          + (kind == resource_kind::core ? "cores" : "hardware threads")
          + " from 0 as lstopo does; correct the list");
  return result;
}

/// What is left of a node when whole cores are taken.
node_topology free_part(const node_topology& topology,
                        const std::set<uint32_t>& taken) {
  auto cores = std::set<uint32_t>{};
  for (const auto& x : topology.units)
    if (taken.count(x.os_index) > 0)
      cores.insert(x.core);
  auto result = topology;
  result.units.clear();
  for (const auto& x : topology.units)
    if (cores.count(x.core) == 0)
      result.units.push_back(x);
  return result;
}

/// Each process gets the processor that a list has for it.
caf::expected<std::vector<cpu_list>>
place_in_order(const local_share& share, const job_options& options,
               const node_topology& topology) {
  auto result = std::vector<cpu_list>(share.ranks.size());
  const auto& list = options.cpu_list;
  if (result.size() > list.size() && !options.overload)
    return make_error(status::job_insufficient_resources,
                      std::to_string(result.size()) + " processes of node "
                        + share.hostname + " are more than the "
                        + std::to_string(list.size())
                        + " processors of the ordered list; name one for each");
  const auto kind =
    options.threads_are_cpus ? resource_kind::hwthread : resource_kind::core;
  for (size_t i = 0; i < result.size(); ++i)
    for (const auto& x : topology.units)
      if (object_of(x, kind) == list[i % list.size()])
        result[i].push_back(x.os_index);
  return result;
}

caf::expected<std::vector<cpu_list>>
place_by_file(const local_share& share, const job_options& options,
              const node_topology& topology) {
  auto result = std::vector<cpu_list>(share.ranks.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const auto rank = share.ranks[i];
    if (rank >= options.ranks.size() || options.ranks[rank].slot.empty())
      continue;
    auto cpus =
      cpus_of(options.ranks[rank], topology, options.threads_are_cpus);
    if (!cpus)
      return std::move(cpus.error());
    result[i] = std::move(*cpus);
  }
  return result;
}

} // namespace

caf::expected<std::vector<cpu_list>> place(const local_share& share,
                                           const job_options& options,
                                           const node_topology& all) {
  const auto count = share.ranks.size();
  auto unbound = std::vector<cpu_list>(count);
  if (all.units.empty())
    return unbound;
  auto topology = listed_part(share, options, all);
  if (!topology)
    return std::move(topology.error());
  if (options.nodes == node_policy::rank_file)
    return place_by_file(share, options, *topology);
  // Who has a list stays on it.
  if (!options.cpu_list.empty())
    for (auto& cpus : unbound)
      for (const auto& x : topology->units)
        cpus.push_back(x.os_index);
  if (options.bind_to == resource_kind::none)
    return unbound;
  if (options.is_list_ordered)
    return place_in_order(share, options, *topology);
  const auto is_required = options.bind_given || options.cpus_per_proc > 0;
  auto parts = std::vector<node_topology>{free_part(*topology, share.taken)};
  if (is_required && !share.taken.empty())
    parts.push_back(std::move(*topology));
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& part = parts[i];
    if (part.units.empty())
      continue;
    const auto may_overload = options.overload && i + 1 == parts.size();
    auto strict = options;
    strict.overload = may_overload;
    const auto dealing = process_dealer{strict, part};
    const auto seats = dealing.deal(count);
    if (seats.size() < count || (dealing.is_overloaded(seats) && !may_overload))
      continue;
    auto result = std::vector<cpu_list>{};
    for (const auto& x : seats)
      result.push_back(cpus_of(x.units, part));
    return result;
  }
  if (is_required && !options.bind_if_possible)
    return overloaded(share, options, all);
  return unbound;
}

uint32_t count_objects(const node_topology& topology, resource_kind kind) {
  auto result = std::set<uint32_t>{};
  for (const auto& x : topology.units)
    result.insert(object_of(x, kind));
  return static_cast<uint32_t>(result.size());
}

std::string locality_string(const std::vector<uint32_t>& cpus,
                            const node_topology& topology) {
  using level = std::pair<std::string_view, uint32_t processing_unit::*>;
  constexpr level levels[] = {
    {"SK", &processing_unit::package}, {"L3", &processing_unit::l3},
    {"L2", &processing_unit::l2},      {"L1", &processing_unit::l1},
    {"CR", &processing_unit::core},    {"HT", &processing_unit::hwthread},
    {"NM", &processing_unit::numa},
  };
  auto result = std::string{};
  for (const auto& [name, member] : levels) {
    auto numbers = std::vector<uint32_t>{};
    for (const auto& unit : topology.units)
      if (unit.*member != no_level
          && std::find(cpus.begin(), cpus.end(), unit.os_index) != cpus.end())
        numbers.push_back(unit.*member);
    if (numbers.empty())
      continue;
    if (!result.empty())
      result += ':';
    result += name;
    result += to_ranges(std::move(numbers));
  }
  return result;
}

} // namespace troupe
