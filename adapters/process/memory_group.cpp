#include "adapters/process/memory_group.hpp"

#include "adapters/process/control_group.hpp"
#include "adapters/sensors/sensor_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace troupe {

namespace {

struct version {
  const char* controller;
  const char* limit;
  const char* kills;
};

constexpr version versions[] = {
  {"", "/memory.max", "/memory.events"},
  {"memory", "/memory.limit_in_bytes", "/memory.oom_control"},
};

constexpr auto kills_name = "oom_kill";

/// Version 1 says so much less a page if there is none.
constexpr auto no_limit = int64_t{1} << 60;

std::optional<int64_t> read_kills(const std::string& file) {
  const auto text = read_sensor_file(file);
  return text ? number_named(*text, kills_name) : std::nullopt;
}

} // namespace

memory_group::memory_group(const std::string& process)
  : kills_("/proc/vmstat") {
  for (const auto& x : versions) {
    const auto group = find_control_group(x.controller, process);
    if (!group)
      continue;
    auto folder = group->folder;
    if (folder_.empty() && read_kills(folder + x.kills)) {
      kills_ = folder + x.kills;
      folder_ = folder;
    }
    for (; folder.size() >= group->top.size();
         folder.resize(std::min(folder.rfind('/'), folder.size() - 1)))
      limits_.push_back(folder + x.limit);
  }
}

std::optional<uint64_t> memory_group::limit() const {
  auto result = std::optional<uint64_t>{};
  for (const auto& file : limits_)
    if (const auto bytes = read_whole_number(file);
        bytes && *bytes > 0 && *bytes < no_limit)
      result =
        std::min(result.value_or(UINT64_MAX), static_cast<uint64_t>(*bytes));
  return result;
}

uint64_t memory_group::kills() const {
  return static_cast<uint64_t>(
    std::max(read_kills(kills_).value_or(0), int64_t{0}));
}

std::string memory_group::name() const {
  if (folder_.empty())
    return "this node";
  auto result = "the control group " + folder_;
  if (const auto bytes = limit())
    result += ", which may have " + std::to_string(*bytes >> 20) + " MiB";
  return result;
}

void prefer_to_kill(uint32_t pid, int thousandths) {
  const auto file = "/proc/" + std::to_string(pid) + "/oom_score_adj";
  if (read_whole_number(file).value_or(thousandths) < thousandths)
    std::ofstream{file} << thousandths;
}

uint64_t memory_limit() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page_size = ::sysconf(_SC_PAGESIZE);
  const auto group = memory_group{}.limit();
  if (pages <= 0 || page_size <= 0)
    return group.value_or(0);
  const auto node =
    static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_size);
  return std::min(group.value_or(node), node);
}

} // namespace troupe
