#include "messages/bounded_codec.hpp"

#include "messages/actors.hpp"
#include "messages/enum_limits.hpp"
#include "tests/test.hpp"

#include <map>
#include <set>

using namespace troupe;
using namespace std::string_literals;

namespace {

struct sample {
  bool flag = false;
  int32_t small = 0;
  int64_t wide = 0;
  uint64_t number = 0;
  double real = 0;
  std::string text;
  std::vector<bool> bits;
  std::vector<std::string> lines;
  std::map<std::string, uint32_t> table;
  std::set<uint16_t> set;
  std::optional<uint32_t> maybe;
  std::variant<std::monostate, std::string, proc_id> either;
  std::chrono::nanoseconds span{0};
  std::array<uint8_t, 4> token{};
};

TROUPE_MESSAGE(sample, x.flag, x.small, x.wide, x.number, x.real, x.text,
               x.bits, x.lines, x.table, x.set, x.maybe, x.either, x.span,
               x.token)

sample full() {
  auto x = sample{};
  x.flag = true;
  x.small = -7;
  x.wide = std::numeric_limits<int64_t>::min();
  x.number = UINT64_MAX;
  x.real = -0.25;
  x.text = "with\0zero"s;
  x.bits = {true, false, true, true, false, false, true, false, true};
  x.lines = {"", "a", std::string(300, 'x')};
  x.table = {{"one", 1}, {"two", 2}};
  x.set = {1, 500, 65535};
  x.maybe = 12;
  x.either = proc_id{"job", 3};
  x.span = std::chrono::hours{-2};
  x.token = {1, 2, 254, 255};
  return x;
}

template <class T>
bool survives(const T& x) {
  const auto y = decode<T>(encode(x));
  return y && *y == x;
}

template <class T>
bool is_refused(const std::string& bytes) {
  return !decode<T>(bytes);
}

value nested(int depth) {
  auto x = value::uint32(1);
  for (auto i = 1; i < depth; ++i)
    x = value::array(data_type::value, {std::move(x)});
  return x;
}

} // namespace

CAF_TEST(what is encoded is decoded) {
  CAF_CHECK(survives(full()));
  CAF_CHECK(survives(sample{}));
  CAF_CHECK(survives(nested(max_value_depth)));
  for (auto x : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{1} << 63,
                 UINT64_MAX})
    CAF_CHECK(survives(x));
  for (auto x : {int64_t{0}, int64_t{-1}, int64_t{63}, int64_t{-64},
                 std::numeric_limits<int64_t>::max(),
                 std::numeric_limits<int64_t>::min()})
    CAF_CHECK(survives(x));
  CAF_CHECK(survives(ack{}));
}

CAF_TEST(the bytes are these) {
  CAF_CHECK_EQUAL(encode(proc_id{"j", 1}), "\x01j\x01"s);
  CAF_CHECK_EQUAL(encode(uint32_t{300}), "\xac\x02"s);
  CAF_CHECK_EQUAL(encode(int32_t{-1}), "\x01"s);
  CAF_CHECK_EQUAL(encode(std::vector<bool>{true, false, true}), "\x03\x05"s);
  CAF_CHECK_EQUAL(encode(std::optional<uint8_t>{}), "\0"s);
}

CAF_TEST(X16 a message cut at any offset is refused) {
  const auto bytes = encode(full());
  for (size_t i = 0; i < bytes.size(); ++i)
    CAF_CHECK(is_refused<sample>(bytes.substr(0, i)));
}

CAF_TEST(X44 bytes after the end are refused) {
  CAF_CHECK(is_refused<sample>(encode(full()) + '\0'));
  CAF_CHECK(is_refused<ack>("\0"s));
}

CAF_TEST(X44 a count of more elements than bytes is refused) {
  // 2^60, as a count, before nothing.
  const auto huge = encode(uint64_t{1} << 60);
  CAF_CHECK(is_refused<std::string>(huge));
  CAF_CHECK(is_refused<std::vector<uint64_t>>(huge));
  CAF_CHECK(is_refused<std::vector<ack>>(huge));
  CAF_CHECK(is_refused<std::vector<bool>>(huge));
  CAF_CHECK((is_refused<std::map<std::string, std::string>>(huge)));
  CAF_CHECK(is_refused<std::vector<std::string>>("\x05\0\0\0\0"s));
  CAF_CHECK((decode<std::vector<std::string>>("\x04\0\0\0\0"s)->size() == 4));
}

CAF_TEST(X14 a value nested too deeply is refused) {
  CAF_CHECK(is_refused<value>(encode(nested(max_value_depth + 1))));
  // An array in an array, 10^5 times: as many bytes as it says.
  const auto one = encode(nested(2));
  const auto none = encode(nested(1));
  const auto shell = one.substr(0, one.size() - none.size());
  auto bytes = std::string{};
  for (auto i = 0; i < 100'000; ++i)
    bytes += shell;
  CAF_CHECK(is_refused<value>(bytes + none));
}

CAF_TEST(X15 an alternative or a value that does not exist is refused) {
  using choice = std::variant<bool, std::string>;
  CAF_CHECK(is_refused<choice>("\x02\0"s));
  CAF_CHECK(is_refused<bool>("\x02"s));
  CAF_CHECK(is_refused<std::optional<bool>>("\x02\x01"s));
  CAF_CHECK(is_refused<collective_kind>("\x03"s));
  CAF_CHECK(is_refused<node_state>("\x04"s));
  CAF_CHECK(is_refused<traffic_class>("\x07"s));
  CAF_CHECK(decode<traffic_class>("\x06"s).engaged());
  // What programs may say is passed on.
  CAF_CHECK(decode<data_range>("\x63"s).engaged());
}

CAF_TEST(a number is written in one way) {
  CAF_CHECK(is_refused<uint64_t>("\x80\0"s));
  CAF_CHECK(is_refused<uint64_t>(std::string(10, '\x80') + '\x01'));
  CAF_CHECK(is_refused<uint64_t>(std::string(9, '\xff') + '\x02'));
  CAF_CHECK(is_refused<uint32_t>(encode(uint64_t{1} << 32)));
  CAF_CHECK(is_refused<int32_t>(encode(int64_t{1} << 31)));
  CAF_CHECK(is_refused<std::vector<bool>>("\x01\x03"s));
}

CAF_TEST(X44 elements take no more memory than their bytes justify) {
  // 16 MiB of empty lists, which would be 24 bytes each, and values more.
  const auto count = size_t{16} << 20;
  const auto bytes = encode(uint64_t{count}) + std::string(count, '\0');
  CAF_CHECK(is_refused<std::vector<std::vector<uint64_t>>>(bytes));
  CAF_CHECK(decode<std::string>(bytes).engaged());
}
