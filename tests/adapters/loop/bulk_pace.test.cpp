#include "adapters/loop/bulk_pace.hpp"

#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

constexpr auto none = bulk_pace::duration::zero();

constexpr auto begin = bulk_pace::time{} + 1h;

/// Bytes that a lane sends in 100 ms if it sends `piece` whenever it may, while
/// something urgent comes at all times.
size_t sent_beside_urgent(size_t piece) {
  auto pace = bulk_pace{};
  size_t result = 0;
  for (auto now = begin; now < begin + 100ms; now += 50us) {
    pace.on_urgent(now);
    if (pace.wait(now) != none)
      continue;
    pace.on_sent(now, piece);
    result += piece;
  }
  return result;
}

} // namespace

CAF_TEST(streams have a bounded rate while urgent messages come and go) {
  constexpr auto most = 100 * defaults::bulk_beside_urgent;
  for (const auto piece : {size_t{16} << 10, size_t{64} << 10}) {
    const auto sent = sent_beside_urgent(piece);
    CAF_CHECK(sent <= most + piece);
    CAF_CHECK(sent >= most / 10 * 8);
  }
}

CAF_TEST(streams alone are not held up) {
  auto pace = bulk_pace{};
  for (auto n = 0; n < 100; ++n) {
    CAF_CHECK(pace.wait(begin) == none);
    pace.on_sent(begin, 1 << 20);
  }
}

CAF_TEST(streams go on when nothing urgent has come for a while) {
  auto pace = bulk_pace{};
  pace.on_urgent(begin);
  pace.on_sent(begin, 1 << 20);
  CAF_CHECK(pace.wait(begin) == defaults::urgent_memory);
  CAF_CHECK(pace.wait(begin + 1ms) == defaults::urgent_memory - 1ms);
  CAF_CHECK(pace.wait(begin + defaults::urgent_memory) == none);
}

CAF_TEST(what is sent first beside urgent messages does not wait) {
  auto pace = bulk_pace{};
  pace.on_urgent(begin);
  CAF_CHECK(pace.wait(begin) == none);
}
