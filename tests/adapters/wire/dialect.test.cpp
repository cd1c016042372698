#include "adapters/wire/dialect.hpp"

#include "tests/test.hpp"

#include <set>

using namespace troupe;
using namespace troupe::wire;

namespace {

/// The types that a peer can read, as numbers.
std::set<int> types_of(packing_module module, release peer) {
  auto d = dialect{};
  d.module = module;
  d.peer = peer;
  auto result = std::set<int>{};
  for (uint16_t i = 0; i < 200; ++i)
    if (supports(d, static_cast<data_type>(i)))
      result.insert(i);
  return result;
}

/// The numbers from `first` to `last` of each pair.
std::set<int> ranges(std::initializer_list<std::pair<int, int>> pairs) {
  auto result = std::set<int>{};
  for (const auto& [first, last] : pairs)
    for (auto i = first; i <= last; ++i)
      result.insert(i);
  return result;
}

} // namespace

CAF_TEST(F3 each module has its types) {
  using m = packing_module;
  const auto old = release{4, 2, 2};
  const auto young = release{6, 1, 0};
  CAF_CHECK(types_of(m::v21, {3, 2, 5})
            == ranges({{1, 28}, {30, 30}, {32, 41}, {43, 44}}));
  CAF_CHECK(types_of(m::v3, {3, 2, 5})
            == ranges({{1, 28}, {30, 30}, {32, 41}, {43, 46}}));
  CAF_CHECK(types_of(m::v4, old) == ranges({{1, 28}, {30, 43}, {45, 59}}));
  CAF_CHECK(types_of(m::v41, old) == ranges({{1, 28}, {30, 43}, {45, 69}}));
  CAF_CHECK(types_of(m::v41, young)
            == ranges({{1, 28}, {30, 43}, {45, 60}, {65, 69}}));
  CAF_CHECK(types_of(m::v51, young)
            == ranges({{1, 28}, {30, 43}, {45, 60}, {65, 72}}));
  CAF_CHECK(types_of(m::v61, young)
            == ranges({{1, 28}, {30, 43}, {45, 60}, {65, 73}}));
}

CAF_TEST(F3 modules go by their names) {
  for (auto x : all_modules)
    CAF_CHECK(parse_module(to_string(x)) == x);
  for (const auto* name : {"", "v12", "v20", "v", "v411", "V41"})
    CAF_CHECK(!parse_module(name));
}

CAF_TEST(F3.3 F3.4 F3.5 what depends on the release) {
  CAF_CHECK(group_layout_of({4, 1, 2}) == group_layout::context_id);
  CAF_CHECK(group_layout_of({4, 2, 3}) == group_layout::context_id);
  CAF_CHECK(group_layout_of({4, 2, 4}) == group_layout::members);
  CAF_CHECK(group_layout_of({5, 0, 10}) == group_layout::members);
  CAF_CHECK(group_layout_of({6, 0, 0}) == group_layout::members_and_infos);
  CAF_CHECK(!destructs_with_members({4, 2, 3}));
  CAF_CHECK(destructs_with_members({4, 2, 4}));
}
