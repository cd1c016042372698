#include "adapters/metrics/loop_probe.hpp"

#include "adapters/loop/event_loop.hpp"

namespace troupe {

namespace {

using clock = std::chrono::steady_clock;

/// How long until the next look, at least, and how much longer it may be.
constexpr auto least = std::chrono::milliseconds{200};
constexpr uint32_t spread_ms = 100;

} // namespace

loop_probe::loop_probe(event_loop& loop)
  : timer_(loop, [this] {
      seen_.note(clock::now() - due_);
      arm();
    }) {
  arm();
}

void loop_probe::arm() {
  // Park and Miller's generator: nobody gains from foretelling it.
  drawn_ = static_cast<uint32_t>(uint64_t{drawn_} * 48271 % 2147483647);
  const auto wait = least + std::chrono::milliseconds{drawn_ % spread_ms};
  due_ = clock::now() + wait;
  timer_.start(wait);
}

} // namespace troupe
