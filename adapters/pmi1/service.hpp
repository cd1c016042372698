#pragma once

#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <map>
#include <memory>

namespace troupe {

class event_loop;

namespace pmi1 {

/// Serves the processes of this node that speak PMI-1: each has a socket since
/// its start, and a session with the server from its first word on. One that
/// never says anything costs a descriptor. For the thread of the loop only.
class service {
public:
  /// @param loop Must outlive the service.
  service(event_loop& loop, caf::actor_system& actors, journal log);

  ~service();

  service(const service&) = delete;

  service& operator=(const service&) = delete;

  /// Whom the sessions are asked of; must come before the first process.
  void set_server(server_actor x) {
    server_ = std::move(x);
  }

  /// Waits for the first word of a process at our end of its socket.
  void serve(const proc_id& proc, unique_fd fd);

private:
  /// A process that has said nothing.
  struct silent_process {
    proc_id proc;
    unique_fd fd;
    std::unique_ptr<fd_watch> watch;
  };

  void begin(uint64_t id);

  event_loop& loop_;
  caf::actor_system& actors_;
  journal log_;
  server_actor server_;
  uint64_t last_id_ = 0;
  std::map<uint64_t, silent_process> silent_;
  std::map<uint64_t, connection_actor> connections_;

  /// Tells connections whether we are still there.
  std::shared_ptr<service*> alive_;
};

} // namespace pmi1

} // namespace troupe
