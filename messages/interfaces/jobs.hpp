#pragma once

// Who runs jobs, and who hears of them.

#include "messages/connection.hpp"
#include "messages/control.hpp"
#include "messages/deadline.hpp"
#include "messages/fwd.hpp"
#include "messages/host.hpp"
#include "messages/job.hpp"
#include "messages/mesh.hpp"
#include "messages/process.hpp"
#include "messages/query.hpp"
#include "messages/spawn.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The JOB OBSERVER interface: a launcher that wants to hear of a job.
using job_observer_actor = caf::typed_actor<
  // Where its processes will run.
  caf::reacts_to<job_mapped>,
  // A process changed its state.
  caf::reacts_to<proc_changed>,
  // The job is over.
  caf::reacts_to<job_ended>>;

/// The PROCESS OWNER interface: hears of the processes it had started.
using process_owner_actor = caf::typed_actor<
  // A process was reaped.
  caf::reacts_to<process_ended>,
  // All output of an ended process has been taken.
  caf::reacts_to<process_drained>>;

/// The JOB interface: the share of one node in a job, from its preparation to
/// its end.
using job_actor = caf::typed_actor<
  // Makes the job known to the server.
  caf::replies_to<prepare_share>::with<job_map>,
  // Starts the processes of this node; answered when all of them run.
  caf::replies_to<start_share>::with<spawn_result>,
  // Ends them.
  caf::replies_to<end_share>::with<ack>,
  // One of them wants processes to end: notes who it was.
  caf::replies_to<requester, abort_request>::with<ack>,
  // Registers what is to be removed at the end of the job.
  caf::replies_to<requester, job_control_request>::with<info_result>,
  // Signals, pauses, resumes or ends some of its processes.
  caf::replies_to<control_procs>::with<procs_controlled>,
  // The job is over everywhere.
  caf::replies_to<forget_job>::with<ack>,
  // A process of the job connected, left, or lost its connection.
  caf::reacts_to<client_connected>,
  // A process has finalized.
  caf::reacts_to<client_finalized>,
  // A process lost its connection without finalizing.
  caf::reacts_to<client_lost>,
  // From the process launcher.
  caf::reacts_to<process_ended>,
  // All output of an ended process has been taken.
  caf::reacts_to<process_drained>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

} // namespace troupe
