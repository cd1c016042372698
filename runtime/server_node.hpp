#pragma once

#include "actors/server/registrations.hpp"
#include "adapters/local/listener.hpp"
#include "adapters/local/rendezvous.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/timer.hpp"
#include "base/journal.hpp"
#include "config/defaults.hpp"
#include "config/monitor_settings.hpp"
#include "config/settings.hpp"
#include "messages/actors.hpp"
#include "runtime/node_monitors.hpp"
#include "runtime/session_files.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

class fd_writer;
class file_checking;
class trace_ring;

struct server_node_options {
  /// The server's name; empty namespace: made from the node's name and the
  /// process's number.
  proc_id id{{}, 0};

  /// The name of the node, as in the job data; empty: as `gethostname` says.
  std::string hostname;

  /// The number of the node in its jobs' data, if it has one.
  std::optional<uint32_t> node_id;

  security_policy security;

  /// The files by which tools find the server; none: they cannot.
  std::vector<rendezvous_kind> tools = {rendezvous_kind::session,
                                        rendezvous_kind::by_pid,
                                        rendezvous_kind::by_nspace};

  /// The name of one more such file, in the session's directory; empty: none.
  std::string own_file;

  /// Whether the server starts without the files whose names are taken: by a
  /// server that runs, or by what is not ours. They are left alone.
  bool may_lack_files = false;

  /// Where the session's files go: an existing directory that stays. Empty: a
  /// private one below `system_directory`, which goes with the server.
  std::string session_directory;

  std::string system_directory = system_tmpdir();

  /// Makes what keeps events on disk, in a directory; empty: they are kept in
  /// memory only.
  std::function<spool_actor(loop_system& loop, const std::string& directory)>
    make_spool;

  /// Whether processes that can do so post in memory that they share with the
  /// server. See docs/decisions/0005.
  bool share_memory = true;

  /// Whether the host is that of a mesh: see `server_options`.
  bool spans_nodes = false;

  /// Whether the host is one of ours: see `server_options`.
  bool has_own_host = false;

  /// Whether the host orders events: see `event_cache_options`.
  bool host_orders_events = false;

  /// Whether the node monitors processes and files by itself; if not, it leaves
  /// that to its host. Source: PMIX_SERVER_ENABLE_MONITORING; reading A18.
  bool enable_monitoring = true;

  /// Whether it monitors what its host does not.
  bool monitoring_fallback = false;

  /// What holds for monitors of named kinds, and for reactions to alerts.
  monitor_settings monitors;

  /// What the site has set; what it has not has its default.
  site_settings settings;

  /// Who starts the processes of the node, once there is one; empty: nobody
  /// here does.
  std::function<process_launcher_actor()> launcher;

  /// Reaches actors of other nodes, for monitors that work with some; null: there
  /// are none.
  gateway_actor gateway;

  /// Hears of processes that break the protocol, see `listener_options`.
  std::function<void(const proc_id&, const std::string& why)> on_violation;

  /// The server's own log.
  journal log;

  /// Remembers what becomes of collective operations and events; null: nothing
  /// does.
  std::shared_ptr<trace_ring> trace;

  /// Standard output and standard error for what processes log there; empty:
  /// the process's own.
  std::shared_ptr<fd_writer> out;
  std::shared_ptr<fd_writer> err;
};

/// What a host may want to know when it is made.
struct host_context {
  loop_system& loop;
  proc_id server;
  std::string hostname;
  std::string session_directory;
  journal log;
};

/// Makes the resource manager that a server asks.
using host_factory = std::function<host_actor(const host_context&)>;

/// A server with all that it needs to serve the processes and tools of a node:
/// event cache, monitors, logs, memory usage, listener, session directory and
/// rendezvous files. For the thread of the loop, or for any while nobody is in
/// `run`.
class server_node {
public:
  /// @param loop Must outlive the node.
  /// @param make_host Called once, before anybody can connect.
  /// @returns why the node cannot work, in a sentence.
  static caf::expected<std::unique_ptr<server_node>>
  start(loop_system& loop, server_node_options options,
        const host_factory& make_host);

  /// Takes no more connections, closes those that are open, removes its files
  /// and ends the server and its host.
  ~server_node();

  server_node(const server_node&) = delete;
  server_node& operator=(const server_node&) = delete;

  const host_actor& host() const noexcept {
    return host_;
  }

  const server_actor& server() const noexcept {
    return server_;
  }

  const event_cache_actor& events() const noexcept {
    return events_;
  }

  /// Adds a kind of monitors to the node's own, see `node_monitors::add`.
  caf::error add_monitor_kind(const std::string& name,
                              const monitor_kind& kind) {
    return kinds_->add(name, kind);
  }

  const monitor_desk_actor& monitors() const noexcept {
    return monitors_;
  }

  const usage_monitor_actor& usage_monitor() const noexcept {
    return usage_monitor_;
  }

  const proc_id& id() const noexcept {
    return options_.id;
  }

  const std::string& hostname() const noexcept {
    return options_.hostname;
  }

  const std::string& session_directory() const noexcept {
    return options_.session_directory;
  }

  /// What every client needs in its environment besides namespace and rank.
  const client_environment& environment() const noexcept {
    return environment_;
  }

  const local_statistics& statistics() const;

  /// The first address at which the server listens.
  std::string uri() const;

private:
  server_node(loop_system& loop, server_node_options options);

  caf::error open_directory();

  void spawn_actors(const host_factory& make_host);

  caf::error listen();

  caf::error publish();

  /// Has what somebody has removed of our files made anew, again and again.
  void look_after_files();

  /// Logs what became of them.
  caf::error note(const session_files::report& x);

  loop_system& loop_;
  server_node_options options_;

  /// As `memory_limit` says it.
  const uint64_t memory_;

  /// Shared with the thread that renews them.
  std::shared_ptr<session_files> kept_;
  host_actor host_;
  event_cache_actor events_;
  std::unique_ptr<node_monitors> kinds_;
  monitor_desk_actor monitors_;
  spool_actor spool_;
  server_actor server_;
  log_sink_actor logs_;
  usage_actor usage_;
  usage_monitor_actor usage_monitor_;
  std::unique_ptr<file_checking> files_;
  std::shared_ptr<registrations> registered_;
  client_environment environment_;
  std::unique_ptr<listener> listener_;

  std::unique_ptr<timer> next_look_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  uint32_t looks_ = 0;

  /// Why files are missing, as it was said last.
  std::string said_;
};

} // namespace troupe
