#pragma once

#include "messages/status.hpp"

#include <string>
#include <variant>
#include <vector>

namespace troupe {

struct start_process;

/// Why a process cannot be started.
struct launch_failure {
  status code = status::error;

  /// A sentence: what failed, and what to do about it.
  std::string reason;
};

/// Finds the program that `request` names, as execvp(3) would in its working
/// directory and with its PATH.
/// @returns its path, absolute or relative to the working directory.
std::variant<std::string, launch_failure>
find_program(const start_process& request);

/// Checks the working directory of `request`.
/// @returns a failure with the code `success` if it can be used.
launch_failure check_directory(const start_process& request);

} // namespace troupe
