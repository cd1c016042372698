// When processes are said to be silent.

#include "actors/monitors/heartbeat_watch.hpp"

#include "actors/monitors/defaults.hpp"
#include "config/defaults.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using time_type = heartbeat_watch::time;
using item = heartbeat_watch::item;

constexpr time_type tick = defaults::monitor_tick;

/// A node with an exact clock, which reads what has come before it alerts.
struct world {
  heartbeat_watch uut;
  time_type now = 1h;

  /// How much later than we had asked for we looked, all in all.
  time_type excused{0};

  /// Alerts, with when they came.
  std::vector<std::pair<item, time_type>> alerts;

  /// What is read before an alert: who beats then, and what is left unread.
  std::vector<uint32_t> in_socket;
  uint64_t unread = 0;
  size_t reads = 0;
  size_t wakes = 0;

  /// When processes beat in memory, what is shown there, and who is to beat by a
  /// message as well.
  bool is_in_memory = false;
  std::map<uint32_t, uint64_t> shown;
  std::set<uint32_t> wanted;
  size_t messages = 0;

  explicit world(bool in_memory = false) : is_in_memory(in_memory) {
    if (is_in_memory)
      uut = heartbeat_watch{{[this](uint32_t x) { return shown[x]; },
                             [this](uint32_t x, bool is_wanted) {
                               if (is_wanted)
                                 wanted.insert(x);
                               else
                                 wanted.erase(x);
                             }}};
    for (uint32_t process = 0; process < 4; ++process)
      uut.add_process(process, now);
  }

  world(const world&) = delete;
  world& operator=(const world&) = delete;

  void watch(item x, uint32_t process, time_type window) {
    uut.add(x, process, window, now);
  }

  void look() {
    auto due = std::vector<item>{};
    uut.advance(now, due);
    if (due.empty())
      return;
    ++reads;
    for (const auto process : std::exchange(in_socket, {}))
      uut.beat(process, now);
    for (const auto x : due)
      if (uut.confirm(x, unread, now))
        alerts.emplace_back(x, now);
  }

  /// Lets time pass, with a wake whenever one is asked for.
  void pass(time_type interval) {
    const auto end = now + interval;
    for (auto next = uut.next(now); next && *next <= end;
         next = uut.next(now)) {
      now = std::max(now, *next);
      ++wakes;
      look();
    }
    now = end;
  }

  /// Lets time pass in which nothing of ours runs; then everything that has
  /// come does, the timer first.
  void stand_still(time_type interval) {
    const auto expected = uut.next(now);
    now += interval;
    if (expected && now > *expected + time_type{defaults::own_lateness})
      excused += now - *expected;
    look();
  }

  void beat(uint32_t process) {
    beat_at(process, now);
  }

  /// A beat that came when nothing of ours ran.
  void beat_at(uint32_t process, time_type when) {
    if (is_in_memory) {
      shown[process] = static_cast<uint64_t>(when.count());
      if (wanted.count(process) == 0)
        return;
    }
    ++messages;
    if (when == now)
      uut.beat(process, now);
    else
      in_socket.push_back(process);
  }
};

/// Processes beat in memory.
struct memory_world : world {
  memory_world() : world(true) {
    // nop
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(heartbeat_watch_tests, world)

CAF_TEST(M13 P-H1 104 a process that is silent from the start is found on time) {
  const auto due = now + 3s;
  watch(0, 0, 3s);
  pass(3s - 1ns);
  CAF_CHECK(alerts.empty());
  pass(1s);
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK(alerts[0].second >= due);
  CAF_CHECK(alerts[0].second <= due + tick);
}

CAF_TEST(M14 each beat begins the window anew) {
  watch(0, 0, 1s);
  for (int i = 0; i < 20; ++i) {
    pass(999ms);
    beat(0);
  }
  CAF_CHECK(alerts.empty());
  const auto last = now;
  pass(2s);
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK(alerts[0].second >= last + 1s);
  CAF_CHECK(alerts[0].second <= last + 1s + tick);
}

CAF_TEST(MON-1 what is in the socket is read before an alert) {
  watch(0, 0, 1s);
  in_socket = {0};
  pass(1900ms);
  CAF_CHECK_EQUAL(reads, 1u);
  CAF_CHECK(alerts.empty());
  pass(200ms);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(MON-3 107 one beat feeds all monitors of its process and no others) {
  watch(0, 0, 1s);
  watch(1, 0, 1500ms);
  watch(2, 0, 2s);
  watch(3, 1, 2s);
  for (int i = 0; i < 5; ++i) {
    pass(900ms);
    beat(0);
  }
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK_EQUAL(alerts[0].first, 3u);
}

CAF_TEST(M13 107 monitors of one process alert each in its own time) {
  const auto start = now;
  watch(0, 0, 1s);
  watch(1, 0, 3s);
  pass(5s);
  CAF_REQUIRE_EQUAL(alerts.size(), 2u);
  CAF_CHECK_EQUAL(alerts[0].first, 0u);
  CAF_CHECK(alerts[0].second - start <= 1s + tick);
  CAF_CHECK_EQUAL(alerts[1].first, 1u);
  CAF_CHECK(alerts[1].second - start >= 3s);
}

CAF_TEST(106 one silence is one alert and the next beat arms the monitor) {
  watch(0, 0, 1s);
  pass(10s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
  CAF_CHECK(uut.is_silent(0));
  beat(0);
  CAF_CHECK(!uut.is_silent(0));
  pass(900ms);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
  pass(200ms);
  CAF_CHECK_EQUAL(alerts.size(), 2u);
}

CAF_TEST(MON-2 P-H1 our own lateness is no silence of others) {
  watch(0, 0, 1s);
  pass(500ms);
  beat(0);
  stand_still(2s); // The process is due in the midst of that.
  CAF_CHECK(alerts.empty());
  CAF_CHECK(excused >= 1500ms);
  // We wanted to look after half a second at the latest: at least half of its
  // window is left, and no more than what was left before.
  pass(490ms);
  CAF_CHECK(alerts.empty());
  pass(520ms);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(MON-2 a process that is silent is found although we are late again and
           again) {
  watch(0, 0, 1s);
  for (int i = 0; i < 20; ++i) {
    stand_still(300ms);
    pass(300ms);
  }
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(P-H1 119 late wakes excuse no more than they last) {
  watch(0, 0, 10s);
  const auto start = now;
  pass(3s);
  stand_still(4s);
  pass(20s);
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK(alerts[0].second >= start + 10s);
  CAF_CHECK(alerts[0].second <= start + 14s + tick);
}

CAF_TEST(MON-2 a paused process is not silent and has its window when it goes
           on) {
  watch(0, 0, 1s);
  pass(900ms);
  uut.pause(0, true, now);
  pass(1h);
  CAF_CHECK(alerts.empty());
  uut.pause(0, false, now);
  pass(999ms);
  CAF_CHECK(alerts.empty());
  pass(20ms);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(MON-2 a process that is paused while it is read is not silent) {
  watch(0, 0, 1s);
  pass(999ms);
  now += 2ms;
  auto due = std::vector<item>{};
  uut.advance(now + tick, due);
  CAF_REQUIRE_EQUAL(due.size(), 1u);
  uut.pause(0, true, now);
  CAF_CHECK(!uut.confirm(0, 0, now + tick));
  pass(10s);
  CAF_CHECK(alerts.empty());
  uut.pause(0, false, now);
  pass(1100ms);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(MON-2 beats that we did not want to read excuse) {
  watch(0, 0, 1s);
  unread = 100;
  pass(1500ms);
  CAF_CHECK(alerts.empty());
  unread = 120; // Something has come since.
  pass(1s);
  CAF_CHECK(alerts.empty());
  pass(1s); // Nothing has.
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(MON-2 a socket that is full excuses as long as we do not read) {
  watch(0, 0, 1s);
  unread = heartbeat_watch::full;
  pass(1h);
  CAF_CHECK(alerts.empty());
  unread = 0;
  pass(2s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(M11 112 a monitor that is gone alerts no more) {
  watch(0, 0, 1s);
  watch(1, 0, 1s);
  uut.remove(0);
  pass(2s);
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK_EQUAL(alerts[0].first, 1u);
  uut.remove(1);
  CAF_CHECK_EQUAL(uut.size(), 0u);
  beat(0);
  pass(10s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(112 a monitor that goes while its process is read does not alert) {
  watch(0, 0, 1s);
  watch(1, 0, 1s);
  now += 1010ms;
  auto due = std::vector<item>{};
  uut.advance(now, due);
  CAF_REQUIRE_EQUAL(due.size(), 2u);
  uut.remove(0);
  watch(0, 0, 5s); // Another one by the same number.
  CAF_CHECK(!uut.confirm(0, 0, now));
}

CAF_TEST(MON-3 LIM7 a beat looks at no monitor and all are looked at when due) {
  for (const item monitors : {item{1}, item{64}}) {
    auto looks = size_t{0};
    auto due = std::vector<item>{};
    auto here = time_type{1h};
    auto one = heartbeat_watch{{[&looks](uint32_t) {
                                  ++looks;
                                  return uint64_t{0}; // By messages alone.
                                },
                                nullptr}};
    one.add_process(0, here);
    for (item x = 0; x < monitors; ++x)
      one.add(x, 0, 5s, here);
    looks = 0;
    for (int i = 0; i < 1000; ++i) {
      here += 100ms;
      one.beat(0, here);
      one.next(here);
      one.advance(here, due);
    }
    CAF_CHECK(due.empty());
    // 100 s: once in a window of 5 s, whatever beats, for all monitors alike.
    CAF_CHECK(looks >= 19u);
    CAF_CHECK(looks <= 21u);
  }
}

CAF_TEST(MON-3 LIM7 monitors that began at different times are looked at
           together) {
  auto looks = size_t{0};
  auto due = std::vector<item>{};
  auto here = time_type{1h};
  auto all = heartbeat_watch{{[&looks](uint32_t) {
                                ++looks;
                                return uint64_t{0}; // By messages alone.
                              },
                              nullptr}};
  all.add_process(0, here);
  // In how many steps: 20 are a second, and the first of them has a beat.
  const auto times = [&](int steps, item begun) {
    auto result = 0;
    for (int i = 0; i < steps; ++i) {
      here += 50ms;
      if (i % 20 == 0)
        all.beat(0, here);
      if (begun < 64)
        all.add(begun++, 0, 5s, here);
      const auto before = looks;
      all.next(here);
      all.advance(here, due);
      result += looks > before ? 1 : 0;
    }
    return result;
  };
  times(600, 0);
  CAF_CHECK_EQUAL(all.size(), 64u);
  const auto rest = times(2000, 64);
  // 100 s: once in a window of 5 s, less what came after the beat.
  CAF_CHECK(rest >= 19);
  CAF_CHECK(rest <= 26);
  CAF_CHECK(due.empty());
}

CAF_TEST(LIM7 120 many monitors wake us as often as few) {
  for (item x = 0; x < 10'000; ++x)
    watch(x, x % 4, 1s + x % 7 * 1ms);
  for (int i = 0; i < 100; ++i) {
    pass(100ms);
    for (uint32_t process = 0; process < 4; ++process)
      beat(process);
  }
  CAF_CHECK(alerts.empty());
  // 10 s: a wake for each tick in which something is due, not for each monitor.
  CAF_CHECK(wakes < 120);
}

CAF_TEST(P-H1 M16 alerts come within a tick after they are due whatever beats) {
  const auto ok = rc::check("due", [] {
    auto play = world{*rc::gen::arbitrary<bool>()};
    const auto monitors = *rc::gen::inRange<item>(1, 6);
    auto windows = std::vector<time_type>{};
    for (item x = 0; x < monitors; ++x) {
      windows.push_back(std::chrono::milliseconds{*rc::gen::inRange(1, 5000)});
      play.watch(x, x % 2, windows.back());
    }
    auto last = std::vector<time_type>(2, play.now);
    auto expected = std::map<item, time_type>{};
    auto seen = size_t{0};
    const auto steps = *rc::gen::inRange(1, 60);
    for (int i = 0; i < steps; ++i) {
      play.pass(std::chrono::microseconds{*rc::gen::inRange(0, 3'000'000)});
      // Whoever is due has alerted, once, and nobody else.
      for (item x = 0; x < monitors; ++x) {
        const auto due = last[x % 2] + windows[x];
        if (play.now >= due + tick)
          RC_ASSERT(play.uut.is_silent(x));
        if (play.now < due)
          RC_ASSERT(!play.uut.is_silent(x));
      }
      for (; seen < play.alerts.size(); ++seen) {
        const auto& [x, when] = play.alerts[seen];
        const auto due = last[x % 2] + windows[x];
        RC_ASSERT(when >= due);
        RC_ASSERT(when <= due + tick);
      }
      const auto who = *rc::gen::inRange<uint32_t>(0, 3);
      if (who < 2) {
        play.beat(who);
        last[who] = play.now;
      }
    }
  });
  CAF_CHECK(ok);
}

CAF_TEST(P-H1 MON-2 who beats in time has no alert whenever we stand still) {
  const auto ok = rc::check("no false alert", [] {
    auto play = world{*rc::gen::arbitrary<bool>()};
    const auto window = std::chrono::milliseconds{*rc::gen::inRange(20, 3000)};
    play.watch(0, 0, window);
    // It beats all the time; while we stand still its beats wait in the socket.
    const auto period = window * 9 / 10;
    auto next_beat = play.now + period;
    const auto steps = *rc::gen::inRange(1, 60);
    for (int i = 0; i < steps; ++i) {
      if (*rc::gen::arbitrary<bool>()) {
        const auto late = std::chrono::milliseconds{*rc::gen::inRange(0, 2000)};
        play.uut.next(play.now);
        while (next_beat <= play.now + late) {
          play.beat_at(0, next_beat);
          next_beat += period;
        }
        play.stand_still(late);
      }
      // The loop reads what is there, and then what comes.
      for (const auto process : std::exchange(play.in_socket, {}))
        play.uut.beat(process, play.now);
      play.pass(std::max(next_beat - play.now, time_type{0}));
      play.beat(0);
      next_beat = play.now + period;
    }
    RC_ASSERT(play.alerts.empty());
  });
  CAF_CHECK(ok);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST_FIXTURE_SCOPE(beats_in_memory_tests, memory_world)

CAF_TEST(P-H1 MON-5 beats in memory are no messages and are looked at when due) {
  watch(0, 0, 1s);
  for (int i = 0; i < 1000; ++i) {
    pass(10ms);
    beat(0);
  }
  CAF_CHECK(alerts.empty());
  CAF_CHECK_EQUAL(messages, 0u);
  CAF_CHECK_EQUAL(reads, 0u);
  CAF_CHECK(wakes < 30);
  const auto last = now;
  pass(2s);
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK(alerts[0].second >= last + 1s);
  CAF_CHECK(alerts[0].second <= last + 1s + tick);
}

CAF_TEST(MON-5 after an alert the next beat is a message and the one after that
           none) {
  watch(0, 0, 1s);
  watch(1, 0, 2s);
  pass(3s);
  CAF_CHECK_EQUAL(alerts.size(), 2u);
  CAF_CHECK_EQUAL(wanted.count(0), 1u);
  beat(0);
  CAF_CHECK_EQUAL(messages, 1u);
  CAF_CHECK(wanted.empty());
  CAF_CHECK(!uut.is_silent(0));
  pass(500ms);
  beat(0);
  CAF_CHECK_EQUAL(messages, 1u);
  pass(5s);
  CAF_CHECK_EQUAL(alerts.size(), 4u);
  uut.remove(0);
  CAF_CHECK_EQUAL(wanted.count(0), 1u);
  uut.remove(1);
  CAF_CHECK(wanted.empty());
}

CAF_TEST(MON-5 a beat that comes while its silence is noted is not lost) {
  watch(0, 0, 1s);
  auto due = std::vector<item>{};
  now += 1500ms;
  uut.advance(now, due);
  CAF_REQUIRE_EQUAL(due.size(), 1u);
  // Between the look and the wish for a message.
  shown[0] = static_cast<uint64_t>((now + 1us).count());
  CAF_CHECK(!uut.confirm(0, 0, now + 2us));
  CAF_CHECK(!uut.is_silent(0));
  CAF_CHECK(wanted.empty());
}

CAF_TEST(MON-5 beats count wherever they come) {
  watch(0, 0, 1s);
  for (int i = 0; i < 10; ++i) {
    pass(800ms);
    uut.beat(0, now); // Another connection of its rank.
  }
  CAF_CHECK(alerts.empty());
  pass(900ms);
  beat(0);
  pass(900ms);
  CAF_CHECK(alerts.empty());
}

CAF_TEST(MON-5 what cannot be true is no time but shows life when it changes) {
  watch(0, 0, 1s);
  for (const auto wrong :
       {UINT64_MAX, uint64_t{1}, uint64_t{0}, uint64_t{1} << 62}) {
    pass(900ms);
    shown[0] = wrong;
  }
  // Each was found within a window of the one before.
  CAF_CHECK(alerts.empty());
  pass(2100ms);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(MON-5 a beat of before is none) {
  beat(0);
  const auto before = shown[0];
  pass(10s);
  uut.add_process(0, now);
  watch(0, 0, 1s);
  const auto start = now;
  pass(2s);
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK(alerts[0].second <= start + 1s + tick);
  CAF_CHECK_EQUAL(shown[0], before);
}

CAF_TEST(MON-2 MON-5 a beat from before we stood still counts as what it was) {
  for (const auto times : {0, 1, 10, 100}) {
    auto play = world{true};
    play.watch(0, 0, 400s);
    play.pass(100s);
    play.beat(0);
    const auto due = play.now + 400s;
    for (int i = 0; i < times; ++i)
      play.stand_still(3s);
    play.pass(1h);
    CAF_REQUIRE_EQUAL(play.alerts.size(), 1u);
    const auto excused = play.excused;
    CAF_CHECK(excused >= times * 1500ms);
    const auto when = play.alerts[0].second;
    CAF_CHECK(when >= due + excused);
    // Of a hundred times the oldest are not remembered.
    CAF_CHECK(when <= due + excused + tick + (times > 64 ? times * 1s : 0s));
  }
}

CAF_TEST(MON-5 lists say when it was and what is left) {
  watch(0, 0, 2s);
  pass(500ms);
  beat(0);
  pass(300ms);
  auto x = uut.state_of(0, now);
  CAF_CHECK(x.since_beat == 300ms);
  CAF_REQUIRE(x.due);
  CAF_CHECK(*x.due == 1700ms);
  pass(3s);
  x = uut.state_of(0, now);
  CAF_CHECK(!x.due);
  CAF_CHECK(uut.is_silent(0));
}

CAF_TEST_FIXTURE_SCOPE_END()
