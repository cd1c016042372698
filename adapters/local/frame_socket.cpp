#include "adapters/local/frame_socket.hpp"

#include "adapters/local/system_error.hpp"
#include "adapters/local/tcp_socket.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/memory_reserve.hpp"
#include "messages/status.hpp"

#include <event2/buffer.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>

namespace troupe {

namespace {

/// Bytes to ask the kernel for at a time.
constexpr size_t chunk_size = size_t{64} << 10;

/// How often to look whether a peer that is not read has gone.
constexpr auto hang_up_interval = std::chrono::seconds{1};

/// Pieces of the queue to hand to the kernel at a time.
constexpr int max_pieces = 16;

bool would_block(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

} // namespace

void frame_socket::buffer_deleter::operator()(evbuffer* x) const noexcept {
  evbuffer_free(x);
}

frame_socket::frame_socket(event_loop& loop, unique_fd fd, const bounds& limits,
                           callbacks handlers)
  : fd_(std::move(fd)), bounds_(limits), handlers_(std::move(handlers)),
    reader_(limits.message_size), queue_(evbuffer_new()),
    watch_(
      loop, fd_.get(), [this] { read_turn(); }, [this] { on_writable(); }),
    hang_up_(loop, [this] { look_for_hang_up(); }),
    next_turn_(loop, [this] { read_turn(); }),
    late_(loop, [this] { on_late(); }),
    end_(loop, [this] { end(end_reason_); }) {
  if (!queue_)
    throw std::bad_alloc{};
}

frame_socket::~frame_socket() {
  close();
}

// -- reading -----------------------------------------------------------------

void frame_socket::resume() {
  if (!is_open() || reading_ != reading::paused)
    return;
  reading_ = reading::on;
  // Frames that have been read already do not make the socket readable.
  if (reader_.pending() > 0)
    next_turn_.start(std::chrono::nanoseconds::zero());
  watch_reading();
}

void frame_socket::pause() {
  if (reading_ != reading::on)
    return;
  reading_ = reading::paused;
  next_turn_.cancel();
  if (is_open())
    watch_reading();
}

void frame_socket::watch_reading() {
  if (reading_ == reading::on) {
    hang_up_.cancel();
    if (next_turn_.is_running())
      watch_.disable_read();
    else
      watch_.enable_read();
  } else {
    watch_.disable_read();
    hang_up_.start(hang_up_interval);
  }
}

void frame_socket::look_for_hang_up() {
  // Not with EV_CLOSED: libevent spins on a reset that nobody reads.
  auto state = pollfd{fd_.get(), POLLRDHUP, 0};
  if (::poll(&state, 1, 0) > 0)
    end(make_error(status::lost_connection,
                   "closed before its requests were read"));
  else
    hang_up_.start(hang_up_interval);
}

void frame_socket::read_all(size_t turns) {
  while (turns > 0 && is_open() && reading_ == reading::on && read_turn())
    --turns;
}

size_t frame_socket::unread() const {
  if (!is_open() || reading_ != reading::paused)
    return 0;
  auto waiting = 0;
  if (::ioctl(fd_.get(), FIONREAD, &waiting) != 0 || waiting < 0)
    waiting = 0;
  return static_cast<size_t>(waiting) + reader_.pending();
}

/// Reads in one pass of the loop. Without memory for what comes this connection
/// ends, and no other.
/// @returns whether there may be more.
bool frame_socket::read_turn() {
  try {
    return read_some();
  } catch (const std::bad_alloc&) {
    reader_ =
      wire::frame_reader{bounds_.message_size}; // Gives back what it has.
    refill_memory_reserve();
    end(make_error(status::nomem, "no memory for what it sends"));
    return false;
  }
}

bool frame_socket::read_some() {
  const auto start = std::chrono::steady_clock::now();
  const auto frames_before = frames_;
  const auto bytes_before = bytes_received_;
  auto left = turn_budget{bounds_.turn_messages, bounds_.turn_bytes};
  next_turn_.cancel();
  auto is_drained = false;
  while (take_frames(left) && !is_drained) {
    std::array<char, chunk_size> chunk;
    const auto wanted = std::min(left.bytes, chunk.size());
    const auto got = ::recv(fd_.get(), chunk.data(), wanted, MSG_DONTWAIT);
    if (got == 0) {
      end(reader_.pending() == 0
            ? caf::error{}
            : make_error(status::lost_connection, "closed within a message"));
      return false;
    }
    if (got < 0) {
      if (!would_block(errno)) {
        end(system_error("read"));
        return false;
      }
      break;
    }
    const auto size = static_cast<size_t>(got);
    is_drained = size < wanted; // The next one would find nothing.
    acknowledge_now(fd_.get());
    bytes_received_ += size;
    left.bytes -= size;
    reader_.push({chunk.data(), size});
    if (size < chunk.size()) {
      take_frames(left); // There is no more.
      break;
    }
  }
  after_turn(frames_before);
  if (!is_open() || reading_ != reading::on)
    return false;
  // Whoever sends a long message has half of the thread: while it rests the
  // others are served, and the kernel need not take the processor away.
  if (bytes_received_ != bytes_before && reader_.pending() >= bounds_.turn_bytes
      && !next_turn_.is_running())
    next_turn_.start(std::chrono::steady_clock::now() - start);
  watch_reading();
  return left.messages == 0 || left.bytes == 0;
}

void frame_socket::after_turn(uint64_t frames_before) {
  if (!is_open() || reading_ == reading::over)
    return;
  const auto pending = reader_.pending();
  if (bounds_.message_time.count() > 0) {
    if (pending == 0)
      late_.cancel();
    else if (frames_ != frames_before || !late_.is_running())
      late_.start(bounds_.message_time);
  }
  if (handlers_.on_turn && pending != std::exchange(unfinished_, pending))
    handlers_.on_turn(pending);
}

void frame_socket::on_late() {
  // It was not read: begins anew when that goes on.
  if (reading_ == reading::paused && queued() == 0)
    return;
  if (handlers_.on_late)
    handlers_.on_late();
  else
    end_late();
}

void frame_socket::end_late() {
  if (reader_.pending() == 0 || late_.is_running())
    return; // The owner took its time, and the rest has come meanwhile.
  end(make_error(status::timeout,
                 "a message was not whole within "
                   + std::to_string(bounds_.message_time.count()) + " ms"));
}

void frame_socket::wait_longer() {
  if (is_open() && reading_ != reading::over)
    late_.start(bounds_.message_time);
}

/// @returns whether more may be read.
bool frame_socket::take_frames(turn_budget& left) {
  while (is_open() && reading_ == reading::on) {
    if (left.messages == 0) {
      next_turn_.start(std::chrono::nanoseconds::zero());
      return false;
    }
    const auto frame = reader_.next();
    if (!frame) {
      if (reader_.failure()) {
        end(reader_.failure());
        return false;
      }
      return left.bytes > 0; // The rest is still in the socket.
    }
    --left.messages;
    ++frames_;
    handlers_.on_frame(*frame);
  }
  return false;
}

// -- writing -----------------------------------------------------------------

void frame_socket::send(std::string_view bytes) {
  if (!is_open() || is_ending_ || reading_ == reading::over)
    return;
  if (queued() == 0) {
    const auto done = ::send(fd_.get(), bytes.data(), bytes.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && !would_block(errno)) {
      end_later(system_error("write"));
      return;
    }
    if (done > 0) {
      bytes_sent_ += static_cast<uint64_t>(done);
      bytes.remove_prefix(static_cast<size_t>(done));
    }
    if (bytes.empty())
      return;
    watch_.enable_write();
  }
  if (queued() + bytes.size() > bounds_.queued_max) {
    end_later(
      make_error(status::out_of_resource, "does not read: limit of "
                                            + std::to_string(bounds_.queued_max)
                                            + " bytes that wait for it (L11)"));
    return;
  }
  if (evbuffer_add(queue_.get(), bytes.data(), bytes.size()) != 0)
    end_later(make_error(status::nomem, "no memory for its answers"));
}

size_t frame_socket::queued() const noexcept {
  return evbuffer_get_length(queue_.get());
}

void frame_socket::on_writable() {
  try {
    write_queue();
    if (is_open() && handlers_.on_progress)
      handlers_.on_progress();
  } catch (const std::bad_alloc&) {
    refill_memory_reserve();
    end(make_error(status::nomem, "no memory to send it more"));
  }
}

void frame_socket::write_queue() {
  std::array<evbuffer_iovec, max_pieces> pieces;
  const auto n = std::min(
    evbuffer_peek(queue_.get(), -1, nullptr, pieces.data(), max_pieces),
    max_pieces);
  // Not `evbuffer_write`: it would raise SIGPIPE in our host's process.
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = static_cast<size_t>(n);
  const auto done = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (done < 0) {
    if (!would_block(errno))
      end(system_error("write"));
    return;
  }
  bytes_sent_ += static_cast<uint64_t>(done);
  evbuffer_drain(queue_.get(), static_cast<size_t>(done));
  if (queued() > 0)
    return;
  watch_.disable_write();
  if (reading_ == reading::over)
    end({});
}

// -- ending ------------------------------------------------------------------

void frame_socket::close_when_sent(std::chrono::milliseconds patience) {
  if (!is_open() || is_ending_)
    return;
  reading_ = reading::over;
  next_turn_.cancel();
  watch_reading();
  if (queued() == 0)
    end_later({});
  else
    end_.start(patience);
}

void frame_socket::end_later(caf::error reason) {
  if (std::exchange(is_ending_, true))
    return;
  end_reason_ = std::move(reason);
  end_.start(std::chrono::nanoseconds::zero());
}

void frame_socket::end(const caf::error& reason) {
  if (!is_open())
    return;
  const auto copy = reason; // May be our member.
  close();
  handlers_.on_end(copy);
}

void frame_socket::close() {
  if (!is_open())
    return;
  is_ending_ = true;
  reading_ = reading::over;
  watch_.disable_read();
  watch_.disable_write();
  hang_up_.cancel();
  next_turn_.cancel();
  late_.cancel();
  end_.cancel();
  fd_.reset();
}

} // namespace troupe
