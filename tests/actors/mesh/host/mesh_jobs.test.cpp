// Jobs over several nodes: started, watched and ended as a whole.

#include "actors/data/job_data.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/fixtures/mesh_hosts.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <tuple>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

const auto nspace = std::string{"server@1"};

struct fixture : deterministic {
  mesh_hosts mesh{*this, 3};

  pending<spawn_result> spawn(spawn_request request) {
    auto result = mesh.spawn(std::move(request));
    consume_messages();
    return result;
  }

  pending<spawn_result> spawn(int32_t size, std::vector<info> infos = {}) {
    return spawn(job_host::program(size, std::move(infos)));
  }

  launcher_script& launcher(uint32_t node) {
    return *mesh[node].launcher;
  }

  /// What a node's launcher was asked since this was last called.
  std::string asked(uint32_t node) {
    std::string result;
    for (const auto& x : launcher(node).log)
      result += (result.empty() ? "" : ", ") + x;
    launcher(node).log.clear();
    return result;
  }

  void forget_asked() {
    for (uint32_t node = 0; node < 3; ++node)
      asked(node);
  }

  void all_die_of(int32_t signal) {
    for (uint32_t node = 0; node < 3; ++node)
      launcher(node).fatal.insert(signal);
  }

  /// The process `rank` of the job, which runs on `node`, ends.
  void end(uint32_t node, uint32_t rank, int32_t exit_code = 0,
           int32_t signal = 0) {
    launcher(node).end(rank, exit_code, signal);
    consume_messages();
  }

  bool is_over() {
    return !mesh.observer->ended.empty();
  }

  job_ended outcome() {
    if (mesh.observer->ended.size() != 1)
      CAF_FAIL("the job ended " << mesh.observer->ended.size() << " times");
    return mesh.observer->ended.front();
  }

  proc_state state_of(uint32_t rank) {
    auto result = proc_state::undef;
    for (const auto& x : mesh.observer->changes)
      if (x.proc.rank == rank)
        result = x.state;
    return result;
  }

  /// How often a process was reported to be in a final state.
  size_t ends_of(uint32_t rank) {
    const auto& all = mesh.observer->changes;
    return static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [&](const proc_changed& x) {
        return x.proc.rank == rank && x.state >= proc_state::terminated;
      }));
  }

  size_t count_jobs(uint32_t node = 0) {
    const auto x = mesh.tell<job_list>(node, list_jobs{});
    consume_messages();
    CAF_CHECK_EQUAL(x->code, status::success);
    return x->value.jobs.size();
  }

  template <class T, class Request>
  pending<T> ask(uint32_t node, const peer_ptr& from, Request x) {
    auto result = mesh[node].uut->ask<T>(from, std::move(x));
    consume_messages();
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_jobs_tests, fixture)

// -- start -------------------------------------------------------------------

CAF_TEST(F5.2 F5.3 a job starts on all nodes that it is mapped to) {
  const auto x = spawn(5);
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.nspace, nspace);
  CAF_CHECK_EQUAL(x->value.ranks.size(), 5u);
  CAF_CHECK_EQUAL(asked(0), "start 0, start 1");
  CAF_CHECK_EQUAL(asked(1), "start 2, start 3");
  CAF_CHECK_EQUAL(asked(2), "start 4");
  CAF_REQUIRE_EQUAL(mesh.observer->mapped.size(), 1u);
  CAF_CHECK_EQUAL(mesh.observer->mapped[0].procs.size(), 5u);
  CAF_CHECK_EQUAL(mesh.observer->mapped[0].hostname, "n0,n1,n2");
  for (uint32_t rank = 0; rank < 5; ++rank)
    CAF_CHECK(state_of(rank) == proc_state::running);
}

CAF_TEST(RUN-1 processes of all jobs count for a node that is oversubscribed) {
  spawn(3);
  spawn(5, {with(attr::mapby, value::string(":OVERSUBSCRIBE"))});
  CAF_REQUIRE_EQUAL(mesh.observer->mapped.size(), 2u);
  auto used = std::map<std::string, size_t>{};
  for (const auto& job : mesh.observer->mapped)
    for (const auto& host : job.hosts)
      ++used[host];
  auto told = std::map<std::string, size_t>{};
  for (uint32_t node = 0; node < 3; ++node)
    for (const auto& x : launcher(node).processes) {
      if (x.spec.proc.nspace != "server@2")
        continue;
      const auto name = "n" + std::to_string(node);
      const auto wanted = used[name] > 2 ? "1" : "0";
      const auto variable = std::string{"TROUPE_OVERSUBSCRIBED="} + wanted;
      const auto& env = x.spec.env;
      CAF_CHECK_EQUAL(std::count(env.begin(), env.end(), variable), 1);
      ++told[wanted];
    }
  CAF_CHECK_EQUAL(told["0"] + told["1"], 5u);
  CAF_CHECK(told["0"] > 0 && told["1"] > 0);
}

CAF_TEST(F5.3 nothing starts anywhere before all nodes are prepared) {
  mesh[2].topology->holds = true;
  const auto x = spawn(6, {with(attr::bindto, value::string("core"))});
  CAF_CHECK_EQUAL(asked(0) + asked(1) + asked(2), "");
  mesh[2].topology->release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(asked(2), "start 4, start 5");
}

CAF_TEST(MAP-5 nodes tell how many objects they have before a job is mapped) {
  for (uint32_t node = 0; node < 3; ++node)
    for (uint32_t i = 0; i < 2; ++i) {
      processing_unit unit;
      unit.os_index = unit.hwthread = unit.core = i;
      unit.package = node == 0 ? i : 0;
      mesh[node].topology->found.units.push_back(unit);
    }
  mesh[1].topology->holds = true;
  const auto x = spawn(4, {with(attr::mapby, value::string("ppr:1:package"))});
  CAF_CHECK_EQUAL(asked(0) + asked(1) + asked(2), "");
  mesh[1].topology->holds = false;
  mesh[1].topology->release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(asked(0), "start 0, start 1");
  CAF_CHECK_EQUAL(asked(1), "start 2");
  CAF_CHECK_EQUAL(asked(2), "start 3");
}

CAF_TEST(MAP-5 a node that cannot count its objects takes no process) {
  mesh[1].topology->code = status::not_available;
  for (const uint32_t node : {0, 2})
    mesh[node].topology->found.units.resize(1);
  const auto x = spawn(2, {with(attr::mapby, value::string("ppr:1:package"))});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(asked(0), "start 0");
  CAF_CHECK_EQUAL(asked(1), "");
  CAF_CHECK_EQUAL(asked(2), "start 1");
}

CAF_TEST(MAP-5 a job may be ended while nodes count) {
  mesh[1].topology->holds = true;
  const auto x = spawn(2, {with(attr::mapby, value::string("ppr:1:package"))});
  mesh.tell<ack>(0, end_job{nspace, "interrupted", 130, SIGTERM});
  consume_messages();
  mesh[1].topology->release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::job_canceled);
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

CAF_TEST(MAP-13 nolocal leaves out the node of the launcher) {
  spawn(2, {with(attr::mapby, value::string("slot:nolocal"))});
  CAF_CHECK_EQUAL(asked(0), "");
  CAF_CHECK_EQUAL(asked(1), "start 0, start 1");
}

CAF_TEST(F4.14 processes of all nodes know where the others are) {
  spawn(5);
  const auto far = mesh.connect(2, nspace, 4);
  CAF_REQUIRE_EQUAL(far->code, status::success);
  const auto get = [&](uint32_t rank, std::string_view key) {
    const auto x = ask<get_result>(
      2, far, get_request{{nspace, rank}, {}, std::string{key}});
    return x->code == status::success ? text_in(x->value, std::string{key})
                                      : std::string{"refused"};
  };
  CAF_CHECK_EQUAL(get(0, attr::hostname), "n0");
  CAF_CHECK_EQUAL(get(3, attr::hostname), "n1");
  CAF_CHECK_EQUAL(get(rank_wildcard, attr::node_list), "n0,n1,n2");
  CAF_CHECK_EQUAL(get(rank_wildcard, attr::local_peers), "4");
  CAF_CHECK_EQUAL(get(rank_wildcard, attr::anl_map),
                  "(vector,(0,2,2),(2,1,1))");
  // Nobody connects for a process of another node.
  CAF_CHECK_EQUAL(mesh.connect(2, nspace, 0)->code, status::not_found);
}

CAF_TEST(F5.11 slots are those of all nodes) {
  const auto x = spawn(7);
  CAF_CHECK_EQUAL(x->code, status::job_insufficient_resources);
  CAF_CHECK(outcome().reason.find("6 slots of n0 (2), n1 (2), n2 (2)")
            != std::string::npos);
  CAF_CHECK(outcome().reason.find("--oversubscribe") != std::string::npos);
}

CAF_TEST(F5.11 the root knows the slots of a node that works before it is one) {
  auto late = mesh_hosts{*this, 3, 2, true};
  const auto x = late.spawn(job_host::program(6));
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(F5.17 a node that cannot prepare ends the start and is named) {
  mesh[1].topology->code = status::not_available;
  const auto x = spawn(6, {with(attr::bindto, value::string("core"))});
  CAF_CHECK_EQUAL(x->code, status::not_available);
  CAF_CHECK(outcome().reason.find("node n1: ") == 0);
  CAF_CHECK_EQUAL(asked(0), "sweep");
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

CAF_TEST(F5.17 F5.20 a node that cannot start ends what runs elsewhere) {
  all_die_of(SIGKILL);
  launcher(1).refused[3] = status::job_exe_not_found;
  const auto x = spawn(6);
  CAF_CHECK_EQUAL(x->code, status::job_exe_not_found);
  CAF_CHECK(x->reason.find("node n1: ") == 0);
  CAF_CHECK_EQUAL(outcome().exit_status, 127);
  CAF_CHECK(launcher(0).ended == (std::set<uint32_t>{0, 1}));
  CAF_CHECK(launcher(1).ended == (std::set<uint32_t>{2}));
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

CAF_TEST(F5.19 a job ended while it starts leaves nobody on any node) {
  all_die_of(SIGKILL);
  for (uint32_t node = 0; node < 3; ++node)
    launcher(node).holds_starts = true;
  const auto x = spawn(6);
  mesh.tell<ack>(0, end_job{nspace, "interrupted", 130, SIGTERM});
  consume_messages();
  CAF_CHECK(!is_over());
  for (uint32_t node = 0; node < 3; ++node)
    launcher(node).release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::job_canceled);
  CAF_CHECK_EQUAL(outcome().exit_status, 130);
  for (uint32_t node = 0; node < 3; ++node)
    CAF_CHECK_EQUAL(launcher(node).ended.size(), 1u);
}

// -- end ---------------------------------------------------------------------

CAF_TEST(F5.15 O18 a job is over when its last share is and is forgotten) {
  spawn(6);
  end(0, 0);
  end(0, 1);
  end(1, 2);
  end(1, 3);
  end(2, 4);
  CAF_CHECK(!is_over());
  CAF_CHECK_EQUAL(count_jobs(), 1u);
  end(2, 5);
  CAF_CHECK_EQUAL(outcome().exit_status, 0);
  CAF_CHECK_EQUAL(outcome().reason, "");
  CAF_CHECK_EQUAL(count_jobs(), 0u);
  for (uint32_t node = 0; node < 3; ++node)
    CAF_CHECK_EQUAL(mesh.connect(node, nspace, node * 2)->code,
                    status::not_found);
}

CAF_TEST(F5.20 a job is not over before each node has been swept) {
  launcher(1).holds_sweeps = true;
  spawn(4);
  end(0, 0);
  end(0, 1);
  end(1, 2);
  end(1, 3);
  CAF_CHECK(!is_over());
  launcher(1).release();
  consume_messages();
  CAF_CHECK(is_over());
}

CAF_TEST(F5.15 F5.18 one that fails ends the others on all nodes) {
  all_die_of(SIGTERM);
  spawn(6);
  forget_asked();
  end(1, 3, 7);
  CAF_CHECK_EQUAL(outcome().exit_status, 7);
  CAF_CHECK_EQUAL(outcome().reason, "rank 3 (prog, pid 1003 on n1) exited with "
                                    "status 7");
  for (uint32_t rank = 0; rank < 6; ++rank)
    CAF_CHECK_EQUAL(ends_of(rank), 1u);
}

CAF_TEST(F5.20 who does not end in the grace is killed on each node) {
  spawn(6);
  end(1, 3, 7);
  forget_asked();
  elapse(defaults::kill_grace);
  CAF_CHECK_EQUAL(asked(0), "signal 0 9, signal 1 9");
  CAF_CHECK_EQUAL(asked(1), "signal 2 9");
  CAF_CHECK_EQUAL(asked(2), "signal 4 9, signal 5 9");
}

CAF_TEST(F5.14 a recoverable job goes on after the death of a remote process) {
  spawn(6, {with(attr::job_recoverable)});
  forget_asked();
  end(2, 5, 0, SIGKILL);
  CAF_CHECK_EQUAL(asked(0) + asked(1), "");
  CAF_CHECK(state_of(5) == proc_state::aborted_by_sig);
  for (uint32_t rank = 0; rank < 5; ++rank)
    end(rank / 2, rank);
  CAF_CHECK_EQUAL(outcome().exit_status, 137);
}

CAF_TEST(F5.14 the options of a job may come as text) {
  spawn(4, {with(attr::runtime_options, value::string("recoverable"))});
  forget_asked();
  end(1, 3, 7);
  CAF_CHECK_EQUAL(asked(0), "");
  CAF_CHECK(!is_over());
}

CAF_TEST(F5.23 peers on all nodes hear of a death once) {
  spawn(6, {with(attr::job_recoverable)});
  auto witnesses = std::vector<peer_ptr>{};
  for (uint32_t node = 0; node < 3; ++node) {
    witnesses.push_back(mesh.connect(node, nspace, node * 2));
    ask<ack>(node, witnesses.back(),
             register_events_request{{status::proc_aborted_by_sig}, {}});
  }
  end(1, 3, 0, SIGKILL);
  for (const auto& x : witnesses) {
    CAF_REQUIRE_EQUAL(x->wire->events.size(), 1u);
    CAF_CHECK(*find(x->wire->events[0].infos, attr::event_affected_proc)
              == value::of_proc({nspace, 3}));
  }
}

CAF_TEST(F4.35 an abort on a remote node ends the job with its status) {
  all_die_of(SIGTERM);
  spawn(6);
  const auto x = ask<ack>(2, mesh.connect(2, nspace, 5),
                          abort_request{42, "lost the plot", {}});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(outcome().exit_status, 42);
  CAF_CHECK_EQUAL(outcome().reason,
                  "rank 5 (prog, pid 1005 on n2) called PMIx_Abort with "
                  "status 42: lost the plot");
  CAF_CHECK(state_of(5) == proc_state::called_abort);
}

CAF_TEST(F4.35 an abort may name processes of another node) {
  spawn(6, {with(attr::job_recoverable)});
  forget_asked();
  ask<ack>(0, mesh.connect(0, nspace, 0),
           abort_request{5, std::nullopt, {{nspace, 4}}});
  CAF_CHECK_EQUAL(asked(2), "signal 4 9");
  CAF_CHECK_EQUAL(asked(0) + asked(1), "");
}

// -- a node is lost ----------------------------------------------------------

CAF_TEST(P-C2 a job ends when a node is lost and names it) {
  all_die_of(SIGTERM);
  spawn(6);
  mesh.lose(1);
  CAF_CHECK_EQUAL(outcome().reason, "node n1 was lost with 2 processes");
  CAF_CHECK_EQUAL(outcome().exit_status, 1);
  CAF_CHECK(state_of(2) == proc_state::comm_failed);
  for (uint32_t rank = 0; rank < 6; ++rank)
    CAF_CHECK_EQUAL(ends_of(rank), 1u);
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

CAF_TEST(F5.14 P-C2 a recoverable job survives the loss of a node) {
  spawn(6, {with(attr::job_recoverable)});
  const auto witness = mesh.connect(0, nspace, 0);
  ask<ack>(0, witness,
           register_events_request{
             {status::proc_aborted, status::event_node_down}, {}});
  mesh.lose(2);
  CAF_CHECK(!is_over());
  // Two processes and the node itself.
  auto codes = std::multiset<status>{};
  for (const auto& x : witness->wire->events)
    codes.insert(x.code);
  CAF_CHECK(
    (codes
     == std::multiset<status>{status::proc_aborted, status::proc_aborted,
                              status::event_node_down}));
  for (uint32_t rank = 0; rank < 4; ++rank)
    end(rank / 2, rank);
  CAF_CHECK_EQUAL(outcome().exit_status, 1);
}

CAF_TEST(F5.17 a node lost while a job starts ends the start) {
  all_die_of(SIGKILL);
  launcher(1).holds_starts = true;
  const auto x = spawn(6);
  CAF_CHECK(x->is_pending());
  mesh.lose(1);
  CAF_CHECK(x->code != status::success);
  CAF_CHECK(!x->is_pending());
  CAF_CHECK(x->reason.find("n1") != std::string::npos);
  elapse(defaults::kill_grace);
  CAF_CHECK(is_over());
}

CAF_TEST(P-M1 a node takes no work before its former life is over) {
  mesh.lose(2);
  CAF_CHECK_EQUAL(spawn(6)->code, status::job_insufficient_resources);
  mesh.rejoin(2);
  CAF_CHECK_EQUAL(spawn(6)->code, status::job_insufficient_resources);
  mesh.fence(2, 1002);
  CAF_CHECK_EQUAL(spawn(6)->code, status::success);
  CAF_CHECK_EQUAL(asked(2), "start 4, start 5");
}

CAF_TEST(P-M1 a fenced daemon kills all it runs and leaves) {
  launcher(2).fatal = {SIGKILL};
  spawn(6);
  mesh[2].is_cut = true;
  caf::anon_send(mesh[2].host, mesh_duty_changed{mesh_duty::fenced, "alone"});
  consume_messages();
  CAF_CHECK(launcher(2).ended == (std::set<uint32_t>{4, 5}));
  CAF_CHECK(mesh[2].has_left);
  CAF_CHECK_EQUAL(*mesh[2].fenced, "alone");
}

CAF_TEST(P-M1 a fenced daemon waits for the last byte before it leaves) {
  spawn(6);
  mesh[2].is_cut = true;
  caf::anon_send(mesh[2].host, mesh_duty_changed{mesh_duty::fenced, "alone"});
  consume_messages();
  CAF_CHECK(!mesh[2].has_left);
  launcher(2).end(4, 0, SIGKILL);
  launcher(2).end(5, 0, SIGKILL, false);
  consume_messages();
  CAF_CHECK(!mesh[2].has_left);
  launcher(2).drain(5);
  consume_messages();
  CAF_CHECK(mesh[2].has_left);
}

// -- who speaks for whom -----------------------------------------------------

CAF_TEST(X41 P-M1 a daemon speaks for its own processes only) {
  spawn(6);
  caf::anon_send(
    mesh[0].host,
    share_progress{nspace, {{{nspace, 5}, proc_state::terminated, 1, 0, 0}}});
  consume_messages();
  CAF_CHECK(state_of(5) == proc_state::running);
  CAF_REQUIRE(!mesh[0].lines->empty());
  CAF_CHECK(mesh[0].lines->back().find("not its own") != std::string::npos);
}

CAF_TEST(X41 a daemon asks for its own processes only) {
  spawn(6);
  const auto x = troupe::fixtures::ask<ack>(
    sys, mesh[2].host, asks({nspace, 0}), abort_request{9, std::nullopt, {}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::no_permissions);
  CAF_CHECK(!is_over());
}

CAF_TEST(X41 M24 a daemon has others monitored for its own processes only) {
  spawn(6);
  const auto monitor_for = [&](uint32_t rank) {
    auto request = monitor_request{};
    request.monitor = {std::string{monitor_kind_key}, 0,
                       value::string("cpu_progress")};
    request.directives = {{std::string{attr::monitor_target_procs}, 0,
                           value::of_proc({nspace, 2})}};
    const auto x = troupe::fixtures::ask<info_result>(
      sys, mesh[2].host, asks({nspace, rank}), std::move(request));
    consume_messages();
    return x->code;
  };
  // That node has nobody who monitors, and says so to those whom it believes.
  CAF_CHECK_EQUAL(monitor_for(4), status::not_supported);
  CAF_CHECK_EQUAL(monitor_for(0), status::no_permissions);
}

CAF_TEST(C11.10 a monitor of a tool is looked for on all nodes) {
  spawn(6);
  const auto outcome = [&](std::string_view what) {
    auto request = monitor_request{};
    request.monitor = {std::string{what}, 0, value::string("x")};
    request.directives = {{std::string{attr::monitor_target_procs}, 0,
                           value::of_proc({"tool", 0})}};
    const auto x = troupe::fixtures::ask<info_result>(
      sys, mesh[2].host, asks({nspace, 4}), std::move(request));
    consume_messages();
    return x->code;
  };
  // The others have nobody who monitors, and say so.
  CAF_CHECK_EQUAL(outcome(attr::monitor_cancel), status::not_supported);
  CAF_CHECK_EQUAL(outcome(monitor_kind_key), status::not_found);
}

// -- messages that are lost --------------------------------------------------

CAF_TEST(CTL-1 P-K1 a share is started once although its answer was lost) {
  auto lost = 0;
  mesh.passes = [&](uint32_t from, uint32_t, const host_message& what) {
    // The first answers of n1 do not arrive.
    if (from != 1 || !std::holds_alternative<host_answer>(what) || lost >= 2)
      return true;
    ++lost;
    return false;
  };
  const auto x = spawn(4);
  CAF_CHECK(x->is_pending());
  // Routes change: what has no answer is sent again.
  mesh.lose(2);
  elapse(10s);
  CAF_CHECK_EQUAL(lost, 2);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(asked(1), "start 2, start 3");
  end(0, 0);
  end(0, 1);
  end(1, 2);
  end(1, 3);
  CAF_CHECK_EQUAL(outcome().exit_status, 0);
}

CAF_TEST(CTL-1 P-K1 calls that come twice are carried out once) {
  auto again = std::vector<std::tuple<uint32_t, uint32_t, host_message>>{};
  mesh.passes = [&](uint32_t from, uint32_t to, const host_message& what) {
    again.emplace_back(from, to, what);
    return true;
  };
  spawn(6);
  const auto repeat = [&] {
    for (const auto& [from, to, what] : std::exchange(again, {}))
      caf::anon_send(mesh[to].host,
                     member_message{from, mesh[from].incarnation, what});
    consume_messages();
  };
  repeat();
  CAF_CHECK_EQUAL(asked(1), "start 2, start 3");
  CAF_CHECK_EQUAL(asked(2), "start 4, start 5");
  for (uint32_t rank = 0; rank < 6; ++rank) {
    end(rank / 2, rank);
    repeat();
    CAF_CHECK_EQUAL(ends_of(rank), 1u);
  }
  CAF_CHECK_EQUAL(outcome().exit_status, 0);
}

CAF_TEST(P-M1 what a former life of a daemon says is not heard) {
  spawn(6, {with(attr::job_recoverable)});
  auto stale = std::vector<host_message>{};
  mesh.passes = [&](uint32_t from, uint32_t, const host_message& what) {
    if (from == 2)
      stale.push_back(what);
    return from != 2;
  };
  end(2, 5, 9);
  CAF_REQUIRE(!stale.empty());
  mesh.passes = nullptr;
  mesh.lose(2);
  mesh.rejoin(2);
  for (const auto& what : stale)
    caf::anon_send(mesh[0].host, member_message{2, 1002, what});
  consume_messages();
  CAF_CHECK(state_of(5) == proc_state::comm_failed);
  CAF_CHECK_EQUAL(ends_of(5), 1u);
}

// -- jobs of jobs ------------------------------------------------------------

CAF_TEST(F4.28 O18 a remote process starts a job that knows its parent) {
  spawn(6);
  const auto parent = mesh.connect(2, nspace, 5);
  const auto x = ask<spawn_result>(2, parent, job_host::program(3));
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.nspace, "server@2");
  CAF_CHECK(!x->value.entries.empty());
  CAF_REQUIRE_EQUAL(mesh.observer->mapped.size(), 2u);
  const auto child = mesh.connect(1, "server@2", 2);
  CAF_REQUIRE_EQUAL(child->code, status::success);
  const auto found = ask<get_result>(
    1, child,
    get_request{{"server@2", rank_wildcard}, {}, std::string{attr::parent_id}});
  CAF_CHECK_EQUAL(found->code, status::success);
  // Its output goes where its parent's goes.
  mesh.write(1, {"server@2", 2}, "hello");
  CAF_REQUIRE_EQUAL(mesh[0].output->size(), 1u);
  CAF_CHECK(mesh[0].output->front().find("hello") != std::string::npos);
}

CAF_TEST(F4.28 a spawn that fails is told to the remote process) {
  spawn(6);
  const auto parent = mesh.connect(2, nspace, 5);
  const auto x = ask<spawn_result>(2, parent, job_host::program(99));
  CAF_CHECK_EQUAL(x->code, status::job_insufficient_resources);
}

CAF_TEST(O18 jobs started in a loop leave nothing behind) {
  all_die_of(SIGTERM);
  for (auto i = 1; i <= 20; ++i) {
    const auto x = spawn(6);
    CAF_REQUIRE_EQUAL(x->code, status::success);
    mesh.tell<ack>(
      0, end_job{"server@" + std::to_string(i), "enough", 0, SIGTERM});
    consume_messages();
    CAF_REQUIRE_EQUAL(count_jobs(), 0u);
    for (uint32_t node = 0; node < 3; ++node) {
      launcher(node).processes.clear();
      launcher(node).ended.clear();
    }
  }
  CAF_CHECK_EQUAL(mesh.observer->ended.size(), 20u);
}

CAF_TEST(F5.19 all jobs are ended and then no new one begins) {
  spawn(4);
  spawn(2);
  const auto x = mesh.tell<ack>(0, end_job{"", "the end", 1, SIGTERM});
  consume_messages();
  CAF_CHECK(x->is_pending());
  CAF_CHECK_EQUAL(spawn(1)->code, status::not_available);
  for (uint32_t rank = 0; rank < 4; ++rank)
    end(rank / 2, rank, 0, SIGTERM);
  CAF_CHECK(x->is_pending());
  end(2, 0, 0, SIGTERM);
  end(2, 1, 0, SIGTERM);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

// -- streams -----------------------------------------------------------------

CAF_TEST(F5.9 output of remote processes comes to the launcher in order) {
  spawn(6);
  for (auto i = 0; i < 5; ++i)
    CAF_CHECK_EQUAL(mesh.write(2, {nspace, 4}, std::to_string(i))->code,
                    status::success);
  const auto& seen = *mesh[0].output;
  CAF_REQUIRE_EQUAL(seen.size(), 5u);
  for (size_t i = 0; i < 5; ++i)
    CAF_CHECK_EQUAL(seen[i].back(), std::to_string(i)[0]);
}

CAF_TEST(F5.9 O17 a remote writer waits until its output has been taken) {
  spawn(6);
  *mesh[0].holds_output = true;
  const auto x = mesh.write(2, {nspace, 4}, "text");
  CAF_CHECK(x->is_pending());
  mesh[0].held_output->front()();
  mesh[0].held_output->pop_front();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(F5.10 input goes to the node of its reader) {
  spawn(6, {with(attr::stdin_tgt, value::rank(4))});
  const auto x = mesh.tell<io_input_taken>(
    0, io_input{nspace, {4}, std::nullopt, "text", true});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_REQUIRE_EQUAL(launcher(2).input.size(), 1u);
  CAF_CHECK_EQUAL(launcher(2).input[0].bytes, "text");
  CAF_CHECK_EQUAL(launcher(2).input_ends.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
