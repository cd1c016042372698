#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

namespace troupe {

/// @returns whether /proc tells the children of a process. Not every kernel is
///          built for it.
bool kernel_lists_children();

/// One line of /proc/<pid>/stat.
struct process_entry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';

  /// Ticks since boot: two processes with the same number differ here.
  uint64_t start_time = 0;

  bool is_alive() const {
    return state != 'Z' && state != 'X' && state != 'x';
  }
};

using process_map = std::map<pid_t, process_entry>;

/// The descendants of this process, whoever they belong to.
/// @param lists Whether the kernel's lists of children may be used; otherwise
///              all processes of the node are returned.
process_map list_descendants(bool lists = kernel_lists_children());

/// @returns whether the environment that `pid` started with has `assignment`,
///          as in `NAME=value`.
bool has_in_environment(pid_t pid, const std::string& assignment);

/// Signals `x`, and nobody who got its number meanwhile.
/// @returns whether it was there. Source: requirement X29.
bool signal_entry(const process_entry& x, int number);

} // namespace troupe
