#include "adapters/loop/loop_timers.hpp"

#include <event2/event.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace troupe {

namespace {

/// Of libevent's own delays we use none but this: they are of milliseconds.
constexpr auto no_delay = timeval{0, 0};

} // namespace

void loop_timers::deleter::operator()(::event* x) const noexcept {
  event_free(x);
}

loop_timers::owned_event loop_timers::make_event(event_base* base, int fd,
                                                 short what) {
  const auto fire = [](evutil_socket_t, short, void* self) {
    static_cast<loop_timers*>(self)->on_time();
  };
  auto result = owned_event{event_new(base, fd, what, fire, this)};
  if (!result)
    throw std::bad_alloc{};
  return result;
}

loop_timers::loop_timers(event_base* base)
  : fd_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!fd_)
    throw std::runtime_error{"cannot create a timer; raise the limit of open "
                             "files (ulimit -n)"};
  // Nobody has to read it: it fires each time it comes.
  watch_ = make_event(base, fd_.get(), short{EV_READ | EV_PERSIST | EV_ET});
  next_pass_ = make_event(base, -1, 0);
  // What libevent needs for a delay it has from now on.
  if (event_add(watch_.get(), nullptr) != 0
      || event_add(next_pass_.get(), &no_delay) != 0)
    throw std::runtime_error{"cannot watch a timer"};
  event_del(next_pass_.get());
}

loop_timers::~loop_timers() = default;

void loop_timers::start(entry& x, ::event* ev, std::chrono::nanoseconds delay) {
  const auto now = clock::now();
  const auto waits = delay > delay.zero();
  const auto guard = std::lock_guard{mutex_};
  remove(x);
  x.ev_ = ev;
  x.when_ = {waits ? now + std::min(delay, clock::time_point::max() - now)
                   : now,
             ++last_};
  if (x.place_.empty()) {
    schedule_.emplace(x.when_, &x);
  } else {
    x.place_.key() = x.when_;
    schedule_.insert(std::move(x.place_));
  }
  x.is_running_ = true;
  if (!waits && !std::exchange(is_due_, true))
    event_add(next_pass_.get(), &no_delay);
  else if (waits && x.when_.first < told_of_)
    tell(x.when_.first);
}

void loop_timers::cancel(entry& x) noexcept {
  const auto guard = std::lock_guard{mutex_};
  remove(x);
}

bool loop_timers::take(entry& x) noexcept {
  const auto guard = std::lock_guard{mutex_};
  return std::exchange(x.has_come_, false);
}

void loop_timers::remove(entry& x) noexcept {
  x.has_come_ = false;
  if (!x.is_running_)
    return;
  x.place_ = schedule_.extract(x.when_);
  x.is_running_ = false;
}

void loop_timers::tell(clock::time_point when) noexcept {
  using namespace std::chrono;
  told_of_ = when;
  told_.fetch_add(1, std::memory_order_relaxed);
  const auto since = when.time_since_epoch();
  const auto whole = floor<seconds>(since);
  auto value = itimerspec{};
  value.it_value.tv_sec = whole.count();
  // Zero would be no time at all.
  value.it_value.tv_nsec = std::max<long>(1, (since - whole).count());
  ::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &value, nullptr);
}

void loop_timers::on_time() noexcept {
  const auto guard = std::lock_guard{mutex_};
  const auto now = clock::now();
  is_due_ = false;
  if (told_of_ <= now)
    told_of_ = clock::time_point::max();
  while (!schedule_.empty() && schedule_.begin()->first.first <= now) {
    auto& x = *schedule_.begin()->second;
    remove(x);
    x.has_come_ = true;
    event_active(x.ev_, EV_TIMEOUT, 0);
  }
  if (!schedule_.empty() && schedule_.begin()->first.first < told_of_)
    tell(schedule_.begin()->first.first);
}

} // namespace troupe
