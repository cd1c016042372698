#include "adapters/wire/frame.hpp"

#include "messages/status.hpp"
#include "tests/adapters/wire/captures.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::wire;
using namespace troupe::wire::test;

namespace {

// Written down by hand from the drawing in the header.
const auto golden = from_hex("ffffffff" // index -1
                             "00000065" // tag 101
                             "00000102" // length 258
                             "00000000");

std::string header_with_length(const char* hex) {
  return from_hex(std::string{"0000000000000065"} + hex + "00000000");
}

} // namespace

CAF_TEST(F3 a header has exactly these bytes) {
  const auto bytes = encode_header({-1, 101, 258}, byte_order::network);
  CAF_CHECK_EQUAL(std::string(bytes.data(), bytes.size()), golden);
  const auto x = decode_header(golden, byte_order::network);
  CAF_CHECK_EQUAL(x.peer, -1);
  CAF_CHECK_EQUAL(x.tag, 101u);
  CAF_CHECK_EQUAL(x.length, 258u);
  // As the greeting of a little-endian client begins.
  const auto hello = from_hex("ffffffffffffffff3100000000000000");
  CAF_CHECK_EQUAL(decode_header(hello, byte_order::host).length, 49u);
}

CAF_TEST(F3 a frame is written in place) {
  auto out = std::string{"before"};
  const auto start = begin_frame(out, 101);
  out += "payload";
  CAF_CHECK(!end_frame(out, start));
  CAF_CHECK(!append_frame(out, tag_event, ""));
  auto reader = frame_reader{};
  reader.push(std::string_view{out}.substr(6));
  const auto first = reader.next();
  CAF_REQUIRE(first);
  CAF_CHECK_EQUAL(first->tag, 101u);
  CAF_CHECK_EQUAL(first->payload, "payload");
  const auto second = reader.next();
  CAF_REQUIRE(second);
  CAF_CHECK_EQUAL(second->tag, tag_event);
  CAF_CHECK_EQUAL(second->payload, "");
  CAF_CHECK(!reader.next());
}

CAF_TEST(L3 a message over the limit is not written) {
  auto out = std::string{"before"};
  const auto start = begin_frame(out, 101);
  out.append(max_message_size + 1, 'x');
  CAF_CHECK(end_frame(out, start));
  CAF_CHECK_EQUAL(out, "before");
}

CAF_TEST(X13 LIM3 F3.16 a length over the limit is an error before memory is reserved) {
  for (const auto* length : {"ffffffff", "80000000", "02000001"}) {
    auto reader = frame_reader{};
    reader.push(header_with_length(length));
    CAF_CHECK(!reader.next());
    CAF_REQUIRE(reader.failure());
    CAF_CHECK(status_of(reader.failure()) == status::invalid_length);
    CAF_CHECK_LESS(reader.capacity(), 65536u);
    // It stays bad, and takes nothing more.
    reader.push(std::string(100000, 'x'));
    CAF_CHECK(!reader.next());
    CAF_CHECK_LESS(reader.capacity(), 65536u);
  }
}

CAF_TEST(X13 a length of 0 is a frame without payload) {
  auto reader = frame_reader{};
  reader.push(header_with_length("00000000"));
  const auto x = reader.next();
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->tag, 101u);
  CAF_CHECK(x->payload.empty());
  CAF_CHECK(!reader.failure());
}

CAF_TEST(X13 LIM3 memory follows the bytes that are there) {
  auto reader = frame_reader{};
  reader.push(header_with_length("02000000"));
  CAF_CHECK(!reader.next());
  CAF_CHECK_LESS(reader.capacity(), 65536u);
  auto sent = size_t{0};
  const auto chunk = std::string(10000, 'x');
  while (sent < 1000000) {
    reader.push(chunk);
    sent += chunk.size();
    CAF_CHECK(!reader.next());
    CAF_CHECK_LESS_OR_EQUAL(reader.capacity(), 65536 + 2 * sent);
  }
  CAF_CHECK_EQUAL(reader.pending(), sent + frame_header_size);
}

CAF_TEST(I18 a long frame is not copied in order to grow) {
  constexpr auto length = size_t{20} << 20;
  auto reader = frame_reader{};
  reader.push(header_with_length("01400000"));
  const auto chunk = std::string(size_t{64} << 10, 'x');
  auto whole = std::optional<frame>{};
  for (auto sent = chunk.size(); !whole; sent += chunk.size()) {
    CAF_REQUIRE_LESS_OR_EQUAL(sent, length);
    const auto before = reader.capacity();
    reader.push(chunk);
    // What grows from a quarter on would be there twice.
    if (sent > length / 4 + chunk.size())
      CAF_CHECK_EQUAL(reader.capacity(), before);
    whole = reader.next();
    CAF_CHECK_LESS_OR_EQUAL(reader.capacity(), 4 * sent + 2 * chunk.size());
  }
  CAF_CHECK_EQUAL(whole->payload.size(), length);
  CAF_CHECK_LESS(reader.capacity(), length + (size_t{1} << 20));
}

CAF_TEST(I18 a long payload is given away with its memory) {
  auto reader = frame_reader{};
  auto out = std::string{};
  const auto text = std::string(1000000, 'x');
  CAF_REQUIRE(!append_frame(out, 101, text));
  CAF_REQUIRE(!append_frame(out, 102, "behind"));
  reader.push(out.substr(0, out.size() - 3));
  const auto first = reader.next();
  CAF_REQUIRE(first);
  const auto* where = first->payload.data();
  const auto taken = reader.give_away(*first);
  CAF_CHECK(taken.substr(taken.size() - text.size()) == text);
  CAF_CHECK(taken.data() + taken.size() - text.size() == where);
  CAF_CHECK_LESS(reader.capacity(), 65536u);
  // What came after it is still there.
  CAF_CHECK(!reader.next());
  reader.push(out.substr(out.size() - 3));
  const auto second = reader.next();
  CAF_REQUIRE(second);
  CAF_CHECK_EQUAL(second->tag, 102u);
  CAF_CHECK_EQUAL(reader.give_away(*second), "behind");
  CAF_CHECK(!reader.next());
  CAF_CHECK(!reader.failure());
}

CAF_TEST(F3 an idle reader holds no large buffer) {
  auto reader = frame_reader{};
  auto out = std::string{};
  CAF_REQUIRE(!append_frame(out, 101, std::string(1000000, 'x')));
  reader.push(out);
  CAF_CHECK(reader.next());
  CAF_CHECK(!reader.next());
  CAF_CHECK_LESS_OR_EQUAL(reader.capacity(), kept_buffer_size);
}
