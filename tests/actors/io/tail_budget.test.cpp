// What the streams of a node hold, all together.

#include "actors/io/tail_budget.hpp"

#include "tests/test.hpp"

#include <algorithm>
#include <map>

using namespace troupe;

namespace {

constexpr auto all = tail_budget::all;

/// Streams that do what they are told.
struct world {
  struct stream {
    size_t held = 0;
    size_t needed = 0;
    size_t keep = all;
  };

  tail_budget uut{800};
  std::map<uint64_t, stream> streams;

  void add(uint64_t id) {
    uut.add(id);
    streams[id] = {};
  }

  /// @param needed Whether a sink that blocks has to get it.
  void grow(uint64_t id, size_t by, bool needed = false) {
    auto& x = streams[id];
    x.held += by;
    x.needed += needed ? by : 0;
    cut(id);
  }

  void take(uint64_t id) {
    streams[id].needed = 0;
    cut(id);
  }

  void cut(uint64_t id) {
    auto& x = streams[id];
    x.held = std::max(x.needed, std::min(x.held, x.keep));
    uut.set(id, x.held, x.needed);
  }

  std::map<uint64_t, size_t> settle() {
    auto result = std::map<uint64_t, size_t>{};
    for (const auto& x : uut.settle()) {
      result[x.stream] = x.keep;
      streams[x.stream].keep = x.keep;
      cut(x.stream);
    }
    return result;
  }
};

using cuts = std::map<uint64_t, size_t>;

} // namespace

CAF_TEST(LIM14 the longest tails are cut when all together are too long) {
  auto x = world{};
  for (uint64_t i = 1; i <= 4; ++i)
    x.add(i);
  x.grow(1, 100);
  x.grow(2, 200);
  x.grow(3, 500);
  CAF_CHECK(x.settle().empty());
  x.grow(4, 400);
  // 700 are left to share: 100 and 200 stay as they are.
  CAF_CHECK((x.settle() == cuts{{3, 200}, {4, 200}}));
  CAF_CHECK_EQUAL(x.uut.held(), 700u);
  CAF_CHECK(x.settle().empty());
}

CAF_TEST(LIM14 tails grow again once half of the room is free) {
  auto x = world{};
  x.add(1);
  x.add(2);
  x.grow(1, 500);
  x.grow(2, 400);
  CAF_CHECK((x.settle() == cuts{{1, 350}, {2, 350}}));
  x.uut.remove(1);
  CAF_CHECK((x.settle() == cuts{{2, all}}));
  CAF_CHECK(x.settle().empty());
}

CAF_TEST(LIM14 what waits for sinks and cannot be cut is not cut in vain) {
  auto uut = tail_budget{800};
  uut.add(1);
  uut.set(1, 900, 900);
  CAF_CHECK(uut.settle().empty());
  // A stream that is gone, and a part that is more than the whole.
  uut.set(7, 900, 0);
  uut.set(1, 0, 900);
  CAF_CHECK_EQUAL(uut.held(), 0u);
  uut.add(2);
  uut.set(2, 700, 0);
  CAF_CHECK(uut.settle().empty());
}

CAF_TEST(LIM14 tails make room for what sinks that block have to get) {
  auto x = world{};
  for (uint64_t i = 1; i <= 3; ++i)
    x.add(i);
  x.grow(1, 300);
  x.grow(2, 300);
  x.grow(3, 400, true);
  // 700 in all, 400 of them needed.
  CAF_CHECK((x.settle() == cuts{{1, 150}, {2, 150}}));
  CAF_CHECK_EQUAL(x.uut.held(), 700u);
  // More than the limit is needed: an eighth of it is kept all the same.
  x.grow(3, 500, true);
  CAF_CHECK((x.settle() == cuts{{1, 50}, {2, 50}}));
  CAF_CHECK_EQUAL(x.uut.held(), 1000u);
  // It is a tail like the others when it has been got.
  x.take(3);
  CAF_CHECK((x.settle() == cuts{{3, 600}}));
  CAF_CHECK_EQUAL(x.uut.held(), 700u);
}

CAF_TEST(LIM14 while more is needed than there is room it is not counted anew) {
  auto uut = tail_budget{800};
  for (uint64_t i = 1; i <= 3; ++i)
    uut.add(i);
  uut.set(1, 900, 900);
  CAF_CHECK(uut.settle().empty());
  // Tails grow by an eighth of the limit before they are cut.
  uut.set(2, 100, 0);
  CAF_CHECK(uut.settle().empty());
  uut.set(3, 20, 0);
  const auto found = uut.settle();
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK_EQUAL(found[0].stream, 2u);
  CAF_CHECK_EQUAL(found[0].keep, 80u);
}
