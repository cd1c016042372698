#include "adapters/local/server_presence.hpp"

#include "adapters/process/children.hpp"

#include <unistd.h>

#include <fstream>
#include <ios>
#include <sstream>
#include <string>

namespace troupe {

// -- age of a process --------------------------------------------------------

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

// -- presence of a server ----------------------------------------------------

namespace {

/// How far the clocks behind a file's time and a process's start may differ.
constexpr time_t tolerance_s = 2;

/// Whether a process listens at a port, as a table of the kernel has it; also if
/// the kernel does not let us see whose socket it is: connecting will tell.
/// Source: proc(5), `/proc/net/tcp`.
bool listens(uint32_t pid, uint16_t port, const char* table) {
  constexpr auto listening = "0A";
  std::ifstream in{table};
  std::string line;
  std::getline(in, line); // Its heading.
  while (std::getline(in, line)) {
    std::istringstream fields{line};
    std::string number, local, remote, state, queues, timer, retransmits;
    uint32_t uid = 0;
    uint32_t timeout = 0;
    uint64_t inode = 0;
    fields >> number >> local >> remote >> state;
    const auto colon = local.rfind(':');
    uint32_t found = 0;
    if (state != listening || colon == std::string::npos
        || !(std::istringstream{local.substr(colon + 1)} >> std::hex >> found)
        || found != port)
      continue;
    fields >> queues >> timer >> retransmits >> uid >> timeout >> inode;
    if (fields && holds_socket(pid, inode) != holding::no)
      return true;
  }
  return false;
}

} // namespace

bool is_server_gone(uint32_t pid, uint16_t port, time_t written) {
  const auto start = started_at(pid);
  if (!start)
    return true;
  return *start > written + tolerance_s && !listens(pid, port, "/proc/net/tcp")
         && !listens(pid, port, "/proc/net/tcp6");
}

} // namespace troupe
