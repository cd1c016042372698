// Checkpoints, preemption and restart over several nodes.

#include "actors/control/control_directives.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/site_hook.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/fixtures/mesh_hosts.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <csignal>
#include <map>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

const auto nspace = std::string{"server@1"};

/// Three nodes; two ranks on each, which go on without the others.
struct fixture : deterministic {
  mesh_hosts mesh{*this, 3, 4};
  std::map<uint32_t, peer_ptr> ranks;

  fixture() {
    const auto x = mesh.spawn(job_host::program(
      6, {with(attr::mapby, value::string("ppr:2:node")),
          with(attr::job_recoverable, value::boolean(true))}));
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    for (uint32_t rank = 0; rank < 6; ++rank) {
      ranks[rank] = mesh.connect(rank / 2, nspace, rank);
      CAF_REQUIRE_EQUAL(ranks[rank]->code, status::success);
    }
  }

  template <class T, class Request>
  pending<T> ask(uint32_t rank, Request x) {
    auto result = mesh[rank / 2].uut->ask<T>(ranks.at(rank), std::move(x));
    consume_messages();
    return result;
  }

  void want(uint32_t rank, status code) {
    const auto x = ask<ack>(rank, register_events_request{{code}, {}});
    CAF_REQUIRE_EQUAL(x->code, status::success);
  }

  pending<info_result> control(uint32_t rank, std::vector<proc_id> procs,
                               std::vector<info> directives) {
    return ask<info_result>(
      rank, job_control_request{std::move(procs), std::move(directives)});
  }

  pending<info_result> tool(std::vector<proc_id> procs,
                            std::vector<info> directives) {
    const auto who = mesh[0].uut->connect(node::tool_greeting());
    consume_messages();
    auto result = mesh[0].uut->ask<info_result>(
      who, job_control_request{std::move(procs), std::move(directives)});
    consume_messages();
    return result;
  }

  void complete(uint32_t rank, data_range range = data_range::rm) {
    const auto x = ask<ack>(
      rank, notify_request{status::jctrl_checkpoint_complete, range, {}});
    CAF_CHECK_EQUAL(x->code, status::success);
  }

  /// How many events each rank has had.
  std::string events() const {
    auto result = std::string{};
    for (const auto& [rank, x] : ranks)
      result += std::to_string(x->wire->events.size());
    return result;
  }

  void declare_event(uint32_t rank) {
    const auto method =
      with(attr::job_ctrl_checkpoint_event,
           value::of_status(static_cast<int32_t>(status::jctrl_checkpoint)));
    const auto x =
      control(rank, {},
              {with(attr::job_ctrl_checkpoint_method, value::infos({method})),
               with(attr::job_ctrl_preemptible)});
    CAF_REQUIRE_EQUAL(x->code, status::success);
  }

  void all_declare() {
    for (uint32_t rank = 0; rank < 6; ++rank) {
      want(rank, status::jctrl_checkpoint);
      declare_event(rank);
    }
  }

  static info checkpoint(const char* id) {
    return with(attr::job_ctrl_checkpoint, value::string(id));
  }

  static std::vector<proc_id> whole() {
    return {{nspace, rank_wildcard}};
  }

  /// The ranks of the newest job on each node, `01 23 45`.
  std::string places(const std::string& name) {
    auto result = std::string{};
    for (uint32_t node = 0; node < 3; ++node) {
      result += node > 0 ? " " : "";
      for (const auto& x : mesh[node].launcher->processes)
        if (x.spec.proc.nspace == name)
          result += std::to_string(x.spec.proc.rank);
    }
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_checkpoints_tests, fixture)

CAF_TEST(J26 J27 exactly the targets are asked and heard whatever the range) {
  all_declare();
  const auto x =
    tool({{nspace, 0}, {nspace, 2}, {nspace, 5}}, {checkpoint("c1")});
  CAF_CHECK_EQUAL(events(), "101001");
  complete(0, data_range::local);
  complete(1);
  complete(2, data_range::nspace);
  CAF_CHECK(x->is_pending());
  complete(5, data_range::rm);
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(J18 J30 what has been declared can be asked for) {
  declare_event(3);
  auto wanted = troupe::query{};
  wanted.keys = {std::string{attr::job_ctrl_preemptible},
                 std::string{attr::job_ctrl_checkpoint_method}};
  const auto x = ask<info_result>(3, query_request{{wanted}});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK(flag(x->value.infos, attr::job_ctrl_preemptible));
  const auto* methods = find(x->value.infos, attr::job_ctrl_checkpoint_method);
  CAF_REQUIRE(methods != nullptr);
  CAF_CHECK_EQUAL(infos_of(*methods).size(), 1u);
  const auto y = ask<info_result>(4, query_request{{wanted}});
  CAF_CHECK(flag(y->value.infos, attr::job_ctrl_preemptible));
  CAF_CHECK(find(y->value.infos, attr::job_ctrl_checkpoint_method) == nullptr);
}

CAF_TEST(J27 CTL-2 a node that is lost in the middle is a definite error) {
  all_declare();
  const auto x = tool(whole(), {checkpoint("c1")});
  for (const auto rank : {0, 1, 4, 5})
    complete(static_cast<uint32_t>(rank));
  mesh.lose(1);
  elapse(defaults::lost_connection_wait);
  CAF_CHECK_EQUAL(x->code, status::error);
  CAF_CHECK(x->reason.find(nspace + ": ranks 2-3") != std::string::npos);
}

CAF_TEST(J28 J29 only those who want the alert get it) {
  for (const auto rank : {0, 3})
    want(static_cast<uint32_t>(rank), status::jctrl_preempt_alert);
  // One with a default handler.
  ask<ack>(5, register_events_request{{}, {}});
  declare_event(0);
  for (const auto& [rank, x] : ranks)
    x->wire->events.clear();
  const auto x =
    tool(whole(), {with(control_key::preempt, value::string("pause"))});
  CAF_CHECK_EQUAL(events(), "100100");
  for (uint32_t rank = 0; rank < 6; ++rank)
    complete(rank);
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(E59 an alert says that the job is ended and when) {
  want(0, status::jctrl_preempt_alert);
  declare_event(0);
  ranks.at(0)->wire->events.clear();
  tool(whole(), {with(control_key::preempt, value::string("terminate")),
                 with(control_key::grace, value::uint32(2500))});
  CAF_REQUIRE_EQUAL(ranks.at(0)->wire->events.size(), 1u);
  const auto& infos = ranks.at(0)->wire->events[0].infos;
  CAF_CHECK(flag(infos, attr::event_terminate_job));
  CAF_CHECK(number<int32_t>(infos, attr::event_action_timeout) == 3);
}

CAF_TEST(J10 a job starts again where it was and knows from what) {
  all_declare();
  const auto saved = tool(whole(), {checkpoint("c1")});
  for (uint32_t rank = 0; rank < 6; ++rank)
    complete(rank);
  CAF_REQUIRE_EQUAL(saved->code, status::success);
  for (uint32_t node = 0; node < 3; ++node)
    mesh[node].launcher->fatal.insert(SIGKILL);
  const auto x = tool({}, {with(attr::job_ctrl_restart, value::string("c1"))});
  elapse(1s);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(text(x->value.infos, attr::nspace), "server@2");
  CAF_CHECK_EQUAL(places("server@2"), "01 23 45");
  const auto& env = mesh[1].launcher->processes.back().spec.env;
  CAF_CHECK_EQUAL(std::count(env.begin(), env.end(), "TROUPE_CHECKPOINT_ID=c1"),
                  1);
  const auto again = mesh.connect(2, "server@2", 4);
  CAF_REQUIRE_EQUAL(again->code, status::success);
  const auto y = mesh[2].uut->get(again, {"server@2", rank_wildcard},
                                  std::string{attr::job_ctrl_restart});
  consume_messages();
  CAF_REQUIRE_EQUAL(y->code, status::success);
  CAF_CHECK_EQUAL(text_in(y->value, std::string{attr::job_ctrl_restart}), "c1");
}

CAF_TEST(J16 without a hook nodes are not provisioned) {
  const auto x =
    tool({}, {with(attr::job_ctrl_provision, value::string("n[1-2]"))});
  CAF_CHECK_EQUAL(x->code, status::not_supported);
}

CAF_TEST_FIXTURE_SCOPE_END()
