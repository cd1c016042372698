// Job control over several nodes: who is reached, what is answered when nodes
// and lanes fail, and what becomes of the jobs.

#include "actors/control/control_directives.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/fixtures/mesh_hosts.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <csignal>
#include <map>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

const auto nspace = std::string{"server@1"};
const auto other = std::string{"server@2"};

/// Three nodes with two slots each; ranks 0 and 1 run on the first.
struct fixture : deterministic {
  mesh_hosts mesh{*this, 3, 4};

  fixture() {
    spawn(6);
  }

  pending<spawn_result> spawn(int32_t size, std::vector<info> infos = {}) {
    infos.push_back(with(attr::mapby, value::string("ppr:2:node")));
    auto result = mesh.spawn(job_host::program(size, std::move(infos)));
    consume_messages();
    CAF_REQUIRE_EQUAL(result->code, status::success);
    forget_asked();
    return result;
  }

  pending<info_result> control(const peer_ptr& who, std::vector<proc_id> procs,
                               std::vector<info> directives,
                               uint32_t node = 0) {
    auto result = mesh[node].uut->ask<info_result>(
      who, job_control_request{std::move(procs), std::move(directives)});
    consume_messages();
    return result;
  }

  pending<info_result> control(const peer_ptr& who, std::vector<proc_id> procs,
                               std::string_view key, uint32_t node = 0) {
    return control(who, std::move(procs), {with(key)}, node);
  }

  /// What a node's launcher was asked since this was last called.
  std::string asked(uint32_t node) {
    auto result = std::string{};
    for (const auto& x : mesh[node].launcher->log)
      result += (result.empty() ? "" : ", ") + x;
    mesh[node].launcher->log.clear();
    return result;
  }

  void forget_asked() {
    for (uint32_t node = 0; node < 3; ++node)
      asked(node);
  }

  void all_die_of(int32_t signal) {
    for (uint32_t node = 0; node < 3; ++node)
      mesh[node].launcher->fatal.insert(signal);
  }

  peer_ptr tool(uint32_t node, uint32_t uid = our_uid) {
    auto result = mesh[node].uut->connect(node::tool_greeting(uid));
    consume_messages();
    return result;
  }

  /// The states of the requests of somebody, by their ids.
  std::map<std::string, std::string> states(const peer_ptr& who,
                                            uint32_t node) {
    auto wanted = troupe::query{};
    wanted.keys.emplace_back(control_key::status);
    const auto x =
      mesh[node].uut->ask<info_result>(who, query_request{{wanted}});
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    auto result = std::map<std::string, std::string>{};
    for (const auto& item : infos_of(x->value.infos.at(0).val)) {
      const auto fields = infos_of(item.val);
      result[text(fields, attr::job_ctrl_id).value_or("")] =
        text(fields, "state").value_or("");
    }
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_control_tests, fixture)

CAF_TEST(J2 without targets the own job is meant on all its nodes) {
  spawn(3);
  const auto x = mesh.connect(0, nspace, 0);
  CAF_CHECK_EQUAL(control(x, {}, attr::job_ctrl_pause)->code, status::success);
  CAF_CHECK_EQUAL(asked(0), "pause 0, pause 1");
  CAF_CHECK_EQUAL(asked(1), "pause 2, pause 3");
  CAF_CHECK_EQUAL(asked(2), "pause 4, pause 5");
}

CAF_TEST(J15 a signal reaches exactly the ranks named on any node) {
  const auto x = mesh.connect(2, nspace, 4);
  const auto result =
    control(x, {{nspace, 3}, {nspace, 0}, {nspace, 3}},
            {with(attr::job_ctrl_signal, value::integer(SIGUSR1))}, 2);
  CAF_CHECK_EQUAL(result->code, status::success);
  CAF_CHECK_EQUAL(asked(0), "signal 0 10");
  CAF_CHECK_EQUAL(asked(1), "signal 3 10");
  CAF_CHECK_EQUAL(asked(2), "");
  CAF_CHECK(number<size_t>(result->value.infos, control_key::reached) == 2u);
}

CAF_TEST(CTL-1 J25 what is asked of a node again is carried out once) {
  const auto x = mesh.connect(0, nspace, 0);
  // The answers of a node are lost, and so is another node.
  auto is_deaf = true;
  mesh.passes = [&](uint32_t from, uint32_t, const host_message& what) {
    return !is_deaf || from != 1 || !std::holds_alternative<host_answer>(what);
  };
  const auto result =
    control(x, {{nspace, 2}, {nspace, 3}}, attr::job_ctrl_pause);
  CAF_CHECK(result->is_pending());
  CAF_CHECK_EQUAL(asked(1), "pause 2, pause 3");
  is_deaf = false;
  mesh.lose(2);
  elapse(3s);
  CAF_CHECK_EQUAL(result->code, status::success);
  CAF_CHECK(asked(1).find("pause") == std::string::npos);
}

CAF_TEST(CTL-2 a node lost in the middle costs its processes and no answer) {
  spawn(3, {with(attr::job_recoverable, value::boolean(true))});
  const auto x = mesh.connect(0, other, 0);
  mesh.passes = [](uint32_t, uint32_t to, const host_message&) {
    return to != 1;
  };
  const auto result = control(x, {}, attr::job_ctrl_pause);
  CAF_CHECK(result->is_pending());
  mesh.lose(1);
  CAF_CHECK_EQUAL(result->code, status::partial_success);
  CAF_CHECK(result->reason.find(other + ":2") != std::string::npos);
}

CAF_TEST(J4 J15 processes that do not run yet are named) {
  mesh[1].launcher->holds_starts = true;
  mesh.spawn(
    job_host::program(3, {with(attr::mapby, value::string("ppr:2:node"))}));
  consume_messages();
  forget_asked();
  const auto x = mesh.connect(0, nspace, 0);
  const auto signal = [&] {
    return control(x, {{other, rank_wildcard}},
                   {with(attr::job_ctrl_signal, value::integer(SIGUSR1))});
  };
  const auto early = signal();
  CAF_CHECK_EQUAL(early->code, status::partial_success);
  CAF_CHECK(early->reason.find(other + ":2") != std::string::npos);
  CAF_CHECK_EQUAL(asked(0), "signal 0 10, signal 1 10");
  mesh[1].launcher->release();
  consume_messages();
  CAF_CHECK_EQUAL(signal()->code, status::success);
}

CAF_TEST(J25 a process whose request is on its way may end) {
  const auto x = mesh.connect(2, nspace, 4);
  mesh.passes = [](uint32_t from, uint32_t, const host_message& what) {
    return from != 1 || !std::holds_alternative<host_answer>(what);
  };
  control(
    x, {{nspace, 2}},
    {with(attr::job_ctrl_pause), with(attr::job_ctrl_id, value::string("p"))},
    2);
  mesh[2].uut->lose(x, true);
  consume_messages();
  // What it asked for is done, and was not cancelled.
  CAF_CHECK_EQUAL(asked(1), "pause 2");
  CAF_CHECK_EQUAL(*mesh.terminated, 0u);
}

CAF_TEST(J9 who is killed by command has not failed) {
  all_die_of(SIGKILL);
  const auto x = mesh.connect(0, nspace, 0);
  CAF_CHECK_EQUAL(control(x, {{nspace, 3}}, attr::job_ctrl_kill)->code,
                  status::success);
  CAF_CHECK_EQUAL(asked(1), "signal 3 9, end 3");
  CAF_CHECK_EQUAL(asked(0), "");
  CAF_CHECK(mesh.observer->ended.empty());
  CAF_REQUIRE(!mesh.observer->changes.empty());
  CAF_CHECK(mesh.observer->changes.back().state == proc_state::killed_by_cmd);
  CAF_CHECK(mesh.observer->changes.back().proc == (proc_id{nspace, 3}));
  // The others end in their time, and the status tells of it.
  for (const auto rank : {0, 1})
    mesh[0].launcher->end(rank);
  mesh[1].launcher->end(2);
  for (const auto rank : {4, 5})
    mesh[2].launcher->end(rank);
  consume_messages();
  CAF_REQUIRE_EQUAL(mesh.observer->ended.size(), 1u);
  CAF_CHECK_EQUAL(mesh.observer->ended[0].exit_status, 137);
}

CAF_TEST(J35 terminate has a grace that the request may choose) {
  mesh[1].launcher->fatal.insert(SIGKILL);
  mesh[0].launcher->fatal.insert(SIGTERM);
  const auto x = tool(2);
  const auto result = control(x, {{nspace, 1}, {nspace, 2}},
                              {with(attr::job_ctrl_terminate),
                               with(control_key::grace, value::uint32(300))},
                              2);
  CAF_CHECK_EQUAL(asked(0), "signal 1 15, end 1");
  CAF_CHECK_EQUAL(asked(1), "signal 2 15");
  elapse(299ms);
  CAF_CHECK(result->is_pending());
  elapse(1ms);
  CAF_CHECK_EQUAL(asked(1), "signal 2 9, end 2");
  CAF_CHECK_EQUAL(result->code, status::success);
}

CAF_TEST(J9 82 a job that is killed as a whole is over when it is answered) {
  all_die_of(SIGKILL);
  const auto x = mesh.connect(0, nspace, 0);
  CAF_CHECK_EQUAL(
    control(x, {}, {with(attr::register_cleanup, value::string("/tmp/x"))})
      ->code,
    status::success);
  const auto result =
    control(tool(1), {{nspace, rank_wildcard}}, attr::job_ctrl_kill, 1);
  CAF_CHECK_EQUAL(result->code, status::success);
  CAF_REQUIRE_EQUAL(mesh.observer->ended.size(), 1u);
  CAF_CHECK_EQUAL(mesh.observer->ended[0].exit_status, 137);
  CAF_REQUIRE_EQUAL(mesh[0].cleaner->removed.size(), 1u);
  CAF_CHECK_EQUAL(mesh[0].cleaner->removed[0].paths.size(), 1u);
}

CAF_TEST(J20 J5 states are asked for at any node) {
  const auto x = mesh.connect(2, nspace, 4);
  const auto id = [](const std::string& name) {
    return with(attr::job_ctrl_id, value::string(name));
  };
  control(x, {}, {with(attr::job_ctrl_pause), id("one")}, 2);
  const auto slow =
    control(x, {{nspace, 0}}, {with(attr::job_ctrl_terminate), id("two")}, 2);
  CAF_CHECK(slow->is_pending());
  const auto found = states(x, 2);
  CAF_CHECK_EQUAL(found.size(), 2u);
  CAF_CHECK_EQUAL(found.at("one"), "done");
  CAF_CHECK_EQUAL(found.at("two"), "running");
  control(x, {}, {with(attr::job_ctrl_cancel, value::string("two"))}, 2);
  CAF_CHECK_EQUAL(slow->code, status::job_canceled);
  elapse(1min);
  CAF_CHECK_EQUAL(asked(0), "pause 0, pause 1, signal 0 15");
}

CAF_TEST(J35 J19 cleanup and control in one request) {
  const auto x = mesh.connect(0, nspace, 0);
  const auto both =
    control(x, {{nspace, 2}},
            {with(attr::register_cleanup, value::string("/tmp/x")),
             with(attr::job_ctrl_pause)});
  CAF_CHECK_EQUAL(both->code, status::success);
  CAF_CHECK_EQUAL(asked(1), "pause 2");
  // Open MPI adds keys of its own to its registrations.
  CAF_CHECK_EQUAL(
    control(
      x, {},
      {with(attr::register_cleanup, value::string("/tmp/y")), with("site.key")})
      ->code,
    status::success);
  all_die_of(SIGKILL);
  control(x, {}, attr::job_ctrl_kill);
  CAF_REQUIRE_EQUAL(mesh[0].cleaner->removed.size(), 1u);
  CAF_CHECK_EQUAL(mesh[0].cleaner->removed[0].paths.size(), 2u);
}

CAF_TEST(J2 a process set that a request defines) {
  const auto x = mesh.connect(0, nspace, 0);
  CAF_CHECK_EQUAL(
    control(x, {{nspace, 1}, {nspace, 5}},
            {with(attr::job_ctrl_define_pset, value::string("ends"))})
      ->code,
    status::success);
  CAF_CHECK_EQUAL(
    control(x, {{"ends", rank_wildcard}}, attr::job_ctrl_pause)->code,
    status::success);
  CAF_CHECK_EQUAL(asked(0), "pause 1");
  CAF_CHECK_EQUAL(asked(2), "pause 5");
  auto wanted = troupe::query{};
  wanted.keys.emplace_back(attr::query_pset_names);
  const auto names = mesh[2].uut->ask<info_result>(mesh.connect(2, nspace, 4),
                                                   query_request{{wanted}});
  consume_messages();
  CAF_CHECK_EQUAL(names->code, status::success);
}

CAF_TEST(X41 X29 a daemon does not control in the name of others) {
  auto question = ask_root{};
  question.who = asks({nspace, 0});
  question.what =
    job_control_request{{{nspace, rank_wildcard}}, {with(attr::job_ctrl_kill)}};
  auto call = host_call{};
  call.number = 1000;
  call.what = question;
  caf::anon_send(mesh[0].host, member_message{1, mesh[1].incarnation, call});
  consume_messages();
  for (uint32_t node = 0; node < 3; ++node)
    CAF_CHECK_EQUAL(asked(node), "");
  const auto& lines = *mesh[0].lines;
  CAF_CHECK(std::any_of(lines.begin(), lines.end(), [](const auto& line) {
    return line.find("node 1 asks for server@1:0") != std::string::npos;
  }));
}

CAF_TEST_FIXTURE_SCOPE_END()
