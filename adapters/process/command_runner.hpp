#pragma once

#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

namespace defaults {

/// How much of the output of a command is kept, and how many run at a time.
inline constexpr size_t command_output = size_t{64} << 10;
inline constexpr size_t commands_running = 8;

} // namespace defaults

class event_loop;

/// The state of a COMMAND RUNNER actor.
struct command_runner_state {
  static inline const char* name = "command-runner";

  command_runner_state();

  /// Kills the commands that run.
  ~command_runner_state();

  struct threads;

  std::unique_ptr<threads> own;
};

/// Runs commands of the node, at most `defaults::commands_running` at a time,
/// each on a thread of its own. They run as the daemon's user with
/// `environment`, and are killed when the actor ends.
command_runner_actor::behavior_type command_runner(
  command_runner_actor::stateful_pointer<command_runner_state> self,
  event_loop* loop, std::vector<std::string> environment);

} // namespace troupe
