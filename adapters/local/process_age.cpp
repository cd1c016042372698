#include "adapters/local/process_age.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace troupe {

namespace {

/// When the machine was started.
std::optional<time_t> boot_time() {
  std::ifstream in{"/proc/stat"};
  for (std::string line; std::getline(in, line);)
    if (long long result = 0; line.rfind("btime ", 0) == 0
                              && std::istringstream{line.substr(6)} >> result)
      return static_cast<time_t>(result);
  return std::nullopt;
}

/// Whether the control group of a process, or one above it, is frozen.
/// Source: cgroups(7), version 2, `cgroup.events`.
bool is_frozen(uint32_t pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/cgroup"};
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("0::/", 0) != 0)
      continue;
    std::ifstream events{"/sys/fs/cgroup" + line.substr(3) + "/cgroup.events"};
    for (std::string event; std::getline(events, event);)
      if (event == "frozen 1")
        return true;
  }
  return false;
}

} // namespace

bool is_stopped(uint32_t pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/stat"};
  std::string line;
  if (!std::getline(in, line))
    return false;
  // The state follows the name, which may hold anything.
  const auto end = line.rfind(')');
  const auto state =
    end != std::string::npos && end + 2 < line.size() ? line[end + 2] : '?';
  return state == 'T' || state == 't' || is_frozen(pid);
}

std::optional<time_t> started_at(uint32_t pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/stat"};
  std::string line;
  // The second field, a name in parentheses, may hold anything; the 22nd is the
  // time since the machine was started.
  const auto boot = boot_time();
  if (!boot || !std::getline(in, line) || line.rfind(')') == std::string::npos)
    return std::nullopt;
  std::istringstream fields{line.substr(line.rfind(')') + 1)};
  std::string skipped;
  for (auto i = 3; i < 22; ++i)
    fields >> skipped;
  long long ticks = 0;
  if (!(fields >> ticks))
    return std::nullopt;
  return *boot + static_cast<time_t>(ticks / ::sysconf(_SC_CLK_TCK));
}

} // namespace troupe
