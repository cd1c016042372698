#pragma once

// The inside of a PMI-1 CONNECTION actor, for its own source files.

#include "actors/watches.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/pmi1/command.hpp"
#include "adapters/pmi1/connection.hpp"
#include "adapters/pmi1/spawn_command.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <optional>

namespace troupe::pmi1 {

struct connection_state {
  static inline const char* name = "pmi1-connection";

  connection_settings settings;
  unique_fd fd;

  /// Gone when the socket is closed.
  std::unique_ptr<fd_watch> watch;

  command_reader reader;
  spawn_builder spawn;

  watches watched;

  /// Takes the requests; empty until the server has accepted.
  client_actor session;

  /// The data of the process's job.
  std::shared_ptr<const job_info> job;

  /// Whether an answer is owed: until then no command is taken.
  bool is_busy = true;

  bool finalized = false;
  bool is_over = false;
};

using connection_ptr = connection_actor::stateful_pointer<connection_state>;

/// Does what a command says; sets `is_busy` if the answer comes later.
void handle(connection_ptr self, const command& x);

/// Sends an answer. One that the process leaves unread ends the connection.
void reply(connection_ptr self, const std::string& line);

/// Takes the commands that have come in.
void go_on(connection_ptr self);

/// Closes the socket and ends the actor.
/// @param why For the log; empty for an orderly end.
void leave(connection_ptr self, const std::string& why = {});

} // namespace troupe::pmi1
