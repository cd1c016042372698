#pragma once

#include "config/defaults.hpp"
#include "messages/peer_frames.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Frames of a lane as bytes, little endian. A header of 12 bytes:
//
//   length  4   of what follows the header
//   kind    1   0 hello, 1 data, 2 ack, 3 probe, 4 gone
//   zero    1
//   check   2   CRC-32 of the six bytes before, its lower half
//   sum     4   CRC-32 of what follows the header; 0 under TLS
//
// What follows, where `ack` is a byte with a bit per class, and for each of
// these classes `next` 8 and `limit` 8:
//
//   hello   sender 36, receiver 36 (node 4, boot 8, number 8, token 16),
//           lane 8, ack
//   data    session 8, class 1, number 8, ack, payload: the rest
//   ack     session 8, ack
//   probe   session 8, number 8, is answer 1, ack
//   gone    session 8, lane 8, ack
//
// No name, type or size but these lengths is taken from the bytes.

namespace troupe {

/// Bytes before a frame's content.
inline constexpr size_t frame_header_size = 12;

/// Largest content without a payload.
inline constexpr size_t frame_fields_max =
  2 * 36 + 17 + 1 + 16 * traffic_classes;

/// About how much memory a frame takes on its way within the process.
inline size_t memory_of(const lane_frame& x) {
  const auto* data = std::get_if<data_frame>(&x);
  return 256 + (data != nullptr ? data->payload.size : 0);
}

/// Whether contents have a checksum, or none since their way has its own: as on
/// lanes under TLS.
enum class frame_check : uint8_t { sum, bare };

/// Appends a frame.
/// @param size_max How long `out` may become with its payload.
/// @returns how many bytes of the payload it has; the others have to follow from the
///          payload itself.
size_t encode_frame(const lane_frame& frame, std::string& out,
                    size_t size_max = SIZE_MAX,
                    frame_check check = frame_check::sum);

/// Decodes what follows a header.
/// @param kind From the header.
/// @returns `bad_param` if anything is out of range, missing, or left over.
caf::expected<lane_frame> decode_frame_content(uint8_t kind,
                                               std::string_view content);

/// Puts the frames of a lane together from bytes that come in any pieces. Holds
/// no more than the frame that is not whole yet. Source: guarantees 5.3;
/// attacks X39 and X43; limit L22.
class frame_reader {
public:
  /// @param frame_max Largest frame, header included.
  explicit frame_reader(size_t frame_max = defaults::lane_frame,
                        frame_check check = frame_check::sum)
    : frame_max_(frame_max), check_(check) {
    // nop
  }

  /// Takes the bytes that have come in; they have to live until `next` gives
  /// nothing. @pre `next` gave nothing, or nothing was pushed yet.
  void push(std::string_view bytes);

  /// @returns the next frame; nothing if more bytes are needed; `bad_param` if
  ///          the bytes are not a frame: from then on always.
  caf::expected<std::optional<lane_frame>> next();

  /// Room for the rest of a payload, for who can put the bytes that come next there;
  /// may be none. What does not belong to it is pushed.
  struct room {
    char* data = nullptr;
    size_t size = 0;
  };

  room payload_room() noexcept {
    return {payload_.data() + filled_, payload_.size() - filled_};
  }

  /// So many bytes were put there; has the effect of `push`.
  void filled(size_t bytes) noexcept {
    filled_ += bytes;
    rest_ = {};
  }

  /// Bytes of the frame that is not whole yet.
  size_t held() const noexcept {
    return held_.size() + filled_;
  }

private:
  /// What is known of the frame at the front.
  struct header {
    size_t size = 0;
    uint8_t kind = 0;
    uint32_t sum = 0;
  };

  caf::expected<header> read_header(std::string_view bytes) const;
  caf::error check_sum(const header& head, std::string_view content,
                       std::string_view payload = {}) const;
  caf::expected<lane_frame> read_frame(std::string_view bytes) const;
  caf::expected<lane_frame> read_held(const header& head);
  bool hold(const header& head);
  bool fill(size_t size);
  bool fill_payload(size_t size);

  size_t frame_max_;
  frame_check check_;

  /// The beginning of a frame whose end has not come in; of one with a payload, that
  /// by itself: it goes on to who wants it as it is. As long as it will be once
  /// enough of it is there, which `filled_` says.
  std::string held_;
  std::string payload_;
  size_t filled_ = 0;
  std::string_view rest_;
  caf::error broken_;
};

} // namespace troupe
