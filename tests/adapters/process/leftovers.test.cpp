// What processes leave behind, and what becomes of it.

#include "adapters/process/children.hpp"
#include "tests/adapters/process/world.hpp"

#include <sys/wait.h>

#include <set>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

struct fixture : fixtures::world {
  /// Starts `script` and waits until it has written `count` process numbers.
  std::vector<pid_t> start_family(const proc_id& who, const std::string& script,
                                  size_t count) {
    auto& x = run(shell(who, script));
    std::vector<pid_t> result;
    CAF_REQUIRE(run_until([&] {
      const auto lines = std::count(x.out().begin(), x.out().end(), '\n');
      return static_cast<size_t>(lines) == count;
    }));
    std::istringstream in{x.out()};
    for (pid_t pid = 0; in >> pid;)
      result.push_back(pid);
    return result;
  }

  bool all_gone(const std::vector<pid_t>& pids) {
    return std::none_of(pids.begin(), pids.end(), fixtures::exists);
  }

  static bool has_children() {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  }
};

/// Starts a process outside the group and tells its number.
constexpr auto runaway =
  "setsid sh -c 'echo $$; exec sleep 60 >/dev/null 2>&1'";

} // namespace

CAF_TEST_FIXTURE_SCOPE(leftover_tests, fixture)

CAF_TEST(a sweep with nothing to do is answered at once) {
  const auto begin = clock::now();
  CAF_CHECK(sweep("nobody").value);
  run_to_end("true");
  CAF_CHECK(sweep().value);
  CAF_CHECK(clock::now() - begin < 1s);
}

CAF_TEST(F5 CTL-3 what a job leaves in its group is swept) {
  const auto pids = start_family(
    proc(0), "sleep 60 & echo $!; (sleep 60 & echo $!; wait) & echo $!", 3);
  CAF_REQUIRE(run_until([&] { return !heard[proc(0)].ended.empty(); }));
  CAF_CHECK(!all_gone(pids));
  CAF_CHECK(sweep().value);
  // Who is not our child is reaped by somebody else, in its time.
  CAF_CHECK(run_until([&] { return all_gone(pids); }));
  CAF_CHECK(run_until([] { return !has_children(); }));
}

CAF_TEST(F5 CTL-3 what has left the group is swept by its environment) {
  const auto pids = start_family(
    proc(0), std::string{runaway} + " & " + runaway + " & wait", 2);
  send(signal_process{proc(0), SIGKILL});
  CAF_REQUIRE(run_until([&] { return !heard[proc(0)].ended.empty(); }));
  CAF_CHECK(!all_gone(pids));
  CAF_CHECK(sweep().value);
  // Who is not our child is reaped by somebody else, in its time.
  CAF_CHECK(run_until([&] { return all_gone(pids); }));
}

CAF_TEST(F5 CTL-3 descendants of what has left the group are swept too) {
  // The inner one has neither the group nor the environment.
  const auto pids = start_family(
    proc(0),
    "setsid sh -c 'echo $$; env -i setsid sh -c \"echo \\$\\$; sleep 60\" & "
    "wait' & wait",
    2);
  send(signal_process{proc(0), SIGKILL});
  CAF_REQUIRE(run_until([&] { return !heard[proc(0)].ended.empty(); }));
  CAF_CHECK(sweep().value);
  // Who is not our child is reaped by somebody else, in its time.
  CAF_CHECK(run_until([&] { return all_gone(pids); }));
}

CAF_TEST(a sweep leaves other jobs alone) {
  const auto ours = start_family(proc(0), std::string{runaway} + " & wait", 1);
  const auto theirs =
    start_family(proc(0, "job-2"), std::string{runaway} + " & wait", 1);
  const auto similar =
    start_family(proc(0, "job-11"), std::string{runaway} + " & wait", 1);
  CAF_CHECK(sweep().value);
  // Who is not our child is reaped by somebody else, in its time.
  CAF_CHECK(run_until([&] { return all_gone(ours); }));
  CAF_CHECK(fixtures::exists(theirs[0]));
  CAF_CHECK(fixtures::exists(similar[0]));
  CAF_CHECK(heard[proc(0, "job-2")].ended.empty());
  CAF_CHECK(sweep("job-2").value);
  CAF_CHECK(run_until([&] { return all_gone(theirs); }));
  CAF_CHECK(fixtures::exists(similar[0]));
}

CAF_TEST(descendants are found with and without the help of the kernel) {
  for (const auto lists : {true, false}) {
    if (lists && !kernel_lists_children())
      continue;
    const auto ours =
      start_family(proc(0),
                   "setsid sh -c 'echo $$; env -i sh -c "
                   "\"sleep 60 & echo \\$!; echo \\$\\$; wait\"' & wait",
                   3);
    const auto theirs =
      start_family(proc(0, "job-2"), std::string{runaway} + " & wait", 1);
    const auto leader = static_cast<pid_t>(heard[proc(0)].pid);
    const auto other = static_cast<pid_t>(heard[proc(0, "job-2")].pid);
    // The leader, the shell and the inner shell with its sleep.
    CAF_CHECK_EQUAL(kill_descendants("job-1", {leader}, {other}, lists), 4u);
    CAF_REQUIRE(run_until([&] { return all_gone(ours); }));
    CAF_CHECK_EQUAL(kill_descendants("job-1", {}, {other}, lists), 0u);
    CAF_CHECK(fixtures::exists(theirs[0]));
    CAF_CHECK(sweep("job-2").value);
    heard.clear();
  }
}

CAF_TEST(a sweep ends processes that still run and reports them) {
  start_family(proc(0), "trap '' TERM; echo $$; sleep 60", 1);
  CAF_CHECK(sweep().value);
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(heard[proc(0)].ended[0].signal, SIGKILL);
}

CAF_TEST(two sweeps of one job are both answered) {
  start_family(proc(0), "sleep 60 & echo $!", 1);
  const auto first = request<ack>(launcher, sweep_job{"job-1"});
  const auto second = request<ack>(launcher, sweep_job{"job-1"});
  CAF_REQUIRE(run_until([&] { return first->value && second->value; }));
}

CAF_TEST(signals reach the group after its leader has ended) {
  const auto pids = start_family(proc(0), "sleep 60 & echo $!", 1);
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(fixtures::exists(pids[0]));
  send(signal_process{proc(0), SIGTERM});
  CAF_CHECK(run_until([&] { return all_gone(pids); }));
}

CAF_TEST(X29 orphans are reaped and known processes are not disturbed) {
  run(shell(proc(1), "sleep 0.3; exit 9"));
  for (int i = 0; i < 20; ++i)
    run_to_end("(sleep 0.01; exit 3) & (true &) & exit 2");
  CAF_REQUIRE(run_until([&] { return is_over(proc(1)); }));
  CAF_CHECK_EQUAL(heard[proc(0)].ended[0].exit_code, 2);
  CAF_CHECK_EQUAL(heard[proc(1)].ended[0].exit_code, 9);
  CAF_CHECK(run_until([] { return !has_children(); }));
}

CAF_TEST(CTL-3 an owner that ends takes its processes with it) {
  auto other = spawn_owner();
  std::swap(owner, other);
  const auto pids =
    start_family(proc(0), "echo $$; sleep 60 & echo $!; wait", 2);
  std::swap(owner, other);
  const auto survivors = start_family(proc(0, "job-2"), "echo $$; sleep 60", 1);
  caf::anon_send_exit(other, caf::exit_reason::kill);
  CAF_CHECK(run_until([&] { return all_gone(pids); }));
  CAF_CHECK(fixtures::exists(survivors[0]));
}

CAF_TEST(CTL-3 the launcher takes everything with it) {
  auto pids = start_family(proc(0), "echo $$; sleep 60 & echo $!; wait", 2);
  for (const auto pid :
       start_family(proc(1, "job-2"), std::string{runaway} + " & exit", 1))
    pids.push_back(pid);
  end_launcher();
  CAF_CHECK(run_until([&] {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
      // Nobody else reaps any more.
    }
    return all_gone(pids);
  }));
}

CAF_TEST(CTL-3 no process survives a sweep at any time) {
  // Processes that start more while they are being killed.
  for (int round = 0; round < 100; ++round) {
    const auto nspace = "job-" + std::to_string(round);
    for (uint32_t rank = 0; rank < 2; ++rank)
      run(shell(proc(rank, nspace),
                "while :; do sleep 60 & setsid sleep 60 & sleep 0.001; done"));
    run_for(std::chrono::microseconds{round * 97 % 5000});
    CAF_REQUIRE(sweep(nspace).value);
    CAF_REQUIRE(run_until([] { return !has_children(); }));
    CAF_CHECK_EQUAL(heard[proc(0, nspace)].ended.size(), 1u);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
