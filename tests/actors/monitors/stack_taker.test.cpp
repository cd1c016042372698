// Stacks of the processes of a node: how many, how often, and what is told.

#include "actors/monitors/stack_taker.hpp"

#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// Who has asked, and what was said: `=` and a stack, `!` and a trouble, or the
/// name of an error.
using answers = std::vector<std::string>;

struct fixture {
  std::vector<std::pair<probe_process, completion<process_probe>>> probes;
  std::vector<std::pair<run_command, completion<command_result>>> commands;
  stack_taker::time now{1h};
  std::shared_ptr<answers> told = std::make_shared<answers>();
  stack_taker uut{effects()};

  stack_taker::effects effects() {
    auto out = stack_taker::effects{};
    out.probe = [this](probe_process x, completion<process_probe> then) {
      probes.emplace_back(std::move(x), std::move(then));
    };
    out.run = [this](run_command x, completion<command_result> then) {
      commands.emplace_back(std::move(x), std::move(then));
    };
    out.now = [this] { return now; };
    return out;
  }

  void take(uint32_t rank) {
    uut.take({"job", rank}, [to = told](const caf::expected<info_result>& x) {
      if (!x)
        to->push_back(to_string(status_of(x.error())));
      else if (auto stack = text(x->infos, stack_key))
        to->push_back("=" + *stack);
      else
        to->push_back("!" + text(x->infos, stack_trouble_key).value_or("?"));
    });
  }

  /// The last one that was asked for runs under this number.
  void find_it(uint32_t pid) {
    auto found = process_probe{};
    found.pid = pid;
    probes.back().second(found);
  }

  void finish(size_t which, std::string output, int32_t exit_code = 0) {
    auto result = command_result{};
    result.output = std::move(output);
    result.exit_code = exit_code;
    commands.at(which).second(result);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(stack_taker_tests, fixture)

CAF_TEST(PAGE-11 the stack is what the command has written) {
  take(3);
  CAF_REQUIRE_EQUAL(probes.size(), 1u);
  CAF_CHECK((probes[0].first.proc == proc_id{"job", 3}));
  // Nobody says which number it has but who has started it.
  CAF_CHECK_EQUAL(probes[0].first.pid, 0u);
  CAF_CHECK(commands.empty());
  find_it(4711);
  CAF_REQUIRE_EQUAL(commands.size(), 1u);
  CAF_CHECK((commands[0].first.env
             == std::vector<std::string>{"TROUPE_MONITOR_PID=4711"}));
  CAF_CHECK(commands[0].first.limit == defaults::stack_time);
  CAF_CHECK_EQUAL(uut.running(), 1u);
  finish(0, "#0 main");
  CAF_CHECK((*told == answers{"=#0 main"}));
  CAF_CHECK_EQUAL(uut.running(), 0u);
}

CAF_TEST(PAGE-11 who asks meanwhile gets the same) {
  take(3);
  take(3);
  find_it(4711);
  take(3);
  CAF_CHECK_EQUAL(probes.size(), 1u);
  finish(0, "x");
  CAF_CHECK((*told == answers{"=x", "=x", "=x"}));
}

CAF_TEST(PAGE-11 a process is left alone for a while) {
  take(3);
  find_it(4711);
  finish(0, "x");
  now += defaults::stack_pause - 1ms;
  take(3);
  CAF_REQUIRE_EQUAL(told->size(), 2u);
  CAF_CHECK_EQUAL(told->back().substr(0, 10), "!its stack");
  CAF_CHECK_EQUAL(probes.size(), 1u);
  now += 1ms;
  take(3);
  CAF_CHECK_EQUAL(probes.size(), 2u);
}

CAF_TEST(PAGE-11 few are taken at a time) {
  for (uint32_t rank = 0; rank < defaults::stacks_at_a_time; ++rank)
    take(rank);
  take(9);
  CAF_REQUIRE_EQUAL(told->size(), 1u);
  CAF_CHECK_EQUAL(told->back().substr(0, 6), "!other");
  find_it(1);
  finish(0, "x");
  take(9);
  CAF_CHECK_EQUAL(probes.size(), defaults::stacks_at_a_time + 1);
}

CAF_TEST(PAGE-11 few wait for the same one) {
  for (size_t i = 0; i < defaults::stack_askers; ++i)
    take(3);
  CAF_CHECK(told->empty());
  take(3);
  CAF_REQUIRE_EQUAL(told->size(), 1u);
  CAF_CHECK_EQUAL(told->back().substr(0, 5), "!many");
}

CAF_TEST(PAGE-11 a process that is not here is none of ours) {
  take(3);
  probes.back().second(make_error(status::not_found, "not here"));
  CAF_CHECK((*told == answers{to_string(status::not_found)}));
  // It may be there the next time.
  take(3);
  CAF_CHECK_EQUAL(probes.size(), 2u);
}

CAF_TEST(PAGE-11 what takes no stacks says why) {
  take(3);
  find_it(4711);
  finish(0, "neither eu-stack nor gdb is installed on this node\n", 127);
  CAF_REQUIRE_EQUAL(told->size(), 1u);
  CAF_CHECK_EQUAL(told->back(),
                  "!neither eu-stack nor gdb is installed on this node\n");
  now += 1s;
  take(3);
  find_it(4711);
  auto late = command_result{};
  late.timed_out = true;
  late.signal = 9;
  commands.back().second(late);
  CAF_CHECK_EQUAL(told->back(), "!it was not over in time");
  now += 1s;
  take(3);
  find_it(4711);
  commands.back().second(make_error(status::resource_busy, "eight run"));
  CAF_CHECK_EQUAL(told->back(), "!eight run");
}

CAF_TEST(PAGE-11 of a long one the beginning is told) {
  take(3);
  find_it(4711);
  finish(0, std::string(defaults::stack_bytes + 10, 'x'));
  CAF_REQUIRE_EQUAL(told->size(), 1u);
  CAF_CHECK_EQUAL(told->back(),
                  "=" + std::string(defaults::stack_bytes, 'x') + "\n(more)\n");
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(PAGE-11 a stack is that of one process) {
  auto request = monitor_request{};
  const auto of = [&](std::vector<proc_id> procs) {
    request.directives = {
      make_info(attr::monitor_target_procs, value::procs(std::move(procs)))};
    return stack_target(request);
  };
  CAF_CHECK(!stack_target(request));
  CAF_CHECK(!of({}));
  CAF_CHECK(!of({{"job", 0}, {"job", 1}}));
  CAF_CHECK(!of({{"job", rank_wildcard}}));
  const auto one = of({{"job", 7}});
  CAF_REQUIRE(one);
  CAF_CHECK((*one == proc_id{"job", 7}));
}
