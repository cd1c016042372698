// A set of numbers, against the library's.

#include "actors/events/number_set.hpp"

#include "tests/test.hpp"

#include <random>
#include <set>

using namespace troupe;

CAF_TEST(a set of numbers does what a set does) {
  auto dice = std::mt19937{1};
  for (const auto range : {20u, 200u, 5000u}) {
    auto uut = number_set{};
    auto model = std::set<uint64_t>{};
    for (auto step = 0; step < 5000; ++step) {
      const auto number = uint64_t{dice() % range};
      if (dice() % 2 == 0)
        CAF_REQUIRE_EQUAL(uut.insert(number), model.insert(number).second);
      else
        CAF_REQUIRE_EQUAL(uut.erase(number), model.erase(number) > 0);
      const auto from = uint64_t{dice() % range};
      const auto i = model.lower_bound(from);
      CAF_REQUIRE_EQUAL(uut.contains(from), model.count(from) > 0);
      CAF_REQUIRE_EQUAL(uut.empty(), model.empty());
      CAF_REQUIRE_EQUAL(uut.first_from(from).value_or(range),
                        i != model.end() ? *i : range);
    }
  }
}

CAF_TEST(a set of numbers holds the greatest) {
  auto uut = number_set{};
  uut.insert(UINT64_MAX);
  CAF_CHECK(uut.first_from(UINT64_MAX) == UINT64_MAX);
  CAF_CHECK(uut.erase(UINT64_MAX));
  CAF_CHECK(uut.empty());
}
