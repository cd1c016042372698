#pragma once

#include "actors/jobs/job_plan.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

namespace troupe {

/// The actors that a share of a job works with.
struct job_directory {
  /// Hears how the share proceeds.
  mesh_host_actor host;

  server_actor server;
  process_launcher_actor launcher;
  topology_actor topology;
  cleaner_actor cleaner;

  /// Takes the output of the processes.
  output_receiver_actor output;
};

/// The processes of a job on this node, from the first to the last byte of
/// output: makes them known to the server, starts them in two steps, and
/// reports `share_progress` and, when nothing of them is left, `share_ended`.
/// What a failure means is decided elsewhere; `forget_job` is the end.
job_actor spawn_job(caf::actor_system& sys, job_context context,
                    job_directory directory, journal log);

} // namespace troupe
