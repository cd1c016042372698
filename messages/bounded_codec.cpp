#include "messages/bounded_codec.hpp"

namespace troupe {

// -- writing ------------------------------------------------------------------

void codec_writer::put_number(uint64_t x) {
  char bytes[10];
  size_t n = 0;
  for (; x >= 0x80; x >>= 7)
    bytes[n++] = static_cast<char>(x | 0x80);
  bytes[n++] = static_cast<char>(x);
  out_.append(bytes, n);
}

void codec_writer::put_double(double x) {
  auto bits = uint64_t{};
  static_assert(sizeof(bits) == sizeof(x));
  std::memcpy(&bits, &x, sizeof(x));
  for (auto shift = 56; shift >= 0; shift -= 8)
    put_byte(static_cast<uint8_t>(bits >> shift));
}

void codec_writer::put_text(std::string_view x) {
  put_number(x.size());
  out_.append(x);
}

void codec_writer::put_bits(const std::vector<bool>& x) {
  put_number(x.size());
  for (size_t i = 0; i < x.size(); i += 8) {
    auto byte = 0U;
    for (size_t k = 0; k < 8 && i + k < x.size(); ++k)
      byte |= (x[i + k] ? 1U : 0U) << k;
    put_byte(static_cast<uint8_t>(byte));
  }
}

// -- reading ------------------------------------------------------------------

namespace {

caf::error truncated() {
  return caf::make_error(caf::sec::end_of_stream,
                         "a message that ends before its last field");
}

} // namespace

caf::error codec_reader::refuse(const char* what) {
  return caf::make_error(caf::sec::invalid_argument,
                         std::string{"a message with "} + what);
}

caf::error codec_reader::expect_end() const {
  return rest_.empty() ? caf::error{} : refuse("bytes after its last field");
}

caf::error codec_reader::take_byte(uint8_t& x) {
  if (rest_.empty())
    return truncated();
  x = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return caf::none;
}

caf::error codec_reader::take_bool(bool& x) {
  auto byte = uint8_t{};
  if (auto err = take_byte(byte))
    return err;
  if (byte > 1)
    return refuse("neither yes nor no");
  x = byte == 1;
  return caf::none;
}

caf::error codec_reader::take_number(uint64_t& x) {
  x = 0;
  auto shift = 0U;
  for (size_t i = 0; shift < 64; ++i, shift += 7) {
    if (i == rest_.size())
      return truncated();
    const auto byte = static_cast<uint8_t>(rest_[i]);
    const auto part = uint64_t{byte & 0x7fU};
    // One way to write a number: no bits beyond 64, no zeros at the end.
    if (part << shift >> shift != part || (byte == 0 && shift > 0))
      break;
    x |= part << shift;
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return caf::none;
    }
  }
  return refuse("a number that is not written as it should be");
}

caf::error codec_reader::take_double(double& x) {
  auto bits = uint64_t{};
  for (auto i = 0; i < 8; ++i) {
    auto byte = uint8_t{};
    if (auto err = take_byte(byte))
      return err;
    bits = bits << 8 | byte;
  }
  std::memcpy(&x, &bits, sizeof(x));
  return caf::none;
}

caf::error codec_reader::take_count(size_t& x) {
  auto number = uint64_t{};
  if (auto err = take_number(number))
    return err;
  if (number > rest_.size())
    return refuse("more elements than bytes");
  x = static_cast<size_t>(number);
  return caf::none;
}

caf::error codec_reader::take_view(std::string_view& x) {
  auto size = size_t{};
  if (auto err = take_count(size))
    return err;
  x = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return caf::none;
}

caf::error codec_reader::take_text(std::string& x) {
  auto view = std::string_view{};
  if (auto err = take_view(view))
    return err;
  x.assign(view);
  return caf::none;
}

caf::error codec_reader::take_memory(size_t count, size_t size) {
  if (size > 0 && count > memory_ / size)
    return refuse("too many elements");
  memory_ -= count * size;
  return caf::none;
}

caf::error codec_reader::take_bits(std::vector<bool>& x) {
  auto count = uint64_t{};
  if (auto err = take_number(count))
    return err;
  if (count / 8 > rest_.size())
    return refuse("more elements than bytes");
  x.clear();
  auto byte = uint8_t{};
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 8 == 0)
      if (auto err = take_byte(byte))
        return err;
    x.push_back((byte >> i % 8 & 1U) != 0);
  }
  if (count % 8 != 0 && byte >> count % 8 != 0)
    return refuse("bits after its last element");
  return caf::none;
}

} // namespace troupe
