#include "adapters/local/server_presence.hpp"

#include "adapters/local/process_age.hpp"
#include "adapters/local/process_sockets.hpp"

#include <fstream>
#include <ios>
#include <sstream>
#include <string>

namespace troupe {

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
