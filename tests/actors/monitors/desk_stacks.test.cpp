// Where a process is: from the request of a tool to who takes the stack.

#include "actors/monitors/monitor_desk.hpp"
#include "actors/monitors/stack_taker.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

struct fixture : deterministic {
  /// What takes stacks; of rank 0 alone.
  std::vector<uint32_t> taken;
  bool is_stuck = false;
  process_probe_actor probe = sys.spawn(
    [](process_probe_actor::pointer) -> process_probe_actor::behavior_type {
      return {[](const probe_process& x) -> caf::result<process_probe> {
        if (x.proc.rank != 0)
          return make_error(status::not_found, "not of this node");
        auto result = process_probe{};
        result.pid = 4711;
        return result;
      }};
    });
  command_runner_actor runner =
    sys.spawn([this](command_runner_actor::pointer self)
                -> command_runner_actor::behavior_type {
      return {[this, self](const run_command&) -> caf::result<command_result> {
        taken.push_back(0);
        if (is_stuck)
          return self->make_response_promise<command_result>();
        auto result = command_result{};
        result.output = "#0 main";
        return result;
      }};
    });
  node uut{*this, [this](monitor_desk_options& x) {
             x.owner = {our_uid, our_uid};
             x.spans_nodes = true;
             x.probe = probe;
             x.commands = runner;
           }};
  peer_ptr tool;

  fixture() {
    uut.add_job("job", 2);
    consume_messages();
    tool = uut.connect(node::tool_greeting());
    consume_messages();
  }

  ~fixture() override {
    end(uut.monitors);
    end(runner);
    end(probe);
  }

  pending<info_result> ask_for(std::vector<proc_id> procs) {
    auto request = monitor_request{};
    request.monitor = with(stack_key);
    request.directives = {
      with(attr::monitor_target_procs, value::procs(std::move(procs)))};
    auto result = uut.ask<info_result>(tool, std::move(request));
    consume_messages();
    return result;
  }

  bool has_asked_host() {
    const auto& all = uut.host_play->requests;
    return std::any_of(all.begin(), all.end(),
                       [](const auto& x) { return x.second == "monitor"; });
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(desk_stacks_tests, fixture)

CAF_TEST(PAGE-11 a process of this node is looked at here) {
  const auto x = ask_for({{"job", 0}});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text(x->value.infos, stack_key).value_or(""), "#0 main");
  CAF_CHECK(!has_asked_host());
}

CAF_TEST(PAGE-11 of one that is elsewhere the host is asked) {
  const auto x = ask_for({{"job", 1}});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(has_asked_host());
  CAF_CHECK(taken.empty());
}

CAF_TEST(PAGE-11 one process has to be named) {
  CAF_CHECK_EQUAL(ask_for({})->code, status::bad_param);
  CAF_CHECK_EQUAL(ask_for({{"job", rank_wildcard}})->code, status::bad_param);
  CAF_CHECK(!has_asked_host());
}

CAF_TEST(PAGE-11 who takes it and does not end is not waited for) {
  is_stuck = true;
  const auto x = ask_for({{"job", 0}});
  CAF_CHECK(x->is_pending());
  elapse(2 * defaults::stack_time + 1s);
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK(text(x->value.infos, stack_trouble_key).has_value());
  // The next one is taken again.
  is_stuck = false;
  elapse(defaults::stack_pause);
  CAF_CHECK_EQUAL(
    text(ask_for({{"job", 0}})->value.infos, stack_key).value_or(""),
    "#0 main");
}

CAF_TEST_FIXTURE_SCOPE_END()
