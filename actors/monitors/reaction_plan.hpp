#pragma once

#include "actors/monitors/reaction_policy.hpp"
#include "messages/control.hpp"
#include "messages/log.hpp"

#include <caf/expected.hpp>

#include <string>
#include <variant>

namespace troupe {

/// A line for the daemon's log.
struct log_line {
  std::string text;
};

/// A command that says where a process is.
struct take_stack {
  run_command command;
};

/// A request to the host, and in whose name.
struct control_of_process {
  requester who;
  job_control_request request;
};

/// What a reaction comes to; nothing for `event`.
using reaction_step = std::variant<std::monostate, log_line, take_stack,
                                   run_command, control_of_process, log_entry>;

/// Where reactions happen.
struct reaction_place {
  /// The daemon's server and user: in their name the site acts.
  proc_id server;
  credentials owner;
  std::string hostname;
};

/// What to do for one reaction to an alert.
/// @returns why it cannot be done: `bad_param`, or `no_permissions` for a
///          command of somebody else's.
caf::expected<reaction_step> plan_reaction(const std::string& text,
                                           const react_to_alert& alert,
                                           const reaction_place& place);

/// `monitor cpu_progress "x" of job:0: no CPU time for 20 s`.
std::string sentence_of(const react_to_alert& alert);

} // namespace troupe
