#include "adapters/lane/secure_socket.hpp"

#include "adapters/local/system_error.hpp"
#include "adapters/loop/event_loop.hpp"
#include "messages/status.hpp"

#include <event2/buffer.h>
#include <openssl/err.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>

namespace troupe {

namespace {

/// What one record of TLS holds.
constexpr size_t record_size = SSL3_RT_MAX_PLAIN_LENGTH;

/// How often to look whether a peer that is not read has gone.
constexpr auto hang_up_interval = std::chrono::seconds{1};

} // namespace

void secure_socket::buffer_deleter::operator()(evbuffer* x) const noexcept {
  evbuffer_free(x);
}

secure_socket::secure_socket(event_loop& loop, secure_channel channel,
                             const lane_limits& limits, callbacks handlers)
  : channel_(std::move(channel)), limits_(limits),
    handlers_(std::move(handlers)), queue_(evbuffer_new()),
    watch_(
      loop, channel_.socket.get(), [this] { read_turn(); },
      [this] { on_writable(); }),
    hang_up_(loop, [this] { look_for_hang_up(); }),
    next_turn_(loop, [this] { read_turn(); }),
    end_(loop, [this] { end(end_reason_); }) {
  if (!queue_)
    throw std::bad_alloc{};
}

secure_socket::~secure_socket() {
  close();
}

// -- reading -----------------------------------------------------------------

void secure_socket::resume() {
  if (!is_open() || reading_ != reading::paused)
    return;
  reading_ = reading::on;
  // What TLS has taken already does not make the socket readable.
  next_turn_.start(std::chrono::nanoseconds::zero());
  watch_socket();
}

void secure_socket::pause() {
  if (reading_ != reading::on)
    return;
  reading_ = reading::paused;
  next_turn_.cancel();
  if (is_open())
    watch_socket();
}

void secure_socket::watch_socket() {
  // While TLS has to send before it can read, what comes in waits.
  if (reading_ == reading::on && !reading_awaits_room_)
    watch_.enable_read();
  else
    watch_.disable_read();
  if (reading_ == reading::on)
    hang_up_.cancel();
  else if (!hang_up_.is_running())
    hang_up_.start(hang_up_interval);
  if (queued() > 0 || reading_awaits_room_)
    watch_.enable_write();
  else
    watch_.disable_write();
}

void secure_socket::look_for_hang_up() {
  // Not with EV_CLOSED: libevent spins on a reset that nobody reads.
  auto state = pollfd{channel_.socket.get(), POLLRDHUP, 0};
  if (::poll(&state, 1, 0) > 0)
    end(make_error(status::lost_connection,
                   "closed before all it sent was read"));
  else
    hang_up_.start(hang_up_interval);
}

void secure_socket::read_turn() {
  // What the socket may give bounds the turn; TLS holds a record at most.
  channel_.traffic->readable = limits_.turn_bytes;
  channel_.traffic->is_drained = false;
  reading_awaits_room_ = false;
  next_turn_.cancel();
  std::array<char, record_size> chunk;
  while (is_open() && reading_ == reading::on) {
    auto code = 0;
    const auto got = read_some(chunk.data(), chunk.size(), code);
    if (got > 0) {
      handlers_.on_bytes({chunk.data(), static_cast<size_t>(got)});
      if (is_drained())
        break;
      continue;
    }
    if (code == SSL_ERROR_WANT_READ)
      break;
    if (code == SSL_ERROR_WANT_WRITE) {
      reading_awaits_room_ = true;
      break;
    }
    end(code == SSL_ERROR_ZERO_RETURN ? caf::error{} : reason_of_failure());
    return;
  }
  if (is_open())
    watch_socket();
}

/// Whether neither the socket nor TLS has more to read now.
bool secure_socket::is_drained() const {
  return channel_.traffic->is_drained
         && (!channel_.tls || SSL_has_pending(channel_.tls.get()) == 0);
}

/// @returns how many bytes have come; else `code` is one of `SSL_ERROR_`.
int secure_socket::read_some(char* out, size_t size, int& code) {
  if (!channel_.tls)
    return read_plain(*channel_.traffic, out, size, code);
  ERR_clear_error();
  const auto result = SSL_read(channel_.tls.get(), out, static_cast<int>(size));
  if (result <= 0)
    code = SSL_get_error(channel_.tls.get(), result);
  return result;
}

// -- writing -----------------------------------------------------------------

void secure_socket::send(std::string_view bytes) {
  if (!is_open() || is_ending_ || reading_ == reading::over)
    return;
  while (queued() == 0 && !bytes.empty()) {
    const auto done =
      write_some(bytes.data(), std::min(bytes.size(), record_size));
    if (done == 0)
      break;
    bytes.remove_prefix(done);
  }
  if (bytes.empty() || is_ending_)
    return;
  if (queued() + bytes.size() > limits_.queued_max) {
    end_later(
      make_error(status::out_of_resource, "does not read: limit of "
                                            + std::to_string(limits_.queued_max)
                                            + " bytes that wait for it (L11)"));
    return;
  }
  if (evbuffer_add(queue_.get(), bytes.data(), bytes.size()) != 0) {
    end_later(make_error(status::nomem, "no memory for what it is sent"));
    return;
  }
  watch_.enable_write();
}

size_t secure_socket::queued() const noexcept {
  return evbuffer_get_length(queue_.get());
}

void secure_socket::on_writable() {
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

void secure_socket::write_queue() {
  auto left = limits_.turn_bytes;
  while (queued() > 0 && left > 0 && !is_ending_) {
    // A write that is tried again has to be as long as before at least.
    const auto size = std::min(queued(), record_size);
    const auto* bytes =
      evbuffer_pullup(queue_.get(), static_cast<ev_ssize_t>(size));
    if (bytes == nullptr) {
      end_later(make_error(status::nomem, "no memory for what it is sent"));
      return;
    }
    const auto done = write_some(reinterpret_cast<const char*>(bytes), size);
    if (done == 0)
      return;
    evbuffer_drain(queue_.get(), done);
    left -= std::min(left, done);
  }
  if (queued() == 0 && reading_ == reading::over)
    end({});
}

/// @returns how many bytes TLS has taken; 0 if the connection ends, or if it
/// has
///          to be tried again with the same bytes once the socket has room.
size_t secure_socket::write_some(const char* bytes, size_t size) {
  auto code = 0;
  auto done = 0;
  if (channel_.tls) {
    ERR_clear_error();
    done = SSL_write(channel_.tls.get(), bytes, static_cast<int>(size));
    if (done <= 0)
      code = SSL_get_error(channel_.tls.get(), done);
  } else {
    done = write_plain(*channel_.traffic, bytes, size, code);
  }
  if (done > 0)
    return static_cast<size_t>(done);
  if (code != SSL_ERROR_WANT_WRITE && code != SSL_ERROR_WANT_READ)
    end_later(reason_of_failure());
  return 0;
}

// -- ending ------------------------------------------------------------------

caf::error secure_socket::reason_of_failure() {
  const auto reason = take_openssl_error();
  if (const auto failure = channel_.traffic->failure; failure != 0)
    return system_error("lane", failure);
  if (channel_.traffic->is_closed)
    return make_error(status::lost_connection, "cut without a farewell");
  return make_error(status::lost_connection, reason);
}

void secure_socket::close_when_sent(std::chrono::milliseconds patience) {
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

void secure_socket::end_later(caf::error reason) {
  if (std::exchange(is_ending_, true))
    return;
  end_reason_ = std::move(reason);
  watch_.disable_read();
  watch_.disable_write();
  end_.start(std::chrono::nanoseconds::zero());
}

void secure_socket::end(const caf::error& reason) {
  if (!is_open())
    return;
  const auto copy = reason; // May be our member.
  // Without a farewell the peer would have to take the end for a cut.
  if (!copy && queued() == 0 && channel_.tls)
    SSL_shutdown(channel_.tls.get());
  close();
  handlers_.on_end(copy);
}

void secure_socket::close() {
  if (!is_open())
    return;
  is_ending_ = true;
  reading_ = reading::over;
  watch_.disable_read();
  watch_.disable_write();
  hang_up_.cancel();
  next_turn_.cancel();
  end_.cancel();
  channel_.socket.reset();
  channel_.traffic->fd = -1;
}

} // namespace troupe
