#include "c_api/input_pusher.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "c_api/library.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <unistd.h>

#include <utility>

namespace troupe::c_api {

namespace {

/// Asks the server to take a piece.
void send(io_push_request x, const input_queue::callback& done) {
  const auto& lib = library::instance();
  const auto code =
    lib.ask<ack>(std::move(x), [done](const caf::expected<ack>& y) {
      done(y ? caf::error{} : y.error());
    });
  if (code != PMIX_SUCCESS)
    lib.post([done, code] {
      done(make_error(static_cast<status>(code), "there is no server"));
    });
}

} // namespace

input_pusher::input_pusher(event_loop& loop, thread_pool& pool)
  : loop_(loop), pool_(pool), queue_(std::make_shared<input_queue>(send)) {
  // nop
}

void input_pusher::push(io_push_request x, input_queue::callback done) {
  queue_->push(std::move(x), std::move(done));
}

void input_pusher::control(const wire::flow_control& what) {
  if ((static_cast<uint16_t>(what.channel)
       & static_cast<uint16_t>(io_channels::stdin_))
      == 0)
    return;
  const auto self = library::instance().proc();
  const auto& x = what.source;
  if ((!x.nspace.empty() && x.nspace != self.nspace)
      || (x.rank != rank_wildcard && x.rank != self.rank))
    return;
  if (what.is_stop)
    queue_->stop();
  else
    queue_->go_on();
}

void input_pusher::go_on() {
  queue_->go_on();
}

void input_pusher::close() {
  wants_stdin_ = false;
  queue_->close();
}

// -- our own standard input --------------------------------------------------

void input_pusher::forward_stdin(io_push_request pattern) {
  pattern_ = std::move(pattern);
  wants_stdin_ = true;
  if (!reader_)
    reader_.emplace(
      loop_, pool_, STDIN_FILENO, defaults::io_fragment_bytes,
      [this](std::string bytes) { take_stdin(std::move(bytes)); });
  if (!is_forwarding_)
    read_stdin();
}

void input_pusher::stop_stdin() {
  wants_stdin_ = false;
}

void input_pusher::read_stdin() {
  is_forwarding_ = wants_stdin_ && !is_at_end_;
  if (is_forwarding_)
    reader_->next();
}

void input_pusher::take_stdin(std::string bytes) {
  is_at_end_ = bytes.empty();
  auto x = *pattern_;
  if (!is_at_end_)
    x.bytes = std::move(bytes);
  push(std::move(x), [this](const caf::error& why) {
    // Nobody reads what is refused.
    wants_stdin_ = wants_stdin_ && !why;
    read_stdin();
  });
}

} // namespace troupe::c_api
