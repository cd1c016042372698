#include "adapters/sockets/stream_socket.hpp"

#include "adapters/loop/event_loop.hpp"
#include "messages/status.hpp"

#include <event2/buffer.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>

namespace troupe {

namespace {

using outcome = transport::outcome;

/// Bytes to give the owner at a time: a record of TLS.
constexpr size_t chunk_size = size_t{16} << 10;

/// How often to look whether a peer that is not read has gone.
constexpr auto hang_up_interval = std::chrono::seconds{1};

} // namespace

void stream_socket::buffer_deleter::operator()(evbuffer* x) const noexcept {
  evbuffer_free(x);
}

stream_socket::stream_socket(event_loop& loop, std::unique_ptr<transport> way,
                             const bounds& limits, callbacks handlers)
  : transport_(std::move(way)), bounds_(limits), handlers_(std::move(handlers)),
    queue_(evbuffer_new()), watch_(
                              loop, transport_->fd(), [this] { read_turn(); },
                              [this] { on_writable(); }),
    hang_up_(loop, [this] { look_for_hang_up(); }),
    next_turn_(loop, [this] { read_turn(); }),
    end_(loop, [this] { end(end_reason_); }) {
  if (!queue_)
    throw std::bad_alloc{};
}

stream_socket::~stream_socket() {
  close();
}

// -- reading -----------------------------------------------------------------

void stream_socket::resume(bool at_once) {
  if (!is_paused())
    return;
  reading_ = reading::on;
  if (at_once)
    next_turn_.start(std::chrono::nanoseconds::zero());
  watch_socket();
}

void stream_socket::pause() {
  if (reading_ != reading::on)
    return;
  reading_ = reading::paused;
  next_turn_.cancel();
  if (is_open())
    watch_socket();
}

void stream_socket::watch_socket() {
  // While the transport has to send before it can read, what comes in waits.
  if (reading_ == reading::on && !reading_awaits_room_
      && !next_turn_.is_running() && (!is_ending_ || bounds_.hears_last_words))
    watch_.enable_read();
  else
    watch_.disable_read();
  if (reading_ == reading::on)
    hang_up_.cancel();
  else if (!hang_up_.is_running())
    hang_up_.start(hang_up_interval);
  if (!is_ending_ && (queued() > 0 || reading_awaits_room_))
    watch_.enable_write();
  else
    watch_.disable_write();
}

void stream_socket::look_for_hang_up() {
  // Not with EV_CLOSED: libevent spins on a reset that nobody reads.
  auto state = pollfd{fd(), POLLRDHUP, 0};
  if (::poll(&state, 1, 0) > 0)
    end(make_error(status::lost_connection,
                   "closed before all it sent was read"));
  else
    hang_up_.start(hang_up_interval);
}

void stream_socket::begin_turn() {
  // What the socket may give bounds the turn; TLS holds a record at most.
  transport_->set_allowance(bounds_.turn_bytes);
  reading_awaits_room_ = false;
  next_turn_.cancel();
}

size_t stream_socket::take(char* to, size_t size) {
  size_t got = 0;
  switch (transport_->read(to, size, got)) {
    case outcome::done:
    case outcome::no_input:
      break;
    case outcome::no_room:
      reading_awaits_room_ = true;
      break;
    case outcome::closed:
      end({});
      break;
    case outcome::failed:
      end(transport_->failure("read"));
      break;
  }
  return got;
}

void stream_socket::end_turn() {
  if (is_open())
    watch_socket();
}

void stream_socket::turn_later(std::chrono::nanoseconds delay) {
  next_turn_.start(delay);
}

void stream_socket::read_turn() {
  if (handlers_.on_turn) {
    handlers_.on_turn();
    return;
  }
  begin_turn();
  std::array<char, chunk_size> chunk;
  while (is_reading()) {
    const auto got = take(chunk.data(), chunk.size());
    if (got == 0)
      break;
    handlers_.on_bytes({chunk.data(), got});
    if (transport_->is_drained())
      break;
  }
  end_turn();
}

// -- writing -----------------------------------------------------------------

void stream_socket::send(std::string_view bytes) {
  if (!is_open() || is_ending_ || reading_ == reading::over)
    return;
  while (queued() == 0 && !bytes.empty()) {
    const auto size = std::min(bytes.size(), transport_->piece());
    size_t done = 0;
    if (transport_->write(bytes.data(), size, done) == outcome::failed) {
      end_later(transport_->failure("write"));
      return;
    }
    bytes.remove_prefix(done);
    if (done < size)
      break;
  }
  if (bytes.empty())
    return;
  if (queued() + bytes.size() > bounds_.queued_max) {
    end_later(
      make_error(status::out_of_resource, "does not read: limit of "
                                            + std::to_string(bounds_.queued_max)
                                            + " bytes that wait for it (L11)"));
    return;
  }
  if (evbuffer_add(queue_.get(), bytes.data(), bytes.size()) != 0) {
    end_later(make_error(status::nomem, "no memory for what it is sent"));
    return;
  }
  watch_.enable_write();
}

size_t stream_socket::queued() const noexcept {
  return evbuffer_get_length(queue_.get());
}

void stream_socket::on_writable() {
  const auto reads = std::exchange(reading_awaits_room_, false);
  if (queued() > 0)
    write_queue();
  if (is_open() && reads)
    read_turn();
  if (is_open() && !is_ending_)
    watch_socket();
  if (is_open() && handlers_.on_progress)
    handlers_.on_progress();
}

void stream_socket::write_queue() {
  auto left = bounds_.turn_bytes;
  while (queued() > 0 && left > 0 && !is_ending_) {
    size_t done = 0;
    const auto result = transport_->write_queue(queue_.get(), done);
    if (result == outcome::failed) {
      end(transport_->failure("write"));
      return;
    }
    evbuffer_drain(queue_.get(), done);
    left -= std::min(left, done);
    if (result != outcome::done)
      return;
  }
  if (queued() == 0 && reading_ == reading::over)
    end({});
}

// -- ending ------------------------------------------------------------------

void stream_socket::close_when_sent(std::chrono::milliseconds patience) {
  if (!is_open() || is_ending_)
    return;
  reading_ = reading::over;
  reading_awaits_room_ = false;
  next_turn_.cancel();
  watch_socket();
  if (queued() == 0)
    end_later({});
  else
    end_.start(patience);
}

void stream_socket::end_later(caf::error reason) {
  if (std::exchange(is_ending_, true))
    return;
  end_reason_ = std::move(reason);
  if (!bounds_.hears_last_words)
    watch_.disable_read();
  watch_.disable_write();
  end_.start(std::chrono::nanoseconds::zero());
}

void stream_socket::end(const caf::error& reason) {
  if (!is_open())
    return;
  const auto copy = reason; // May be our member.
  // Without a farewell the peer would have to take the end for a cut.
  if (!copy && queued() == 0)
    transport_->say_farewell();
  close();
  handlers_.on_end(copy);
}

void stream_socket::close() {
  if (!is_open())
    return;
  is_ending_ = true;
  reading_ = reading::over;
  watch_.disable_read();
  watch_.disable_write();
  hang_up_.cancel();
  next_turn_.cancel();
  end_.cancel();
  transport_->close();
}

} // namespace troupe
