#pragma once

// Who watches processes, files and the use of resources, and who acts on
// alerts.

#include "messages/connection.hpp"
#include "messages/control.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/deadline.hpp"
#include "messages/files.hpp"
#include "messages/fwd.hpp"
#include "messages/gauge.hpp"
#include "messages/host.hpp"
#include "messages/monitor.hpp"
#include "messages/query.hpp"
#include "messages/usage.hpp"

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

/// The MONITOR MAKER interface: makes monitors where processes are. Their handles
/// are those of other nodes, if need be.
using monitor_maker_actor = caf::typed_actor<
  // A monitor that has not been started.
  caf::replies_to<make_monitor>::with<monitor_actor>>;

/// A MONITOR that looks now and then.
using timed_monitor_actor = monitor_actor::extend<
  // The next look is due: it tells itself, or the MONITOR DESK does.
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

/// The MONITORED SESSION interface: what the MONITOR DESK needs of a session.
using monitored_session_actor = caf::typed_actor<
  // What the process has sent by now is wanted; answered when all of it has
  // passed the session.
  caf::replies_to<read_now>::with<unread>>;

/// The MONITOR DESK interface: runs the monitors of a node, and raises their
/// alerts.
using monitor_desk_actor = monitor_user_actor::extend<
  // -- from sessions --
  // Has processes or files watched, or no longer. The session is asked to read
  // before its process is said to be silent.
  caf::replies_to<requester, monitor_request,
                  monitored_session_actor>::with<info_result>,
  // A process shows that it lives.
  caf::reacts_to<requester, heartbeat>,
  // A session ended, and with it the monitors that it asked for.
  caf::reacts_to<requester, connection_lost>,
  // -- from the server --
  // A process has ended.
  caf::reacts_to<proc_ended>,
  // A namespace is gone.
  caf::reacts_to<deregister_nspace>,
  // Processes were paused, or go on.
  caf::reacts_to<procs_paused>,
  // Which monitors there are: `troupe.monitor.list`.
  caf::replies_to<requester, query_request>::with<info_result>,
  // INTERNAL: something is due.
  caf::reacts_to<deadline>,
  // How full it is.
  caf::replies_to<get_gauges>::with<gauge_list>>;

/// The FILE CHECKER interface: looks at files; a file system that hangs delays
/// neither the loop nor what is on other mounts.
using file_checker_actor = caf::typed_actor<
  // What has become of some files.
  caf::replies_to<check_files>::with<file_stamps>,
  // How full it is.
  caf::replies_to<get_gauges>::with<gauge_list>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

/// The USAGE MONITOR interface: samples the use of resources. The MONITOR DESK
/// asks it, and the MONITORs whose requests have a rate.
using usage_monitor_actor = caf::typed_actor<
  // Samples what a request names, for which `is_usage_request` holds, once.
  caf::replies_to<requester, monitor_request>::with<info_result>,
  // Samples this node for another.
  caf::replies_to<sample_elsewhere>::with<info_result>,
  // A process of this node has ended.
  caf::reacts_to<proc_ended>,
  // A namespace is gone.
  caf::reacts_to<deregister_nspace>>;

} // namespace troupe
