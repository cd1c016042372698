#include "adapters/lane/lane_connector.hpp"

#include "adapters/sockets/socket_kind.hpp"
#include "messages/status.hpp"

#include <utility>

namespace troupe {

lane_connector::lane_connector(event_loop& loop, const secure_context& context,
                               const lane_path& path, node_identity peer,
                               const lane_limits& limits, callback done)
  : loop_(loop), context_(context), peer_(std::move(peer)), limits_(limits),
    done_(std::move(done)), deadline_(loop, [this] { on_timer(); }) {
  auto socket =
    socket_kind_of(path.to).begin_connect(path.from, path.to, path.port);
  if (!socket) {
    failure_ = std::move(socket.error());
    deadline_.start(std::chrono::nanoseconds::zero());
    return;
  }
  socket_ = std::move(*socket);
  watch_.emplace(loop, socket_.get(), nullptr, [this] { on_connected(); });
  watch_->enable_write();
  deadline_.start(limits_.connect_time);
}

void lane_connector::on_timer() {
  if (!failure_)
    failure_ = make_error(status::timeout,
                          "no connection within "
                            + std::to_string(limits_.connect_time.count())
                            + " ms; open TCP between the nodes");
  fail(std::move(failure_));
}

void lane_connector::on_connected() {
  watch_->disable_write();
  deadline_.cancel();
  auto err = connect_outcome(socket_.get());
  if (!err)
    err = socket_kind_of(socket_.get()).prepare(socket_.get());
  if (err) {
    fail(std::move(err));
    return;
  }
  handshake_.emplace(loop_, context_, std::move(socket_), std::move(peer_),
                     limits_, std::move(done_));
}

void lane_connector::fail(caf::error reason) {
  if (watch_)
    watch_->disable_write();
  const auto done = std::move(done_); // May destroy us.
  done(std::move(reason));
}

} // namespace troupe
