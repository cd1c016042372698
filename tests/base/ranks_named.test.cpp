#include "base/ranks_named.hpp"

#include "tests/test.hpp"

using namespace troupe;

CAF_TEST(MND-A4 ranks that are named are told once and in order) {
  CAF_CHECK(ranks_named({}).empty());
  const auto found = ranks_named({{"b", 2},
                                  {"a", rank_wildcard},
                                  {"a", 7},
                                  {"b", 2},
                                  {"b", 0},
                                  {"a", 7},
                                  {"b", 2}});
  CAF_REQUIRE_EQUAL(found.size(), 2u);
  CAF_CHECK(found.at("a") == (std::vector<uint32_t>{7, rank_wildcard}));
  CAF_CHECK(found.at("b") == (std::vector<uint32_t>{0, 2}));
}
