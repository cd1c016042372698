#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "messages/status.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <variant>

namespace troupe {

struct start_process;

/// Why a process cannot be started.
struct launch_failure {
  status code = status::error;

  /// A sentence: what failed, and what to do about it.
  std::string reason;
};

/// A process that was just started, and our ends of its pipes.
struct child {
  pid_t pid = -1;

  /// Readable once the process has ended.
  unique_fd pidfd;

  /// Non-blocking; `in` and `diag` only if asked for, `err` unless errors go
  /// with output. With a terminal `in` and `out` are both its master.
  unique_fd in;
  unique_fd out;
  unique_fd err;
  unique_fd diag;

  /// Our end of the socket to its PMI-1 server, only if asked for.
  unique_fd pmi1;
};

/// The process group of a process that gets no terminal.
enum class child_group : uint8_t {
  own,    ///< which it leads
  parents ///< who signals that has both
};

/// Starts a process: leader of a process group of its own, and of a session if
/// it gets a terminal, default signal dispositions, no signal blocked, exactly
/// the descriptors 0, 1, 2 and, if asked for, `pmi1_descriptor` and the next
/// one for diagnostics, bound to the given processors from its first
/// instruction, with the limit of open files that we were started with.
///
/// Our page tables are not copied: 0.5 ms whatever our size, during which the
/// calling thread waits.
/// @param mark `NAME=value` that its environment has, whatever the request
///             says; empty: none.
std::variant<child, launch_failure>
spawn_child(const start_process& request, const std::string& mark = {},
            child_group group = child_group::own);

} // namespace troupe
