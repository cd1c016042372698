#pragma once

#include "adapters/local/listener.hpp"
#include "adapters/local/rendezvous.hpp"
#include "adapters/local/session_directory.hpp"
#include "adapters/log/output_formatter.hpp"
#include "adapters/loop/loop_system.hpp"
#include "config/journal.hpp"
#include "messages/actors.hpp"

#include <memory>
#include <optional>

namespace troupe {

class fd_writer;

struct runtime_options {
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

/// A node: event loop, server, local host and listener, put together. Programs
/// of this folder make one, do their own work, and destroy it.
class runtime {
public:
  /// @returns why the node cannot work, in a sentence with the remedy.
  static caf::expected<std::unique_ptr<runtime>>
  start(const runtime_options& options);

  /// Takes no more connections, closes those that are open, removes its files.
  ~runtime();

  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  loop_system& loop() {
    return loop_;
  }

  const local_host_actor& host() const {
    return host_;
  }

  const server_actor& server() const {
    return server_;
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
    return id_;
  }

  const std::string& hostname() const {
    return hostname_;
  }

  const local_statistics& statistics() const;

  /// The first address at which the server listens.
  std::string uri() const;

  const journal& log() const {
    return log_;
  }

private:
  explicit runtime(const runtime_options& options);

  caf::error listen(const runtime_options& options);

  journal log_;
  loop_system loop_;
  std::string hostname_;
  proc_id id_;
  std::shared_ptr<fd_writer> out_;
  std::shared_ptr<fd_writer> err_;
  std::optional<session_directory> session_;
  output_sink_actor sink_;
  process_launcher_actor launcher_;
  local_host_actor host_;
  event_cache_actor events_;
  server_actor server_;
  std::unique_ptr<listener> listener_;
  std::optional<rendezvous_files> rendezvous_;
};

} // namespace troupe
