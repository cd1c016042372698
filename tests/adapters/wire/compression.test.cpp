#include "adapters/wire/compression.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

#include <cstring>

using namespace troupe;
using namespace troupe::wire;

namespace {

/// A compressed string with another length in front.
std::string announce(std::string compressed, uint32_t length) {
  std::memcpy(compressed.data(), &length, 4);
  return compressed;
}

/// A text that does not compress better than 100:1.
std::string ordinary_text(size_t size) {
  auto result = std::string{};
  for (uint32_t i = 1; result.size() < size; i = i * 1664525 + 1013904223)
    result += std::to_string(i >> 8);
  result.resize(size);
  return result;
}

} // namespace

CAF_TEST(F3.7 texts survive compression) {
  CAF_CHECK(rc::check("texts", [](const std::string& text) {
    const auto again = inflate_text(deflate_text(text));
    RC_ASSERT(static_cast<bool>(again));
    RC_ASSERT(*again == text);
  }));
  const auto text = ordinary_text(1000000);
  CAF_CHECK(inflate_text(deflate_text(text)) == text);
  // Short texts may shrink by any factor.
  const auto blank = std::string(65536, ' ');
  CAF_CHECK(inflate_text(deflate_text(blank)) == blank);
}

CAF_TEST(X17 LIM5 a text that expands beyond 100 to 1 is stopped) {
  const auto bomb = deflate_text(std::string(10000000, 'x'));
  CAF_CHECK_LESS(bomb.size(), 100000u);
  const auto x = inflate_text(bomb);
  CAF_REQUIRE(!x);
  CAF_CHECK(status_of(x.error()) == status::out_of_resource);
  // The same with a harmless length announced.
  CAF_CHECK(!inflate_text(announce(bomb, 1000)));
}

CAF_TEST(X17 LIM5 a text over 32 MiB is stopped) {
  const auto text = ordinary_text(max_inflated_size);
  const auto longest = deflate_text(text);
  CAF_CHECK(inflate_text(longest) == text);
  CAF_CHECK(!inflate_text(announce(longest, max_inflated_size + 1)));
  CAF_CHECK(!inflate_text(announce(longest, UINT32_MAX)));
}

CAF_TEST(X17 a text of another length than announced is refused) {
  const auto x = deflate_text("hello");
  CAF_CHECK(inflate_text(x) == std::string{"hello"});
  CAF_CHECK(!inflate_text(announce(x, 4)));
  CAF_CHECK(!inflate_text(announce(x, 6)));
  CAF_CHECK(!inflate_text(x + "more"));
  for (size_t n = 0; n < x.size(); ++n)
    CAF_CHECK(!inflate_text(x.substr(0, n)));
}

CAF_TEST(X17 damaged streams are refused) {
  const auto x = deflate_text(ordinary_text(1000));
  for (size_t i = 4; i < x.size(); ++i) {
    auto y = x;
    y[i] = static_cast<char>(y[i] ^ 0x55);
    const auto text = inflate_text(y);
    CAF_CHECK(!text || text->size() == 1000);
  }
}
