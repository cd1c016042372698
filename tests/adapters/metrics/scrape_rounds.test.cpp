// Scrapes that are answered together, and no more often than there is rest.

#include "adapters/metrics/scrape_rounds.hpp"

#include "adapters/loop/event_loop.hpp"
#include "tests/test.hpp"

#include <string>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 20s;

struct fixture {
  event_loop loop;
  size_t begun = 0;
  size_t made = 0;
  std::vector<std::string> told;

  scrape_rounds start(std::chrono::milliseconds rest) {
    auto limits = scrape_rounds::bounds{};
    limits.waiting = 4;
    limits.rest = rest;
    return {loop, limits, [this] { ++begun; }};
  }

  void ask(scrape_rounds& of, const std::string& who, bool is_open = false) {
    of.add(is_open, [this, who](const scrape_reply& x) {
      told.push_back(who + " " + std::to_string(x.status) + " " + x.body);
    });
  }

  void finish(scrape_rounds& x) {
    x.finish([this](bool is_open) {
      ++made;
      auto result = scrape_reply{};
      result.body = is_open ? "open" : "old";
      return result;
    });
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(scrape_rounds_tests, fixture)

CAF_TEST(the first who asks waits for nobody) {
  auto uut = start(1h);
  CAF_CHECK_EQUAL(begun, 0u);
  ask(uut, "a");
  CAF_CHECK_EQUAL(begun, 1u);
  finish(uut);
  CAF_REQUIRE_EQUAL(told.size(), 1u);
  CAF_CHECK_EQUAL(told[0], "a 200 old");
}

CAF_TEST(OBS-3 who asks meanwhile is answered by the next round after a rest) {
  const auto rest = 20ms;
  auto uut = start(rest);
  ask(uut, "a");
  for (const auto* who : {"b", "c"})
    ask(uut, who);
  ask(uut, "d", true);
  CAF_CHECK_EQUAL(begun, 1u);
  const auto begin = std::chrono::steady_clock::now();
  finish(uut);
  CAF_CHECK_EQUAL(told.size(), 1u);
  CAF_CHECK_EQUAL(begun, 1u);
  const auto end = begin + patience;
  while (begun == 1 && std::chrono::steady_clock::now() < end)
    loop.run_once();
  CAF_CHECK(std::chrono::steady_clock::now() - begin >= rest);
  CAF_CHECK_EQUAL(begun, 2u);
  made = 0;
  finish(uut);
  CAF_CHECK_EQUAL(made, 2u);
  CAF_REQUIRE_EQUAL(told.size(), 4u);
  CAF_CHECK_EQUAL(told[1], "b 200 old");
  CAF_CHECK_EQUAL(told[2], "c 200 old");
  CAF_CHECK_EQUAL(told[3], "d 200 open");
}

CAF_TEST(OBS-3 of too many who wait the first is refused) {
  auto uut = start(1h);
  for (const auto* who : {"a", "b", "c", "d", "e"})
    ask(uut, who);
  CAF_CHECK(told.empty());
  ask(uut, "f");
  CAF_REQUIRE_EQUAL(told.size(), 1u);
  CAF_CHECK_EQUAL(told[0].substr(0, 6), "b 503 ");
  finish(uut);
  CAF_CHECK_EQUAL(told.size(), 2u);
  CAF_CHECK_EQUAL(begun, 1u);
}

CAF_TEST(an end without a round is none) {
  auto uut = start(1h);
  finish(uut);
  CAF_CHECK_EQUAL(made, 0u);
  ask(uut, "a");
  CAF_CHECK_EQUAL(begun, 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
