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

/// How many times of our own lateness are remembered: beats from before the
/// oldest count as beats of its end.
inline constexpr size_t monitor_standstills = 64;

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
    if (!standstills_.empty() && standstills_.back().end == *expected_)
      standstills_.back().end = now;
    else
      standstills_.push_back({*expected_, now});
    if (standstills_.size() > defaults::monitor_standstills) {
      forgotten_ = standstills_.front().end;
      standstills_.pop_front();
    }
    expected_ = now;
  }
  return now - excused_;
}

time heartbeat_watch::counted_at(time x) const {
  x = std::max(x, forgotten_);
  auto result = x - excused_;
  for (auto i = standstills_.rbegin(); i != standstills_.rend() && x < i->end;
       ++i)
    result += i->end - std::max(x, i->begin);
  return result;
}

/// A clock that differs from ours, as in another time namespace, shows by its
/// changes that the process lives; a beat that came while we looked may be a
/// little older.
void heartbeat_watch::hear(uint32_t process, time now) {
  if (!beats_.last)
    return;
  const auto shown = beats_.last(process);
  auto& of = processes_[process];
  const auto looked = std::exchange(of.looked, now);
  if (shown == std::exchange(of.shown, shown))
    return;
  const auto is_sane = shown <= static_cast<uint64_t>((now + tick).count())
                       && time{shown} >= looked - tick;
  note_beat(process, is_sane ? std::max(of.last, counted_at(time{shown}))
                             : counted(now));
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

/// Those of a process that began between different beats come due together from
/// then on: one wake for all.
void heartbeat_watch::arm_alike(const process& of, time window) {
  for (auto x = of.first; x != none; x = monitors_[x].next)
    if (monitors_[x].state == phase::armed && monitors_[x].window == window)
      arm(x);
}

void heartbeat_watch::add_process(uint32_t process, time now) {
  if (process >= processes_.size())
    processes_.resize(size_t{process} + 1);
  auto& of = processes_[process];
  of = {};
  of.last = counted(now);
  of.looked = now;
  if (beats_.last)
    of.shown = beats_.last(process);
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
  if (it.state == phase::silent && --of.silent == 0 && beats_.want)
    beats_.want(it.process, false);
  wheel_.clear(x);
  it = {};
  --size_;
  if (size_ == 0)
    expected_ = std::nullopt;
}

void heartbeat_watch::beat(uint32_t process, time now) {
  note_beat(process, counted(now));
}

void heartbeat_watch::note_beat(uint32_t process, time at) {
  auto& of = processes_[process];
  of.last = at;
  if (of.silent == 0)
    return;
  of.silent = 0;
  if (beats_.want)
    beats_.want(process, false);
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
    if (wheel_.holds(x))
      continue; // Armed together with one before it.
    auto& it = monitors_[x];
    const auto& of = processes_[it.process];
    hear(it.process, now);
    if (of.is_paused) {
      it.state = phase::held;
    } else if (of.last + it.window > here) {
      arm_alike(of, it.window); // It has beaten since.
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
  hear(it.process, now);
  if (of.last + it.window <= here && unread > 0
      && (unread != of.unread || unread >= full))
    of.last = here; // Beats may be in there.
  of.unread = unread;
  if (of.last + it.window > here) {
    arm(x);
    return false;
  }
  it.state = phase::silent;
  if (++of.silent == 1 && beats_.want) {
    beats_.want(it.process, true);
    // It may have beaten before it could see that.
    hear(it.process, now);
  }
  return it.state == phase::silent;
}

heartbeat_watch::state heartbeat_watch::state_of(item x, time now) {
  const auto& it = monitors_[x];
  hear(it.process, now);
  const auto here = counted(now);
  const auto& of = processes_[it.process];
  auto result = state{here - of.last, std::nullopt};
  if (it.state == phase::armed)
    result.due = std::max(of.last + it.window - here, time{0});
  return result;
}

} // namespace troupe
