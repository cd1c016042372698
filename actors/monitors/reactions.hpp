#pragma once

#include "actors/monitors/reaction_policy.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"
#include "messages/control.hpp"
#include "messages/log.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

namespace defaults {

/// How long a command of a reaction may take.
inline constexpr auto reaction_command_time = std::chrono::seconds{30};

/// Reactions under way at a time on a node; more are dropped and named.
inline constexpr size_t reactions_in_flight = 256;

} // namespace defaults

/// Of the shell: prints the stacks of all threads of the process whose number is in
/// TROUPE_MONITOR_PID, with what is installed.
extern const char* const stack_command;

/// A line for the daemon's log.
struct log_sentence {
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
using reaction_step = std::variant<std::monostate, log_sentence, take_stack,
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

struct reactions_options {
  reaction_place place;

  /// Acts on processes.
  host_actor host;

  /// Knows what a job says on its alerts; none: no job says anything.
  std::function<server_actor()> server;

  /// What the site says.
  std::vector<std::string> of_site;

  /// Takes stacks and mails.
  log_sink_actor logs;
  command_runner_actor commands;

  /// Knows which number a process has, and whether it still runs; none: what
  /// the alert says.
  process_probe_actor probe;
  journal log;
};

/// Does what is to be done about alerts: what the alert says, or else the job
/// of the process, or else the site. For each alert one reaction after the
/// other, so that a stack is taken before its process is killed. What cannot be
/// done is named in the log, and the next reaction follows. At most
/// `defaults::reactions_in_flight` alerts at a time; beyond that they are
/// dropped and named.
/// Source: RFC0015, "Monitoring": the response to an alert.
reactions_actor spawn_reactions(caf::actor_system& sys,
                                reactions_options options);

} // namespace troupe
