#include "adapters/wire/writer.hpp"

#include "messages/value.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace troupe::wire {

writer::writer(std::string& out, const dialect& d, unreadable policy)
  : out_(out), start_(out.size()), rules_(d), family_(family_of(d.module)),
    policy_(policy) {
  // nop
}

// -- state -------------------------------------------------------------------

void writer::fail(const char* what, status code) {
  if (!ok())
    return;
  what_ = what;
  code_ = code;
}

caf::error writer::finish() {
  if (ok())
    return caf::none;
  out_.resize(start_);
  return make_error(code_, what_);
}

// -- primitives --------------------------------------------------------------

void writer::unsigned_integer(uint64_t x, unsigned width) {
  if (width < 8 && x >> (8 * width) != 0)
    fail("an integer does not fit its type");
  char buffer[9];
  auto n = 0u;
  if (is_fixed() || width == 1) {
    for (n = width; n > 0; --n, x >>= 8)
      buffer[n - 1] = static_cast<char>(x);
    n = width;
  } else {
    for (; n < 8 && x > 0x7f; x >>= 7)
      buffer[n++] = static_cast<char>(x | 0x80);
    buffer[n++] = static_cast<char>(x);
  }
  out_.append(buffer, n);
}

void writer::signed_integer(int64_t x, unsigned width) {
  const auto bits = static_cast<uint64_t>(x);
  const auto limit = int64_t{1} << (8 * std::min(width, 7u) - 1);
  if (width < 8 && (x < -limit || x >= limit)) {
    fail("an integer does not fit its type");
    return;
  }
  if (width > 1 && !is_fixed()) { // zigzag: 0, -1, 1, -2, ...
    unsigned_integer(bits << 1 ^ (x < 0 ? UINT64_MAX : 0), width);
    return;
  }
  const auto unused = 8 * (8 - width);
  unsigned_integer(bits << unused >> unused, width);
}

void writer::type_tag(data_type x) {
  unsigned_integer(static_cast<uint16_t>(x), 2);
}

void writer::inner_tag(data_type x) {
  const auto tag = layout_of(x).inner_tag;
  if (tag != data_type::undef && (is_fixed() || x == data_type::pid))
    type_tag(tag);
}

void writer::size(uint64_t x) {
  inner_tag(data_type::size);
  unsigned_integer(x, 8);
}

void writer::string(std::string_view x) {
  if (x.size() >= std::numeric_limits<int32_t>::max()) {
    fail("a string is too long");
    return;
  }
  if (!x.empty() && std::memchr(x.data(), 0, x.size()) != nullptr) {
    fail("a string has a zero byte inside");
    return;
  }
  signed_integer(static_cast<int64_t>(x.size()) + 1, 4);
  out_.append(x);
  out_.push_back('\0');
}

void writer::string(const std::optional<std::string>& x) {
  if (x)
    string(std::string_view{*x});
  else
    null_string();
}

void writer::null_string() {
  signed_integer(0, 4);
}

void writer::key(std::string_view x) {
  if (x.size() > max_key_length)
    fail("a key has more than 511 bytes");
  string(x);
}

void writer::nspace(std::string_view x) {
  if (x.size() > max_nspace_length)
    fail("a namespace has more than 255 bytes");
  string(x);
}

void writer::blob(std::string_view x) {
  size(x.size());
  out_.append(x);
}

// -- PACK calls --------------------------------------------------------------

void writer::pack(data_type x, size_t n) {
  if (n > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    fail("a list has too many elements");
  if (rules_.described)
    type_tag(data_type::int32);
  signed_integer(static_cast<int64_t>(n), 4);
  if (rules_.described)
    type_tag(x);
  inner_tag(x);
}

void writer::packed_size(uint64_t x) {
  pack(data_type::size);
  unsigned_integer(x, 8);
}

void writer::move_to_front(size_t mark, size_t end) {
  // What goes to the front is a count or a length: a few bytes.
  char head[32];
  const auto n = out_.size() - end;
  if (n > sizeof(head)) {
    fail("a count is too long");
    return;
  }
  auto* first = out_.data() + mark;
  std::memcpy(head, out_.data() + end, n);
  std::memmove(first + n, first, end - mark);
  std::memcpy(first, head, n);
}

// -- nesting -----------------------------------------------------------------

bool writer::enter() {
  if (++depth_ > max_value_depth)
    fail("values are nested too deeply", status::out_of_resource);
  return ok();
}

} // namespace troupe::wire
