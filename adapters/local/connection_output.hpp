#pragma once

#include "base/answer.hpp"
#include "messages/io.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace troupe {

/// Output on its way to a peer: what waits until the kernel has room, what a
/// peer that counts may have before its program has taken more, and where in the
/// bytes of the socket output and events end that the kernel has not taken.
/// A plain class: no socket, no clock. Source: I18.
class connection_output {
public:
  /// Output for the peer, and who waits until its socket has taken it.
  struct piece {
    io_delivery what;
    answer<ack> owed;
  };

  // -- what waits: events and answers go past it -----------------------------

  void add(piece x);

  /// Bytes that wait.
  size_t waiting() const noexcept {
    return waiting_bytes_;
  }

  /// Takes the oldest that waits; nothing if there is none, or if the peer's
  /// program is too far behind.
  std::optional<piece> next();

  /// Tells who waits that output is lost which has not been written.
  void forget_waiting();

  // -- what has been written -------------------------------------------------

  /// @param end Where in the bytes of the socket the output ends.
  /// @param size Of its payload, in bytes.
  void wrote(answer<ack> owed, uint64_t end, size_t size);

  /// @param end Where in the bytes of the socket the event ends.
  void wrote_event(uint64_t end);

  /// The kernel has taken the first `sent` bytes of the socket: answers those
  /// whose output is among them.
  void note_sent(uint64_t sent);

  /// How many events the kernel has taken, once for each number: nothing if it
  /// has been asked for.
  std::optional<uint64_t> news_of_events();

  /// Tells who waits that all output is lost that the kernel has not taken.
  void forget();

  // -- peers that count ------------------------------------------------------

  /// The peer says how much output its program has taken: from now on no more
  /// than `defaults::io_credit` is on its way.
  void count() noexcept {
    counts_ = true;
  }

  bool is_counted() const noexcept {
    return counts_;
  }

  /// The peer's program has taken so many bytes of payload, since the start.
  /// @returns whether that can be.
  bool take_credit(uint64_t total) noexcept;

  /// Bytes of payload that have been written, since the start.
  uint64_t written() const noexcept {
    return written_;
  }

private:
  /// Output that is being sent: where in the bytes of the socket it ends.
  struct sent_piece {
    uint64_t end = 0;
    answer<ack> owed;
  };

  std::deque<piece> waiting_;
  size_t waiting_bytes_ = 0;
  std::deque<sent_piece> sent_;

  bool counts_ = false;
  uint64_t written_ = 0;
  uint64_t consumed_ = 0;

  /// Where the events end that the kernel has not taken, how many it has taken,
  /// and how many of them have been told.
  std::deque<uint64_t> event_ends_;
  uint64_t events_taken_ = 0;
  uint64_t events_told_ = 0;
};

} // namespace troupe
