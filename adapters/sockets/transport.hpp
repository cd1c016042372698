#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <caf/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

struct evbuffer; // libevent's

namespace troupe {

/// Moves the bytes of a connected socket that does not block, as they are; what
/// derives from it changes them on the way. The seam for kinds of lanes. For one
/// thread.
class transport {
public:
  enum class outcome : uint8_t {
    /// Bytes were moved.
    done,

    /// To be tried again once the socket is readable.
    no_input,

    /// To be tried again with the same bytes once the socket is writable.
    no_room,

    /// The peer has ended its side in order.
    closed,

    /// The connection is cut or broken: see `failure`.
    failed,
  };

  /// @param name What errors call the connection; null: the call that failed.
  explicit transport(unique_fd socket, const char* name = nullptr) noexcept
    : socket_(std::move(socket)), name_(name) {
    // nop
  }

  transport(const transport&) = delete;

  transport& operator=(const transport&) = delete;

  virtual ~transport() = default;

  // -- bytes of the owner --

  virtual outcome read(char* to, size_t size, size_t& got);

  /// @param done How many bytes were taken; `no_room` if it is none.
  virtual outcome write(const char* bytes, size_t size, size_t& done);

  /// Writes from the front of a queue, which stays as it is.
  /// @param done How many bytes were taken, also if there is `no_room` for the
  ///             rest.
  virtual outcome write_queue(evbuffer* queue, size_t& done);

  /// Most bytes that `write` takes at once.
  virtual size_t piece() const noexcept;

  /// Whether there is no more to read now: the next read would find nothing.
  virtual bool is_drained() const noexcept {
    return is_drained_;
  }

  /// Why a call has failed. @param what What failed, such as `read`.
  virtual caf::error failure(const char* what);

  /// Tells the peer that all has been sent.
  virtual void say_farewell() {
    // nop
  }

  // -- the socket --

  /// Bytes that may be read from the socket from now on.
  void set_allowance(size_t bytes) noexcept {
    allowance_ = bytes;
    is_drained_ = false;
  }

  size_t allowance() const noexcept {
    return allowance_;
  }

  /// The socket is readable again.
  void look_again() noexcept {
    is_drained_ = false;
  }

  /// -1 once it is closed.
  int fd() const noexcept {
    return socket_.get();
  }

  void close() noexcept {
    socket_.reset();
  }

  /// Bytes on the network.
  uint64_t received() const noexcept {
    return received_;
  }

  uint64_t sent() const noexcept {
    return sent_;
  }

  /// Whether the peer has closed its side of the socket.
  bool is_closed() const noexcept {
    return is_closed_;
  }

  /// `errno` of what failed; 0 if nothing did.
  int error_number() const noexcept {
    return error_number_;
  }

protected:
  /// Reads from the socket, writes to it.
  outcome receive(char* to, size_t size, size_t& got);
  outcome transmit(const char* bytes, size_t size, size_t& done);

private:
  outcome after_sending(ssize_t moved, size_t& done);

  unique_fd socket_;
  const char* name_;
  size_t allowance_ = 0;

  /// The last read has taken all there was.
  bool is_drained_ = false;
  uint64_t received_ = 0;
  uint64_t sent_ = 0;
  bool is_closed_ = false;
  int error_number_ = 0;
};

} // namespace troupe
