// Which events of which node have a place, against a table of all nodes.

#include "actors/mesh/exchange/origin_marks.hpp"

#include "tests/test.hpp"

#include <map>
#include <random>
#include <set>

using namespace troupe;

CAF_TEST(SEQ-2 marks say of each node what a table does) {
  struct last_of {
    uint64_t incarnation = 0;
    uint64_t number = 0;
    uint64_t place = 0;
  };
  auto dice = std::mt19937{7};
  auto uut = origin_marks{};
  auto model = std::map<uint32_t, last_of>{};
  constexpr auto nodes = uint32_t{40};
  for (uint64_t place = 1; place < 5000; ++place) {
    const auto rank = static_cast<uint32_t>(dice() % nodes);
    const auto count = 1 + static_cast<uint32_t>(dice() % (nodes - rank));
    const auto x = event_origin{rank, dice() % 2, 1 + dice() % 50,
                                dice() % 2 == 0 ? 1 : count};
    // As it is in a stream: some row, at some number.
    auto expected = std::set<uint64_t>{};
    for (auto i = x.rank; i < x.rank + x.count; ++i)
      if (const auto known = model.find(i);
          known != model.end() && known->second.incarnation == x.incarnation
          && known->second.number >= x.number)
        expected.insert(known->second.place);
    CAF_REQUIRE_EQUAL(uut.has(x), !expected.empty());
    const auto found = uut.place_from(x);
    CAF_REQUIRE_EQUAL(found.has_value(), !expected.empty());
    if (found)
      CAF_REQUIRE_EQUAL(expected.count(*found), 1u);
    uut.set(x, place);
    for (auto i = x.rank; i < x.rank + x.count; ++i)
      model[i] = {x.incarnation, x.number, place};
    CAF_REQUIRE(uut.size() <= model.size());
  }
}

CAF_TEST(SEQ-2 marks of many in a row are one and at most as many as nodes) {
  auto uut = origin_marks{};
  uut.set({0, 0, 1, 1u << 20}, 1);
  CAF_CHECK_EQUAL(uut.size(), 1u);
  // Rows of all lengths, again and again: what is covered goes.
  for (uint64_t i = 0; i < 10000; ++i)
    uut.set({static_cast<uint32_t>(i % 7), 0, 2 + i,
             1 + static_cast<uint32_t>(i % 5)},
            2 + i);
  CAF_CHECK(uut.size() <= 7u + 5u);
  // The last ranks that there are, and nobody.
  uut.set({UINT32_MAX - 1, 0, 1, 2}, 1);
  CAF_CHECK(uut.has({UINT32_MAX, 0, 1, 1}));
  CAF_CHECK(!uut.has({UINT32_MAX, 0, 2, 1}));
  CAF_CHECK(!uut.has({UINT32_MAX, 0, 1, 0}));
  const auto before = uut.size();
  uut.set({3000000, 0, 1, 0}, 1);
  CAF_CHECK_EQUAL(uut.size(), before);
}
