#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "config/journal.hpp"
#include "messages/actors.hpp"

#include <functional>

namespace troupe {

class event_loop;

namespace pmi1 {

struct connection_settings {
  /// Who is at the other end: it inherited the socket, so there is no doubt.
  proc_id proc;

  server_actor server;
  journal log;

  /// Called when the socket is closed; may be empty.
  std::function<void()> on_gone;
};

/// Serves a process that speaks PMI-1: its commands become requests of a
/// session, one at a time, as the protocol has it. Ends with the socket.
/// Source: MPICH, PMI version 1.1.
connection_actor start_connection(caf::actor_system& actors, event_loop& loop,
                                  unique_fd fd, connection_settings settings);

} // namespace pmi1

} // namespace troupe
