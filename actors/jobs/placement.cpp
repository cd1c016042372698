#include "actors/jobs/placement.hpp"

#include "actors/jobs/number_list.hpp"
#include "actors/jobs/process_dealer.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

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
          + " from 0 as lstopo does");
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
