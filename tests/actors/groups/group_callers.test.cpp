#include "actors/groups/group_callers.hpp"

#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "tests/test.hpp"

using namespace troupe;

CAF_TEST(callers in a row who say the same are one) {
  const auto asks =
    std::vector<info>{make_info(attr::timeout, value::integer(3))};
  auto x = std::vector<group_caller>{
    {{"job", 4}, asks, {}}, {{"job", 1}, {}, {}},    {{"job", 2}, {}, {}, 2},
    {{"job", 0}, {}, {}},   {{"also", 4}, asks, {}}, {{"job", 5}, asks, {}},
    {{"job", 7}, asks, {}}};
  put_together(x);
  const auto expected = std::vector<group_caller>{{{"also", 4}, asks, {}},
                                                  {{"job", 0}, {}, {}, 4},
                                                  {{"job", 4}, asks, {}, 2},
                                                  {{"job", 7}, asks, {}}};
  CAF_CHECK(x == expected);
  CAF_CHECK_EQUAL(count_of(x), 8u);
  CAF_CHECK_GREATER(bytes_of(x), 0u);
}

CAF_TEST(G6 who has posted something stands alone) {
  const auto posted =
    std::vector<key_value>{{"key", value::string(std::string(1000, 'x'))}};
  auto x = std::vector<group_caller>{
    {{"job", 2}, {}, {}}, {{"job", 1}, {}, posted}, {{"job", 0}, {}, {}}};
  put_together(x);
  CAF_REQUIRE_EQUAL(x.size(), 3u);
  CAF_CHECK(x[1].posted == posted);
  CAF_CHECK_EQUAL(x[2].proc.rank, 2u);
  CAF_CHECK_GREATER_OR_EQUAL(bytes_of(x), 1000u);
  x.clear();
  put_together(x);
  CAF_CHECK(x.empty());
}
