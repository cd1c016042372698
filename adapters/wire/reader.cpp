#include "adapters/wire/reader.hpp"

#include "messages/value.hpp"

#include <array>
#include <cstring>

namespace troupe::wire {

namespace {

/// The newest release whose messages we know to the last byte.
constexpr auto newest_known = release{6, 1, 65535};

constexpr uint64_t max_of(unsigned width) {
  return width >= 8 ? UINT64_MAX : (uint64_t{1} << (8 * width)) - 1;
}

/// What a client may not send any number of.
struct counted_type {
  data_type type;
  size_t most;
  const char* name;
};

constexpr auto counted_types = std::array<counted_type, 8>{{
  {data_type::proc, max_procs_from_client, "processes"},
  {data_type::info, max_infos_from_client, "infos"},
  {data_type::kval, max_entries_from_client, "keys with values"},
  {data_type::string, max_strings_from_client, "strings"},
  {data_type::status, max_codes_from_client, "event codes"},
  {data_type::query, max_queries_from_client, "queries"},
  {data_type::app, max_apps_from_client, "applications"},
  {data_type::undef, max_others_from_client, "elements of arrays"},
}};

/// @returns the place in `counted_types`; the last one is for all others.
size_t place_of(data_type x) {
  auto i = size_t{0};
  while (i + 1 < counted_types.size() && counted_types[i].type != x)
    ++i;
  return i;
}

} // namespace

reader::reader(std::string_view bytes, const dialect& d, origin from)
  : begin_(bytes.data()), position_(bytes.data()),
    end_(bytes.data() + bytes.size()), rules_(d), family_(family_of(d.module)),
    from_(from),
    elements_left_(from == origin::client ? max_elements_from_client
                                          : max_elements_from_server) {
  // nop
}

// -- state -------------------------------------------------------------------

caf::error reader::failure() const {
  if (ok())
    return caf::none;
  const auto what = most_ == 0
                      ? std::string{what_}
                      : "a message has " + std::to_string(count_) + " " + what_
                          + ", the limit is " + std::to_string(most_);
  return make_error(code_,
                    what + " (at byte " + std::to_string(failed_at_) + ")");
}

void reader::fail(const char* what, status code) {
  if (!ok())
    return;
  what_ = what;
  code_ = code;
  failed_at_ = static_cast<size_t>(position_ - begin_);
}

void reader::at_most(uint64_t n, size_t most, const char* what) {
  if (from_ != origin::client || n <= most || !ok())
    return;
  fail(what, status::out_of_resource);
  count_ = n;
  most_ = most;
}

void reader::expect_end() {
  if (left() > 0 && !(newest_known < rules_.peer))
    fail("bytes are left over");
}

// -- primitives --------------------------------------------------------------

bool reader::need(size_t n) {
  if (n <= left())
    return true;
  fail("the message ends early", status::unpack_read_past_end_of_buffer);
  return false;
}

uint8_t reader::byte() {
  if (!need(1))
    return 0;
  return static_cast<uint8_t>(*position_++);
}

uint64_t reader::varint(unsigned width) {
  auto result = uint64_t{0};
  const auto* p = position_;
  for (auto shift = 0u;; shift += 7) {
    if (p == end_) {
      fail("the message ends early", status::unpack_read_past_end_of_buffer);
      return 0;
    }
    const auto b = static_cast<uint8_t>(*p++);
    // The ninth byte has no continuation bit but eight bits of the value.
    const auto is_last = shift == 56 || (b & 0x80) == 0;
    result |= uint64_t{shift == 56 ? b : b & 0x7fu} << shift;
    if (!is_last)
      continue;
    if (b == 0 && shift != 0) {
      fail("an integer is longer than it has to be");
      return 0;
    }
    break;
  }
  if (result > max_of(width)) {
    fail("an integer does not fit its type");
    return 0;
  }
  position_ = p;
  return result;
}

uint64_t reader::unsigned_integer(unsigned width) {
  if (width == 1)
    return byte();
  if (!ok())
    return 0;
  if (!is_fixed())
    return varint(width);
  if (!need(width))
    return 0;
  auto result = uint64_t{0};
  for (auto i = 0u; i < width; ++i)
    result = result << 8 | static_cast<uint8_t>(*position_++);
  return result;
}

int64_t reader::signed_integer(unsigned width) {
  const auto x = unsigned_integer(width);
  if (width > 1 && !is_fixed()) // zigzag: 0, -1, 1, -2, ...
    return static_cast<int64_t>(x >> 1 ^ (~(x & 1) + 1));
  const auto sign = uint64_t{1} << (8 * width - 1);
  return static_cast<int64_t>((x ^ sign) - sign);
}

data_type reader::type_tag() {
  return static_cast<data_type>(unsigned_integer(2));
}

void reader::inner_tag(data_type x) {
  const auto tag = layout_of(x).inner_tag;
  if (tag == data_type::undef || (!is_fixed() && x != data_type::pid))
    return;
  if (type_tag() != tag)
    fail("the inner type of an integer is another one", status::type_mismatch);
}

uint64_t reader::size() {
  inner_tag(data_type::size);
  return unsigned_integer(8);
}

std::optional<std::string_view> reader::string() {
  const auto length = signed_integer(4);
  if (!ok() || length == 0)
    return std::nullopt;
  if (length < 0 || static_cast<uint64_t>(length) > left()) {
    fail("the length of a string goes past the end");
    return std::nullopt;
  }
  const auto n = static_cast<size_t>(length);
  if (std::memchr(position_, 0, n) != position_ + n - 1) {
    fail("a string does not end where its length says");
    return std::nullopt;
  }
  const auto result = std::string_view{position_, n - 1};
  position_ += n;
  return result;
}

std::string_view reader::string_or_empty() {
  return string().value_or(std::string_view{});
}

std::string_view reader::key() {
  const auto x = string();
  if (!x) {
    fail("a key is missing");
    return {};
  }
  if (x->size() > max_key_length) {
    fail("a key has more than 511 bytes");
    return {};
  }
  return *x;
}

std::string_view reader::nspace() {
  const auto x = string_or_empty();
  if (x.size() > max_nspace_length) {
    fail("a namespace has more than 255 bytes");
    return {};
  }
  return x;
}

std::string_view reader::bytes(size_t n) {
  if (!need(n))
    return {};
  const auto result = std::string_view{position_, n};
  position_ += n;
  return result;
}

std::string_view reader::blob() {
  const auto n = size();
  if (n > left()) {
    fail("the length of a byte object goes past the end");
    return {};
  }
  return bytes(static_cast<size_t>(n));
}

std::string_view reader::up_to_zero() {
  const auto* zero = left() > 0 ? std::memchr(position_, 0, left()) : nullptr;
  if (zero == nullptr) {
    fail("a text has no end");
    return {};
  }
  const auto n = static_cast<const char*>(zero) - position_ + 1;
  return bytes(static_cast<size_t>(n));
}

// -- counts ------------------------------------------------------------------

size_t reader::fits(uint64_t n, data_type x) {
  if (n > left() / min_size_of(x, family_))
    fail("a count is more than the bytes left can hold");
  const auto i = place_of(x);
  at_most(counted_[i] + n, counted_types[i].most, counted_types[i].name);
  return ok() ? static_cast<size_t>(n) : 0;
}

size_t reader::admit(uint64_t n, data_type x) {
  fits(n, x);
  if (!ok())
    return 0;
  if (n > elements_left_) {
    fail("a message has too many elements", status::out_of_resource);
    return 0;
  }
  elements_left_ -= n;
  counted_[place_of(x)] += n;
  return static_cast<size_t>(n);
}

size_t reader::count(data_type x) {
  return admit(size(), x);
}

size_t reader::count32(data_type x) {
  const auto n = signed_integer(4);
  if (n < 0) {
    fail("a count is negative");
    return 0;
  }
  return admit(static_cast<uint64_t>(n), x);
}

// -- PACK calls --------------------------------------------------------------

size_t reader::pack(data_type x) {
  if (rules_.described && type_tag() != data_type::int32)
    fail("a PACK does not begin with its count", status::type_mismatch);
  const auto n = count32(x);
  if (rules_.described && type_tag() != x)
    fail("a PACK holds values of another type", status::type_mismatch);
  inner_tag(x);
  return ok() ? n : 0;
}

void reader::pack_exactly(data_type x, size_t n) {
  if (pack(x) != n)
    fail("a PACK holds another number of values");
}

size_t reader::packed_count(data_type x) {
  pack_exactly(data_type::size, 1);
  return fits(unsigned_integer(8), x);
}

// -- nesting -----------------------------------------------------------------

bool reader::enter() {
  if (++depth_ > max_value_depth)
    fail("values are nested too deeply", status::out_of_resource);
  return ok();
}

} // namespace troupe::wire
