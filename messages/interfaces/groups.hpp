#pragma once

// Who keeps groups.

#include "messages/connection.hpp"
#include "messages/deadline.hpp"
#include "messages/event.hpp"
#include "messages/fwd.hpp"
#include "messages/group.hpp"
#include "messages/group_entry.hpp"
#include "messages/host.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The GROUP TRACKER interface: a group on a node, from the first call to the
/// end.
using group_tracker_actor = caf::typed_actor<
  // -- from local processes, through the server
  // Joins the construction.
  caf::replies_to<requester,
                  group_construct_request>::with<group_construct_result>,
  // Joins the end.
  caf::replies_to<requester, group_destruct_request>::with<ack>,
  // Leaves.
  caf::replies_to<requester, group_leave_request>::with<ack>,
  // Raises an event of the group, or says what its handlers decided.
  caf::replies_to<requester, notify_request>::with<ack>,
  // -- from the server
  // The next entry of the log; answered when it is carried out.
  caf::replies_to<group_entry_ordered>::with<ack>,
  // A local process has ended.
  caf::reacts_to<proc_ended>,
  // A node is lost.
  caf::reacts_to<host_node_lost>,
  // How it stands.
  caf::replies_to<get_group_status>::with<group_status>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

} // namespace troupe
