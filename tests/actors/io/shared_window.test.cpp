// What streams have unanswered, all together.

#include "actors/io/shared_window.hpp"

#include "config/defaults.hpp"
#include "tests/test.hpp"

#include <vector>

using namespace troupe;

namespace {

constexpr size_t total = size_t{1} << 20;
constexpr size_t window = size_t{256} << 10;
constexpr auto least = defaults::io_window_least;

struct world {
  std::shared_ptr<shared_window> all = std::make_shared<shared_window>(total);
  std::vector<window_share> streams;

  window_share& add() {
    return streams.emplace_back(all);
  }

  /// A stream whose reader sleeps: it sends all that it may.
  window_share& add_blocked() {
    auto& x = add();
    for (auto n = x.room(window); n > 0; n = x.room(window))
      x.take(n);
    return x;
  }
};

} // namespace

CAF_TEST(LIM14 a stream alone has its window) {
  auto x = world{};
  CAF_CHECK_EQUAL(x.add_blocked().out(), window);
  auto& y = x.streams.front();
  y.give_back(window / 2);
  CAF_CHECK_EQUAL(y.room(window), window / 2);
  CAF_CHECK_EQUAL(x.all->used(), window / 2);
  // Not a message for each byte that is answered.
  y.take(window / 2 - 1);
  CAF_CHECK_EQUAL(y.room(window), 0u);
}

CAF_TEST(LIM14 streams that wait share the total and leave room for one more) {
  auto x = world{};
  for (size_t i = 0; i < 300; ++i)
    x.add_blocked();
  CAF_CHECK(x.all->used() <= total + 300 * least);
  for (const auto& y : x.streams)
    CAF_CHECK(y.out() >= least);
  auto few = world{};
  for (size_t i = 0; i < 6; ++i)
    few.add_blocked();
  CAF_CHECK(few.all->used() < total);
  CAF_CHECK(few.add().room(window) > least);
}

CAF_TEST(I18 LIM14 a stream goes on by itself while 300 others are blocked) {
  auto x = world{};
  for (size_t i = 0; i < 300; ++i)
    x.add_blocked();
  auto& y = x.add();
  const auto before = x.all->used();
  for (size_t i = 0; i < 1000; ++i) {
    const auto n = y.room(window);
    CAF_REQUIRE_EQUAL(n, least);
    y.take(n);
    CAF_CHECK_EQUAL(y.room(window), 0u);
    y.give_back(n);
  }
  CAF_CHECK_EQUAL(x.all->used(), before);
}

CAF_TEST(LIM14 what a stream had is there for others when it goes) {
  auto x = world{};
  x.add_blocked();
  x.streams.clear();
  CAF_CHECK_EQUAL(x.all->used(), 0u);
  // It moves with its owner.
  auto y = window_share{x.all};
  y.take(5000);
  auto z = std::move(y);
  CAF_CHECK_EQUAL(z.out(), 5000u);
  z = window_share{x.all};
  CAF_CHECK_EQUAL(x.all->used(), 0u);
}

CAF_TEST(LIM14 a smaller total holds for what is sent from then on) {
  auto x = world{};
  auto& y = x.add_blocked();
  x.all->set_total(64 << 10);
  CAF_CHECK_EQUAL(x.all->left(), 0u);
  CAF_CHECK_EQUAL(y.room(window), 0u);
  y.give_back(window);
  CAF_CHECK_EQUAL(y.room(window), size_t{32} << 10);
  // Answers that make no sense give nothing.
  y.give_back(window);
  CAF_CHECK_EQUAL(x.all->used(), 0u);
}

CAF_TEST(LIM14 small messages count for more than their bytes) {
  constexpr auto small = window_share::small;
  auto x = world{};
  auto& y = x.add();
  auto n = size_t{0};
  for (; y.room(window) > 0; ++n)
    y.take(1);
  CAF_CHECK_EQUAL(n, window / small);
  CAF_CHECK_EQUAL(x.all->used(), window);
  y.give_back(1);
  CAF_CHECK_EQUAL(y.room(window), small);
  // The end of a stream has no bytes.
  y.take(0);
  y.give_back(0);
  CAF_CHECK_EQUAL(x.all->used(), window - small);
}

CAF_TEST(a stream that shares with nobody has its window) {
  constexpr auto small = window_share::small;
  auto x = window_share{};
  CAF_CHECK_EQUAL(x.room(10), 10u);
  x.take(6 * small);
  CAF_CHECK_EQUAL(x.room(10 * small), 4 * small);
  CAF_CHECK_EQUAL(x.room(7 * small - 1), 0u);
  x.give_back(small);
  CAF_CHECK_EQUAL(x.room(7 * small - 1), 2 * small - 1);
}
