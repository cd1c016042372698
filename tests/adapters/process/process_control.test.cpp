// What job control does to real processes: by the freezer of cgroups where we
// may use it, and by signals everywhere.

#include "adapters/process/children.hpp"
#include "adapters/process/control_groups.hpp"
#include "tests/adapters/process/world.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

process_launcher_settings with_freezer(bool yes) {
  auto result = process_launcher_settings{};
  result.with_freezer = yes;
  return result;
}

/// Works for ever.
constexpr auto busy = "while :; do :; done";

/// Writes its number and works, in a session of its own.
constexpr auto runaway = "setsid sh -c 'echo $$; while :; do :; done'";

/// Processor time in ticks. Source: proc(5), fields 14 and 15.
uint64_t cpu_time(pid_t pid) {
  auto file = std::ifstream{"/proc/" + std::to_string(pid) + "/stat"};
  auto text = std::string{};
  std::getline(file, text);
  auto fields =
    std::istringstream{text.substr(std::min(text.size(), text.rfind(')') + 1))};
  auto skipped = std::string{};
  for (int i = 3; i < 14; ++i)
    fields >> skipped;
  uint64_t user = 0;
  uint64_t system = 0;
  fields >> user >> system;
  return user + system;
}

struct world : fixtures::world {
  using fixtures::world::world;

  /// Starts a process that writes `count` numbers of processes, its own last.
  std::vector<pid_t> start_busy(const proc_id& who, const std::string& before,
                                size_t count) {
    run(shell(who, before + " echo $$; " + busy));
    CAF_REQUIRE(run_until([&] { return numbers(who).size() >= count; }));
    return numbers(who);
  }

  std::vector<pid_t> numbers(const proc_id& who) {
    auto result = std::vector<pid_t>{};
    auto text = std::istringstream{heard[who].out()};
    for (pid_t x = 0; text >> x;)
      result.push_back(x);
    return result;
  }

  std::vector<uint32_t> control(std::vector<uint32_t> ranks,
                                control_action action, int32_t signal = 0) {
    const auto x = ask<procs_controlled>(
      launcher, control_procs{"job-1", std::move(ranks), action, signal});
    CAF_REQUIRE(x.value.has_value());
    return x.value->ranks;
  }

  /// Whether all of these use the processor.
  bool work(const std::vector<pid_t>& pids) {
    return std::all_of(pids.begin(), pids.end(), [this](pid_t pid) {
      const auto before = cpu_time(pid);
      return run_until([=] { return cpu_time(pid) > before; }, 10s);
    });
  }

  /// Whether none of these does, for a while.
  bool stand_still(const std::vector<pid_t>& pids) {
    run_for(30ms); // What was under way comes to rest.
    const auto times = [&] {
      auto result = std::vector<uint64_t>{};
      for (const auto x : pids)
        result.push_back(cpu_time(x));
      return result;
    };
    const auto before = times();
    run_for(150ms);
    return times() == before;
  }

  bool gone(pid_t pid) {
    return run_until([=] { return !fixtures::exists(pid); });
  }
};

using ranks = std::vector<uint32_t>;

/// Both ways, if there are two here.
template <class F>
void each_way(F f) {
  if (delegated_cgroup()) {
    world w{with_freezer(true)};
    f(w);
  }
  world w{with_freezer(false)};
  f(w);
}

} // namespace

CAF_TEST(J6 J7 who is paused uses no processor and goes on when resumed) {
  each_way([](world& w) {
    const auto all =
      w.start_busy(world::proc(0), std::string{runaway} + " &", 2);
    const auto other = w.start_busy(world::proc(1), "", 1);
    CAF_CHECK(w.work(all));
    CAF_CHECK((w.control({0}, control_action::pause) == ranks{0}));
    CAF_CHECK(w.stand_still(all));
    CAF_CHECK(w.work(other));
    CAF_CHECK((w.control({0}, control_action::pause) == ranks{0}));
    CAF_CHECK((w.control({0, 1}, control_action::resume) == ranks{0, 1}));
    CAF_CHECK(w.work(all));
    CAF_CHECK(w.work(other));
    CAF_CHECK(w.sweep().value);
  });
}

CAF_TEST(J9 the paused can be killed with all they started) {
  each_way([](world& w) {
    const auto all =
      w.start_busy(world::proc(0), std::string{runaway} + " &", 2);
    w.control({0}, control_action::pause);
    CAF_CHECK((w.control({0}, control_action::kill) == ranks{0}));
    CAF_REQUIRE(
      w.run_until([&] { return !w.heard[world::proc(0)].ended.empty(); }));
    CAF_CHECK_EQUAL(w.heard[world::proc(0)].ended[0].signal, SIGKILL);
    for (const auto x : all)
      CAF_CHECK(w.gone(x));
    CAF_CHECK(w.control({0}, control_action::resume).empty());
  });
}

CAF_TEST(J35 the paused can be told to end) {
  each_way([](world& w) {
    w.start_busy(world::proc(0), "trap 'exit 7' TERM;", 1);
    w.control({0}, control_action::pause);
    CAF_CHECK((w.control({0}, control_action::terminate) == ranks{0}));
    CAF_REQUIRE(
      w.run_until([&] { return !w.heard[world::proc(0)].ended.empty(); }));
    CAF_CHECK_EQUAL(w.heard[world::proc(0)].ended[0].exit_code, 7);
  });
}

CAF_TEST(J7 a job that ends goes on first) {
  each_way([](world& w) {
    w.start_busy(world::proc(0), "trap 'exit 7' TERM;", 1);
    w.control({0}, control_action::pause);
    w.send(signal_process{world::proc(0), SIGTERM});
    w.send(signal_process{world::proc(0), SIGCONT});
    CAF_REQUIRE(
      w.run_until([&] { return !w.heard[world::proc(0)].ended.empty(); }));
    CAF_CHECK_EQUAL(w.heard[world::proc(0)].ended[0].exit_code, 7);
  });
}

CAF_TEST(J15 X29 signals reach exactly those who run) {
  world w;
  const auto say = std::string{"trap 'echo 1' USR1;"};
  w.start_busy(world::proc(0), say, 1);
  w.start_busy(world::proc(1), say, 1);
  w.run_to_end(world::shell(world::proc(2), "exit 0"));
  const auto count = [&](uint32_t rank) {
    return w.numbers(world::proc(rank)).size();
  };
  CAF_CHECK(
    (w.control({1, 2, 3}, control_action::signal, SIGUSR1) == ranks{1}));
  CAF_CHECK(w.run_until([&] { return count(1) == 2; }));
  CAF_CHECK_EQUAL(count(0), 1u);
  CAF_CHECK((w.control({0, 2}, control_action::signal, 0) == ranks{0}));
  CAF_CHECK(w.sweep().value);
}

CAF_TEST(J15 who is stopped by a signal goes on by a resume) {
  world w;
  const auto pids = w.start_busy(world::proc(0), "", 1);
  w.control({0}, control_action::signal, SIGSTOP);
  CAF_CHECK(w.stand_still(pids));
  w.control({0}, control_action::resume);
  CAF_CHECK(w.work(pids));
  w.control({0}, control_action::pause);
  w.control({0}, control_action::signal, SIGCONT);
  CAF_CHECK(w.work(pids));
  CAF_CHECK(w.sweep().value);
}

CAF_TEST(J6 groups of the freezer go with their processes) {
  const auto folder = delegated_cgroup();
  if (!folder) {
    CAF_MESSAGE("no cgroup may be used here: nothing to look at");
    return;
  }
  const auto count = [&] {
    const auto mine = "troupe." + std::to_string(getpid()) + ".";
    auto result = 0;
    for (const auto& x : std::filesystem::directory_iterator{*folder})
      result += x.path().filename().string().compare(0, mine.size(), mine) == 0;
    return result;
  };
  CAF_CHECK_EQUAL(count(), 0);
  {
    world w;
    w.start_busy(world::proc(0), "", 1);
    w.start_busy(world::proc(1), "", 1);
    w.control({0, 1}, control_action::pause);
    CAF_CHECK_EQUAL(count(), 2);
    w.control({0}, control_action::kill);
    CAF_CHECK(w.run_until([&] { return w.is_over(world::proc(0)); }));
    CAF_CHECK(w.run_until([&] { return count() == 1; }));
    CAF_CHECK(w.sweep().value);
  }
  CAF_CHECK_EQUAL(count(), 0);
}

CAF_TEST(J6 a freezer that has no cgroup freezes nobody) {
  freezer none{std::nullopt};
  CAF_CHECK(!none);
  CAF_CHECK(!none.add("x", {getpid()}));
  CAF_CHECK(!none.freeze("x"));
  freezer wrong{"/proc/nothing"};
  CAF_CHECK(!wrong.add("x", {getpid()}));
  CAF_CHECK(!wrong.freeze("x"));
}

CAF_TEST(X29 who got the number of another is not signalled) {
  auto x = process_entry{};
  x.pid = getpid();
  x.start_time = 1;
  CAF_CHECK(!signal_entry(x, SIGKILL));
}
