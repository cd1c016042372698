// Lists of numbers as ranges.

#include "actors/jobs/number_list.hpp"

#include "tests/test.hpp"

using namespace troupe;

CAF_TEST(numbers become ranges) {
  CAF_CHECK_EQUAL(to_ranges({}), "");
  CAF_CHECK_EQUAL(to_ranges({7}), "7");
  CAF_CHECK_EQUAL(to_ranges({0, 1, 2, 3}), "0-3");
  CAF_CHECK_EQUAL(to_ranges({8, 3, 2, 0, 1, 3}), "0-3,8");
  CAF_CHECK_EQUAL(to_ranges({0, 2, 4}), "0,2,4");
  CAF_CHECK_EQUAL(to_ranges({4294967294, 4294967295}), "4294967294-4294967295");
}

CAF_TEST(MAP-7 ranges become numbers) {
  const auto numbers = [](const char* text) {
    const auto result = parse_numbers(text);
    return result ? to_ranges(*result) : std::string{"none"};
  };
  CAF_CHECK_EQUAL(numbers("0-3,5"), "0-3,5");
  CAF_CHECK_EQUAL(numbers("7"), "7");
  CAF_CHECK((*parse_numbers("5,1-2") == std::vector<uint32_t>{5, 1, 2}));
  for (const auto* wrong : {"", ",", "1,", "a", "3-1", "-1", "1-", "1 2", "0x1",
                            "65536", "0-65535,1", "4294967296"})
    CAF_CHECK_EQUAL(numbers(wrong), "none");
}
