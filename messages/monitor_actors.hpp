#pragma once

// Who watches processes and files. Included by messages/actors.hpp.

#include "messages/control.hpp"
#include "messages/custom_monitor_actors.hpp"
#include "messages/deadline.hpp"
#include "messages/fwd.hpp"
#include "messages/gauge.hpp"
#include "messages/host.hpp"
#include "messages/monitor.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

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

} // namespace troupe
