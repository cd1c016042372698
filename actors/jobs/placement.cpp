#include "actors/jobs/placement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace troupe {

namespace {

constexpr auto no_level = UINT32_MAX;

/// The logical number of the object of `kind` that contains `unit`.
uint32_t object_of(const processing_unit& unit, resource_kind kind) {
  switch (kind) {
    case resource_kind::hwthread:
      return unit.hwthread;
    case resource_kind::l3:
      return unit.l3;
    case resource_kind::numa:
      return unit.numa;
    case resource_kind::package:
      return unit.package;
    default:
      return unit.core;
  }
}

/// The units of each object of `kind`, in logical order.
std::vector<std::vector<size_t>> objects(const node_topology& topology,
                                         resource_kind kind) {
  auto by_number = std::map<uint32_t, std::vector<size_t>>{};
  for (size_t i = 0; i < topology.units.size(); ++i)
    by_number[object_of(topology.units[i], kind)].push_back(i);
  auto result = std::vector<std::vector<size_t>>{};
  for (auto& [number, units] : by_number)
    result.push_back(std::move(units));
  return result;
}

/// The units on which ranks land in turn within an object: the first of each
/// object of `bind_to` in it, so that nobody shares one that could have its
/// own.
std::vector<size_t> landings(const std::vector<size_t>& units,
                             resource_kind bind_to,
                             const node_topology& topology) {
  auto result = std::vector<size_t>{};
  auto seen = std::set<uint32_t>{};
  for (const auto unit : units)
    if (seen.insert(object_of(topology.units[unit], bind_to)).second)
      result.push_back(unit);
  return result;
}

} // namespace

std::vector<std::vector<uint32_t>> place(uint32_t num_procs,
                                         const job_options& options,
                                         const node_topology& topology) {
  auto result = std::vector<std::vector<uint32_t>>(num_procs);
  if (options.bind_to == resource_kind::none || topology.units.empty())
    return result;
  auto dealt = objects(topology, options.map_by);
  for (auto& units : dealt)
    units = landings(units, options.bind_to, topology);
  for (uint32_t rank = 0; rank < num_procs; ++rank) {
    const auto& units = dealt[rank % dealt.size()];
    const auto& home =
      topology.units[units[rank / dealt.size() % units.size()]];
    for (const auto& unit : topology.units)
      if (object_of(unit, options.bind_to) == object_of(home, options.bind_to))
        result[rank].push_back(unit.os_index);
  }
  return result;
}

std::string to_ranges(std::vector<uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  auto result = std::string{};
  for (size_t i = 0; i < numbers.size();) {
    auto last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    result += (result.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i)
      result += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return result;
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
