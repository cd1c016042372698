// Monitors of named kinds: from the start to the alert, in virtual time.

#include "actors/monitors/monitor_kinds.hpp"
#include "actors/monitors/monitor_rules.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/deterministic.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <memory>
#include <stdexcept>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// What those who look say, and what was heard.
struct bench {
  caf::expected<process_probe> process = process_probe{};
  caf::expected<command_result> command = command_result{};
  caf::expected<check_result> plugin = check_result{};
  size_t looks = 0;
  std::vector<run_command> ran;
  std::vector<start_monitor> plugins;
  std::vector<monitor_alert> alerts;
  std::vector<std::string> log;
};

using bench_ptr = std::shared_ptr<bench>;

template <class T>
caf::result<T> say(const caf::expected<T>& x) {
  if (x)
    return *x;
  return x.error();
}

process_probe_actor::behavior_type prober(process_probe_actor::pointer,
                                          bench_ptr x) {
  return {[x](const probe_process&) {
    ++x->looks;
    return say(x->process);
  }};
}

command_runner_actor::behavior_type runner(command_runner_actor::pointer,
                                           bench_ptr x) {
  return {[x](run_command& what) {
    x->ran.push_back(std::move(what));
    return say(x->command);
  }};
}

monitor_plugin_actor::behavior_type plugin(monitor_plugin_actor::pointer,
                                           bench_ptr x) {
  return {[x](const check_process&) {
    ++x->looks;
    return say(x->plugin);
  }};
}

monitor_user_actor::behavior_type user(monitor_user_actor::pointer,
                                       bench_ptr x) {
  return {[x](monitor_alert& what) { x->alerts.push_back(std::move(what)); }};
}

struct fixture : fixtures::deterministic {
  bench_ptr world = std::make_shared<bench>();
  monitor_user_actor desk = sys.spawn(user, world);
  monitor_kinds kinds;
  start_monitor request;
  monitor_actor uut;

  fixture() {
    auto means = monitor_means{};
    means.probe = sys.spawn(prober, world);
    means.commands = sys.spawn(runner, world);
    means.daemon_uid = 1000;
    means.log = [x = world](severity, const std::string& line) {
      x->log.push_back(line);
    };
    add_own_kinds(kinds, sys, means);
    add_plugin_kind(
      kinds, sys, "queue", 3s,
      [this](const start_monitor& x) {
        world->plugins.push_back(x);
        return sys.spawn(plugin, world);
      },
      {}, means.log);
    add_plugin_kind(
      kinds, sys, "placed", 3s,
      [this](const start_monitor& x) {
        world->plugins.push_back(x);
        return sys.spawn(plugin, world);
      },
      means.probe, means.log);
    request.number = 42;
    request.who.creds = {1000, 1000};
    request.who.proc = {"tool", 0};
    request.proc = {"job", 1};
    world->process->cpu_time = 1s;
    world->process->silence = 0s;
  }

  ~fixture() override {
    if (uut)
      caf::anon_send(uut, stop_monitor{});
    uut = nullptr;
    consume_messages();
  }

  void set(const std::string& name, const std::string& text) {
    request.settings.push_back(
      {"troupe.monitor." + name, 0, value::string(text)});
  }

  void make(const std::string& kind) {
    auto made = kinds.make(kind);
    if (!made)
      CAF_FAIL(reason_of(made.error()));
    uut = std::move(made->actor);
  }

  void start(const std::string& kind) {
    make(kind);
    request_ack();
  }

  void request_ack() {
    deterministic::request<ack>(uut, request, desk);
  }

  caf::error refused(const std::string& kind) {
    make(kind);
    auto result = refusal<ack>(uut, request, desk);
    uut = nullptr;
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(kinds_of_monitors_tests, fixture)

CAF_TEST(kinds are known by name) {
  CAF_CHECK(
    (kinds.names()
     == std::vector<std::string>{"command", "cpu_progress", "memory_limit",
                                 "output_silence", "placed", "queue"}));
  const auto none = kinds.make("nothing");
  CAF_REQUIRE(!none);
  CAF_CHECK_EQUAL(status_of(none.error()), status::not_supported);
  CAF_CHECK(reason_of(none.error()).find("there are: command, cpu_progress")
            != std::string::npos);
  const auto maker = [] { return monitor_actor{}; };
  CAF_CHECK_EQUAL(status_of(kinds.add("queue", maker)), status::exists);
  CAF_CHECK_EQUAL(status_of(kinds.add("a b", maker)), status::bad_param);
  CAF_CHECK_EQUAL(status_of(kinds.add("", maker)), status::bad_param);
  CAF_CHECK_EQUAL(status_of(kinds.add("x", {})), status::bad_param);
  auto last = caf::error{};
  for (size_t i = 0; i <= defaults::monitor_kinds; ++i)
    last = kinds.add("k" + std::to_string(i), maker);
  CAF_CHECK_EQUAL(status_of(last), status::out_of_resource);
}

CAF_TEST(M1 M6 a process that gets no CPU time is told of once) {
  set("interval", "2");
  start("cpu_progress");
  CAF_CHECK_EQUAL(world->looks, 1u);
  elapse(1999ms);
  CAF_CHECK_EQUAL(world->looks, 1u);
  elapse(1ms);
  CAF_CHECK_EQUAL(world->looks, 2u);
  CAF_REQUIRE_EQUAL(world->alerts.size(), 1u);
  CAF_CHECK_EQUAL(world->alerts[0].number, 42u);
  CAF_CHECK_EQUAL(world->alerts[0].reason, "no CPU time for 2 s");
  elapse(20s);
  CAF_CHECK_EQUAL(world->alerts.size(), 1u);
  // All is well, then not any more: that is another alert.
  world->process->cpu_time = 2s;
  elapse(2s);
  CAF_CHECK_EQUAL(world->alerts.size(), 1u);
  elapse(2s);
  CAF_CHECK_EQUAL(world->alerts.size(), 2u);
}

CAF_TEST(M11 a monitor that was stopped looks no more) {
  start("cpu_progress");
  caf::anon_send(uut, stop_monitor{});
  uut = nullptr;
  elapse(1h);
  CAF_CHECK_EQUAL(world->looks, 1u);
  CAF_CHECK(world->alerts.empty());
}

CAF_TEST(a monitor of nobody is refused) {
  world->process = make_error(status::not_found, "no such process");
  CAF_CHECK_EQUAL(status_of(refused("cpu_progress")), status::not_found);
  set("command", "true");
  CAF_CHECK_EQUAL(status_of(refused("command")), status::not_found);
  CAF_CHECK(world->ran.empty());
}

CAF_TEST(settings that make no sense are refused before anybody looks) {
  set("interval", "never");
  CAF_CHECK_EQUAL(status_of(refused("cpu_progress")), status::bad_param);
  CAF_CHECK_EQUAL(status_of(refused("queue")), status::bad_param);
  CAF_CHECK_EQUAL(world->looks, 0u);
}

CAF_TEST(output that does not pass here cannot be watched) {
  world->process->silence.reset();
  CAF_CHECK_EQUAL(status_of(refused("output_silence")), status::not_supported);
}

CAF_TEST(M6 a silent process is told of when it is due) {
  set("interval", "10");
  start("output_silence");
  world->process->silence = 4s;
  elapse(10s);
  CAF_CHECK_EQUAL(world->looks, 2u);
  world->process->silence = 10s;
  elapse(5999ms);
  CAF_CHECK(world->alerts.empty());
  elapse(1ms);
  CAF_CHECK_EQUAL(world->alerts.size(), 1u);
}

CAF_TEST(M6 memory beyond a limit is told of with its numbers) {
  set("limit", "1M");
  start("memory_limit");
  world->process->resident = 2u << 20;
  elapse(1s);
  CAF_REQUIRE_EQUAL(world->alerts.size(), 1u);
  CAF_CHECK_EQUAL(world->alerts[0].infos.size(), 2u);
}

CAF_TEST(M6 a command that hangs or fails is told of) {
  set("command", "gpu-check");
  set("interval", "5");
  start("command");
  CAF_REQUIRE_EQUAL(world->ran.size(), 1u);
  CAF_CHECK_EQUAL(world->ran[0].argv.back(), "gpu-check");
  CAF_CHECK(world->ran[0].limit == defaults::monitor_command_time);
  world->command->timed_out = true;
  elapse(5s);
  CAF_REQUIRE_EQUAL(world->alerts.size(), 1u);
  CAF_CHECK_EQUAL(world->alerts[0].reason,
                  "the command was not over after 10 s");
}

CAF_TEST(commands of another user are not run) {
  set("command", "id");
  request.who.creds = {1001, 1001};
  CAF_CHECK_EQUAL(status_of(refused("command")), status::no_permissions);
  CAF_CHECK(world->ran.empty());
  request.who.creds = {0, 0};
  start("command");
  CAF_CHECK_EQUAL(world->ran.size(), 1u);
}

CAF_TEST(M6 a plugin looks in its own rhythm and gets its settings) {
  set("directory", "/spool");
  start("queue");
  CAF_REQUIRE_EQUAL(world->plugins.size(), 1u);
  CAF_CHECK_EQUAL(world->plugins[0].settings.size(), 1u);
  CAF_CHECK_EQUAL(world->looks, 1u);
  world->plugin->reason = "7 files wait";
  elapse(3s);
  CAF_REQUIRE_EQUAL(world->alerts.size(), 1u);
  CAF_CHECK_EQUAL(world->alerts[0].reason, "7 files wait");
}

CAF_TEST(C11.2 a plugin learns the number of its process) {
  world->process->pid = 77;
  start("placed");
  CAF_REQUIRE_EQUAL(world->plugins.size(), 1u);
  CAF_CHECK_EQUAL(world->plugins[0].pid, 77u);
}

CAF_TEST(C11.2 a process of another node is left to the plugins there) {
  world->process = make_error(status::not_found, "not here");
  CAF_CHECK_EQUAL(status_of(refused("placed")), status::not_found);
  CAF_CHECK(world->plugins.empty());
  // Whoever has itself watched is here.
  request.who.proc = request.proc;
  start("placed");
  CAF_CHECK_EQUAL(world->plugins.size(), 1u);
}

CAF_TEST(C11.5 a kind whose maker fails is refused in words) {
  kinds.add("throws",
            []() -> monitor_actor { throw std::runtime_error{"no oven"}; });
  kinds.add("odd", []() -> monitor_actor { throw 1; });
  kinds.add("lazy", [] { return monitor_actor{}; });
  CAF_CHECK_EQUAL(reason_of(kinds.make("throws").error()),
                  "the monitor kind throws: no oven");
  CAF_CHECK_EQUAL(status_of(kinds.make("odd").error()), status::error);
  CAF_CHECK_EQUAL(status_of(kinds.make("lazy").error()), status::error);
}

CAF_TEST(a plugin that refuses to begin is named) {
  world->plugin = make_error(status::bad_param, "needs a directory");
  const auto why = refused("queue");
  CAF_CHECK_EQUAL(status_of(why), status::bad_param);
  CAF_CHECK_EQUAL(reason_of(why), "needs a directory");
}

CAF_TEST(a monitor that cannot look says so once and goes on) {
  set("interval", "1");
  start("queue");
  world->plugin = make_error(status::error, "no such directory");
  elapse(20s);
  CAF_REQUIRE_EQUAL(world->log.size(), 1u);
  CAF_CHECK_EQUAL(world->log[0],
                  "a monitor of job:1 cannot look: no such directory");
  world->plugin = check_result{};
  elapse(1s);
  CAF_REQUIRE_EQUAL(world->log.size(), 2u);
  CAF_CHECK_EQUAL(world->log[1], "a monitor of job:1 works again");
  CAF_CHECK(world->alerts.empty());
}

CAF_TEST(whose process has ended is looked at no more) {
  set("interval", "1");
  start("cpu_progress");
  world->process = make_error(status::not_found, "it has ended");
  elapse(10s);
  CAF_CHECK_EQUAL(world->looks, 2u);
  CAF_CHECK(world->alerts.empty());
  CAF_CHECK(world->log.empty());
}

CAF_TEST(a monitor is started once) {
  start("cpu_progress");
  CAF_CHECK_EQUAL(status_of(refusal<ack>(uut, request, desk)),
                  status::err_exists);
}

CAF_TEST_FIXTURE_SCOPE_END()
