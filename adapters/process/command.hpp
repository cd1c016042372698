#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/program_path.hpp"
#include "messages/custom_monitor.hpp"

#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// What became of a command.
struct command_outcome {
  std::variant<command_result, launch_failure> result;

  /// Readable once it has ended; none if it has: a process that hangs in the
  /// kernel does not end when it is killed, and is not waited for.
  unique_fd left;
};

/// Runs a command to its end, and waits for it. It leads a process group of its
/// own, which is killed when the command's time is up or `stop` becomes
/// readable. What it leaves behind when it ends by itself is left alone.
/// @param environment The daemon's own; variables of the request go before.
/// @param stop        A descriptor; negative: none.
command_outcome perform_command(const run_command& request,
                                const std::vector<std::string>& environment,
                                int stop);

} // namespace troupe
