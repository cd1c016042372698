#include "adapters/wire/compression.hpp"

#include "messages/status.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace troupe::wire {

namespace {

constexpr size_t length_size = 4;

/// Up to here a text may be longer than its compressed form by any factor.
constexpr size_t harmless_size = size_t{64} << 10;

/// Ends a stream of zlib however its function is left.
struct inflater {
  z_stream stream{};
  bool ready = inflateInit(&stream) == Z_OK;

  inflater() = default;
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;

  ~inflater() {
    if (ready)
      inflateEnd(&stream);
  }
};

caf::error damaged(const char* what) {
  return make_error(status::unpack_failure, what);
}

/// zlib reads through a pointer to mutable bytes but does not write to them.
Bytef* bytes_of(std::string_view x) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(x.data()));
}

/// Takes the length off the front; nothing if it is not there.
std::optional<size_t> take_length(std::string_view& compressed) {
  auto result = uint32_t{0};
  if (compressed.size() < length_size)
    return std::nullopt;
  std::memcpy(&result, compressed.data(), length_size);
  compressed.remove_prefix(length_size);
  return result;
}

/// Expands what follows the length.
caf::expected<std::string> inflate_stream(std::string_view compressed,
                                          size_t announced) {
  if (compressed.size() > UINT32_MAX)
    return make_error(status::out_of_resource, "a stream is longer than 4 GiB");
  auto z = inflater{};
  if (!z.ready)
    return make_error(status::nomem, "zlib does not start");
  z.stream.next_in = bytes_of(compressed);
  z.stream.avail_in = static_cast<uInt>(compressed.size());
  auto text = std::string{};
  auto done = size_t{0};
  for (;;) {
    // One byte more than announced shows a stream that is too long.
    const auto step = std::max<size_t>(4 * compressed.size(), 4096);
    text.resize(std::min<size_t>(done + step, announced + 1));
    z.stream.next_out = reinterpret_cast<Bytef*>(text.data() + done);
    z.stream.avail_out = static_cast<uInt>(text.size() - done);
    const auto result = inflate(&z.stream, Z_NO_FLUSH);
    done = text.size() - z.stream.avail_out;
    if (result == Z_STREAM_END)
      break;
    if (result != Z_OK || done > announced)
      return damaged("a compressed string is damaged");
  }
  if (done != announced || z.stream.avail_in != 0)
    return damaged("a compressed string has another length than it says");
  text.resize(done);
  return text;
}

} // namespace

caf::expected<std::string> inflate_text(std::string_view compressed) {
  const auto announced = take_length(compressed);
  if (!announced)
    return damaged("a compressed string has no length");
  if (*announced > max_inflated_size
      || (*announced > harmless_size
          && *announced / max_inflation > compressed.size()))
    return make_error(status::out_of_resource,
                      "a compressed string expands beyond 32 MiB or 100:1");
  return inflate_stream(compressed, *announced);
}

caf::expected<std::string> inflate_block(std::string_view compressed) {
  // One byte of a stream of zlib stands for at most 1032.
  constexpr auto max_ratio = size_t{1032};
  const auto announced = take_length(compressed);
  if (!announced)
    return damaged("a compressed block has no length");
  if (*announced / max_ratio > compressed.size())
    return damaged("a compressed block has another length than it says");
  return inflate_stream(compressed, *announced);
}

std::string deflate_text(std::string_view text) {
  const auto length = static_cast<uint32_t>(text.size());
  auto size = compressBound(static_cast<uLong>(text.size()));
  auto result = std::string(length_size + size, '\0');
  std::memcpy(result.data(), &length, length_size);
  compress2(reinterpret_cast<Bytef*>(result.data() + length_size), &size,
            bytes_of(text), static_cast<uLong>(text.size()), Z_BEST_SPEED);
  result.resize(length_size + size);
  return result;
}

} // namespace troupe::wire
