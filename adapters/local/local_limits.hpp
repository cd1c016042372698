#pragma once

#include "adapters/sockets/acceptor.hpp"
#include "adapters/wire/frame.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace troupe {

namespace defaults {

/// Notifications of a process that have not been answered, and their bytes;
/// from here on its socket is not read. Source: guarantees 5.1, "Budgets".
inline constexpr size_t unanswered_notifies = 64;
inline constexpr size_t unanswered_notify_bytes = size_t{256} << 10;

/// Input that a peer has pushed and that has not been answered; beyond either
/// its socket is not read. Libraries up to 4.2 wait for no answer.
inline constexpr size_t io_unanswered_pushes = 64;
inline constexpr size_t io_unanswered_push_bytes = size_t{1} << 20;

} // namespace defaults

/// The bounds of local connections, with their defaults.
/// Source: guarantees, limits; the identifiers are those of its table.
struct local_limits {
  // -- before the handshake is over --

  /// Connections of a user without a completed handshake, and how many more for
  /// each registered process that has not connected yet (L1).
  size_t half_open = 16;
  size_t half_open_per_awaited = 2;

  /// Processes that are assumed to be on their way if nobody knows.
  size_t awaited = 256;

  /// Time for the first 16 bytes, and for the whole greeting (L2).
  std::chrono::milliseconds header_time{2000};
  std::chrono::milliseconds greeting_time{5000};

  /// Gives greetings another time. Less is less for the header, too; more is all
  /// for it: whoever asks for it has peers that are slow from the first byte on.
  void set_greeting_time(std::chrono::milliseconds x) {
    header_time = x > greeting_time ? x : std::min(header_time, x / 2);
    greeting_time = x;
  }

  /// Connections to take, and greetings to read, in one pass of the loop: a
  /// storm of them must not hold up those that are served. Greetings of several
  /// users are read in turns. Not more of the first, or those that have greeted
  /// would count as silent.
  size_t turn_accepts = 1;
  size_t turn_greetings = 1;

  /// Connections that wait in the kernel.
  int backlog = 4096;

  /// Descriptors that connections leave to the rest of the process (L20), and
  /// how often to look whether there are enough again.
  size_t descriptors_in_reserve = acceptor::bounds{}.descriptors_in_reserve;
  std::chrono::milliseconds accept_retry{100};

  // -- per connection --

  /// Longest message that a peer may send (L3).
  size_t message_size = wire::max_message_size;

  /// Requests of a peer that have not been answered; at this number its socket
  /// is not read (L16).
  size_t in_flight = 256;

  /// Notifications of a peer that have not been answered, and their bytes; at
  /// either its socket is not read: an event log holds its source back.
  size_t notifies = defaults::unanswered_notifies;
  size_t notify_bytes = defaults::unanswered_notify_bytes;

  /// Input that a peer has pushed and that has not been answered, and its
  /// bytes; at either its socket is not read: some libraries wait for no
  /// answer.
  size_t pushes = defaults::io_unanswered_pushes;
  size_t push_bytes = defaults::io_unanswered_push_bytes;

  /// Time for the rest of a message that has begun. A process that stands still
  /// has as long as it does.
  std::chrono::milliseconds message_time{30000};

  /// Bytes of messages that are not whole, of the processes of a namespace, and
  /// of all; see `unfinished_messages`.
  size_t unfinished_per_namespace = size_t{64} << 20;
  size_t unfinished_per_node = size_t{256} << 20;

  /// What a peer may have done in one pass of the loop (L8).
  size_t turn_messages = 64;
  size_t turn_bytes = size_t{256} << 10;

  /// Bytes that wait for a peer to read; from here on its requests are not read
  /// (L11).
  size_t queued = size_t{64} << 10;

  /// Bytes that wait for a peer to read; beyond it is cut off.
  size_t queued_max = size_t{64} << 20;

  /// How long a closing connection waits for its peer to read the rest.
  std::chrono::milliseconds closing_time{5000};

  // -- logging --

  /// Lines per second; what is beyond is counted (L25).
  size_t log_lines = 100;
};

} // namespace troupe
