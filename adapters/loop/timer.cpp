#include "adapters/loop/timer.hpp"

#include "adapters/loop/event_loop.hpp"

namespace troupe {

timer::timer(event_loop& loop, std::function<void()> on_expiry)
  : event_(loop.base(), -1, 0, std::move(on_expiry)) {
  // nop
}

void timer::start(std::chrono::nanoseconds delay) {
  event_.fire_after(delay);
}

void timer::cancel() noexcept {
  // Most are not running; libevent would take its lock to find out.
  if (is_running())
    event_.remove();
}

bool timer::is_running() const noexcept {
  return event_.is_pending();
}

} // namespace troupe
