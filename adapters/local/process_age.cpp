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

} // namespace

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
