#pragma once

#include "adapters/log/output_formatter.hpp"
#include "adapters/pmi1/service.hpp"
#include "messages/actors.hpp"
#include "runtime/server_node.hpp"

#include <memory>

namespace troupe {

class fd_writer;

struct local_node_options {
  /// What the node's own log holds.
  severity log_level = severity::warning;
  bool log_json = false;

  /// How output of processes is shown.
  output_format output;

  security_policy security;

  /// Whether tools that look for the system server find this one.
  bool system_server = false;

  /// Whether tools can find this server at all.
  bool tools = true;
};

/// A server whose host runs its jobs on this node. Programs of this folder make
/// one, do their own work, and destroy it.
class local_node {
public:
  /// @returns why the node cannot work, in a sentence with the remedy.
  static caf::expected<std::unique_ptr<local_node>>
  start(const local_node_options& options);

  ~local_node();

  local_node(const local_node&) = delete;
  local_node& operator=(const local_node&) = delete;

  loop_system& loop() {
    return loop_;
  }

  const mesh_host_actor& host() const {
    return host_;
  }

  /// Takes the output of processes, in the format of the options.
  const output_sink_actor& sink() const {
    return sink_;
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

  /// The first address at which the server listens.
  std::string uri() const {
    return node_->uri();
  }

private:
  explicit local_node(const local_node_options& options);

  host_actor make_host(const host_context& context);

  journal log_;
  loop_system loop_;

  /// Serves MPICH's programs.
  std::unique_ptr<pmi1::service> pmi1_;

  std::shared_ptr<fd_writer> out_;
  std::shared_ptr<fd_writer> err_;
  output_sink_actor sink_;
  process_launcher_actor launcher_;
  mesh_host_actor host_;
  std::unique_ptr<server_node> node_;
};

} // namespace troupe
