// Commands of the node, and how local processes do.

#include "adapters/process/command_runner.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "adapters/process/process_probe.hpp"
#include "tests/adapters/process/world.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture : world {
  command_runner_actor uut = sys.actors().spawn(
    command_runner, &sys.loop(),
    std::vector<std::string>{"PATH=/bin:/usr/bin", "A=old", "B=kept"});
  process_probe_actor prober =
    sys.actors().spawn(process_prober, &sys.pool(), launcher);

  run_command shell_command(const std::string& text) {
    auto result = run_command{};
    result.argv = {"/bin/sh", "-c", text};
    result.limit = 20s;
    return result;
  }

  answer_to<command_result> perform(run_command what) {
    return ask<command_result>(uut, std::move(what));
  }

  answer_to<process_probe> look(const proc_id& whom, uint32_t pid = 0) {
    return ask<process_probe>(prober, probe_process{whom, pid});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(command_runner_tests, fixture)

CAF_TEST(a command has its input and gives its output and status) {
  auto what = shell_command("cat; echo $A $B >&2; pwd; exit 3");
  what.env = {"A=new"};
  what.input = std::string(300'000, 'x');
  what.wdir = "/";
  const auto got = perform(what);
  CAF_REQUIRE(got.value);
  CAF_CHECK_EQUAL(got.value->exit_code, 3);
  CAF_CHECK(!got.value->timed_out);
  // All of the input is far more than is kept.
  CAF_CHECK_EQUAL(got.value->output.size(), defaults::command_output);
  CAF_CHECK(got.value->is_truncated);
  what.input = "in";
  const auto small = perform(what);
  CAF_REQUIRE(small.value);
  CAF_CHECK(small.value->output.find("in") != std::string::npos);
  CAF_CHECK(small.value->output.find("new kept\n") != std::string::npos);
  CAF_CHECK(small.value->output.find("/\n") != std::string::npos);
  CAF_CHECK(!small.value->is_truncated);
}

CAF_TEST(a command that takes too long is killed with all that it started) {
  auto what = shell_command("sleep 1000 & echo $!; wait");
  what.limit = 200ms;
  const auto got = perform(what);
  CAF_REQUIRE(got.value);
  CAF_CHECK(got.value->timed_out);
  const auto child = std::stoi(got.value->output);
  CAF_CHECK(run_until([&] { return !exists(child); }));
}

CAF_TEST(a command that leaves somebody behind is over when it ends) {
  const auto got = perform(shell_command("sleep 1000 & echo $!"));
  CAF_REQUIRE(got.value);
  CAF_CHECK(!got.value->timed_out);
  const auto child = std::stoi(got.value->output);
  CAF_CHECK(exists(child));
  kill(child, SIGKILL);
}

CAF_TEST(a signal that ends a command is told) {
  const auto got = perform(shell_command("kill -9 $$"));
  CAF_REQUIRE(got.value);
  CAF_CHECK_EQUAL(got.value->signal, 9);
}

CAF_TEST(what cannot be started is named) {
  auto what = run_command{};
  what.limit = 5s;
  CAF_CHECK(perform(what).refusal == status::bad_param);
  what.argv = {"no-such-program"};
  CAF_CHECK(perform(what).refusal == status::job_exe_not_found);
  what.argv = {std::string{"/bin/tr\0ue", 10}};
  CAF_CHECK(perform(what).refusal == status::bad_param);
}

CAF_TEST(commands wait for their turn and the loop for none of them) {
  constexpr auto count = 2 * defaults::commands_running;
  auto all = std::vector<std::shared_ptr<answer_to<command_result>>>{};
  for (size_t i = 0; i < count; ++i)
    all.push_back(request<command_result>(uut, shell_command("exit 7")));
  CAF_CHECK(run_until([&] {
    return std::all_of(all.begin(), all.end(),
                       [](const auto& x) { return x->has_come(); });
  }));
  for (const auto& x : all)
    CAF_CHECK(x->value && x->value->exit_code == 7);
}

// -- how processes do ---------------------------------------------------------

CAF_TEST(M6 CPU time and memory of a process and its children are seen) {
  run(shell(proc(0), "sh -c 'while :; do :; done' & wait"));
  auto first = look(proc(0));
  CAF_REQUIRE(first.value);
  CAF_CHECK(first.value->pid > 0);
  CAF_CHECK(first.value->resident > 0);
  CAF_CHECK(!first.value->is_stopped);
  // It is the child that computes.
  CAF_CHECK(run_until([&, n = 0]() mutable {
    const auto now = probe(first.value->pid);
    return ++n > 1 && now && now->cpu_time > first.value->cpu_time + 50ms;
  }));
  kill(-static_cast<pid_t>(first.value->pid), SIGSTOP);
  CAF_CHECK(run_until([&] { return probe(first.value->pid)->is_stopped; }));
  kill(-static_cast<pid_t>(first.value->pid), SIGKILL);
}

CAF_TEST(M6 silence counts from the last output) {
  const auto begin = clock::now();
  run(shell(proc(0), "sleep 0.2; echo x; exec sleep 1000"));
  CAF_REQUIRE(run_until([&] { return heard[proc(0)].out() == "x\n"; }));
  run_for(100ms);
  const auto got = look(proc(0));
  CAF_REQUIRE(got.value);
  CAF_REQUIRE(got.value->silence);
  CAF_CHECK(*got.value->silence >= 100ms);
  CAF_CHECK(*got.value->silence <= clock::now() - begin - 200ms);
}

CAF_TEST(a process that is not here is not found) {
  CAF_CHECK(look(proc(5)).refusal == status::not_found);
  CAF_CHECK(look(proc(5), 0x7ffffffe).refusal == status::not_found);
  // By number: its output passes elsewhere.
  const auto own = look(proc(5), static_cast<uint32_t>(getpid()));
  CAF_REQUIRE(own.value);
  CAF_CHECK(!own.value->silence);
  CAF_CHECK(!probe(0x7ffffffe));
}

CAF_TEST_FIXTURE_SCOPE_END()
