#pragma once

// The server of a node.

#include "messages/clause.hpp"
#include "messages/collective.hpp"
#include "messages/connection.hpp"
#include "messages/data.hpp"
#include "messages/deadline.hpp"
#include "messages/event.hpp"
#include "messages/fwd.hpp"
#include "messages/gauge.hpp"
#include "messages/group.hpp"
#include "messages/group_entry.hpp"
#include "messages/host.hpp"
#include "messages/interfaces/client.hpp"
#include "messages/interfaces/groups.hpp"
#include "messages/io.hpp"
#include "messages/monitor.hpp"
#include "messages/query.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The SERVER interface: what a node knows, and who is connected to it.
using server_actor = caf::typed_actor<
// Requests that sessions pass on.
#define TROUPE_SERVER_REQUEST(number, command, request, answer)                \
  clause<answer, requester, request>,
#include "messages/requests.def"
  // -- from connections --
  // A process asks to be served; the session that will take its requests comes
  // back. Refused: the connection closes.
  caf::replies_to<connect_request, connection_actor>::with<connect_accepted,
                                                           client_actor>,
  // -- from sessions --
  // Raises an event of a group; others are not taken.
  caf::replies_to<requester, notify_request>::with<ack>,
  // Data of a process.
  caf::replies_to<requester, get_request>::with<get_result>,
  // Which processes are on a node.
  caf::replies_to<requester, resolve_peers_request>::with<resolve_peers_result>,
  // Which nodes host a namespace.
  caf::replies_to<requester, resolve_nodes_request>::with<resolve_nodes_result>,
  // A session ended.
  caf::reacts_to<requester, connection_lost>,
  // -- from the host --
  // A namespace and its local ranks.
  caf::replies_to<register_nspace>::with<ack>,
  // A namespace is gone: nothing of it is kept.
  caf::replies_to<deregister_nspace>::with<ack>,
  // One process after the other, where the host does not know all of them when
  // it registers the namespace.
  caf::replies_to<register_client>::with<ack>,
  // A process of this node is gone.
  caf::replies_to<deregister_client>::with<ack>,
  // Data of a local process, for another node; waits until it is posted.
  caf::replies_to<direct_modex>::with<get_result>,
  // Data that belongs to no namespace.
  caf::replies_to<register_resources>::with<ack>,
  // Forgets such data.
  caf::replies_to<deregister_resources>::with<ack>,
  // Names a set of processes.
  caf::replies_to<define_process_set>::with<ack>,
  // Forgets the name of a set.
  caf::replies_to<delete_process_set>::with<ack>,
  // Output for one of the connected; answered when its socket has taken it, or
  // refused with `unreach` if it is not connected any more.
  caf::replies_to<requester, io_delivery>::with<ack>,
  // What a process needs in its environment to find its server.
  caf::replies_to<setup_fork>::with<client_environment>,
  // What every client needs in its environment: comes once the server listens.
  caf::reacts_to<client_environment>,
  // A local process has ended.
  caf::reacts_to<proc_ended>,
  // Local processes are stopped on purpose, or go on.
  caf::reacts_to<procs_paused>,
  // Closes all connections.
  caf::replies_to<shut_down>::with<ack>,
  // Counts since the server started.
  caf::replies_to<get_statistics>::with<server_statistics>,
  // How full it is.
  caf::replies_to<get_gauges>::with<gauge_list>,
  // The next entry of the log of a group; answered when it is carried out.
  caf::replies_to<group_entry_ordered>::with<ack>,
  // A node is lost.
  caf::reacts_to<host_node_lost>,
  // Which groups have members here.
  caf::replies_to<list_groups>::with<group_list>,
  // The actor of one of them.
  caf::replies_to<find_group>::with<group_tracker_actor>,
  // The actor of a connected process: its end is the end of the connection.
  caf::replies_to<find_session>::with<client_actor>,
  // -- from its groups --
  // INTERNAL: which local processes are members has changed.
  caf::reacts_to<group_changed>,
  // INTERNAL: nothing about a group is open.
  caf::reacts_to<group_rests>,
  // INTERNAL: nothing of a group is left.
  caf::reacts_to<group_over>,
  // INTERNAL: fills in what local processes have posted for others.
  caf::replies_to<group_data>::with<group_data>,
  // INTERNAL: data that a fence brought from other nodes.
  caf::reacts_to<host_collective_result>,
  // INTERNAL: a wait has lasted long enough.
  caf::reacts_to<deadline>>;

} // namespace troupe
