#pragma once

#include "actors/data/datastore.hpp"
#include "actors/data/job_beats.hpp"
#include "actors/data/job_memory.hpp"
#include "actors/server/defaults.hpp"
#include "actors/server/registrations.hpp"
#include "base/directives.hpp"
#include "base/journal.hpp"
#include "config/defaults.hpp"
#include "messages/actors.hpp"

#include <memory>

namespace troupe {

class trace_ring;

/// What a server is told when it starts.
struct server_options {
  /// The server's own name.
  proc_id id;

  /// The name of the node, as in the job data.
  std::string hostname;

  /// Whose server this is: tools of other users are refused.
  credentials owner;

  /// The number of the server's own process.
  uint32_t pid = 0;

  /// Kept up to date for whoever takes connections; never null.
  std::shared_ptr<registrations> registered = std::make_shared<registrations>();

  /// Whether the host is that of a mesh: it has all nodes agree when a
  /// collective fails, and knows the data of jobs that run elsewhere. It is
  /// also asked which jobs there are.
  bool spans_nodes = false;

  /// Whose host it is: one of ours does what the table of directives says, and
  /// nothing else.
  next_host next = next_host::foreign;

  /// How much processes may keep posted.
  datastore::limits posted{};

  /// Tools of one user at a time (L19).
  size_t tools_per_user = defaults::tools_per_user;

  /// Collective operations of the node in flight (L18).
  size_t collectives_in_flight = defaults::collectives_in_flight;

  /// Groups that processes of one namespace may have begun (L17).
  size_t groups_per_namespace = defaults::groups_per_namespace;

  /// Makes the memory that the server shares with the processes of a job; empty:
  /// they share none.
  job_memory_maker make_memory{};

  /// Kept up to date for whoever monitors heartbeats; never null.
  std::shared_ptr<job_beats> beats = std::make_shared<job_beats>();

  /// The process's own log.
  journal log;

  /// Remembers what becomes of collective operations; null: nothing does.
  std::shared_ptr<trace_ring> trace{};
};

/// The actors that a server works with.
struct server_directory {
  host_actor host;
  event_cache_actor events;
  log_sink_actor logs;
  usage_actor usage;

  /// Null: what processes want monitored is for the host.
  monitor_desk_actor monitors{};
};

/// Serves the processes of a node: knows its namespaces and who is connected,
/// keeps what processes post, and answers or passes on their requests.
/// Source: PMIx Standard v5, "Server-Specific Interfaces".
server_actor spawn_server(caf::actor_system& sys, server_options options,
                          server_directory directory);

} // namespace troupe
