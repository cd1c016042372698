#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <sys/resource.h>
#include <sys/types.h>

#include <array>

namespace troupe {

/// What a new process does between its birth and its program, in this order.
/// The strings and arrays are the caller's.
struct program_start {
  /// Descriptors 0, 1, 2, ... of the process are copies of ours; all others
  /// are closed. Ours have higher numbers.
  static constexpr int most_descriptors = 5;

  /// It is /dev/null, or a copy of descriptor 1 of the process.
  static constexpr int nothing = -1;
  static constexpr int as_output = -2;

  /// Empty: the caller's directory.
  const char* directory = "";

  /// Descriptor 1 is this terminal, which it then controls, in a session of its
  /// own; empty: a copy, in a process group of its own.
  const char* terminal = "";

  std::array<int, most_descriptors> descriptors{};
  int count = 0;

  /// The limit of open files that it gets; nullptr: ours.
  const rlimit* open_files = nullptr;

  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* env = nullptr;
};

/// A process that runs its program, or the error number of why it does not.
struct started_program {
  int error = 0;
  pid_t pid = -1;
  unique_fd pidfd;
};

/// Starts a program with default signal dispositions and no signal blocked.
/// As posix_spawn of the GNU C Library does, the process shares our memory
/// until its program runs, and this thread waits for that; but posix_spawn
/// knows no limits, and what we changed in ours for the time of a start would
/// hold for our other threads, too.
/// Source: clone(2), CLONE_VFORK, CLONE_PIDFD.
started_program start_program(const program_start& how);

} // namespace troupe
