#include "adapters/local/frame_socket.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/memory_reserve.hpp"
#include "adapters/sockets/tcp_socket.hpp"
#include "messages/status.hpp"

#include <sys/ioctl.h>

#include <array>
#include <new>
#include <string>
#include <utility>

namespace troupe {

namespace {

/// Bytes to ask the kernel for at a time.
constexpr size_t chunk_size = size_t{64} << 10;

/// How long a peer that waits for its answer goes without an acknowledgement: what it
/// loses if it sends more all the same. Less than the kernel's own 40 ms.
constexpr auto acknowledgement_delay = std::chrono::milliseconds{5};

/// Made with the first socket: when it is needed there may be no memory.
const caf::error& cut_short() {
  static const auto result =
    make_error(status::lost_connection, "closed within a message");
  return result;
}

} // namespace

frame_socket::frame_socket(event_loop& loop, unique_fd fd, const bounds& limits,
                           callbacks handlers)
  : bounds_(limits), handlers_(std::move(handlers)),
    reader_(limits.message_size), late_(loop, [this] { on_late(); }),
    end_of_pass_(loop.base(), -1, 0, [this] { on_end_of_pass(); }),
    stream_(loop, std::make_unique<transport>(std::move(fd)),
            {limits.turn_bytes, limits.queued_max, true},
            {{},
             [this](const caf::error& why) { on_end(why); },
             [this] { on_progress(); },
             [this] { read_turn(); }}) {
  cut_short();
}

// -- reading -----------------------------------------------------------------

void frame_socket::resume() {
  // Frames that have been read already do not make the socket readable.
  stream_.resume(reader_.pending() > 0);
}

void frame_socket::pause() {
  stream_.pause();
}

void frame_socket::read_all(size_t turns) {
  while (turns > 0 && stream_.is_reading() && read_turn())
    --turns;
}

size_t frame_socket::unread() const {
  if (!stream_.is_paused())
    return 0;
  auto waiting = 0;
  if (::ioctl(stream_.fd(), FIONREAD, &waiting) != 0 || waiting < 0)
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
    stream_.end(make_error(status::nomem, "no memory for what it sends"));
    return false;
  }
}

bool frame_socket::read_some() {
  const auto start = std::chrono::steady_clock::now();
  const auto frames_before = frames_;
  ++turns_;
  const auto bytes_before = bytes_received();
  auto left = turn_budget{bounds_.turn_messages, bounds_.turn_bytes};
  stream_.begin_turn();
  std::array<char, chunk_size> chunk;
  while (take_frames(left)) {
    const auto size = stream_.take(chunk.data(), chunk.size());
    if (!is_open())
      return false;
    if (size == 0)
      break;
    if (bounds_.peer_gathers)
      acknowledgement_.note_read();
    left.bytes -= size;
    reader_.push({chunk.data(), size});
    if (size < chunk.size()) {
      take_frames(left); // There is no more.
      break;
    }
  }
  if (acknowledgement_.is_owed())
    acknowledge_later();
  after_turn(frames_before);
  if (!stream_.is_reading())
    return false;
  // Whoever sends a long message has half of the thread: while it rests the
  // others are served, and the kernel need not take the processor away.
  if (bytes_received() != bytes_before
      && reader_.pending() >= bounds_.turn_bytes && !stream_.has_turn_later())
    stream_.turn_later(std::chrono::steady_clock::now() - start);
  stream_.end_turn();
  return left.messages == 0 || left.bytes == 0;
}

void frame_socket::acknowledge_later() {
  // Of part of a message there is no answer, and its rest may wait for the word.
  awaits_answers_ = !acknowledgement_.may_wait() || reader_.pending() > 0;
  if (!awaits_answers_ && end_of_pass_.is_pending())
    return;
  try {
    if (!awaits_answers_) {
      end_of_pass_.fire_after(acknowledgement_delay);
      return;
    }
  } catch (const std::bad_alloc&) {
    awaits_answers_ = true; // Takes no memory.
  }
  end_of_pass_.fire_now();
}

/// Comes first after the actors, who answer, and then after what they have answered
/// is written; to peers that wait for answers a while later.
void frame_socket::on_end_of_pass() {
  if (!acknowledgement_.is_owed() || !stream_.is_open())
    return;
  if (std::exchange(awaits_answers_, false)) {
    end_of_pass_.fire_now();
    return;
  }
  acknowledgement_.note_told();
  ++acknowledgements_;
  acknowledge_now(stream_.fd());
}

void frame_socket::after_turn(uint64_t frames_before) {
  if (!stream_.is_reading() && !stream_.is_paused())
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
  if (stream_.is_paused() && queued() == 0)
    return;
  if (handlers_.on_late)
    handlers_.on_late();
  else
    end_late();
}

void frame_socket::end_late() {
  if (reader_.pending() == 0 || late_.is_running())
    return; // The owner took its time, and the rest has come meanwhile.
  stream_.end(make_error(
    status::timeout, "a message was not whole within "
                       + std::to_string(bounds_.message_time.count()) + " ms"));
}

void frame_socket::wait_longer() {
  if (stream_.is_reading() || stream_.is_paused())
    late_.start(bounds_.message_time);
}

/// @returns whether more may be read.
bool frame_socket::take_frames(turn_budget& left) {
  while (stream_.is_reading()) {
    if (left.messages == 0) {
      stream_.turn_later(std::chrono::nanoseconds::zero());
      return false;
    }
    const auto frame = reader_.next();
    if (!frame) {
      if (reader_.failure()) {
        stream_.end(reader_.failure());
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

// -- sending and ending ------------------------------------------------------

void frame_socket::on_progress() {
  if (!handlers_.on_progress)
    return;
  try {
    handlers_.on_progress();
  } catch (const std::bad_alloc&) {
    refill_memory_reserve();
    stream_.end(make_error(status::nomem, "no memory to send it more"));
  }
}

void frame_socket::close_when_sent(std::chrono::milliseconds patience) {
  stream_.close_when_sent(patience);
  // Not if it was about to end already.
  is_closing_ = !stream_.is_reading() && !stream_.is_paused();
}

void frame_socket::on_end(const caf::error& reason) {
  late_.cancel();
  if (!reason && !is_closing_ && reader_.pending() > 0)
    handlers_.on_end(cut_short());
  else
    handlers_.on_end(reason);
}

void frame_socket::close() {
  late_.cancel();
  stream_.close();
}

} // namespace troupe
