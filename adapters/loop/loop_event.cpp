#include "adapters/loop/loop_event.hpp"

#include "adapters/loop/memory_reserve.hpp"

#include <event2/event.h>

#include <new>

namespace troupe {

namespace {

/// What C libraries allocate calls no handler of C++: gives back what that
/// keeps.
/// @returns whether to try again.
bool finds_memory() noexcept {
  const auto handler = std::get_new_handler();
  if (handler == nullptr)
    return false;
  try {
    handler();
    return true;
  } catch (...) {
    return false;
  }
}

thread_local uint64_t fired_here = 0;

bool add_event(::event* x, const timeval* delay) noexcept {
  return event_add(x, delay) == 0
         || (finds_memory() && event_add(x, delay) == 0);
}

} // namespace

/// Lives apart from its owner, because libevent keeps its address and because a
/// callback that destroys the owner must not destroy itself.
struct loop_event::state {
  ::event* ev = nullptr;
  callback on_fire;
  bool is_firing = false;
  bool is_abandoned = false;

  static void fire(evutil_socket_t, short, void* arg) noexcept {
    auto* self = static_cast<state*>(arg);
    ++fired_here;
    self->is_firing = true;
    try {
      self->on_fire();
    } catch (const std::bad_alloc&) {
      // Whoever can lose something by it has seen to that; the others go on.
    }
    refill_memory_reserve();
    self->is_firing = false;
    if (self->is_abandoned)
      delete self;
  }
};

void loop_event::deleter::operator()(state* x) const noexcept {
  event_free(x->ev);
  if (x->is_firing)
    x->is_abandoned = true;
  else
    delete x;
}

loop_event::loop_event(event_base* base, int fd, short what, callback on_fire) {
  auto x = std::make_unique<state>();
  x->on_fire = std::move(on_fire);
  x->ev = event_new(base, fd, what, state::fire, x.get());
  if (x->ev == nullptr && finds_memory())
    x->ev = event_new(base, fd, what, state::fire, x.get());
  if (x->ev == nullptr)
    throw std::bad_alloc{};
  state_.reset(x.release());
}

bool loop_event::add() noexcept {
  return add_event(state_->ev, nullptr);
}

void loop_event::fire_after(std::chrono::nanoseconds delay) {
  using namespace std::chrono;
  auto tv = timeval{0, 0};
  if (delay > nanoseconds::zero()) {
    // One microsecond more than needed: libevent cuts the present time down to
    // microseconds before it adds ours.
    const auto total = ceil<microseconds>(delay) + microseconds{1};
    const auto whole = floor<seconds>(total);
    tv.tv_sec = whole.count();
    tv.tv_usec = (total - whole).count();
  }
  if (!add_event(state_->ev, &tv))
    throw std::bad_alloc{}; // The only thing that fails without a descriptor.
}

void loop_event::fire_now() noexcept {
  // Not EV_TIMEOUT: `fire_after` would take that back off the active list.
  event_active(state_->ev, EV_READ, 0);
}

void loop_event::remove() noexcept {
  event_del_noblock(state_->ev);
}

bool loop_event::is_pending() const noexcept {
  constexpr short anything = EV_READ | EV_WRITE | EV_SIGNAL | EV_TIMEOUT;
  return event_pending(state_->ev, anything, nullptr) != 0;
}

int loop_event::fd() const noexcept {
  return event_get_fd(state_->ev);
}

uint64_t loop_event::fired() noexcept {
  return fired_here;
}

} // namespace troupe
