#pragma once

#include "adapters/process/process_entries.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe {

/// A process of a job, whose number is not that of anybody else now.
struct family_head {
  pid_t pid = -1;

  /// In the environment of what it started, even of those whose parents have
  /// ended: `NAME=value` of its namespace and its rank.
  std::string nspace;
  std::string rank;
};

/// Finds the living descendants of processes of jobs, wherever they are now:
/// in another process group or session, or orphaned; in the latter case they
/// are known by their environment, or by their group. Without the heads.
/// @returns them by head.
std::map<pid_t, std::vector<process_entry>>
find_families(const std::vector<family_head>& heads,
              const process_map& processes = list_descendants());

} // namespace troupe
