#pragma once

#include "adapters/local/acknowledgement_rule.hpp"
#include "adapters/loop/loop_event.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/sockets/stream_socket.hpp"
#include "adapters/wire/frame.hpp"

#include <caf/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace troupe {

/// A connected socket that carries frames, after the handshake; the same for
/// servers and clients. It never blocks, and in one pass of the loop it takes
/// no more than its turn. For the thread of the loop only.
///
/// Callbacks may call all functions, but must not destroy the object.
class frame_socket {
public:
  struct bounds {
    /// Longest payload to accept (L3).
    size_t message_size = wire::max_message_size;

    /// What may come in in one pass of the loop (L8).
    size_t turn_messages = 64;
    size_t turn_bytes = size_t{256} << 10;

    /// How long a message that has begun may take until it is whole; 0: for
    /// ever. While frames are left in the socket because their owner wants it,
    /// and all that was sent has been taken, no time counts.
    std::chrono::milliseconds message_time{0};

    /// What may wait to be sent; more ends the connection.
    size_t queued_max = size_t{64} << 20;

    /// Whether the peer lets its kernel gather small writes: those wait until
    /// what went before them is acknowledged.
    bool peer_gathers = true;
  };

  struct callbacks {
    /// A frame came in. Its payload lives until the callback returns.
    std::function<void(const wire::frame&)> on_frame;

    /// The connection is over: `none` if the peer closed it between two frames
    /// or if `close_when_sent` is done. Called once, and not after `close`.
    std::function<void(const caf::error&)> on_end;

    /// Some has been read; that many bytes are of a message that is not whole.
    /// May be empty.
    std::function<void(size_t unfinished)> on_turn;

    /// A message has taken longer than it may. Empty: that ends the connection,
    /// as `end_late` does.
    std::function<void()> on_late;

    /// Some of what waited has been sent. May be empty.
    std::function<void()> on_progress;
  };

  /// Does not read before `resume`.
  frame_socket(event_loop& loop, unique_fd fd, const bounds& limits,
               callbacks handlers);

  frame_socket(const frame_socket&) = delete;

  frame_socket& operator=(const frame_socket&) = delete;

  bool is_open() const noexcept {
    return stream_.is_open();
  }

  /// Gives away the payload of the frame that is being handled, as the end of
  /// the memory that it is in; see
  /// `frame_reader`.
  std::string give_away(const wire::frame& current) {
    return reader_.give_away(current);
  }

  /// Takes frames.
  void resume();

  /// Takes no frames until `resume`; only the peer's end is noticed, within a
  /// second, and ends the connection with an error.
  void pause();

  /// Takes what has come by now, unless that is paused. A peer that goes on
  /// sending is left after some turns.
  void read_all(size_t turns);

  /// Bytes that have come and are not taken because that is paused.
  size_t unread() const;

  /// Sends bytes, at once if the kernel takes them. Failures come later, by
  /// `on_end`.
  void send(std::string_view bytes) {
    if (acknowledgement_.is_owed())
      end_of_pass_.remove();
    acknowledgement_.note_sent();
    stream_.send(bytes);
  }

  /// Bytes that wait to be sent.
  size_t queued() const noexcept {
    return stream_.queued();
  }

  /// Sends what waits and closes, after `patience` in any case. Nothing is read
  /// any more.
  void close_when_sent(std::chrono::milliseconds patience);

  /// Ends the connection because a message has taken longer than it may.
  void end_late();

  /// Gives it as much time again.
  void wait_longer();

  /// Closes at once. What waits is dropped.
  void close();

  /// Which reading this is: frames of the same one have come together.
  uint64_t turn() const noexcept {
    return turns_;
  }

  /// How often the kernel has been told to acknowledge what was read.
  uint64_t acknowledgements() const noexcept {
    return acknowledgements_;
  }

  uint64_t bytes_received() const noexcept {
    return stream_.bytes_received();
  }

  uint64_t bytes_sent() const noexcept {
    return stream_.bytes_sent();
  }

private:
  /// What one pass of the loop may take.
  struct turn_budget {
    size_t messages = 0;
    size_t bytes = 0;
  };

  bool read_turn();
  bool read_some();
  void after_turn(uint64_t frames_before);
  void acknowledge_later();
  void on_end_of_pass();
  void on_late();
  bool take_frames(turn_budget& left);
  void on_progress();
  void on_end(const caf::error& reason);

  bounds bounds_;
  callbacks handlers_;
  wire::frame_reader reader_;
  bool is_closing_ = false;
  uint64_t frames_ = 0;
  uint64_t turns_ = 0;

  /// Of the message that is not whole, as the owner knows it.
  size_t unfinished_ = 0;

  /// Runs while a message is not whole.
  timer late_;

  /// Whether the peer is owed one: what is sent carries it. If nothing is by the end
  /// of the pass, or a while later to peers that wait for answers, the peer gets one
  /// of its own.
  acknowledgement_rule acknowledgement_;
  bool awaits_answers_ = false;
  uint64_t acknowledgements_ = 0;
  loop_event end_of_pass_;
  stream_socket stream_;
};

} // namespace troupe
