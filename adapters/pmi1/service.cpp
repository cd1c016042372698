#include "adapters/pmi1/service.hpp"

#include "adapters/pmi1/connection.hpp"

#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace troupe::pmi1 {

service::service(event_loop& loop, caf::actor_system& actors, journal log)
  : loop_(loop), actors_(actors), log_(std::move(log)),
    alive_(std::make_shared<service*>(this)) {
  // nop
}

service::~service() {
  alive_.reset();
  for (const auto& [id, connection] : connections_)
    caf::anon_send_exit(connection, caf::exit_reason::user_shutdown);
}

void service::serve(const proc_id& proc, unique_fd fd) {
  const auto id = ++last_id_;
  auto& x = silent_[id];
  x.proc = proc;
  x.fd = std::move(fd);
  x.watch =
    std::make_unique<fd_watch>(loop_, x.fd.get(), [this, id] { begin(id); });
  x.watch->enable_read();
}

/// The process has said something, or its socket is closed.
void service::begin(uint64_t id) {
  const auto node = silent_.extract(id);
  if (node.empty())
    return;
  auto& x = node.mapped();
  x.watch.reset();
  auto first = '\0';
  const auto got = ::recv(x.fd.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) || !server_)
    return;
  auto settings = connection_settings{};
  settings.proc = std::move(x.proc);
  settings.server = server_;
  settings.log = log_;
  settings.on_gone = [id, alive = std::weak_ptr{alive_}] {
    if (const auto self = alive.lock())
      (*self)->connections_.erase(id);
  };
  connections_[id] =
    start_connection(actors_, loop_, std::move(x.fd), std::move(settings));
}

} // namespace troupe::pmi1
