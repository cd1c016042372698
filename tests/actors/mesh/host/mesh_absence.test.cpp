// Who has ended is missed by nobody: processes of other jobs and nodes that
// wait for it are told.

#include "messages/attributes.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/fixtures/mesh_hosts.hpp"
#include "tests/test.hpp"

#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using procs = std::vector<proc_id>;

const auto first = std::string{"server@1"};
const auto second = std::string{"server@2"};
const auto third = std::string{"server@3"};

/// Jobs of two processes, one on each of three nodes, which go on when one of
/// their processes fails.
struct fixture : deterministic {
  mesh_hosts mesh{*this, 3};
  std::map<proc_id, peer_ptr> ranks;

  /// A tool at the last node.
  peer_ptr tool;

  spawn_request program() {
    return job_host::program(
      2, {with(attr::job_recoverable, value::boolean(true))});
  }

  void connect(const std::string& nspace, uint32_t node) {
    for (const auto rank : {0u, 1u}) {
      auto& peer = ranks[{nspace, rank}];
      peer = mesh.connect(node, nspace, rank);
      CAF_REQUIRE_EQUAL(peer->code, status::success);
    }
  }

  /// Starts a job by the launcher of the root, which goes to `node`.
  void start(const std::string& nspace, uint32_t node) {
    const auto x = mesh.spawn(program());
    consume_messages();
    CAF_REQUIRE_EQUAL(x->value.nspace, nspace);
    connect(nspace, node);
  }

  /// Starts a job by a tool of the last node, which goes to `node`.
  void start_by_tool(const std::string& nspace, uint32_t node) {
    if (!tool)
      tool = mesh[2].uut->connect(node::tool_greeting(our_uid));
    consume_messages();
    const auto x = mesh[2].uut->ask<spawn_result>(tool, program());
    consume_messages();
    CAF_REQUIRE_EQUAL(x->value.nspace, nspace);
    connect(nspace, node);
  }

  pending<connect_procs_result> join(const proc_id& who, uint32_t node,
                                     procs all) {
    auto result = mesh[node].uut->ask<connect_procs_result>(
      ranks.at(who), connect_procs_request{std::move(all), {}, {}});
    consume_messages();
    return result;
  }

  void end(uint32_t node, uint32_t rank, int32_t exit_code = 0) {
    mesh[node].launcher->end(rank, exit_code);
    consume_messages();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_absence_tests, fixture)

CAF_TEST(P-C2 who asks late for a job hears who of it has ended) {
  start(first, 0);
  start(second, 1);
  start(third, 2);
  end(2, 1);
  // Of the nodes, only the one of the third job was told of that end.
  const auto x = join({second, 0}, 1, {{second, 0}, {third, 1}});
  CAF_CHECK(!x->is_pending());
  CAF_CHECK(x->code != status::success);
  const auto y = join({first, 0}, 0, {{first, 0}, {third, 1}});
  CAF_CHECK(!y->is_pending());
  CAF_CHECK(y->code != status::success);
}

CAF_TEST(P-C2 who waits for a process of another job hears of its end) {
  start(first, 0);
  start(second, 1);
  start(third, 2);
  const auto x = join({second, 0}, 1, {{second, 0}, {third, 1}});
  CAF_CHECK(x->is_pending());
  end(2, 1, 3);
  CAF_CHECK(!x->is_pending());
  CAF_CHECK(x->code != status::success);
}

CAF_TEST(P-C2 who waits for a job that is ended hears that it is over) {
  start_by_tool(first, 0);
  start_by_tool(second, 1);
  mesh[1].launcher->fatal.insert(SIGTERM);
  // The root runs nothing of the second job, and takes nothing of its output.
  const auto x = join({first, 0}, 0, {{first, 0}, {second, rank_wildcard}});
  CAF_CHECK(x->is_pending());
  auto kill = job_control_request{{{second, rank_wildcard}}, {}};
  kill.directives.push_back(
    with(attr::job_ctrl_terminate, value::boolean(true)));
  mesh[2].uut->ask<info_result>(tool, kill);
  consume_messages();
  CAF_CHECK(!x->is_pending());
  CAF_CHECK(x->code != status::success);
}

CAF_TEST(P-C2 a job of which the end is being told cannot be asked for) {
  start(first, 0);
  start(second, 1);
  start(third, 2);
  // The node of the third job does not say that it has forgotten it.
  mesh.passes = [](uint32_t from, uint32_t, const host_message& what) {
    return from != 2 || !std::holds_alternative<host_answer>(what);
  };
  end(2, 0);
  end(2, 1);
  const auto x = join({second, 0}, 1, {{second, 0}, {third, rank_wildcard}});
  CAF_CHECK_EQUAL(x->code, status::invalid_namespace);
}

CAF_TEST_FIXTURE_SCOPE_END()
