#pragma once

#include "actors/monitors/monitor_kinds.hpp"
#include "actors/monitors/monitor_maker.hpp"
#include "base/journal.hpp"
#include "base/monitor_kind.hpp"
#include "config/monitor_settings.hpp"
#include "messages/actors.hpp"

#include <caf/error.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

class loop_system;

/// What the monitors of a node work with.
struct node_monitors_options {
  proc_id server;
  std::string hostname;
  monitor_settings settings;

  /// What commands inherit; empty: what this process has.
  std::vector<std::string> environment;

  host_actor host;
  log_sink_actor logs;

  /// Who has started the processes of the node; may be empty.
  process_launcher_actor launcher;

  /// Reaches actors of other nodes, among which this one has a rank; null: there
  /// are none.
  gateway_actor gateway;
  std::optional<uint32_t> rank;

  /// How many monitors other nodes may have of it.
  size_t most_lent = defaults::monitors_per_node;
  journal log;
};

/// The kinds of monitors that a node knows, those of plugins too, and what is
/// done on alerts.
class node_monitors {
public:
  /// Plugins that cannot be used are named in the log.
  /// @param loop Outlives this.
  node_monitors(loop_system& loop, node_monitors_options options);

  /// Ends what serves monitors, with the commands that run.
  ~node_monitors();

  node_monitors(const node_monitors&) = delete;
  node_monitors& operator=(const node_monitors&) = delete;

  /// Checks what a site says on alerts.
  static caf::error check(const monitor_settings& settings);

  const std::shared_ptr<monitor_kinds>& kinds() const {
    return kinds_;
  }

  /// Adds a kind. Those that look have threads of their own, so that a kind
  /// whose looks do not end leaves those of others alone.
  /// @returns `bad_param` for a kind that nothing can be made of, and what
  ///          `monitor_kinds::add` says.
  caf::error add(const std::string& name, const monitor_kind& kind);

  /// The server knows what jobs say on their alerts; it may come later.
  void set_server(const server_actor& server) {
    *server_ = server;
  }

  /// Has something done about an alert; the directives of its monitor may say
  /// what.
  std::function<void(react_to_alert, const std::vector<info>&)> reactor() const;

  /// Knows the processes of the node.
  const process_probe_actor& probe() const {
    return probe_;
  }

  /// Runs what monitors and their reactions run.
  const command_runner_actor& commands() const {
    return commands_;
  }

  /// Checks what a request for a monitor says on its alerts.
  static caf::error check_request(const requester& who,
                                  const std::vector<info>& directives);

private:
  struct threads;

  void add_plugins(const std::string& directory);

  caf::error add_here(const std::string& name, const monitor_kind& kind);

  /// Lets other nodes have monitors of a kind made here.
  void lend(const std::string& kind);

  caf::error add_watchers(const std::string& name, const watcher_kind& kind);

  loop_system& loop_;
  journal log_;

  /// Whether the node has started its processes.
  bool knows_processes_ = false;
  std::shared_ptr<monitor_kinds> kinds_ = std::make_shared<monitor_kinds>();
  std::shared_ptr<server_actor> server_ = std::make_shared<server_actor>();

  /// Of kinds that look, each of which may hang.
  std::vector<std::shared_ptr<threads>> threads_;
  monitor_peers peers_;

  lent_kinds lent_{kinds_};
  process_probe_actor probe_;
  command_runner_actor commands_;
  reactions_actor reactions_;
};

} // namespace troupe
