#pragma once

#include "adapters/lane/secure_handshake.hpp"

#include <caf/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

struct evbuffer; // libevent's

namespace troupe {

/// A connection between two nodes, after the handshake: bytes in and out,
/// secret and unchanged (unless the channel is without security). It never
/// blocks, and in one pass of the loop it takes no more than its turn. For the
/// thread of the loop only.
///
/// Callbacks may call all functions, but must not destroy the object.
class secure_socket {
public:
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
  };

  /// Does not read before `resume`.
  secure_socket(event_loop& loop, secure_channel channel,
                const lane_limits& limits, callbacks handlers);

  ~secure_socket();

  secure_socket(const secure_socket&) = delete;

  secure_socket& operator=(const secure_socket&) = delete;

  bool is_open() const noexcept {
    return static_cast<bool>(channel_.socket);
  }

  /// Who the other end has proven to be.
  const node_identity& peer() const noexcept {
    return channel_.peer;
  }

  /// Takes bytes.
  void resume();

  /// Takes no bytes until `resume`; only the peer's end is noticed, within a
  /// second, and ends the connection with an error.
  void pause();

  /// Sends bytes, at once if the kernel takes them. Failures come later, by
  /// `on_end`.
  void send(std::string_view bytes);

  /// Bytes that wait to be sent.
  size_t queued() const noexcept;

  /// Sends what waits and closes, after `patience` in any case. Nothing is read
  /// any more.
  void close_when_sent(std::chrono::milliseconds patience);

  /// Closes at once. What waits is dropped.
  void close();

  /// Bytes on the network, those of TLS included.
  uint64_t bytes_received() const noexcept {
    return channel_.traffic->received;
  }

  uint64_t bytes_sent() const noexcept {
    return channel_.traffic->sent;
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
  bool is_drained() const;
  int read_some(char* out, size_t size, int& code);
  size_t write_some(const char* bytes, size_t size);
  void watch_socket();
  caf::error reason_of_failure();
  void end_later(caf::error reason);
  void end(const caf::error& reason);

  secure_channel channel_;
  lane_limits limits_;
  callbacks handlers_;
  std::unique_ptr<evbuffer, buffer_deleter> queue_;
  reading reading_ = reading::paused;

  /// Whether TLS itself has something to send before it can read on.
  bool reading_awaits_room_ = false;

  /// Why the connection is about to end, and whether it is.
  caf::error end_reason_;
  bool is_ending_ = false;

  fd_watch watch_;

  /// Looks now and then whether the peer has gone while nothing is read.
  timer hang_up_;

  /// Goes on with bytes that TLS holds.
  timer next_turn_;

  /// Ends the connection outside of what the owner is doing.
  timer end_;
};

} // namespace troupe
