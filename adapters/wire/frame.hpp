#pragma once

#include <caf/error.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// A message on a connection: a header, then the payload.
//
//     0        4        8        12       16
//     | index  |  tag   | length |   0    | payload, `length` bytes ...
//
// Network byte order, except in the greeting of a client, whose header is in
// the byte order of its host. The index says nothing and is ignored.
// Source: OpenPMIx wire protocol, message header and tags.

namespace troupe::wire {

// -- tags --------------------------------------------------------------------

/// Server to client: an event.
inline constexpr uint32_t tag_event = 0;

/// Client to server: a heartbeat, without payload and without answer.
inline constexpr uint32_t tag_heartbeat = 1;

/// Server to client: output of a process.
inline constexpr uint32_t tag_output = 2;

/// Input is to stop or to go on; newer than libpmix 6.
inline constexpr uint32_t tag_flow_control = 3;

/// Between a server and a library of ours: how much output may be on its way,
/// or how much the library's program has taken.
inline constexpr uint32_t tag_output_credit = 90;

/// Server to a library of ours, once: where it finds the memory that they share.
inline constexpr uint32_t tag_shared_memory = 91;

/// The lowest tag of a request; the reply carries the tag of its request.
inline constexpr uint32_t tag_first_request = 100;

/// The tag of the greeting.
inline constexpr uint32_t tag_hello = 0xffffffff;

// -- header ------------------------------------------------------------------

inline constexpr size_t frame_header_size = 16;

/// The longest payload that we read or write.
/// Source: guarantees, limit on messages (L3).
inline constexpr size_t max_message_size = size_t{32} << 20;

/// What a connection keeps in memory between messages.
inline constexpr size_t kept_buffer_size = size_t{4} << 10;

struct frame_header {
  int32_t peer = 0;
  uint32_t tag = 0;
  uint32_t length = 0;
};

enum class byte_order : uint8_t { network, host };

std::array<char, frame_header_size> encode_header(const frame_header& x,
                                                  byte_order order);

/// @pre `bytes.size() >= frame_header_size`
frame_header decode_header(std::string_view bytes, byte_order order);

// -- writing -----------------------------------------------------------------

/// Appends a header whose length is not known yet.
/// @returns where the frame starts, for `end_frame`.
size_t begin_frame(std::string& out, uint32_t tag, int32_t peer = 0);

/// Writes the length of the frame that starts at `start` and ends at the end
/// of `out`. A frame over `max_message_size` is removed again.
caf::error end_frame(std::string& out, size_t start);

/// Appends a whole frame.
caf::error append_frame(std::string& out, uint32_t tag,
                        std::string_view payload);

// -- reading -----------------------------------------------------------------

/// A message as it was received.
struct frame {
  int32_t peer = 0;
  uint32_t tag = 0;

  /// Lives until the next call of `frame_reader::push` or `give_away`.
  std::string_view payload;
};

/// Cuts a byte stream into frames, however the bytes arrive. Memory follows the
/// bytes that are there, at most four times as many, whatever length a header
/// announces, and is given back when the last frame has been taken.
class frame_reader {
public:
  explicit frame_reader(size_t max_payload = max_message_size);

  /// Appends bytes of the stream. Take all frames first: the views that `next`
  /// gave end here.
  void push(std::string_view bytes);

  /// The next whole frame; nothing if bytes are missing or the stream is bad.
  std::optional<frame> next();

  /// Gives away the payload of the last frame as the end of what is returned:
  /// the memory that it is in, so that a long one is neither copied nor moved.
  std::string give_away(const frame& last);

  /// Set once a header announces more than the longest payload; the connection
  /// must be closed, no further frame is given.
  const caf::error& failure() const {
    return failure_;
  }

  /// Bytes of a frame that has begun but is not whole: 0 between frames.
  size_t pending() const {
    return buffer_.size() - position_;
  }

  /// Memory held, in bytes.
  size_t capacity() const {
    return buffer_.capacity();
  }

private:
  void release();

  size_t max_payload_;
  std::string buffer_;
  size_t position_ = 0;
  caf::error failure_;
};

} // namespace troupe::wire
