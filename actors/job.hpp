#pragma once

#include "actors/job_plan.hpp"
#include "config/journal.hpp"
#include "messages/actors.hpp"

namespace troupe {

/// The actors that a job works with.
struct job_directory {
  local_host_actor host;
  server_actor server;
  event_cache_actor events;
  process_launcher_actor launcher;
  topology_actor topology;
  cleaner_actor cleaner;

  /// Takes the output of the processes.
  output_sink_actor sink;

  /// Hears of the job; may be empty.
  job_observer_actor observer;
};

/// Runs one job on this node: maps it, registers it with the server, starts its
/// processes, and ends it as a whole when one of them fails, unless the job is
/// recoverable. Tells the host when it is over: every process reaped, all
/// output taken, nothing left behind.
job_actor spawn_job(caf::actor_system& sys, job_context context,
                    job_directory directory, journal log);

} // namespace troupe
