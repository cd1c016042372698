#pragma once

#include "messages/collective.hpp"
#include "messages/connection.hpp"
#include "messages/event.hpp"

namespace troupe {

// -- what the server asks its host --------------------------------------------

/// A registered process has connected. A refusal closes the connection.
/// Source: PMIx Standard v5, `pmix_server_client_connected2_fn_t`.
struct client_connected {
  requester who;

  /// See `connect_request`: no process of that name had been started when the
  /// peer was looked at.
  bool is_not_started = false;
};

TROUPE_MESSAGE(client_connected, x.who, x.is_not_started)

/// A process has called `PMIx_Finalize`.
struct client_finalized {
  requester who;
};

TROUPE_MESSAGE(client_finalized, x.who)

/// The connection of a process broke before it finalized. Not answered.
struct client_lost {
  requester who;
};

TROUPE_MESSAGE(client_lost, x.who)

/// A tool wants to connect: the host gives it an identity, or confirms the one
/// that it brings.
/// Source: PMIx Standard v5, `pmix_server_tool_connection_fn_t`.
struct tool_connected {
  requester who;
  std::vector<info> infos;
};

TROUPE_MESSAGE(tool_connected, x.who, x.infos)

/// Asks the host for data of a process that is not on this node.
/// Source: PMIx Standard v5, `pmix_server_dmodex_req_fn_t`.
struct direct_modex {
  proc_id target;
  std::vector<info> directives;
};

TROUPE_MESSAGE(direct_modex, x.target, x.directives)

// -- what the host tells its server -------------------------------------------

/// Makes a namespace known, with its job-level data.
/// Source: PMIx Standard v5, `PMIx_server_register_nspace`.
struct register_nspace {
  std::string nspace;

  /// Whose processes these are: only this user may connect for them.
  credentials owner;

  /// Ranks on this node.
  std::vector<uint32_t> local_ranks;

  std::vector<info> infos;

  /// Whether each local rank may connect only after its `register_client`;
  /// until then it is waited for in collectives all the same.
  bool clients_follow = false;
};

TROUPE_MESSAGE(register_nspace, x.nspace, x.owner, x.local_ranks, x.infos,
               x.clients_follow)

/// Lets a process of this node connect. Its namespace may become known later.
/// Source: PMIx Standard v5, `PMIx_server_register_client`.
struct register_client {
  proc_id proc;

  /// Only this user may connect for it.
  credentials owner;
};

TROUPE_MESSAGE(register_client, x.proc, x.owner)

/// Forgets a process of this node. Its connections close; whoever waits for it
/// waits no longer.
/// Source: PMIx Standard v5, `PMIx_server_deregister_client`.
struct deregister_client {
  proc_id proc;
};

TROUPE_MESSAGE(deregister_client, x.proc)

/// Forgets a namespace and all that is kept for it.
struct deregister_nspace {
  std::string nspace;
};

TROUPE_MESSAGE(deregister_nspace, x.nspace)

/// Asks for the environment that lets a process find its server.
/// Source: PMIx Standard v5, `PMIx_server_setup_fork`.
struct setup_fork {
  proc_id proc;
};

TROUPE_MESSAGE(setup_fork, x.proc)

struct client_environment {
  /// `NAME=value`.
  std::vector<std::string> variables;
};

TROUPE_MESSAGE(client_environment, x.variables)

/// A local process ended: collectives that wait for it fail, calls that wait
/// for its data fail.
struct proc_ended {
  proc_id proc;
  proc_state state = proc_state::terminated;
};

TROUPE_MESSAGE(proc_ended, x.proc, x.state)

/// Which event of an order it is, for the trace of a node: see `trace_id`. 0: it
/// stands in none.
struct event_mark {
  uint64_t order = 0;
  uint64_t number = 0;
  uint32_t node = 0;
};

/// An event for local processes. Source: Standard v5, `PMIx_Notify_event`.
struct deliver_event {
  event what;

  /// Whom it is for; none: whom its range names.
  std::vector<proc_id> targets;

  /// Does not travel: each node knows it.
  event_mark mark = {};
};

TROUPE_MESSAGE(deliver_event, x.what, x.targets)

/// Closes the connections of a namespace's processes, or of all tools.
struct shut_down {
  std::string reason;
};

TROUPE_MESSAGE(shut_down, x.reason)

/// Makes known what belongs to no namespace; clients get it with their job's
/// data. Source: PMIx Standard v5, `PMIx_server_register_resources`.
struct register_resources {
  std::vector<info> infos;
};

TROUPE_MESSAGE(register_resources, x.infos)

/// Forgets it, key by key.
/// Source: PMIx Standard v5, `PMIx_server_deregister_resources`.
struct deregister_resources {
  std::vector<info> infos;
};

TROUPE_MESSAGE(deregister_resources, x.infos)

/// Names a set of processes; local processes hear of it by an event.
/// Source: PMIx Standard v5, `PMIx_server_define_process_set`.
struct define_process_set {
  std::string name;
  std::vector<proc_id> members;
};

TROUPE_MESSAGE(define_process_set, x.name, x.members)

/// Source: PMIx Standard v5, `PMIx_server_delete_process_set`.
struct delete_process_set {
  std::string name;
};

TROUPE_MESSAGE(delete_process_set, x.name)

/// Counts of what a server has done since it started.
struct server_statistics {
  uint64_t connections = 0;
  uint64_t refused_connections = 0;
  uint64_t requests = 0;
  uint64_t fences = 0;
  uint64_t events = 0;
  uint64_t bytes_posted = 0;
};

TROUPE_MESSAGE(server_statistics, x.connections, x.refused_connections,
               x.requests, x.fences, x.events, x.bytes_posted)

/// Asks for `server_statistics`.
struct get_statistics {};

TROUPE_EMPTY_MESSAGE(get_statistics)

} // namespace troupe
