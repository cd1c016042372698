// What real libraries and servers said to each other, through our codec and
// back again.

#include "tests/adapters/wire/captures.hpp"

#include "tests/test.hpp"

#include <memory>

using namespace troupe;
using namespace troupe::wire;
using namespace troupe::wire::test;

namespace {

/// All captures; they are read once.
const std::vector<capture>& captures() {
  static const auto result = read_captures(TROUPE_CAPTURES);
  return result;
}

/// Whether `again` says the same as the cut message `part`. Two things are
/// forgiven: a greeting may have one byte too many, whatever it is, and a reply
/// may lack counts at its end.
bool says_the_same(message_kind kind, std::string_view part,
                   std::string_view again) {
  if (kind == message_kind::hello && !part.empty()) {
    part.remove_suffix(1);
    return again.substr(0, part.size()) == part;
  }
  return kind == message_kind::reply ? again.substr(0, part.size()) == part
                                     : again == part;
}

std::string reason(const caf::expected<std::string>& x) {
  return x ? std::string{} : reason_of(x.error());
}

} // namespace

CAF_TEST(F3.1 F3.2 F3.3 F3.4 F3.8 every captured message decodes and encodes to the same bytes) {
  auto messages = size_t{0};
  for (const auto& capture : captures()) {
    for (const auto& x : capture.messages) {
      ++messages;
      const auto again = recode(x, x.payload);
      CAF_MESSAGE(capture.name << ": " << x.comment << reason(again));
      CAF_REQUIRE(again);
      CAF_CHECK_EQUAL(to_hex(*again), to_hex(x.payload));
    }
  }
  CAF_CHECK_EQUAL(captures().size(), 28u);
  CAF_CHECK_GREATER(messages, 600u);
}

// A shorter message may be whole as well (a commit of fewer blocks, a get
// without a key): then it is exactly what its bytes say.
CAF_TEST(X16 F3.11 a message cut at any offset is an error or a whole message) {
  auto cuts = size_t{0};
  for (const auto& capture : captures()) {
    for (const auto& x : capture.messages) {
      for (size_t n = 0; n < x.payload.size(); ++n) {
        // Of its own size, so that a sanitizer sees what is read past the end.
        const auto part = std::make_unique<char[]>(n);
        std::copy_n(x.payload.data(), n, part.get());
        const auto view = std::string_view{part.get(), n};
        const auto again = recode(x, view);
        if (again && !says_the_same(x.kind, view, *again)) {
          CAF_MESSAGE(capture.name << ": " << x.comment << "cut at " << n);
          CAF_CHECK_EQUAL(to_hex(*again), to_hex(view));
        }
        ++cuts;
      }
    }
  }
  CAF_CHECK_GREATER(cuts, 30000u);
}

CAF_TEST(X16 F3.11 a frame waits for its last byte however it is cut) {
  for (const auto& capture : captures()) {
    auto stream = std::string{};
    auto expected = std::vector<std::string>{};
    for (const auto& x : capture.messages) {
      if (x.kind != message_kind::hello
          && x.kind != message_kind::connect_reply) {
        stream += x.bytes;
        expected.push_back(x.payload);
      }
    }
    for (auto step : {1, 7, 16, 4096}) {
      auto reader = frame_reader{};
      auto payloads = std::vector<std::string>{};
      for (size_t i = 0; i < stream.size(); i += step) {
        reader.push(std::string_view{stream}.substr(i, step));
        while (const auto frame = reader.next())
          payloads.emplace_back(frame->payload);
      }
      CAF_CHECK(!reader.failure());
      CAF_CHECK_EQUAL(reader.pending(), 0u);
      CAF_CHECK(payloads == expected);
    }
  }
}
