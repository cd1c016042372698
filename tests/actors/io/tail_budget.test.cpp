// What the streams of a node hold, all together.

#include "actors/io/tail_budget.hpp"

#include "tests/test.hpp"

#include <map>

using namespace troupe;

namespace {

/// Streams that do what they are told.
struct world {
  tail_budget uut{800};
  std::map<uint64_t, size_t> held;

  void add(uint64_t stream, size_t tail) {
    uut.add(stream, tail);
    held[stream] = 0;
  }

  void grow(uint64_t stream, size_t by) {
    held[stream] += by;
    uut.change(stream, static_cast<ptrdiff_t>(by));
  }

  std::map<uint64_t, size_t> settle() {
    auto result = std::map<uint64_t, size_t>{};
    for (const auto& x : uut.settle()) {
      result[x.stream] = x.keep;
      auto& mine = held[x.stream];
      if (mine > x.keep) {
        uut.change(x.stream, -static_cast<ptrdiff_t>(mine - x.keep));
        mine = x.keep;
      }
    }
    return result;
  }
};

using cuts = std::map<uint64_t, size_t>;

} // namespace

CAF_TEST(LIM14 the longest tails are cut when all together are too long) {
  auto x = world{};
  for (uint64_t i = 1; i <= 4; ++i)
    x.add(i, 500);
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
  x.add(1, 500);
  x.add(2, 500);
  x.grow(1, 500);
  x.grow(2, 400);
  CAF_CHECK((x.settle() == cuts{{1, 350}, {2, 350}}));
  x.uut.remove(1);
  CAF_CHECK((x.settle() == cuts{{2, 500}}));
  CAF_CHECK(x.settle().empty());
}

CAF_TEST(LIM14 what waits for sinks and cannot be cut is not cut in vain) {
  auto uut = tail_budget{800};
  uut.add(1, 0);
  uut.change(1, 900);
  CAF_CHECK(uut.settle().empty());
  // A stream that is gone, and a difference that makes no sense.
  uut.change(7, 900);
  uut.change(1, -5000);
  CAF_CHECK_EQUAL(uut.held(), 0u);
}
