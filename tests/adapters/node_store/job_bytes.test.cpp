#include "adapters/node_store/job_bytes.hpp"

#include "tests/test.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace troupe;

namespace {

using texts = std::vector<std::string>;
using numbers = std::vector<uint32_t>;

const auto whole =
  join_job("level", {{7, "seven"}, {2, "two"}, {7, "again"}, {3, ""}});

/// Reads all that there is.
/// @returns how many bytes it was.
size_t read_all(const job_bytes& x) {
  auto result = x.level().size();
  for (const auto rank : x.ranks())
    for (const auto& part : x.of(rank))
      result += part.size();
  return result;
}

} // namespace

CAF_TEST(F4.43 what is known of a job and of each rank is found) {
  const auto x = job_bytes::read(whole);
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->level(), "level");
  CAF_CHECK(x->of(2) == texts{"two"});
  CAF_CHECK(x->of(3) == texts{""});
  CAF_CHECK(x->of(7) == (texts{"seven", "again"}));
  for (const auto rank : {0u, 1u, 4u, 8u, UINT32_MAX})
    CAF_CHECK(x->of(rank).empty());
  CAF_CHECK(x->ranks() == (numbers{2, 3, 7}));
}

CAF_TEST(F4.43 each of many ranks is found) {
  auto parts = std::vector<job_part>{};
  for (uint32_t rank = 0; rank < 1000; ++rank)
    parts.push_back({rank * 7919 % 1000, std::to_string(rank * 7919 % 1000)});
  const auto bytes = join_job("", std::move(parts));
  const auto x = job_bytes::read(bytes);
  CAF_REQUIRE(x);
  CAF_CHECK(x->level().empty());
  CAF_CHECK_EQUAL(x->ranks().size(), 1000u);
  for (uint32_t rank = 0; rank < 1000; ++rank)
    CAF_CHECK(x->of(rank) == texts{std::to_string(rank)});
}

CAF_TEST(F4.43 of a job without ranks there is the level) {
  const auto bytes = join_job("level", {});
  const auto x = job_bytes::read(bytes);
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->level(), "level");
  CAF_CHECK(x->of(0).empty());
  CAF_CHECK(x->ranks().empty());
}

CAF_TEST(X51 data of a job that are cut give no more than there is) {
  for (size_t n = 0; n < whole.size(); ++n) {
    // Of its own, so that a byte too many is noticed.
    const auto bytes = std::vector<char>(
      whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    if (const auto x = job_bytes::read({bytes.data(), bytes.size()}))
      CAF_CHECK(read_all(*x) < 5 + 3 + 5 + 5);
  }
}

CAF_TEST(X51 damage at any byte of the data of a job is survived) {
  for (size_t i = 0; i < whole.size(); ++i)
    for (const auto bits : {0x01, 0x80, 0xff}) {
      auto bytes = std::vector<char>(whole.begin(), whole.end());
      bytes[i] = static_cast<char>(bytes[i] ^ bits);
      if (const auto x = job_bytes::read({bytes.data(), bytes.size()}))
        CAF_CHECK(read_all(*x)
                  <= x->ranks().size() * bytes.size() + bytes.size());
    }
}

CAF_TEST(X51 parts of a job that name the same bytes again and again end) {
  auto parts = std::vector<job_part>(1000);
  parts.back().bytes = std::string(1000, 'x');
  auto bytes = join_job("", std::move(parts));
  // All places are those of the last part.
  constexpr auto head = size_t{16};
  constexpr auto place = size_t{16};
  for (size_t i = 0; i < 999; ++i)
    std::memcpy(bytes.data() + head + i * place,
                bytes.data() + head + 999 * place, place);
  const auto x = job_bytes::read(bytes);
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->ranks().size(), 1u);
  CAF_CHECK_EQUAL(x->of(0).size(), bytes.size() / 1000);
}
