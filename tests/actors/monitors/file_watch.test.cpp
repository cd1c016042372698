// What counts as a sign of life of a file, and when its absence is told.

#include "actors/monitors/file_watch.hpp"

#include "actors/monitors/defaults.hpp"
#include "tests/test.hpp"

#include <map>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using time_type = file_watch::time;
using item = file_watch::item;

constexpr auto on_size = file_signs{true, false, false};
constexpr auto on_access = file_signs{false, true, false};
constexpr auto on_modify = file_signs{false, false, true};
constexpr auto on_all = file_signs{true, true, true};

file_stamp regular(uint64_t size = 10) {
  auto result = file_stamp{};
  result.state = file_state::regular;
  result.device = 1;
  result.inode = 7;
  result.size = size;
  result.accessed = 100;
  result.modified = 200;
  result.keeps_access_time = true;
  result.mount = 3;
  return result;
}

file_stamp in_state(file_state x) {
  auto result = file_stamp{};
  result.state = x;
  return result;
}

/// A file system, and the looks at it.
struct world {
  file_watch uut;
  time_type now = 1h;
  std::map<std::string, file_stamp> files{{"/a", regular()}};

  /// What was asked for, and what came of it.
  std::vector<check_files> asked;
  std::vector<std::pair<item, time_type>> alerts;

  /// Whether looks are answered at once.
  bool answers = true;
  std::vector<file_watch::look> open;

  void watch(item x, file_signs signs, time_type period = 1s,
             uint32_t drops = 0, const std::string& path = "/a",
             uint32_t uid = 1000) {
    auto what = watched_file{};
    what.path = path;
    what.signs = signs;
    what.period = period;
    what.drops = drops;
    what.who = {uid, uid};
    uut.add(x, what, stamp(path), now);
  }

  file_stamp stamp(const std::string& path) const {
    const auto i = files.find(path);
    return i != files.end() ? i->second : in_state(file_state::missing);
  }

  void answer(const file_watch::look& x) {
    auto found = file_stamps{};
    for (const auto& path : x.request.paths)
      found.stamps.push_back(stamp(path));
    auto silent = std::vector<item>{};
    uut.take(x.ticket, found, silent);
    for (const auto y : silent)
      alerts.emplace_back(y, now);
  }

  void pass(time_type interval) {
    const auto end = now + interval;
    for (auto next = uut.next(); next && *next <= end; next = uut.next()) {
      now = std::max(now, *next);
      auto looks = std::vector<file_watch::look>{};
      uut.advance(now, looks);
      for (const auto& x : looks) {
        asked.push_back(x.request);
        if (answers)
          answer(x);
        else
          open.push_back(x);
      }
    }
    now = end;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(file_watch_tests, world)

CAF_TEST(M18 114 growth is a sign of life of a file watched for its size) {
  const auto start = now;
  watch(0, on_size);
  for (int i = 0; i < 5; ++i) {
    ++files["/a"].size;
    files["/a"].modified += i % 2;
    pass(1s);
  }
  CAF_CHECK(alerts.empty());
  files["/a"].modified += 5; // Not what it is watched for.
  files["/a"].accessed += 5;
  pass(1s);
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK(alerts[0].second >= start + 6s);
  CAF_CHECK(alerts[0].second <= start + 6s + defaults::monitor_tick);
}

CAF_TEST(M18 114 a file that shrinks shows no sign but grows from there) {
  files["/a"].size = 100;
  watch(0, on_size, 1s, 1);
  files["/a"].size = 50;
  pass(1s);
  CAF_CHECK(alerts.empty());
  files["/a"].size = 60;
  pass(1s);
  files["/a"].size = 60;
  pass(1s);
  CAF_CHECK(alerts.empty());
  pass(1s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(M19 114 reading is a sign of life of a file watched for access) {
  watch(0, on_access);
  ++files["/a"].accessed;
  pass(1s);
  CAF_CHECK(alerts.empty());
  ++files["/a"].size;
  ++files["/a"].modified;
  pass(1s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(M20 114 writing is a sign of life of a file watched for modification) {
  watch(0, on_modify);
  files["/a"].modified -= 50; // Whatever its clock says.
  pass(1s);
  CAF_CHECK(alerts.empty());
  ++files["/a"].accessed;
  ++files["/a"].size;
  pass(1s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(M18 M19 M20 114 any sign is enough if all count) {
  watch(0, on_all);
  ++files["/a"].accessed;
  pass(1s);
  ++files["/a"].modified;
  pass(1s);
  ++files["/a"].size;
  pass(1s);
  CAF_CHECK(alerts.empty());
  pass(1s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(M22 two misses are tolerated where that is asked for) {
  watch(0, on_size, 1s, 2);
  pass(2s);
  CAF_CHECK(alerts.empty());
  pass(1s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(M22 106 a sign forgets the misses before it) {
  watch(0, on_size, 1s, 2);
  for (int i = 0; i < 5; ++i) {
    pass(2s);
    ++files["/a"].size;
    pass(1s);
  }
  CAF_CHECK(alerts.empty());
}

CAF_TEST(106 one silence is one alert and the next sign arms the monitor) {
  watch(0, on_size);
  pass(10s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
  CAF_CHECK(uut.is_silent(0));
  ++files["/a"].size;
  pass(1s);
  CAF_CHECK(!uut.is_silent(0));
  CAF_CHECK_EQUAL(alerts.size(), 1u);
  pass(1s);
  CAF_CHECK_EQUAL(alerts.size(), 2u);
}

CAF_TEST(M23 115 a file that has vanished shows no sign of life) {
  watch(0, on_size, 1s, 1);
  ++files["/a"].size;
  pass(1s);
  files.clear();
  pass(1s);
  CAF_CHECK(alerts.empty());
  pass(1s);
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK_EQUAL(uut.reason_of(0), "/a is not there");
}

CAF_TEST(M23 115 a file that is missing at the start has to come) {
  watch(0, on_size, 1s, 1, "/b");
  watch(1, on_size, 1s, 1, "/c");
  pass(1s);
  files["/b"] = regular(0);
  pass(1s);
  CAF_REQUIRE_EQUAL(alerts.size(), 1u);
  CAF_CHECK_EQUAL(alerts[0].first, 1u);
}

CAF_TEST(M23 115 a file that was replaced is another file) {
  watch(0, on_all);
  auto other = regular(20);
  other.inode = 8;
  other.modified = 300;
  files["/a"] = other;
  pass(1s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
  ++files["/a"].size;
  pass(1s);
  CAF_CHECK(!uut.is_silent(0));
}

CAF_TEST(M23 115 what is no file any more or not to be seen shows no sign) {
  for (const auto state : {file_state::not_regular, file_state::no_permission,
                           file_state::timed_out, file_state::failed}) {
    const auto x = static_cast<item>(state);
    watch(x, on_all);
    files["/a"] = in_state(state);
    pass(1s);
    CAF_CHECK(uut.is_silent(x));
    CAF_CHECK(uut.reason_of(x).find("/a") != std::string::npos);
    // As it was: nothing has happened to it meanwhile.
    files["/a"] = regular();
    pass(1s);
    CAF_CHECK(uut.is_silent(x));
    uut.remove(x);
  }
}

CAF_TEST(MON-4 one look asks for all distinct paths of a user on a mount) {
  files["/b"] = regular();
  files["/c"] = regular();
  files["/c"].mount = 4;
  watch(0, on_size, 1s, 0, "/a");
  watch(1, on_modify, 1s, 0, "/a");
  watch(2, on_size, 1s, 0, "/b");
  watch(3, on_size, 1s, 0, "/c");
  watch(4, on_size, 1s, 0, "/a", 2000);
  pass(1s);
  CAF_REQUIRE_EQUAL(asked.size(), 3u);
  auto count = size_t{0};
  for (const auto& x : asked) {
    count += x.paths.size();
    if (x.who.uid == 1000 && x.paths.size() == 2)
      CAF_CHECK((x.paths == std::vector<std::string>{"/a", "/b"}));
  }
  CAF_CHECK_EQUAL(count, 4u);
  CAF_CHECK_EQUAL(alerts.size(), 5u);
}

CAF_TEST(MON-4 a look that is under way is not repeated and costs no miss) {
  watch(0, on_size, 1s, 1);
  answers = false;
  pass(5s);
  CAF_REQUIRE_EQUAL(open.size(), 1u);
  CAF_CHECK(alerts.empty());
  files["/a"] = in_state(file_state::timed_out);
  answer(open[0]);
  CAF_CHECK(alerts.empty());
  answers = true;
  pass(1s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(M11 an answer for a monitor that has gone changes nothing) {
  watch(0, on_size);
  answers = false;
  pass(1s);
  uut.remove(0);
  watch(0, on_size, 10s); // Another one by the same number.
  CAF_REQUIRE_EQUAL(open.size(), 1u);
  answer(open[0]);
  CAF_CHECK(alerts.empty());
  uut.remove(0);
  pass(1min);
  CAF_CHECK_EQUAL(open.size(), 1u);
  CAF_CHECK_EQUAL(uut.size(), 0u);
}

CAF_TEST(MON-2 a paused process need not write) {
  watch(0, on_size);
  pass(900ms);
  uut.pause(0, true, now);
  pass(1h);
  CAF_CHECK(asked.empty());
  uut.pause(0, false, now);
  ++files["/a"].size;
  pass(1s);
  CAF_CHECK(alerts.empty());
  pass(1s);
  CAF_CHECK_EQUAL(alerts.size(), 1u);
}

CAF_TEST(M26 119 files are looked at as often as asked for and once after a gap) {
  watch(0, on_size, 50ms, 1000);
  pass(1s);
  CAF_CHECK_EQUAL(asked.size(), 20u);
  now += 10s; // We were late.
  auto looks = std::vector<file_watch::look>{};
  uut.advance(now, looks);
  CAF_CHECK_EQUAL(looks.size(), 1u);
  answer(looks[0]);
  looks.clear();
  uut.advance(now + 10ms, looks);
  CAF_CHECK(looks.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
