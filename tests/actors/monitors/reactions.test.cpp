// What is done about alerts: by whom it is said, and in which order it happens.

#include "actors/monitors/reactions.hpp"

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/doubles.hpp"

#include <caf/send.hpp>

#include <deque>
#include <memory>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

using texts = std::vector<std::string>;

requester user(uint32_t uid) {
  auto result = requester{};
  result.proc = {"job", 0};
  result.creds = {uid, uid};
  return result;
}

reaction_kind kind_of(const std::string& text) {
  const auto x = parse_reaction(text);
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return x->kind;
}

info reaction_info(value x) {
  return {std::string{monitor_reaction_key}, 0, std::move(x)};
}

/// A command runner that answers when the test says so.
struct command_script {
  std::vector<run_command> ran;
  std::deque<caf::typed_response_promise<command_result>> open;
  command_runner_actor::pointer runner = nullptr;

  void answer(command_result x = {}) {
    runner->context(nullptr); // It does not run now.
    open.front().deliver(std::move(x));
    open.pop_front();
  }
};

command_runner_actor::behavior_type
runner(command_runner_actor::pointer self,
       const std::shared_ptr<command_script>& x) {
  x->runner = self;
  return {[self, x](run_command& what) {
    x->ran.push_back(std::move(what));
    x->open.push_back(self->make_response_promise<command_result>());
    return x->open.back();
  }};
}

process_probe_actor::behavior_type
prober(process_probe_actor::pointer, const std::shared_ptr<uint32_t>& pid) {
  return {[pid](const probe_process&) -> caf::result<process_probe> {
    if (*pid == 0)
      return make_error(status::not_found);
    auto result = process_probe{};
    result.pid = *pid;
    return result;
  }};
}

struct fixture : deterministic {
  std::shared_ptr<host_script> host = std::make_shared<host_script>();
  std::shared_ptr<log_script> logs = std::make_shared<log_script>();
  std::shared_ptr<command_script> commands = std::make_shared<command_script>();
  std::shared_ptr<uint32_t> pid = std::make_shared<uint32_t>(77);
  std::vector<std::string> log;
  reactions_options options;
  reactions_actor uut;
  react_to_alert alert;

  fixture() {
    options.place = {{"server", 0}, {1000, 1000}, "node1"};
    options.host = spawn_host(sys, host);
    options.logs = spawn_log(sys, logs);
    options.commands = sys.spawn(runner, commands);
    options.probe = sys.spawn(prober, pid);
    options.log = [this](severity how, const std::string& line) {
      if (how == severity::warning)
        log.push_back(line);
    };
    alert.who = user(1000);
    alert.proc = {"job", 3};
    alert.kind = "cpu_progress";
    alert.id = "x";
    alert.reason = "no CPU time for 2 s";
  }

  void react(texts reactions) {
    if (!uut)
      uut = spawn_reactions(sys, options);
    alert.reactions = std::move(reactions);
    caf::anon_send(uut, alert);
    consume_messages();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(reactions_tests, fixture)

// -- what can be said ---------------------------------------------------------

CAF_TEST(M24 reactions have names) {
  CAF_CHECK(kind_of("event") == reaction_kind::event);
  CAF_CHECK(kind_of("log") == reaction_kind::log);
  CAF_CHECK(kind_of("stack") == reaction_kind::stack);
  CAF_CHECK(kind_of("kill") == reaction_kind::kill);
  CAF_CHECK(kind_of("restart:before") == reaction_kind::restart);
  CAF_CHECK_EQUAL(parse_reaction("command:echo a:b")->text, "echo a:b");
  CAF_CHECK_EQUAL(parse_reaction("mail:a@b, c@d")->text, "a@b, c@d");
  for (const auto* x : {"signal:10", "signal:USR1", "signal:SIGUSR1"})
    CAF_CHECK_EQUAL(parse_reaction(x)->signal, 10);
  const auto long_one =
    "command:" + std::string(defaults::monitor_reaction_bytes, 'x');
  for (const auto& x :
       {std::string{}, std::string{"Kill"}, std::string{"kill:1"},
        std::string{"restart"}, std::string{"signal"}, std::string{"signal:"},
        std::string{"signal:0"}, std::string{"signal:65"},
        std::string{"signal:9x"}, std::string{"signal:FOO"},
        std::string{"command:"}, std::string{"mail"},
        std::string{"mail:a\0b", 8}, long_one})
    CAF_CHECK_EQUAL(status_of(parse_reaction(x).error()), status::bad_param);
}

CAF_TEST(M24 reactions come as texts and as arrays of texts) {
  auto infos = std::vector<info>{
    reaction_info(value::string("log")),
    {"other", 0, value::string("no")},
    reaction_info(value::array(
      data_type::string, {value::string("stack"), value::string("kill")})),
    reaction_info(value::uint32(9))};
  CAF_CHECK((reactions_in(infos) == texts{"log", "stack", "kill", ""}));
  CAF_CHECK_EQUAL(status_of(check_reactions(reactions_in(infos), user(1), 1)),
                  status::bad_param);
  infos.pop_back();
  const auto policy = job_policy(infos);
  CAF_REQUIRE(policy);
  CAF_CHECK((reactions_in({*policy}) == texts{"log", "stack", "kill"}));
  CAF_CHECK(!job_policy({}));
}

CAF_TEST(M24 the monitor goes before the job and the job before the site) {
  const auto of = [](texts own, texts job, texts site) {
    const auto x = choose_reactions(std::move(own), std::move(job), site);
    return std::make_pair(x.reactions, x.is_policy_of_site);
  };
  CAF_CHECK(of({"log"}, {"kill"}, {"stack"})
            == std::make_pair(texts{"log"}, false));
  CAF_CHECK(of({}, {"kill"}, {"stack"})
            == std::make_pair(texts{"kill"}, false));
  CAF_CHECK(of({}, {}, {"stack"}) == std::make_pair(texts{"stack"}, true));
  CAF_CHECK(of({}, {}, {}) == std::make_pair(texts{}, false));
}

CAF_TEST(only the user of the daemon may have commands run) {
  const auto ask = [](uint32_t uid, const std::string& what) {
    return status_of(check_reactions({what}, user(uid), 1000));
  };
  CAF_CHECK_EQUAL(ask(1000, "command:id"), status::success);
  CAF_CHECK_EQUAL(ask(0, "command:id"), status::success);
  CAF_CHECK_EQUAL(ask(1001, "command:id"), status::no_permissions);
  CAF_CHECK_EQUAL(ask(1001, "kill"), status::success);
  CAF_CHECK_EQUAL(
    status_of(check_reactions(texts(defaults::monitor_reactions + 1, "log"),
                              user(0), 1000)),
    status::out_of_resource);
}

// -- what happens -------------------------------------------------------------

CAF_TEST(M24 a line in the log names the monitor and the process) {
  react({"event", "log"});
  CAF_REQUIRE_EQUAL(log.size(), 1u);
  CAF_CHECK_EQUAL(log[0],
                  "monitor cpu_progress \"x\" of job:3: no CPU time for 2 s");
}

CAF_TEST(M24 a stack is taken before the process is killed) {
  react({"stack", "kill"});
  CAF_REQUIRE_EQUAL(commands->ran.size(), 1u);
  const auto& env = commands->ran[0].env;
  CAF_CHECK(std::find(env.begin(), env.end(), "TROUPE_MONITOR_PID=77")
            != env.end());
  CAF_CHECK(host->requests.empty());
  auto said = command_result{};
  said.output = "#0 main";
  commands->answer(said);
  consume_messages();
  CAF_REQUIRE_EQUAL(logs->written.size(), 1u);
  CAF_CHECK(logs->written[0].text.find("#0 main") != std::string::npos);
  CAF_REQUIRE_EQUAL(host->requests.size(), 1u);
  CAF_CHECK_EQUAL(host->requests[0].first.creds.uid, 1000u);
  CAF_CHECK(log.empty());
}

CAF_TEST(M24 what cannot be done is named and the rest follows) {
  host->others = status::not_supported;
  react({"stack", "restart:a", "log"});
  auto said = command_result{};
  said.exit_code = 127;
  said.output = "neither eu-stack nor gdb is installed on this node\n";
  commands->answer(said);
  consume_messages();
  CAF_REQUIRE_EQUAL(log.size(), 3u);
  CAF_CHECK(log[0].find("cannot do \"stack\": it failed with status 127: "
                        "neither eu-stack nor gdb")
            != std::string::npos);
  CAF_CHECK(log[1].find("cannot do \"restart:a\"") != std::string::npos);
  CAF_CHECK(logs->written.empty());
}

CAF_TEST(M24 a command learns of the alert) {
  alert.file = "/a/b";
  react({"command:notify"});
  CAF_REQUIRE_EQUAL(commands->ran.size(), 1u);
  CAF_CHECK((commands->ran[0].argv == texts{"/bin/sh", "-c", "notify"}));
  CAF_CHECK(commands->ran[0].limit == defaults::reaction_command_time);
  const auto& env = commands->ran[0].env;
  for (const auto* x :
       {"TROUPE_MONITOR_KIND=cpu_progress", "TROUPE_MONITOR_ID=x",
        "TROUPE_MONITOR_FILE=/a/b", "TROUPE_MONITOR_NSPACE=job",
        "TROUPE_MONITOR_RANK=3", "TROUPE_MONITOR_REASON=no CPU time for 2 s"})
    CAF_CHECK(std::find(env.begin(), env.end(), x) != env.end());
  commands->answer();
  consume_messages();
  CAF_CHECK(log.empty());
}

CAF_TEST(M24 a command of another user is not run but one of the site is) {
  alert.who = user(1001);
  react({"command:id"});
  CAF_CHECK(commands->ran.empty());
  CAF_CHECK_EQUAL(log.size(), 1u);
  options.of_site = {"command:id", "kill"};
  uut = nullptr;
  react({});
  CAF_REQUIRE_EQUAL(commands->ran.size(), 1u);
  commands->answer();
  consume_messages();
  // The site acts in the name of the daemon.
  CAF_REQUIRE_EQUAL(host->requests.size(), 1u);
  CAF_CHECK_EQUAL(host->requests[0].first.proc.nspace, "server");
  CAF_CHECK_EQUAL(host->requests[0].first.creds.uid, 1000u);
}

CAF_TEST(M24 a mail has a subject of one line) {
  alert.proc.nspace = "job\nBcc: a@b";
  react({"mail:root"});
  CAF_REQUIRE_EQUAL(logs->written.size(), 1u);
  const auto& x = logs->written[0];
  CAF_CHECK(x.channel == log_channel::email);
  CAF_CHECK_EQUAL(x.envelope.to, "root");
  CAF_CHECK(x.envelope.subject->find('\n') == std::string::npos);
  CAF_CHECK(x.text.find("node: node1") != std::string::npos);
}

CAF_TEST(M24 a process that has ended has no stack) {
  *pid = 0;
  alert.pid = 5;
  react({"stack"});
  CAF_CHECK(commands->ran.empty());
  CAF_REQUIRE_EQUAL(log.size(), 1u);
  CAF_CHECK(log[0].find("does not run on this node") != std::string::npos);
}

CAF_TEST(M24 too many alerts at a time are dropped and named) {
  for (size_t i = 0; i <= defaults::reactions_in_flight; ++i)
    react({"command:slow"});
  CAF_CHECK_EQUAL(commands->ran.size(), defaults::reactions_in_flight);
  CAF_REQUIRE_EQUAL(log.size(), 1u);
  CAF_CHECK(log[0].find("nothing is done about it") != std::string::npos);
  while (!commands->open.empty())
    commands->answer();
  consume_messages();
  react({"command:quick"});
  CAF_CHECK_EQUAL(commands->ran.size(), defaults::reactions_in_flight + 1);
  commands->answer();
}

CAF_TEST_FIXTURE_SCOPE_END()
