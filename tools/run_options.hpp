#pragma once

#include "messages/spawn.hpp"
#include "tools/local_node.hpp"

#include <set>

namespace troupe {

/// What `troupe run` was told.
struct run_options {
  local_node_options node;

  /// The job, in the Standard's attributes: what a tool would send.
  spawn_request job;

  /// Who gets standard input: a rank, `rank_wildcard`, or `rank_undef` for
  /// nobody.
  uint32_t stdin_target = 0;

  /// What to show beside the output: `map`, `bind`, `summary`.
  std::set<std::string> display;

  bool json = false;
};

/// Reads the command line.
/// @param args Without the names of the program and of the command.
/// @returns the options, or the exit status if there is nothing to run: help
/// was
///          asked for, or an argument is wrong (which has been reported).
std::variant<run_options, int> parse_run(std::vector<std::string> args);

} // namespace troupe
