#include "actors/monitors/heartbeat_watch.hpp"

#include "actors/monitors/defaults.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <chrono>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long the node may rest between two looks at its own lateness while
/// heartbeats are awaited.
inline constexpr auto monitor_rest = 1s;

} // namespace defaults

namespace {

using time = heartbeat_watch::time;

constexpr time tick = defaults::monitor_tick;

/// The first tick that is not before `x`.
timer_wheel::tick ticks_until(time x) {
  return static_cast<timer_wheel::tick>((x + tick - time{1}) / tick);
}

} // namespace

/// The time that counts for processes: it stands while we are late. Of less
/// lateness, what has come meanwhile and is read before an alert is enough.
time heartbeat_watch::counted(time now) {
  if (expected_ && now > *expected_ + time{defaults::own_lateness}) {
    excused_ += now - *expected_;
    expected_ = now;
  }
  return now - excused_;
}

void heartbeat_watch::arm(item x) {
  auto& it = monitors_[x];
  it.state = phase::armed;
  wheel_.set(x, ticks_until(processes_[it.process].last + it.window));
}

void heartbeat_watch::arm_all(process& of, phase which) {
  for (auto x = of.first; x != none; x = monitors_[x].next)
    if (monitors_[x].state == which)
      arm(x);
}

void heartbeat_watch::add_process(uint32_t process, time now) {
  if (process >= processes_.size())
    processes_.resize(size_t{process} + 1);
  processes_[process] = {};
  processes_[process].last = counted(now);
}

void heartbeat_watch::add(item x, uint32_t process, time window, time now) {
  if (x >= monitors_.size())
    monitors_.resize(size_t{x} + 1);
  auto& of = processes_[process];
  // As a beat: who asks for this lives.
  beat(process, now);
  monitors_[x] = {window, process, of.first, phase::armed};
  of.first = x;
  arm(x);
  ++size_;
}

void heartbeat_watch::remove(item x) {
  if (!holds(x))
    return;
  auto& it = monitors_[x];
  auto& of = processes_[it.process];
  auto* link = &of.first;
  while (*link != x)
    link = &monitors_[*link].next;
  *link = it.next;
  if (it.state == phase::silent)
    --of.silent;
  wheel_.clear(x);
  it = {};
  --size_;
  if (size_ == 0)
    expected_ = std::nullopt;
}

void heartbeat_watch::beat(uint32_t process, time now) {
  auto& of = processes_[process];
  of.last = counted(now);
  if (of.silent == 0)
    return;
  of.silent = 0;
  arm_all(of, phase::silent);
}

void heartbeat_watch::pause(uint32_t process, bool paused, time now) {
  auto& of = processes_[process];
  if (of.is_paused == paused)
    return;
  of.is_paused = paused;
  if (paused)
    return;
  of.last = counted(now);
  arm_all(of, phase::held);
}

std::optional<time> heartbeat_watch::next(time now) {
  counted(now);
  const auto due = wheel_.next();
  if (due == timer_wheel::never) {
    expected_ = std::nullopt;
    return expected_;
  }
  const auto at = static_cast<int64_t>(due) * tick + excused_;
  expected_ = std::max(now, std::min(at, now + time{defaults::monitor_rest}));
  return expected_;
}

void heartbeat_watch::advance(time now, std::vector<item>& out) {
  const auto here = counted(now);
  due_.clear();
  wheel_.advance(static_cast<timer_wheel::tick>(here / tick), due_);
  for (const auto x : due_) {
    auto& it = monitors_[x];
    const auto& of = processes_[it.process];
    if (of.is_paused) {
      it.state = phase::held;
    } else if (of.last + it.window > here) {
      arm(x); // It has beaten since.
    } else {
      it.state = phase::asked;
      out.push_back(x);
    }
  }
}

bool heartbeat_watch::confirm(item x, uint64_t unread, time now) {
  if (!holds(x) || monitors_[x].state != phase::asked)
    return false;
  const auto here = counted(now);
  auto& it = monitors_[x];
  auto& of = processes_[it.process];
  if (of.is_paused) {
    it.state = phase::held;
    return false;
  }
  if (of.last + it.window <= here && unread > 0
      && (unread != of.unread || unread >= full))
    of.last = here; // Beats may be in there.
  of.unread = unread;
  if (of.last + it.window > here) {
    arm(x);
    return false;
  }
  it.state = phase::silent;
  ++of.silent;
  return true;
}

} // namespace troupe
