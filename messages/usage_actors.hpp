#pragma once

// Who looks at files, and who tells of the use of resources. Included by
// messages/actors.hpp.

#include "messages/control.hpp"
#include "messages/deadline.hpp"
#include "messages/files.hpp"
#include "messages/fwd.hpp"
#include "messages/gauge.hpp"
#include "messages/host.hpp"
#include "messages/usage.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The FILE CHECKER interface: looks at files; a file system that hangs delays
/// neither the loop nor what is on other mounts.
using file_checker_actor = caf::typed_actor<
  // What has become of some files.
  caf::replies_to<check_files>::with<file_stamps>,
  // How full it is.
  caf::replies_to<get_gauges>::with<gauge_list>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

/// The USAGE MONITOR interface: tells processes of the use of resources, once
/// or again and again. The MONITOR DESK passes requests to it for which
/// `is_usage_request` holds.
using usage_monitor_actor = caf::typed_actor<
  // Samples now and, if there is a rate, tells by events from then on; or ends
  // that: PMIX_MONITOR_CANCEL is refused with `not_found` if there is no such
  // identifier.
  caf::replies_to<requester, monitor_request>::with<info_result>,
  // Samples this node for another; nothing follows.
  caf::replies_to<sample_elsewhere>::with<info_result>,
  // A session ended: nothing more for it.
  caf::reacts_to<requester, connection_lost>,
  // A process of this node has ended.
  caf::reacts_to<proc_ended>,
  // A namespace is gone.
  caf::reacts_to<deregister_nspace>,
  // How full it is.
  caf::replies_to<get_gauges>::with<gauge_list>,
  // INTERNAL: the next sample is due.
  caf::reacts_to<deadline>>;

} // namespace troupe
