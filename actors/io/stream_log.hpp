#pragma once

#include "messages/io_stream.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What is there of one stream: its bytes by offset, who gets them from where,
/// and what was dropped. Plain data, no clock.
///
/// Invariants (guarantees 5.7): `IO-1` what a sink gets is contiguous or says
/// how much it missed. `IO-2` what waits for a sink is at most its window; what
/// is kept for later ones at most the tail. `IO-3` the end comes after the last
/// byte, once. `IO-5` a new sink gets what is kept, then what comes, without a
/// seam.
class stream_log {
public:
  /// @param tail Most bytes that are kept when all sinks have them.
  /// @param overflow What is dropped of what does not fit in the tail.
  explicit stream_log(size_t tail, io_policy overflow = io_policy::drop_oldest);

  /// Adds bytes at the end of the stream.
  /// @returns how far all sinks that block must be before the writer may go on:
  ///          the offset at which its `ack` is due.
  uint64_t append(std::string bytes, int64_t read_at);

  /// Begins at an offset, as a copy of a stream that is elsewhere; bytes that
  /// never come are a gap. Bytes that are known already are left out.
  void append_at(uint64_t offset, std::string bytes, int64_t read_at,
                 uint64_t missed);

  /// Nothing follows.
  void end();

  void add_sink(uint64_t id, const io_subscription& how);
  void remove_sink(uint64_t id);

  /// What a sink is to get next; nothing while it has not answered the last, or
  /// when it has all there is.
  std::optional<io_fragment> next(uint64_t id, size_t size);

  /// The sink has answered what `next` gave.
  void taken(uint64_t id);

  /// @returns where the slowest sink that blocks stands; without one, the end.
  uint64_t settled() const;

  /// Cuts what is kept to so many bytes; for the bound of the whole node.
  void shrink(size_t tail);

  /// Bytes held now.
  size_t held() const noexcept;

  /// Whether the end has come and all sinks have it.
  bool is_over() const;

  io_fragment fetch(uint64_t offset, size_t size) const;

  io_stream_status status() const;
};

} // namespace troupe
