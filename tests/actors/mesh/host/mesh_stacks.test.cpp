// Where a process is: its node takes its stack, wherever one asks.

#include "actors/monitors/monitor_desk.hpp"
#include "actors/monitors/stack_taker.hpp"
#include "actors/monitors/usage_monitor.hpp"
#include "tests/fixtures/exchange.hpp"

#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// What takes stacks at the last node.
struct fixture : exchange {
  std::shared_ptr<std::vector<run_command>> commands =
    std::make_shared<std::vector<run_command>>();
  process_probe_actor probe;
  command_runner_actor runner;
  monitor_desk_actor desk;
  usage_monitor_actor usage;

  fixture() {
    probe = sys.spawn(
      [](process_probe_actor::pointer) -> process_probe_actor::behavior_type {
        return {[](const probe_process& x) -> caf::result<process_probe> {
          if (x.proc.rank != 4)
            return make_error(status::not_found, "it runs no more");
          auto result = process_probe{};
          result.pid = 4711;
          return result;
        }};
      });
    runner = sys.spawn([to = commands](command_runner_actor::pointer)
                         -> command_runner_actor::behavior_type {
      return {[to](const run_command& x) {
        to->push_back(x);
        auto result = command_result{};
        result.output = "#0 forget_the_barrier";
        return result;
      }};
    });
    auto watch = monitor_desk_options{};
    watch.host = mesh[2].host;
    watch.events = mesh[2].uut->events;
    watch.owner = {our_uid, our_uid};
    watch.probe = probe;
    watch.commands = runner;
    watch.spans_nodes = true;
    desk = spawn_monitor_desk(sys, std::move(watch));
    auto sample = usage_monitor_options{};
    sample.server = {"server", 2};
    sample.hostname = "n2";
    sample.owner = {our_uid, our_uid};
    sample.host = mesh[2].host;
    sample.desk = [this] { return desk; };
    usage = spawn_usage_monitor(sys, std::move(sample));
    caf::anon_send(mesh[2].host, usage);
    consume_messages();
  }

  ~fixture() override {
    end(usage);
    end(desk);
    end(runner);
    end(probe);
  }

  /// A process of the first node asks its host.
  pending<info_result> take(const proc_id& of, uint32_t uid = our_uid) {
    auto request = monitor_request{};
    request.monitor = with(stack_key);
    request.directives = {with(attr::monitor_target_procs, value::procs({of}))};
    auto result = fixtures::ask<info_result>(
      sys, mesh[0].host, asks({nspace, 0}, 1, uid), std::move(request));
    consume_messages();
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_stacks_tests, fixture)

CAF_TEST(PAGE-11 the node of a process takes its stack) {
  start(nspace, 6);
  const auto x = take({nspace, 4});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text(x->value.infos, stack_key).value_or(""),
                  "#0 forget_the_barrier");
  CAF_REQUIRE_EQUAL(commands->size(), 1u);
  CAF_CHECK(commands->front().env
            == std::vector<std::string>{"TROUPE_MONITOR_PID=4711"});
}

CAF_TEST(PAGE-11 another user gets none) {
  start(nspace, 6);
  CAF_CHECK_EQUAL(take({nspace, 4}, our_uid + 1)->code, status::no_permissions);
  CAF_CHECK(commands->empty());
}

CAF_TEST(PAGE-11 a process that is nowhere has none) {
  start(nspace, 6);
  CAF_CHECK_EQUAL(take({nspace, 5})->code, status::not_found);
  CAF_CHECK_EQUAL(take({nspace, 9})->code, status::not_found);
  CAF_CHECK(commands->empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
