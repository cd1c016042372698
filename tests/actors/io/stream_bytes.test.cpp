#include "actors/io/stream_log.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr int64_t ms = 1'000'000;

/// Reads once; `offset:bytes`, or nothing.
std::string read(const stream_bytes& x, uint64_t offset, size_t size = 1000) {
  auto result = io_fragment{};
  if (!x.read(offset, size, result))
    return "";
  return std::to_string(result.offset) + ":" + result.bytes;
}

int64_t moment(const stream_bytes& x, uint64_t offset) {
  auto result = io_fragment{};
  return x.read(offset, 1, result) ? result.read_at : -1;
}

CAF_TEST(pieces are read together and from any offset) {
  stream_bytes x;
  CAF_CHECK_EQUAL(read(x, 0), "");
  x.append(0, "abc", 0);
  x.append(3, "defg", 0);
  CAF_CHECK_EQUAL(x.size(), 7u);
  CAF_CHECK_EQUAL(x.end(), 7u);
  CAF_CHECK_EQUAL(read(x, 0), "0:abcdefg");
  CAF_CHECK_EQUAL(read(x, 2, 3), "2:cde");
  CAF_CHECK_EQUAL(read(x, 6), "6:g");
  CAF_CHECK_EQUAL(read(x, 7), "");
}

CAF_TEST(a hole divides what is read and does not count as bytes) {
  stream_bytes x;
  x.append(10, "abc", 0);
  x.append(20, "defg", 0);
  CAF_CHECK_EQUAL(x.begin(), 10u);
  CAF_CHECK_EQUAL(x.size(), 7u);
  CAF_CHECK_EQUAL(read(x, 0), "10:abc");
  CAF_CHECK_EQUAL(read(x, 13), "20:defg");
  CAF_CHECK_EQUAL(x.size_from(12), 5u);
  CAF_CHECK_EQUAL(x.size_from(15), 4u);
  CAF_CHECK_EQUAL(x.last(5), 12u);
  CAF_CHECK_EQUAL(x.last(4), 20u);
  CAF_CHECK_EQUAL(x.last(0), 24u);
  CAF_CHECK_EQUAL(x.last(100), 10u);
}

CAF_TEST(what is forgotten of a piece leaves the rest as it was) {
  stream_bytes x;
  auto written = std::string{};
  for (int64_t i = 0; i < 30; ++i) {
    const auto piece = std::string(1000, static_cast<char>('a' + i % 26));
    x.append(written.size(), piece, i * 20 * ms);
    written += piece;
  }
  for (const uint64_t from : {500U, 9990U, 10000U, 10001U, 24000U, 29999U}) {
    x.cut_front(from);
    CAF_CHECK_EQUAL(x.begin(), from);
    CAF_CHECK_EQUAL(x.size(), written.size() - from);
    CAF_CHECK_EQUAL(x.last(100000), from);
    auto got = std::string{};
    auto part = io_fragment{};
    for (auto at = from; x.read(at, 100000, part); at += part.bytes.size()) {
      CAF_CHECK_EQUAL(part.offset, at);
      CAF_CHECK_EQUAL(part.read_at, static_cast<int64_t>(at / 1000) * 20 * ms);
      got += part.bytes;
    }
    CAF_CHECK(got == written.substr(from));
  }
  x.append(30000, "end", 600 * ms);
  CAF_CHECK_EQUAL(read(x, 29999), "29999:d");
  CAF_CHECK_EQUAL(read(x, 30000), "30000:end");
}

CAF_TEST(what is cut is gone to the byte) {
  stream_bytes x;
  x.append(0, std::string(20000, 'a'), 0);
  x.append(20000, std::string(20000, 'b'), 0);
  x.cut_front(19999);
  CAF_CHECK_EQUAL(x.begin(), 19999u);
  CAF_CHECK_EQUAL(x.size(), 20001u);
  CAF_CHECK_EQUAL(read(x, 0, 2), "19999:ab");
  x.cut_back(3);
  CAF_CHECK_EQUAL(read(x, 0), "19999:abb");
  CAF_CHECK_EQUAL(x.end(), 20002u);
  x.cut_front(20002);
  CAF_CHECK_EQUAL(x.size(), 0u);
  CAF_CHECK_EQUAL(x.begin(), 20002u);
  x.append(20002, "new", 0);
  CAF_CHECK_EQUAL(read(x, 0), "20002:new");
}

CAF_TEST(IO-1 cutting many pieces keeps the rest) {
  stream_bytes x;
  const auto size = stream_bytes::max_joined + 1;
  for (uint64_t i = 0; i < 100; ++i)
    x.append(i * size, std::string(size, static_cast<char>('0' + i % 10)), 0);
  for (uint64_t i = 0; i < 100; ++i) {
    CAF_CHECK_EQUAL(read(x, 0, 1), std::to_string(i * size) + ":"
                                     + static_cast<char>('0' + i % 10));
    x.cut_front((i + 1) * size);
    CAF_CHECK_EQUAL(x.size(), (99 - i) * size);
  }
}

CAF_TEST(bytes read at different moments are told apart) {
  stream_bytes x;
  x.append(0, "a", 1000 * ms);
  x.append(1, "b", 1005 * ms);
  x.append(2, "c", 1015 * ms);
  x.append(3, "d", 900 * ms);
  CAF_CHECK_EQUAL(read(x, 0), "0:ab");
  CAF_CHECK_EQUAL(read(x, 2), "2:c");
  CAF_CHECK_EQUAL(moment(x, 0), 1000 * ms);
  CAF_CHECK_EQUAL(moment(x, 1), 1000 * ms);
  CAF_CHECK_EQUAL(moment(x, 2), 1015 * ms);
  CAF_CHECK_EQUAL(moment(x, 3), 900 * ms);
}

CAF_TEST(moments are as exact when bytes are read and kept again) {
  stream_bytes first;
  first.append(1, "b", 9 * ms);
  first.append(2, "c", 17 * ms);
  stream_bytes second;
  second.append(0, "a", 1 * ms);
  auto x = io_fragment{};
  for (uint64_t from = 1; first.read(from, 8, x); from += x.bytes.size())
    second.append(x.offset, x.bytes, x.read_at);
  CAF_CHECK_EQUAL(second.size(), 3u);
  CAF_CHECK(moment(second, 2) > 7 * ms);
}

CAF_TEST(single bytes at many moments keep the latest moment) {
  stream_bytes x;
  for (int64_t i = 0; i < 5000; ++i) {
    x.append(static_cast<uint64_t>(i), "x", i * 20 * ms);
    CAF_CHECK_EQUAL(moment(x, static_cast<uint64_t>(i)), i * 20 * ms);
  }
  // What was read before something else is never shown as read after it.
  auto last = int64_t{0};
  for (uint64_t i = 0; i < 5000; ++i) {
    const auto at = moment(x, i);
    CAF_CHECK(at >= last);
    last = at;
  }
}

} // namespace
