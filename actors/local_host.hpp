#pragma once

#include "config/journal.hpp"
#include "messages/actors.hpp"

namespace troupe {

/// What the local host is told when it starts.
struct local_host_options {
  /// The server it works for.
  proc_id server;
  std::string hostname;

  /// Processes that the node takes without being oversubscribed.
  uint32_t slots = 1;

  /// What jobs inherit, `NAME=value`.
  std::vector<std::string> environment;

  std::string session_directory;
  std::string working_directory;

  /// Whether processes of jobs find a PMI-1 server.
  bool with_pmi1 = false;

  journal log;
};

/// The actors that the local host works with.
struct local_host_directory {
  process_launcher_actor launcher;
  topology_actor topology;
  cleaner_actor cleaner;

  /// Takes the output of jobs that tools start.
  output_sink_actor sink;
};

/// A resource manager for one node: runs jobs, keeps published data, answers
/// what its server asks. What it does not offer it refuses with
/// `not_supported`.
local_host_actor spawn_local_host(caf::actor_system& sys,
                                  local_host_options options,
                                  local_host_directory directory);

} // namespace troupe
