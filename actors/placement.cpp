#include "actors/placement.hpp"

#include <algorithm>
#include <map>
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

/// Whether ranks fill one object before the next.
bool is_dealt_in_order(resource_kind kind) {
  return kind == resource_kind::slot || kind == resource_kind::core
         || kind == resource_kind::hwthread || kind == resource_kind::none;
}

/// The unit on which a rank lands.
size_t unit_of(uint32_t rank, const std::vector<std::vector<size_t>>& dealt,
               bool in_order) {
  const auto& units = dealt[rank % dealt.size()];
  if (in_order)
    return units.front();
  // Within an object, the next unit at every round.
  return units[rank / dealt.size() % units.size()];
}

} // namespace

std::vector<std::vector<uint32_t>> place(uint32_t num_procs,
                                         const job_options& options,
                                         const node_topology& topology) {
  auto result = std::vector<std::vector<uint32_t>>(num_procs);
  if (options.bind_to == resource_kind::none || topology.units.empty())
    return result;
  const auto dealt = objects(topology, options.map_by);
  const auto in_order = is_dealt_in_order(options.map_by);
  for (uint32_t rank = 0; rank < num_procs; ++rank) {
    const auto& home = topology.units[unit_of(rank, dealt, in_order)];
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
