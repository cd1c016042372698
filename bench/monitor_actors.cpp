// What a heartbeat monitor costs as an actor, and as an entry of
// `heartbeat_watch`: docs/decisions/0008.
//
//   monitor_actors [MONITORS] [SECONDS]
//
// Bytes on the heap for each; then the part of a core that all take while each
// hears a beat a second and looks at the end of its window of two; then beats
// that one thread takes in a second. The driver, which has the beats, costs the
// same in both.

#include "actors/monitors/heartbeat_watch.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/timer.hpp"
#include "messages/actors.hpp"

#include <caf/all.hpp>

#include <malloc.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

constexpr auto window = 2s;
constexpr auto tick = 10ms;

/// A monitor of heartbeats that is an actor: hears beats, looks when its window
/// may be over, and would alert.
using beat_monitor_actor =
  caf::typed_actor<caf::reacts_to<heartbeat>, caf::reacts_to<deadline>>;

struct beat_monitor_state {
  std::chrono::nanoseconds last{0};
  bool is_silent = false;
};

size_t alerts = 0;

/// @param has_timer Whether it reminds itself; if not, whoever owns it tells it
///                  that it is due.
beat_monitor_actor::behavior_type
beat_monitor(beat_monitor_actor::stateful_pointer<beat_monitor_state> self,
             bool has_timer) {
  self->state.last = self->clock().now().time_since_epoch();
  if (has_timer)
    self->delayed_send(beat_monitor_actor{self}, window, deadline{});
  return {
    [self](heartbeat) {
      self->state.last = self->clock().now().time_since_epoch();
      self->state.is_silent = false;
    },
    [self, has_timer](deadline) {
      auto& state = self->state;
      const auto left =
        state.last + window - self->clock().now().time_since_epoch();
      if (left <= 0ns && !std::exchange(state.is_silent, true))
        ++alerts;
      if (has_timer)
        self->delayed_send(beat_monitor_actor{self},
                           left > 0ns ? left : caf::timespan{window},
                           deadline{});
    },
  };
}

std::chrono::nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

double cpu_seconds() {
  timespec x{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &x);
  return static_cast<double>(x.tv_sec) + static_cast<double>(x.tv_nsec) / 1e9;
}

size_t heap() {
  const auto x = mallinfo2();
  return x.uordblks + x.hblkhd;
}

struct cost {
  double bytes = 0;
  double share = 0;
  double beats = 0;
};

/// Beats all monitors once a second, a hundredth of them at a time.
/// @returns the part of a core that the process takes.
double beat_for(loop_system& sys, size_t monitors, std::chrono::seconds length,
                const std::function<void(size_t)>& beat,
                const std::function<void()>& look) {
  const auto slices = size_t{1s / tick};
  auto slice = size_t{0};
  const auto end = now() + length;
  timer next{sys.loop(), [&] {
               for (auto i = slice++ % slices; i < monitors; i += slices)
                 beat(i);
               look();
               if (now() < end)
                 next.start(tick);
               else
                 sys.stop();
             }};
  const auto before = cpu_seconds();
  next.start(tick);
  sys.run();
  return (cpu_seconds() - before) / static_cast<double>(length.count());
}

cost as_actors(size_t monitors, std::chrono::seconds length, bool has_timer) {
  auto result = cost{};
  loop_system sys;
  auto all = std::vector<beat_monitor_actor>{};
  all.reserve(monitors);
  const auto before = heap();
  for (size_t i = 0; i < monitors; ++i)
    all.push_back(sys.actors().spawn(beat_monitor, has_timer));
  auto due = size_t{0};
  result.share = beat_for(
    sys, monitors, length,
    [&](size_t i) { caf::anon_send(all[i], heartbeat{}); },
    [&] {
      // All of them once in a window.
      for (auto n = has_timer ? 0 : monitors / size_t{window / tick}; n > 0;
           --n)
        caf::anon_send(all[due++ % monitors], deadline{});
    });
  result.bytes =
    static_cast<double>(heap() - before) / static_cast<double>(monitors);
  constexpr auto rounds = size_t{50};
  const auto begin = now();
  auto round = size_t{0};
  timer next{sys.loop(), [&] {
               for (const auto& x : all)
                 caf::anon_send(x, heartbeat{});
               if (++round < rounds)
                 next.start(0ns);
               else
                 sys.stop();
             }};
  next.start(0ns);
  sys.run();
  result.beats = static_cast<double>(rounds * monitors)
                 / std::chrono::duration<double>{now() - begin}.count();
  for (const auto& x : all)
    caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
  return result;
}

cost as_entries(size_t monitors, std::chrono::seconds length) {
  auto result = cost{};
  loop_system sys;
  const auto before = heap();
  heartbeat_watch watch;
  auto due = std::vector<heartbeat_watch::item>{};
  for (uint32_t i = 0; i < monitors; ++i) {
    watch.add_process(i, now());
    watch.add(i, i, window, now());
  }
  const auto look = [&] {
    if (const auto at = watch.next(now()); !at || *at > now())
      return;
    due.clear();
    watch.advance(now(), due);
    for (const auto x : due)
      alerts += watch.confirm(x, 0, now()) ? 1 : 0;
  };
  result.share = beat_for(
    sys, monitors, length,
    [&](size_t i) { watch.beat(static_cast<uint32_t>(i), now()); }, look);
  result.bytes =
    static_cast<double>(heap() - before) / static_cast<double>(monitors);
  constexpr auto rounds = size_t{200};
  const auto begin = now();
  for (size_t round = 0; round < rounds; ++round)
    for (uint32_t i = 0; i < monitors; ++i)
      watch.beat(i, now());
  result.beats = static_cast<double>(rounds * monitors)
                 / std::chrono::duration<double>{now() - begin}.count();
  return result;
}

void print(const char* what, const cost& x) {
  std::printf("| %-30s | %8.0f | %8.2f | %12.0f |\n", what, x.bytes,
              x.share * 100, x.beats);
}

} // namespace

int main(int argc, char** argv) {
  const auto monitors =
    argc > 1 ? static_cast<size_t>(std::strtoul(argv[1], nullptr, 10)) : 10000;
  const auto length =
    std::chrono::seconds{argc > 2 ? std::strtol(argv[2], nullptr, 10) : 10};
  if (monitors == 0 || length <= 0s)
    return 2;
  std::printf("| %zu monitors | bytes each | %% of a core | beats/s |\n"
              "|---|---|---|---|\n",
              monitors);
  print("an actor each, with a timer", as_actors(monitors, length, true));
  print("an actor each, told by a wheel", as_actors(monitors, length, false));
  print("entries of heartbeat_watch", as_entries(monitors, length));
  print("nothing but the driver", [&] {
    auto result = cost{};
    loop_system sys;
    result.share = beat_for(
      sys, monitors, length, [](size_t) {}, [] {});
    return result;
  }());
  if (alerts > 0)
    std::printf("%zu alerts, though all have beaten\n", alerts);
  return alerts > 0 ? 1 : 0;
}
