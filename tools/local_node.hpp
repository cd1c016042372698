#pragma once

#include "actors/io/output_formatter.hpp"
#include "actors/mesh/host/mesh_host.hpp"
#include "adapters/log/logger.hpp"
#include "adapters/pmi1/service.hpp"
#include "adapters/service/service_manager.hpp"
#include "messages/actors.hpp"
#include "runtime/mesh_member.hpp"
#include "runtime/node_sensors.hpp"
#include "runtime/remoting.hpp"
#include "runtime/server_node.hpp"

#include <sys/ioctl.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What `--hook` is, on any command line.
inline constexpr auto hook_help =
  "A command of the site: checkpoint=COMMAND, restart=COMMAND or "
  "provision=COMMAND; may come again (docs/checkpoints.md)";

/// Understands settings of hooks: `NAME=COMMAND`, where the command is split
/// into words as a shell does.
/// @returns `bad_param` in a sentence that names the setting.
caf::expected<site_hooks> read_hooks(const std::vector<std::string>& settings);

class fd_writer;
class metrics_service;
class node_streams;
class kept_file;
class orphan_guard;

/// What makes a node one of a DVM.
struct dvm_part {
  /// Without a context the DVM has no other node.
  mesh_member_options member;

  /// At the root: see `mesh_host_options`.
  std::vector<mesh_node> nodes;
  std::function<void()> on_terminate;

  std::function<void(const std::string& reason)> on_fenced;
  std::function<void(const mesh_duty_changed&)> on_duty;
  std::function<void(const member_changed&)> on_member;
};

/// What `--sensor` is, on any command line.
inline constexpr auto sensor_help =
  "What the node's sensors watch, such as file-system=/scratch, link=ib0 or "
  "off; may come again (docs/events.md)";

/// The same of `--monitor`.
inline constexpr auto monitor_help =
  "What holds for monitors: plugins=DIR for kinds of your own, "
  "reaction=REACTION for what is done on alerts; may come again "
  "(docs/monitoring.md)";

/// The same of `--no-shared-memory`.
inline constexpr auto shared_memory_help =
  "Have what processes post go by their connections only (docs/operating.md)";

/// The same of `--set`.
inline constexpr auto set_help =
  "NAME=VALUE sets a bound or a time, also of daemons that this starts; may "
  "come again (troupe config show lists them)";

struct local_node_options {
  /// The server's name; empty namespace: made from the node's name and the
  /// process's number.
  proc_id id{{}, 0};

  /// What the node is called in job data; empty: as its system says.
  std::string hostname;

  /// Alone without.
  std::optional<dvm_part> dvm;

  /// Below which session directories are made; empty: the system's.
  std::string directory;

  /// What the node's own log holds.
  severity log_level = severity::warning;
  log_format logs_as = log_format::text;

  /// How output of processes is shown.
  output_format output;

  /// Whether output of several processes is to be expected.
  bool output_is_shared = true;

  security_policy security;

  /// Whether it shares memory with processes that can: see
  /// `server_node_options`.
  bool share_memory = true;

  /// Settings of the node's sensors, as `apply_setting` takes them.
  std::vector<std::string> sensors;

  /// Commands of the site, as `read_hooks` takes them.
  std::vector<std::string> hooks;

  /// A file of this user alone that keeps the checkpoints of a DVM for the next
  /// one; empty: they end with it.
  std::string checkpoints;

  /// Settings of the node's monitors, as `apply_setting` takes them.
  std::vector<std::string> monitors;

  /// What the site has set.
  site_settings settings;

  /// Where it tells its metrics: see `metrics_place_of`. Programs that are there
  /// for one job tell none.
  std::string metrics = "off";

  /// Whether it is of no use without; if not, it says why there are none.
  bool needs_metrics = false;

  /// Sees that nothing outlives this process; none: `start` makes one.
  std::shared_ptr<orphan_guard> guard;

  /// The size of the window that the terminals of processes follow; empty:
  /// there is none.
  std::function<std::optional<winsize>()> window;

  /// Called once when standard output cannot be written any more, with the
  /// reason; empty: it is logged.
  std::function<void(int error, const std::string& reason)> on_unwritten;

  /// Whether this process is the service, if a service manager has started it.
  bool is_service = false;

  /// Whether tools that look for the system server find this one.
  bool system_server = false;

  /// Whether tools can find this server at all.
  bool tools = true;

  /// A file by which tools of ours find it, see `server_node_options`.
  std::string own_file;
};

/// A server whose host runs jobs on this node, and as the root of a DVM on
/// others. Programs of this folder make one, do their own work, and destroy it.
class local_node {
public:
  /// @returns why the node cannot work, in a sentence with the remedy.
  static caf::expected<std::unique_ptr<local_node>>
  start(local_node_options options);

  ~local_node();

  local_node(const local_node&) = delete;
  local_node& operator=(const local_node&) = delete;

  loop_system& loop() {
    return loop_;
  }

  const mesh_host_actor& host() const {
    return host_;
  }

  /// Takes sensors beside the node's own.
  const sensor_desk_actor& sensors() const {
    return sensors_->desk();
  }

  /// This node as a member of its DVM; none if it is alone.
  const node_actor& member() const {
    static const auto none = node_actor{};
    return member_ ? member_->node() : none;
  }

  /// The DVM has come to nothing: what its lanes warn of from now on follows
  /// from that, and would hide why.
  void give_up_mesh() {
    mesh_is_given_up_ = true;
  }

  /// Has a request of this process's user carried out by the host.
  /// @param done Called once, whatever came of it.
  void control(job_control_request request, std::function<void()> done);

  /// Processors that this process may use.
  uint32_t slots() const {
    return slots_;
  }

  const std::string& session_directory() const {
    return node_->session_directory();
  }

  /// Takes the output of processes, in the format of the options.
  const output_sink_actor& sink() const {
    return sink_;
  }

  /// Has the streams of the processes of this node.
  const io_desk_actor& desk() const {
    return desk_;
  }

  /// The program's own standard output and standard error.
  const std::shared_ptr<fd_writer>& out() const {
    return out_;
  }

  const std::shared_ptr<fd_writer>& err() const {
    return err_;
  }

  const proc_id& id() const {
    return node_->id();
  }

  const local_statistics& statistics() const {
    return node_->statistics();
  }

  /// Whoever has started this process as a service; nobody, as a rule.
  service_manager& service() {
    return service_;
  }

  /// The first address at which the server listens.
  std::string uri() const {
    return node_->uri();
  }

  /// Whether the loop was stopped because a part of the server failed.
  bool has_failed() const {
    return has_failed_;
  }

  /// Whether output of a process of this node could not be written to a file.
  bool lacks_output() const {
    return lacks_output_;
  }

private:
  explicit local_node(const local_node_options& options);

  void watch_actors();

  caf::error tell_metrics(const local_node_options& options);

  host_actor make_host(const host_context& context, dvm_part* part,
                       const local_node_options& options,
                       const sensor_settings& sensors);

  /// The last to go.
  std::shared_ptr<orphan_guard> orphan_guard_;
  journal log_;
  loop_system loop_;
  service_manager service_;

  /// What has become of collective operations and events.
  std::shared_ptr<trace_ring> trace_;

  /// Where jobs start that name no directory.
  std::string working_directory_;
  bool has_failed_ = false;
  bool lacks_output_ = false;

  /// Serves MPICH's programs.
  std::unique_ptr<pmi1::service> pmi1_;

  /// The hosts of processes, once there is a host.
  std::shared_ptr<output_formatter::hosts> hosts_ =
    std::make_shared<output_formatter::hosts>();
  std::shared_ptr<fd_writer> out_;
  std::shared_ptr<fd_writer> err_;
  output_sink_actor sink_;
  process_launcher_actor launcher_;
  io_desk_actor desk_;
  std::shared_ptr<node_streams> streams_;

  /// Runs the hooks of the site; none without hooks.
  site_hooks hooks_;
  command_runner_actor commands_;

  /// None: checkpoints end with the DVM.
  std::shared_ptr<kept_file> checkpoints_;
  mesh_host_actor host_;
  std::unique_ptr<node_sensors> sensors_;
  uint32_t slots_ = 0;

  /// Whether the DVM has come to nothing.
  bool mesh_is_given_up_ = false;
  std::unique_ptr<mesh_member> member_;
  std::unique_ptr<remoting> remoting_;
  std::unique_ptr<server_node> node_;
  std::unique_ptr<metrics_service> metrics_;

  /// Sees that none of the actors fails whose state others rely on.
  caf::actor guard_;
  std::shared_ptr<bool> is_over_ = std::make_shared<bool>(false);
};

} // namespace troupe
