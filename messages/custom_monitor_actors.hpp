#pragma once

// Who watches processes by other means than heartbeats and files, and who acts
// on alerts. Included by messages/actors.hpp.

#include "messages/connection.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/deadline.hpp"
#include "messages/fwd.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The MONITOR USER interface: hears of alerts. The MONITOR DESK is one.
using monitor_user_actor = caf::typed_actor<
  // A monitor has found something.
  caf::reacts_to<monitor_alert>>;

/// The MONITOR interface: watches one process. Sites add kinds of their own:
/// see docs/monitoring.md and examples/queue_monitor.c.
using monitor_actor = caf::typed_actor<
  // Watch; alerts go to the user. Comes once.
  caf::replies_to<start_monitor, monitor_user_actor>::with<ack>,
  // Watch no longer; the end of the actor follows.
  caf::reacts_to<stop_monitor>>;

/// A MONITOR that looks now and then.
using timed_monitor_actor = monitor_actor::extend<
  // INTERNAL: the next look is due.
  caf::reacts_to<deadline>>;

/// The REACTIONS interface: does what is to be done on alerts.
using reactions_actor = caf::typed_actor<
  // Not answered: what cannot be done stands in the log.
  caf::reacts_to<react_to_alert>>;

/// The PROCESS PROBE interface: how local processes do.
using process_probe_actor = caf::typed_actor<
  // CPU time, memory, output.
  caf::replies_to<probe_process>::with<process_probe>>;

/// The COMMAND RUNNER interface: runs programs of the node, never on the
/// daemon's loop.
using command_runner_actor = caf::typed_actor<
  // Answered when it has ended, or was killed.
  caf::replies_to<run_command>::with<command_result>>;

/// The PLUGIN interface: a monitor of a plugin, which may block.
using monitor_plugin_actor = caf::typed_actor<
  // Answered when the plugin has looked.
  caf::replies_to<check_process>::with<check_result>>;

} // namespace troupe
