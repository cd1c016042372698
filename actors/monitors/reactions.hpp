#pragma once

#include "actors/monitors/reaction_plan.hpp"
#include "config/journal.hpp"
#include "messages/actors.hpp"

#include <functional>
#include <string>
#include <vector>

namespace troupe {

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
