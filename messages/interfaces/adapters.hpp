#pragma once

// The node's means: what adapters do for others.

#include "messages/connection.hpp"
#include "messages/control.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/fwd.hpp"
#include "messages/interfaces/io.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/log.hpp"
#include "messages/process.hpp"
#include "messages/spool.hpp"
#include "messages/topology.hpp"
#include "messages/usage.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The PROCESS LAUNCHER interface: starts, signals and reaps local processes.
using process_launcher_actor = caf::typed_actor<
  // The owner hears of the end; the receiver takes what the process writes.
  caf::replies_to<start_process, process_owner_actor,
                  output_receiver_actor>::with<process_started>,
  // Sends a signal.
  caf::reacts_to<signal_process>,
  // Signals, pauses, resumes or ends processes, and whatever they started.
  caf::replies_to<control_procs>::with<procs_controlled>,
  // The number of a process, and when it last wrote.
  caf::replies_to<find_process>::with<local_process>,
  // Ends what a job has left behind.
  caf::replies_to<sweep_job>::with<ack>,
  // Input for a process.
  caf::replies_to<write_stdin>::with<ack>,
  // The input is at its end.
  caf::reacts_to<close_stdin>>;

/// The SPOOL interface: keeps on disk what an event log has no memory for.
using spool_actor = caf::typed_actor<
  // Keeps records; answered when they are there.
  caf::replies_to<write_spool>::with<ack>,
  // Gives them back.
  caf::replies_to<read_spool>::with<spool_content>,
  // Forgets them.
  caf::reacts_to<erase_spool>>;

/// The CLEANER interface: removes what jobs leave on disk.
using cleaner_actor = caf::typed_actor<
  // Removes files and directories.
  caf::replies_to<remove_paths>::with<ack>>;

/// The TOPOLOGY interface: discovers the node's processors, once.
using topology_actor = caf::typed_actor<
  // Processors, caches and their order.
  caf::replies_to<discover_topology>::with<node_topology>>;

/// The LOG SINK interface: writes to the node's logs.
using log_sink_actor = caf::typed_actor<
  // A line for the logs.
  caf::replies_to<log_entry>::with<ack>>;

/// The USAGE interface: which resources processes and the node use.
using usage_actor = caf::typed_actor<
  // How much memory some processes use now.
  caf::replies_to<sample_memory>::with<memory_samples>,
  // What some processes, the node, its disks and its networks do.
  caf::replies_to<sample_usage>::with<usage_samples>>;

} // namespace troupe
