// Calls of several nodes become one entry: which do, and what that costs.

#include "actors/mesh/exchange/call_merger.hpp"

#include "actors/groups/group_callers.hpp"
#include "actors/mesh/exchange/event_origins.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

using namespace troupe;

namespace {

/// What a process of this rank calls, on the node of the same rank.
event_submission call_of(uint32_t rank,
                         group_operation operation = group_operation::construct,
                         bool posts = false) {
  auto caller = group_caller{{"job", rank}, {}, {}};
  if (posts)
    caller.posted.push_back({"key", value::uint32(rank)});
  auto entry = group_entry{};
  entry.group = {"grp", 7, 1};
  entry.what = group_calls{operation, {}, {caller}};
  auto result = event_submission{};
  result.what = {rank, 0, 1, std::move(entry)};
  return result;
}

struct merged {
  std::vector<event_submission> entries;
  uint64_t looked_at = 0;

  std::vector<uint32_t> nodes_of(size_t entry) const {
    auto result = std::vector<uint32_t>{};
    for (const auto& x : origins_of(entries[entry].what))
      for (uint32_t i = 0; i < x.count; ++i)
        result.push_back(x.rank + i);
    return result;
  }
};

merged merge(call_merger::list all, const std::set<uint32_t>& have_place = {}) {
  auto result = merged{};
  auto uut = call_merger{};
  uut.run(
    std::move(all),
    [&](const ordered_event& x) {
      return any_origin(
        x, [&](const event_origin& y) { return have_place.count(y.rank) > 0; });
    },
    [&](event_submission x) { result.entries.push_back(std::move(x)); });
  result.looked_at = uut.looked_at();
  return result;
}

/// Calls of so many nodes, in any order.
call_merger::list calls_of_all(uint32_t count, bool post) {
  auto ranks = std::vector<uint32_t>(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  std::shuffle(ranks.begin(), ranks.end(), std::mt19937{count});
  auto result = call_merger::list{};
  for (const auto rank : ranks)
    result.push_back(call_of(rank, group_operation::construct, post));
  return result;
}

using ranks = std::vector<uint32_t>;

} // namespace

CAF_TEST(GRP-3 the same calls of nodes that differ are one in the order of all) {
  auto all = call_merger::list{};
  for (const auto rank : {3u, 1u, 2u})
    all.push_back(call_of(rank));
  all.push_back(call_of(4, group_operation::destruct));
  // A second one of a node, and one that has its place, stay apart.
  for (const auto rank : {5u, 6u, 5u, 7u, 8u})
    all.push_back(call_of(rank));
  const auto x = merge(std::move(all), {7});
  CAF_REQUIRE_EQUAL(x.entries.size(), 6u);
  CAF_CHECK_EQUAL(x.nodes_of(0), (ranks{1, 2, 3}));
  CAF_CHECK_EQUAL(x.entries[0].also.size(), 2u);
  CAF_CHECK_EQUAL(calls_of(x.entries[0].what.what)->callers.size(), 1u);
  CAF_CHECK_EQUAL(x.nodes_of(1), (ranks{4}));
  CAF_CHECK_EQUAL(x.nodes_of(2), (ranks{5, 6}));
  CAF_CHECK_EQUAL(x.nodes_of(3), (ranks{5}));
  CAF_CHECK_EQUAL(x.nodes_of(4), (ranks{7}));
  CAF_CHECK_EQUAL(x.nodes_of(5), (ranks{8}));
}

CAF_TEST(GRP-3 any number of nodes that say the same are one entry) {
  for (const auto count : {1000u, 4096u, 4097u, 20000u}) {
    const auto x = merge(calls_of_all(count, false));
    CAF_REQUIRE_EQUAL(x.entries.size(), 1u);
    const auto& callers = calls_of(x.entries[0].what.what)->callers;
    CAF_REQUIRE_EQUAL(callers.size(), 1u);
    CAF_CHECK_EQUAL(callers[0].count, count);
    CAF_CHECK_EQUAL(x.nodes_of(0).size(), count);
    CAF_CHECK_EQUAL(x.entries[0].also.size(), count - 1);
  }
}

CAF_TEST(GRP-3 calls that differ are as many entries as they need) {
  constexpr auto count = uint32_t{3 * defaults::entry_callers};
  const auto x = merge(calls_of_all(count, true));
  auto nodes = std::set<uint32_t>{};
  for (size_t i = 0; i < x.entries.size(); ++i) {
    CAF_CHECK(calls_of(x.entries[i].what.what)->callers.size()
              <= defaults::entry_callers);
    for (const auto rank : x.nodes_of(i))
      CAF_REQUIRE(nodes.insert(rank).second);
  }
  CAF_CHECK_EQUAL(nodes.size(), count);
  CAF_CHECK_EQUAL(x.entries.size(), 3u);
}

CAF_TEST(GRP-3 what calls cost to put together grows as they do) {
  // After a loss each node of a log calls at its home by itself.
  for (const auto post : {false, true})
    for (const auto count : {64u, 1024u, 4096u, 32768u}) {
      const auto x = merge(calls_of_all(count, post));
      CAF_CHECK_GREATER_OR_EQUAL(x.looked_at, count);
      CAF_CHECK_LESS_OR_EQUAL(x.looked_at, 8 * count);
    }
}
