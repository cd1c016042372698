#include "messages/rank_list.hpp"

#include "messages/bounded_codec.hpp"
#include "tests/test.hpp"

#include <random>

using namespace troupe;

namespace {

using ranks = std::vector<uint32_t>;
using runs = std::vector<rank_list::run>;

} // namespace

CAF_TEST(ranks in a row are one run) {
  const auto x = rank_list{3, 4, 5, 9, 2, 3};
  CAF_CHECK((x.runs() == runs{{3, 3}, {9, 1}, {2, 2}}));
  CAF_CHECK_EQUAL(x.size(), 6u);
  CAF_CHECK((ranks{x} == ranks{3, 4, 5, 9, 2, 3}));
  CAF_CHECK_EQUAL(x.front(), 3u);
  CAF_CHECK_EQUAL(x[3], 9u);
  CAF_CHECK_EQUAL(x[5], 3u);
  // The first place counts.
  CAF_CHECK(x.place_of(3) == size_t{0});
  CAF_CHECK(x.place_of(2) == size_t{4});
  CAF_CHECK(!x.contains(6));
  CAF_CHECK(rank_list{}.empty());
  // Behind the last number comes none.
  CAF_CHECK((rank_list{UINT32_MAX, 0}.runs() == runs{{UINT32_MAX, 1}, {0, 1}}));
}

CAF_TEST(parts of a list are those at their places) {
  auto random = std::mt19937{7};
  for (int i = 0; i < 300; ++i) {
    auto all = ranks{};
    auto next = uint32_t{0};
    for (auto n = random() % 20; n > 0; --n)
      all.push_back(next += 1 + (random() % 4 == 0));
    const auto begin = random() % (all.size() + 1);
    const auto end = begin + random() % (all.size() - begin + 1);
    const auto x = rank_list{all};
    CAF_CHECK((ranks{x.part(begin, end)}
               == ranks{all.begin() + begin, all.begin() + end}));
    auto whole = x.part(0, begin);
    whole.append(x.part(begin, all.size()));
    CAF_CHECK(whole == x);
    const auto back = decode<rank_list>(encode(x));
    CAF_CHECK(back && *back == x);
  }
}

CAF_TEST(a hundred thousand nodes in a row are a few bytes) {
  auto x = rank_list{};
  for (uint32_t i = 0; i < 100000; ++i)
    x.push_back(i);
  CAF_CHECK_LESS_OR_EQUAL(encode(x).size(), 5u);
}

CAF_TEST(X44 lists that nobody would write are refused) {
  const auto is_good = [](const runs& x) {
    return static_cast<bool>(decode<rank_list>(encode(x)));
  };
  CAF_CHECK(is_good({}));
  CAF_CHECK(is_good({{1, 2}, {4, 1}}));
  CAF_CHECK(!is_good({{1, 2}, {3, 1}}));
  CAF_CHECK(!is_good({{1, 0}}));
  CAF_CHECK(!is_good({{1, UINT32_MAX}}));
  CAF_CHECK(!is_good({{0, rank_list::max_size + 1}}));
  CAF_CHECK(!is_good({{0, rank_list::max_size}, {0, 1}}));
  CAF_CHECK(is_good({{0, rank_list::max_size}}));
}
