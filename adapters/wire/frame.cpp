#include "adapters/wire/frame.hpp"

#include "messages/status.hpp"

#include <cstring>
#include <utility>

namespace troupe::wire {

namespace {

/// Where the length stands in a header.
constexpr size_t length_offset = 8;

/// Bytes of a frame from which its memory is taken as a whole once a quarter of
/// it is there: growing by copies would hold it nearly twice.
constexpr size_t long_frame = size_t{1} << 20;

/// What may come with the last bytes of a long frame.
constexpr size_t beyond_frame = size_t{64} << 10;

void put(char* at, uint32_t x, byte_order order) {
  if (order == byte_order::host) {
    std::memcpy(at, &x, 4);
    return;
  }
  for (auto i = 3; i >= 0; --i, x >>= 8)
    at[i] = static_cast<char>(x);
}

uint32_t get(const char* at, byte_order order) {
  auto x = uint32_t{0};
  if (order == byte_order::host) {
    std::memcpy(&x, at, 4);
    return x;
  }
  for (auto i = 0; i < 4; ++i)
    x = x << 8 | static_cast<uint8_t>(at[i]);
  return x;
}

} // namespace

// -- header ------------------------------------------------------------------

std::array<char, frame_header_size> encode_header(const frame_header& x,
                                                  byte_order order) {
  auto result = std::array<char, frame_header_size>{};
  put(result.data(), static_cast<uint32_t>(x.peer), order);
  put(result.data() + 4, x.tag, order);
  put(result.data() + length_offset, x.length, order);
  return result;
}

frame_header decode_header(std::string_view bytes, byte_order order) {
  return {static_cast<int32_t>(get(bytes.data(), order)),
          get(bytes.data() + 4, order),
          get(bytes.data() + length_offset, order)};
}

// -- writing -----------------------------------------------------------------

size_t begin_frame(std::string& out, uint32_t tag, int32_t peer) {
  const auto start = out.size();
  const auto header = encode_header({peer, tag, 0}, byte_order::network);
  out.append(header.data(), header.size());
  return start;
}

caf::error end_frame(std::string& out, size_t start) {
  const auto length = out.size() - start - frame_header_size;
  if (length > max_message_size) {
    out.resize(start);
    return make_error(status::out_of_resource,
                      "a message has more than 32 MiB");
  }
  put(out.data() + start + length_offset, static_cast<uint32_t>(length),
      byte_order::network);
  return caf::none;
}

caf::error append_frame(std::string& out, uint32_t tag,
                        std::string_view payload) {
  const auto start = begin_frame(out, tag);
  out.append(payload);
  return end_frame(out, start);
}

// -- reading -----------------------------------------------------------------

frame_reader::frame_reader(size_t max_payload) : max_payload_(max_payload) {
  // nop
}

void frame_reader::push(std::string_view bytes) {
  if (failure_)
    return;
  // What was taken makes room first, so memory follows what is pending.
  if (position_ > 0) {
    buffer_.erase(0, position_);
    position_ = 0;
  }
  buffer_.append(bytes);
}

std::optional<frame> frame_reader::next() {
  if (failure_)
    return std::nullopt;
  const auto rest = std::string_view{buffer_}.substr(position_);
  if (rest.size() >= frame_header_size) {
    const auto header = decode_header(rest, byte_order::network);
    if (header.length > max_payload_) {
      failure_ = make_error(status::invalid_length,
                            "a message of " + std::to_string(header.length)
                              + " bytes is over the limit of "
                              + std::to_string(max_payload_));
      release();
      return std::nullopt;
    }
    if (rest.size() - frame_header_size >= header.length) {
      position_ += frame_header_size + header.length;
      return frame{header.peer, header.tag,
                   rest.substr(frame_header_size, header.length)};
    }
    if (header.length >= long_frame && rest.size() >= header.length / 4)
      buffer_.reserve(position_ + frame_header_size + header.length
                      + beyond_frame);
  }
  // The frames have been taken: an idle connection needs no large buffer.
  if (rest.empty() && buffer_.capacity() > kept_buffer_size)
    release();
  return std::nullopt;
}

std::string frame_reader::give_away(const frame& last) {
  // One of many: the others stay where they are.
  if (last.payload.size() < buffer_.size() / 2)
    return std::string{last.payload};
  auto rest = buffer_.substr(position_);
  buffer_.resize(position_);
  position_ = 0;
  return std::exchange(buffer_, std::move(rest));
}

void frame_reader::release() {
  // Assigning an empty string would keep the memory.
  std::string{}.swap(buffer_);
  position_ = 0;
}

} // namespace troupe::wire
