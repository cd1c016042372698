#include "adapters/pmi1/connection.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/pmi1/connection_state.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace troupe::pmi1 {

namespace {

/// Bytes to take in one pass of the loop.
constexpr size_t chunk_size = size_t{16} << 10;

void on_readable(connection_ptr self) {
  auto& state = self->state;
  std::array<char, chunk_size> chunk;
  const auto got =
    ::recv(state.fd.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got > 0) {
    state.reader.push({chunk.data(), static_cast<size_t>(got)});
    go_on(self);
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    leave(self);
  }
}

/// The server has accepted: fetches what is known of the job.
void begin(connection_ptr self, client_actor session) {
  auto& state = self->state;
  if (state.is_over) {
    // The session must not outlive its peer.
    self->send(session, connection_lost{false});
    self->quit();
    return;
  }
  state.session = std::move(session);
  state.watched.add(self, state.session);
  self->request(state.session, caf::infinite, job_info_request{})
    .then(
      [=](job_info_reply& x) {
        self->state.job = std::move(x.info);
        self->state.is_busy = false;
        go_on(self);
      },
      [=](const caf::error& err) { leave(self, reason_of(err)); });
}

void ask_server(connection_ptr self) {
  auto request = connect_request{};
  request.role = peer_role::client;
  request.claimed_proc = self->state.settings.proc;
  // It is a process that we started.
  request.actual = {::geteuid(), ::getegid()};
  self
    ->request(self->state.settings.server, caf::infinite, std::move(request),
              caf::actor_cast<connection_actor>(self))
    .then([=](const connect_accepted&,
              client_actor& session) { begin(self, std::move(session)); },
          [=](const caf::error& err) {
            leave(self, reason_of(err));
            self->quit(); // No session is there whose end would end us.
          });
}

connection_actor::behavior_type
behavior(connection_ptr self, event_loop* loop,
         const std::shared_ptr<unique_fd>& fd,
         const std::shared_ptr<connection_settings>& settings) {
  auto& state = self->state;
  state.settings = std::move(*settings);
  state.fd = std::move(*fd);
  state.watch = std::make_unique<fd_watch>(*loop, state.fd.get(),
                                           [=] { on_readable(self); });
  self->set_down_handler(
    [=](const caf::down_msg&) { leave(self, "its session ended"); });
  self->set_exit_handler([=](const caf::exit_msg& x) {
    leave(self);
    self->quit(x.reason);
  });
  ask_server(self);
  return {
    [](const event_batch&) {
      // PMI-1 has no events.
    },
    // Nor output.
    [](const io_delivery&) { return ack{}; },
    [](read_now) { return unread{}; },
    [self](const close_connection& x) { leave(self, x.reason); },
  };
}

} // namespace

void reply(connection_ptr self, const std::string& line) {
  auto& state = self->state;
  if (!state.fd)
    return;
  state.is_busy = false;
  const auto sent = ::send(state.fd.get(), line.data(), line.size(),
                           MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(line.size()))
    leave(self, "it does not read its answers");
}

void go_on(connection_ptr self) {
  auto& state = self->state;
  while (state.fd && !state.is_busy) {
    auto got = state.reader.next();
    if (!got) {
      leave(self, reason_of(got.error()));
      return;
    }
    if (!*got)
      break;
    state.is_busy = true;
    handle(self, **got);
  }
  if (!state.watch)
    return;
  if (state.is_busy)
    state.watch->disable_read();
  else
    state.watch->enable_read();
}

void leave(connection_ptr self, const std::string& why) {
  auto& state = self->state;
  if (std::exchange(state.is_over, true))
    return;
  if (!why.empty() && state.settings.log)
    state.settings.log(severity::warning, "PMI-1 connection of "
                                            + to_string(state.settings.proc)
                                            + " closed: " + why);
  state.watch.reset();
  state.fd.reset();
  if (const auto on_gone = std::move(state.settings.on_gone))
    on_gone();
  if (!state.session)
    return; // The server's answer ends us.
  self->send(state.session, connection_lost{state.finalized});
  // We may be in a callback of the loop, where `quit` would go unnoticed.
  caf::anon_send_exit(self, caf::exit_reason::user_shutdown);
}

connection_actor start_connection(caf::actor_system& actors, event_loop& loop,
                                  unique_fd fd, connection_settings settings) {
  return actors.spawn(
    behavior, &loop, std::make_shared<unique_fd>(std::move(fd)),
    std::make_shared<connection_settings>(std::move(settings)));
}

} // namespace troupe::pmi1
