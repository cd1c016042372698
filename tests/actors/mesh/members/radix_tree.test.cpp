// The tree of daemons against a model that builds every seat, child list and
// subtree explicitly, on all sizes where trees break and with random deaths.

#include "actors/mesh/members/radix_tree.hpp"

#include "tests/test.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <random>

using namespace troupe;

namespace {

using ranks = std::vector<uint32_t>;

/// What the tree must be, made by hand: seats are filled breadth first, the
/// absent are replaced from the leaves upwards.
struct model {
  model(uint32_t size, uint32_t radix, const std::set<uint32_t>& absent)
    : below(size), occupant(size, -1), parent(size, -1) {
    auto open = std::deque<uint32_t>{0};
    auto next = uint32_t{1};
    while (!open.empty()) {
      const auto seat = open.front();
      open.pop_front();
      for (auto i = uint32_t{0}; i < radix && next < size; ++i) {
        below[seat].push_back(next);
        open.push_back(next++);
      }
    }
    for (auto seat = size; seat-- > 0;) {
      if (absent.count(seat) == 0)
        occupant[seat] = seat;
      for (const auto x : below[seat])
        if (occupant[seat] < 0)
          occupant[seat] = occupant[x];
    }
    for (auto seat = uint32_t{0}; seat < size; ++seat)
      for (const auto x : below[seat])
        if (occupant[x] >= 0 && occupant[x] != occupant[seat])
          parent[static_cast<size_t>(occupant[x])] = occupant[seat];
  }

  ranks children(uint32_t x) const {
    auto result = ranks{};
    for (auto i = uint32_t{0}; i < parent.size(); ++i)
      if (parent[i] == static_cast<int64_t>(x))
        result.push_back(i);
    return result;
  }

  std::vector<bool> subtree(uint32_t x) const {
    auto result = std::vector<bool>(parent.size());
    auto open = ranks{x};
    while (!open.empty()) {
      const auto y = open.back();
      open.pop_back();
      result[y] = true;
      for (const auto child : children(y))
        open.push_back(child);
    }
    return result;
  }

  std::vector<ranks> below;
  std::vector<int64_t> occupant;
  std::vector<int64_t> parent;
};

/// A bit per rank: `x` and those below it.
std::vector<bool> subtree_of(const radix_tree& tree, uint32_t x) {
  auto result = std::vector<bool>(tree.size());
  auto open = ranks{x};
  while (!open.empty()) {
    const auto y = open.back();
    open.pop_back();
    result[y] = true;
    for (const auto child : tree.children(y))
      open.push_back(child);
  }
  return result;
}

/// Compares all that the tree says with the model.
/// @returns what differs, or nothing.
std::string differences(const radix_tree& tree,
                        const std::set<uint32_t>& absent) {
  const auto size = tree.size();
  const auto expected = model{size, tree.radix(), absent};
  auto levels = uint64_t{1};
  for (auto last = uint64_t{0}; last + 1 < size; ++levels)
    last = last * tree.radix() + tree.radix();
  for (auto x = uint32_t{0}; x < size; ++x) {
    const auto where = " of " + std::to_string(x);
    if (tree.is_present(x) == (absent.count(x) > 0))
      return "presence" + where;
    if (absent.count(x) > 0) {
      if (tree.parent(x) || !tree.children(x).empty() || tree.next_hop(0, x)
          || tree.next_hop(x, 0) || tree.is_below(x, x) || tree.is_below(x, 0))
        return "the absent" + where;
      continue;
    }
    const auto parent = tree.parent(x);
    if ((parent ? int64_t{*parent} : -1) != expected.parent[x])
      return "parent" + where;
    if (!parent && x != 0)
      return "an island" + where;
    if (tree.children(x) != expected.children(x))
      return "children" + where;
    if (tree.children(x).size() > tree.radix() * levels)
      return "too many children" + where;
    if (subtree_of(tree, x) != expected.subtree(x))
      return "subtree" + where;
    if (tree.depth(x) + 1 > levels)
      return "depth" + where;
  }
  return {};
}

/// Follows the next hops.
/// @returns the number of steps, or nothing if they lead nowhere.
std::optional<uint32_t> distance(const radix_tree& tree, uint32_t from,
                                 uint32_t to) {
  auto steps = uint32_t{0};
  for (auto x = from; x != to; ++steps) {
    const auto next = tree.next_hop(x, to);
    if (!next || !tree.is_present(*next) || steps > tree.size())
      return std::nullopt;
    // Only along an edge.
    if (tree.parent(x) != *next && tree.parent(*next) != x)
      return std::nullopt;
    x = *next;
  }
  return steps;
}

/// The sizes at which a level is full, and those beside.
std::set<uint32_t> sizes(uint32_t r) {
  return {1,
          2,
          r,
          r + 1,
          r + 2,
          r * r + r - 1,
          r * r + r,
          r * r + r + 1,
          r * r + r + 2};
}

} // namespace

CAF_TEST(a full level is followed by the next one) {
  const auto deepest = [](uint32_t size, uint32_t radix) {
    return radix_tree{size, radix}.depth(size - 1);
  };
  for (const auto r : {2u, 3u, 8u, 64u}) {
    CAF_CHECK_EQUAL(deepest(r, r), 1u);
    CAF_CHECK_EQUAL(deepest(r + 1, r), 1u);
    CAF_CHECK_EQUAL(deepest(r + 2, r), 2u);
    CAF_CHECK_EQUAL(deepest(r * r + r, r), 2u);
    CAF_CHECK_EQUAL(deepest(r * r + r + 1, r), 2u);
    CAF_CHECK_EQUAL(deepest(r * r + r + 2, r), 3u);
    CAF_CHECK_EQUAL((radix_tree{r * r + r + 1, r}.children(r).size()), r);
    CAF_CHECK_EQUAL((radix_tree{r * r + r, r}.children(r).size()), r - 1);
  }
  CAF_CHECK_EQUAL(radix_tree{10}.radix(), 8u);
  CAF_CHECK_EQUAL((radix_tree{10}.children(0)),
                  (ranks{1, 2, 3, 4, 5, 6, 7, 8}));
  CAF_CHECK_EQUAL(radix_tree{10}.parent(9), 1u);
}

CAF_TEST(a tree equals its model at all sizes and any deaths) {
  auto checked = 0;
  for (const auto r : {1u, 2u, 3u, 8u})
    for (const auto size : sizes(r)) {
      auto random = std::mt19937{size * 100 + r};
      for (auto round = 0; round < 12; ++round) {
        auto tree = radix_tree{size, r};
        auto absent = std::set<uint32_t>{};
        // From nobody to nearly everybody.
        for (auto i = uint32_t{0}; i < size * round / 10; ++i) {
          const auto x = static_cast<uint32_t>(random() % size);
          CAF_CHECK_EQUAL(tree.remove(x), x != 0 && absent.count(x) == 0);
          if (x != 0)
            absent.insert(x);
        }
        const auto difference = differences(tree, absent);
        if (!difference.empty())
          CAF_FAIL("size " << size << ", radix " << r << ": " << difference);
        ++checked;
      }
    }
  CAF_CHECK(checked > 300);
}

CAF_TEST(the order of deaths and returns does not matter) {
  auto random = std::mt19937{7};
  for (auto round = 0; round < 200; ++round) {
    const auto size = static_cast<uint32_t>(2 + random() % 80);
    auto tree = radix_tree{size, static_cast<uint32_t>(1 + random() % 8)};
    auto absent = std::set<uint32_t>{};
    for (auto i = 0; i < 100; ++i) {
      const auto x = static_cast<uint32_t>(1 + random() % (size - 1));
      if (absent.erase(x) > 0)
        CAF_REQUIRE(tree.restore(x));
      else if (absent.insert(x).second)
        CAF_REQUIRE(tree.remove(x));
    }
    CAF_REQUIRE_EQUAL(differences(tree, absent), "");
  }
}

CAF_TEST(any rank reaches any other along the tree) {
  auto random = std::mt19937{11};
  for (auto round = 0; round < 100; ++round) {
    const auto size = static_cast<uint32_t>(2 + random() % 60);
    auto tree = radix_tree{size, static_cast<uint32_t>(1 + random() % 8)};
    for (auto i = random() % size; i > 0; --i)
      tree.remove(static_cast<uint32_t>(random() % size));
    for (auto from = uint32_t{0}; from < size; ++from)
      for (auto to = uint32_t{0}; to < size; ++to) {
        if (!tree.is_present(from) || !tree.is_present(to))
          continue;
        const auto steps = distance(tree, from, to);
        CAF_REQUIRE(steps.has_value());
        CAF_REQUIRE(*steps <= tree.depth(from) + tree.depth(to));
        const auto bits = subtree_of(tree, from);
        CAF_REQUIRE_EQUAL(tree.is_below(to, from), bool{bits[to]});
      }
  }
}

CAF_TEST(a death gives new parents to the children of the dead alone) {
  auto random = std::mt19937{13};
  for (auto round = 0; round < 400; ++round) {
    const auto size = static_cast<uint32_t>(3 + random() % 90);
    auto tree = radix_tree{size, static_cast<uint32_t>(1 + random() % 8)};
    for (auto i = random() % (size / 2); i > 0; --i)
      tree.remove(static_cast<uint32_t>(random() % size));
    const auto victim = static_cast<uint32_t>(1 + random() % (size - 1));
    if (!tree.is_present(victim))
      continue;
    const auto orphans = tree.children(victim);
    auto before = std::map<uint32_t, std::optional<uint32_t>>{};
    for (auto x = uint32_t{0}; x < size; ++x)
      before[x] = tree.parent(x);
    tree.remove(victim);
    for (auto x = uint32_t{0}; x < size; ++x)
      if (x != victim && tree.parent(x) != before[x])
        CAF_REQUIRE(std::count(orphans.begin(), orphans.end(), x) == 1);
    // A return puts everything back.
    tree.restore(victim);
    for (auto x = uint32_t{0}; x < size; ++x)
      CAF_REQUIRE(tree.parent(x) == before[x]);
  }
}

CAF_TEST(the first child takes the seat of the dead) {
  auto tree = radix_tree{15, 2};
  CAF_CHECK_EQUAL(tree.children(0), (ranks{1, 2}));
  tree.remove(1);
  // 3 sits on its own seat and on that of 1.
  CAF_CHECK_EQUAL(tree.children(0), (ranks{2, 3}));
  CAF_CHECK_EQUAL(tree.children(3), (ranks{4, 7, 8}));
  CAF_CHECK_EQUAL(tree.lineage(9), (ranks{4, 3, 0}));
  tree.remove(3);
  CAF_CHECK_EQUAL(tree.children(7), (ranks{4, 8}));
  CAF_CHECK_EQUAL(tree.next_hop(10, 8), 4u);
  CAF_CHECK_EQUAL(tree.next_hop(4, 8), 7u);
  CAF_CHECK_EQUAL(tree.next_hop(7, 8), 8u);
  CAF_CHECK_EQUAL(tree.next_hop(7, 13), 0u);
}

CAF_TEST(the root stays and strangers are refused) {
  auto tree = radix_tree{4, 2};
  CAF_CHECK(!tree.remove(0));
  CAF_CHECK(!tree.remove(4));
  CAF_CHECK(!tree.restore(1));
  CAF_CHECK(!tree.next_hop(0, 4));
  CAF_CHECK(!tree.next_hop(2, 2));
  CAF_CHECK(!tree.parent(0));
  CAF_CHECK(!tree.is_present(4));
  tree.grow(8);
  CAF_CHECK_EQUAL(tree.parent(7), 3u);
  tree.grow(2);
  CAF_CHECK_EQUAL(tree.size(), 8u);
  CAF_CHECK_EQUAL((radix_tree{0, 0}.size()), 1u);
}

CAF_TEST(the largest tree is cheap) {
  // A million ranks, and a root that lost all its children.
  auto tree = radix_tree{1u << 20};
  for (auto x = 1u; x <= 8; ++x)
    tree.remove(x);
  CAF_CHECK_EQUAL(tree.children(0).size(), 8u);
  CAF_CHECK_EQUAL(tree.children(0), (ranks{9, 17, 25, 33, 41, 49, 57, 65}));
  CAF_CHECK_EQUAL(tree.children(9).size(), 15u);
  CAF_CHECK(tree.depth((1u << 20) - 1) <= 7);
  // Nearly nobody is there yet.
  for (auto x = 9u; x < 100'000; ++x)
    tree.remove(x);
  CAF_CHECK(tree.depth(100'000) <= 7);
  CAF_CHECK_EQUAL(tree.children(0).size(), 8u);
}
