#pragma once

#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/sockets/transport.hpp"

#include <caf/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace troupe {

class event_loop;

/// A connection: bytes in and out, the way of its transport. It never blocks, and
/// in one pass of the loop it takes no more than its turn. For the thread of the
/// loop only.
///
/// Callbacks may call all functions, but must not destroy the object.
class stream_socket {
public:
  struct bounds {
    /// What may come in, and what is sent of the queue, in one pass of the loop
    /// (L8).
    size_t turn_bytes = size_t{256} << 10;

    /// What may wait to be sent; more ends the connection (L11).
    size_t queued_max = size_t{64} << 20;

    /// Whether the last words of a peer to which nothing can be sent any more
    /// are still read.
    bool hears_last_words = false;
  };

  struct callbacks {
    /// Bytes came in; they live until the callback returns. What is left of
    /// them when the callback pauses is not given again.
    std::function<void(std::string_view)> on_bytes;

    /// The connection is over: `none` if the peer closed it in order or if
    /// `close_when_sent` is done; an error if it was cut, or if anything that
    /// came in is not what the peer sent. Called once, and not after `close`.
    std::function<void(const caf::error&)> on_end;

    /// Some of what waited has been sent. May be empty.
    std::function<void()> on_progress;

    /// In the place of `on_bytes`: the owner reads itself, with `take`, from
    /// `begin_turn` to `end_turn`.
    std::function<void()> on_turn;
  };

  /// Does not read before `resume`.
  stream_socket(event_loop& loop, std::unique_ptr<transport> way,
                const bounds& limits, callbacks handlers);

  ~stream_socket();

  stream_socket(const stream_socket&) = delete;

  stream_socket& operator=(const stream_socket&) = delete;

  bool is_open() const noexcept {
    return transport_->fd() >= 0;
  }

  /// Whether bytes are taken.
  bool is_reading() const noexcept {
    return is_open() && reading_ == reading::on;
  }

  /// Whether they are left in the socket until `resume`.
  bool is_paused() const noexcept {
    return is_open() && reading_ == reading::paused;
  }

  int fd() const noexcept {
    return transport_->fd();
  }

  /// Takes bytes.
  /// @param at_once Whether bytes may have been taken from the socket that have
  ///                not been given: these do not make it readable.
  void resume(bool at_once = true);

  /// Takes no bytes until `resume`; only the peer's end is noticed, within a
  /// second, and ends the connection with an error.
  void pause();

  // -- for owners that read themselves --

  void begin_turn();

  /// @returns how many bytes were read; 0: there is nothing more, or the
  ///          connection is over.
  size_t take(char* to, size_t size);

  void end_turn();

  /// Whether there is no more to take now.
  bool is_drained() const noexcept {
    return transport_->is_drained();
  }

  /// Has another turn come after `delay`, and nothing read before.
  void turn_later(std::chrono::nanoseconds delay);

  bool has_turn_later() const noexcept {
    return next_turn_.is_running();
  }

  // -- sending and ending --

  /// Sends bytes, at once if the kernel takes them. Failures come later, by
  /// `on_end`.
  void send(std::string_view bytes);

  /// Bytes that wait to be sent.
  size_t queued() const noexcept;

  /// Sends what waits and closes, after `patience` in any case. Nothing is read
  /// any more.
  void close_when_sent(std::chrono::milliseconds patience);

  /// Ends the connection with `on_end`.
  void end(const caf::error& reason);

  /// Closes at once. What waits is dropped.
  void close();

  /// Bytes on the network, those of TLS included.
  uint64_t bytes_received() const noexcept {
    return transport_->received();
  }

  uint64_t bytes_sent() const noexcept {
    return transport_->sent();
  }

private:
  struct buffer_deleter {
    void operator()(evbuffer* x) const noexcept;
  };

  enum class reading : uint8_t {
    /// Bytes are taken.
    on,

    /// They are left in the socket.
    paused,

    /// They are of no interest any more.
    over,
  };

  void read_turn();
  void look_for_hang_up();
  void on_writable();
  void write_queue();
  void watch_socket();
  void end_later(caf::error reason);

  std::unique_ptr<transport> transport_;
  bounds bounds_;
  callbacks handlers_;
  std::unique_ptr<evbuffer, buffer_deleter> queue_;
  reading reading_ = reading::paused;

  /// Whether the transport has something to send before it can read on.
  bool reading_awaits_room_ = false;

  /// Why the connection is about to end, and whether it is.
  caf::error end_reason_;
  bool is_ending_ = false;

  fd_watch watch_;

  /// Looks now and then whether the peer has gone while nothing is read.
  timer hang_up_;

  /// Goes on with bytes that have left the socket, or after a rest.
  timer next_turn_;

  /// Ends the connection outside of what the owner is doing.
  timer end_;
};

} // namespace troupe
