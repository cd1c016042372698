#pragma once

#include "actors/data/job_beats.hpp"
#include "actors/monitors/monitor_kinds.hpp"
#include "actors/monitors/monitor_table.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <memory>
#include <string>

namespace troupe {

struct monitor_desk_options {
  /// The server, which updates on the use of resources are from.
  proc_id server;

  /// Is asked for what is not monitored here.
  host_actor host;

  /// Raises the alerts.
  event_cache_actor events;

  /// Looks at files; null: files cannot be monitored.
  file_checker_actor files;

  /// Samples the use of resources; null: nobody does here.
  usage_monitor_actor usage;

  /// How many monitors there may be.
  monitor_limits limits;

  /// Whether the node monitors by itself; if not, it leaves that to its host.
  /// Source: PMIX_SERVER_ENABLE_MONITORING; reading A18.
  bool is_enabled = true;

  /// Whether it monitors what its host does not.
  bool is_fallback = false;

  /// Beats without a message; null: there are none.
  std::shared_ptr<const job_beats> beats;

  /// Makes a monitor of a named kind; empty: there are none.
  std::function<caf::expected<made_monitor>(const std::string& kind)> make_kind;

  /// Checks what the directives of a request say on its alerts; may be empty.
  std::function<caf::error(const requester& who,
                           const std::vector<info>& directives)>
    check;

  /// Does something about an alert, beside the event, unless the program wants
  /// to do so itself. What is asked for stands in the directives.
  std::function<void(react_to_alert what, const std::vector<info>& directives)>
    react;

  /// Knows the processes of the node, and takes their stacks; null: nobody does.
  process_probe_actor probe;
  command_runner_actor commands;

  /// Whether the host has other nodes, whose desks it reaches.
  bool spans_nodes = false;

  /// The node, as lists say.
  std::string hostname;

  /// Whose server this is: may ask about the monitors of others.
  credentials owner;

  /// The process's own log.
  journal log;
};

/// Runs the monitors of a node: heartbeats, files, monitors of named kinds, and
/// those that tell of the use of resources. All are listed, cancelled and
/// bounded alike.
///
/// A monitor is its requestor's: it ends with the connection that it was asked
/// for on, or when the process ends, and only the requestor cancels it. Before
/// an alert the connection is read (`heartbeat_watch`). An alert is an event in
/// the name of the process.
/// Source: RFC0015, "Monitoring"; PMIx Standard v5, `PMIx_Process_monitor`;
/// guarantees 5.9, L7.
///
/// Beside it tells where processes are: see `stack_key`.
monitor_desk_actor spawn_monitor_desk(caf::actor_system& sys,
                                      monitor_desk_options options);

} // namespace troupe
