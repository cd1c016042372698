// Tools at the nodes of a DVM: they start jobs, get their output, ask and
// control.

#include "actors/mesh/host/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/job_keys.hpp"
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

struct fixture : deterministic {
  mesh_hosts mesh{*this, 3};

  /// A tool at the last node.
  peer_ptr tool = attach(2);

  peer_ptr attach(uint32_t node, uint32_t uid = our_uid) {
    auto result = mesh[node].uut->connect(node::tool_greeting(uid));
    consume_messages();
    return result;
  }

  template <class T, class Request>
  pending<T> ask(const peer_ptr& from, Request x, uint32_t node = 2) {
    auto result = mesh[node].uut->ask<T>(from, std::move(x));
    consume_messages();
    return result;
  }

  /// Starts a job as launchers do.
  pending<spawn_result> spawn(int32_t size, std::vector<info> more = {}) {
    more.push_back(with(attr::fwd_stdout, value::boolean(true)));
    more.push_back(with(attr::notify_completion, value::boolean(true)));
    ask<ack>(tool, register_events_request{{status::job_end}, {}});
    return ask<spawn_result>(tool, job_host::program(size, std::move(more)));
  }

  /// The third process of the job of the tool starts a job of one process.
  /// @returns where that runs, and its name.
  std::pair<uint32_t, proc_id> start_child() {
    const auto parent = mesh.connect(1, nspace, 2);
    const auto x = mesh[1].uut->ask<spawn_result>(parent, job_host::program(1));
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    for (uint32_t node = 0; node < 3; ++node)
      for (const auto& y : mesh[node].launcher->processes)
        if (y.sink && y.spec.proc.nspace == x->value.nspace)
          return {node, y.spec.proc};
    CAF_FAIL("the child does not run");
    return {};
  }

  /// The job of the tool is over.
  void end_parent() {
    end(0, 0);
    end(0, 1);
    end(1, 2);
  }

  void end(uint32_t node, uint32_t rank, int32_t exit_code = 0) {
    mesh[node].launcher->end(rank, exit_code);
    consume_messages();
  }

  void all_die_of(int32_t signal) {
    for (uint32_t node = 0; node < 3; ++node)
      mesh[node].launcher->fatal.insert(signal);
  }

  size_t count_jobs() {
    const auto x = mesh.tell<job_list>(2, list_jobs{});
    consume_messages();
    return x->value.jobs.size();
  }

  pending<info_result> control(const peer_ptr& who, std::vector<proc_id> procs,
                               std::string_view key,
                               value val = value::boolean(true)) {
    return ask<info_result>(
      who, job_control_request{std::move(procs), {with(key, std::move(val))}});
  }

  /// The items of a list that a query answers.
  std::vector<std::vector<info>> items(std::string_view key) {
    auto wanted = troupe::query{};
    wanted.keys.emplace_back(key);
    const auto x = ask<info_result>(tool, query_request{{wanted}});
    CAF_REQUIRE_EQUAL(x->code, status::success);
    auto result = std::vector<std::vector<info>>{};
    for (const auto& item : infos_of(x->value.infos.at(0).val))
      result.push_back(infos_of(item.val));
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_tools_tests, fixture)

// -- as launchers ------------------------------------------------------------

CAF_TEST(F4.28 F5.9 a tool at any node gets the output of its job in order) {
  CAF_REQUIRE_EQUAL(
    spawn(6, {with(attr::fwd_stderr, value::boolean(false))})->code,
    status::success);
  mesh.write(0, {nspace, 0}, "one");
  mesh.write(0, {nspace, 0}, "two");
  mesh.write(2, {nspace, 4}, "near");
  mesh.write(0, {nspace, 0}, "not wanted", io_channels::stderr_);
  const auto& seen = tool->wire->output;
  CAF_REQUIRE_EQUAL(seen.size(), 3u);
  CAF_CHECK_EQUAL(seen[0].bytes, "one");
  CAF_CHECK_EQUAL(seen[1].bytes, "two");
  CAF_CHECK_EQUAL(seen[2].bytes, "near");
  CAF_CHECK(seen[0].source == (proc_id{nspace, 0}));
  CAF_CHECK(seen[0].channel == io_channels::stdout_);
  // Nobody else sees it.
  CAF_CHECK(mesh[0].output->empty());
  CAF_CHECK(mesh[2].output->empty());
}

// PRRTE's prun refuses the notice, and registers when its job is started.
CAF_TEST(E8 E45 a tool that registers when its job is over hears of its end) {
  const auto x = ask<spawn_result>(
    tool, job_host::program(
            1, {with(attr::notify_completion, value::boolean(false))}));
  CAF_REQUIRE_EQUAL(x->code, status::success);
  end(0, 0);
  CAF_CHECK(tool->wire->events.empty());
  const auto about = value::of_proc({x->value.nspace, rank_wildcard});
  ask<ack>(tool,
           register_events_request{{status::job_end},
                                   {with(attr::event_affected_proc, about)}});
  CAF_REQUIRE_EQUAL(tool->wire->events.size(), 1u);
  const auto& what = tool->wire->events[0];
  CAF_CHECK(what.code == status::job_end);
  CAF_CHECK(find(what.infos, attr::event_affected_proc)->proc()->nspace
            == x->value.nspace);
}

CAF_TEST(F4.28 a tool gets all output that it does not refuse) {
  ask<spawn_result>(tool, job_host::program(2));
  mesh.write(0, {nspace, 0}, "out");
  mesh.write(0, {nspace, 1}, "err", io_channels::stderr_);
  const auto& seen = tool->wire->output;
  CAF_REQUIRE_EQUAL(seen.size(), 2u);
  CAF_CHECK_EQUAL(seen[0].bytes, "out");
  CAF_CHECK_EQUAL(seen[1].bytes, "err");
}

CAF_TEST(F4.28 a tool hears of the end of its job after the last output) {
  spawn(3);
  end(0, 0);
  mesh[0].launcher->end(1, 3, 0, false);
  all_die_of(SIGTERM);
  consume_messages();
  CAF_CHECK(tool->wire->events.empty());
  mesh.write(0, {nspace, 1}, "last words");
  mesh[1].launcher->end(2, 0, SIGTERM);
  mesh[0].launcher->drain(1);
  consume_messages();
  // The end of the stream is told, too.
  CAF_REQUIRE_EQUAL(tool->wire->output.size(), 2u);
  CAF_CHECK_EQUAL(tool->wire->output[0].bytes, "last words");
  CAF_CHECK_EQUAL(tool->wire->output[1].bytes, "");
  CAF_REQUIRE_EQUAL(tool->wire->events.size(), 1u);
  const auto& x = tool->wire->events[0];
  CAF_CHECK_EQUAL(x.code, status::job_end);
  CAF_CHECK(*find(x.infos, attr::event_affected_proc)
            == value::of_proc({nspace, rank_wildcard}));
  CAF_CHECK(number<int32_t>(x.infos, attr::exit_code) == 3);
  CAF_CHECK(text(x.infos, attr::event_text_message)
            == "rank 1 (prog, pid 1001 on n0) exited with status 3");
}

CAF_TEST(F4.28 what the jobs of a tool start writes to the tool) {
  spawn(3);
  const auto [node, child] = start_child();
  mesh.write(node, child, "child");
  CAF_REQUIRE_EQUAL(tool->wire->output.size(), 1u);
  CAF_CHECK_EQUAL(tool->wire->output[0].source.nspace, child.nspace);
}

CAF_TEST(I17 a tool that stays for a family hears which jobs go on) {
  spawn(3, {with(job_family_key, value::boolean(true))});
  const auto [node, child] = start_child();
  end_parent();
  CAF_REQUIRE_EQUAL(tool->wire->events.size(), 1u);
  const auto& first = tool->wire->events[0];
  CAF_CHECK(*find(first.infos, attr::event_affected_proc)
            == value::of_proc({nspace, rank_wildcard}));
  CAF_CHECK_EQUAL(text(first.infos, job_family_key).value_or("none"),
                  child.nspace);
  mesh.write(node, child, "goes on");
  CAF_CHECK_EQUAL(tool->wire->output.back().bytes, "goes on");
  end(node, 0, 3);
  CAF_REQUIRE_EQUAL(tool->wire->events.size(), 2u);
  const auto& last = tool->wire->events[1];
  CAF_CHECK(*find(last.infos, attr::event_affected_proc)
            == value::of_proc({child.nspace, rank_wildcard}));
  CAF_CHECK(number<int32_t>(last.infos, attr::exit_code) == 3);
  CAF_CHECK_EQUAL(text(last.infos, job_family_key).value_or("none"), "");
}

CAF_TEST(I17 other tools hear of the jobs that they start and no more) {
  spawn(3);
  const auto [node, child] = start_child();
  end_parent();
  end(node, 0, 3);
  CAF_REQUIRE_EQUAL(tool->wire->events.size(), 1u);
  CAF_CHECK(find(tool->wire->events[0].infos, job_family_key) == nullptr);
}

CAF_TEST(F5.19 I17 a tool that vanishes ends the family for which it stays) {
  all_die_of(SIGTERM);
  spawn(3, {with(job_family_key, value::boolean(true))});
  start_child();
  end_parent();
  CAF_CHECK_EQUAL(count_jobs(), 1u);
  mesh[2].uut->lose(tool);
  consume_messages();
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

CAF_TEST(F4.28 F5.11 a tool hears in words why there is no job) {
  CAF_CHECK_EQUAL(spawn(7)->code, status::job_insufficient_resources);
  CAF_REQUIRE_EQUAL(tool->wire->events.size(), 1u);
  const auto why = text(tool->wire->events[0].infos, attr::event_text_message);
  CAF_REQUIRE(why);
  CAF_CHECK(why->find("7 processes do not fit into 6 slots")
            != std::string::npos);
}

CAF_TEST(F5.10 input of a tool goes to the rank that it named) {
  spawn(6, {with(attr::stdin_tgt, value::rank(3))});
  const auto whole = std::vector<proc_id>{{nspace, rank_wildcard}};
  CAF_CHECK_EQUAL(ask<ack>(tool, io_push_request{whole, {}, "text"})->code,
                  status::success);
  CAF_CHECK_EQUAL(
    ask<ack>(tool, io_push_request{whole, {}, std::nullopt})->code,
    status::success);
  CAF_REQUIRE_EQUAL(mesh[1].launcher->input.size(), 1u);
  CAF_CHECK(mesh[1].launcher->input[0].proc == (proc_id{nspace, 3}));
  CAF_CHECK_EQUAL(mesh[1].launcher->input_ends.size(), 1u);
  CAF_CHECK(mesh[0].launcher->input.empty());
}

CAF_TEST(F5.10 a tool that forwards its input hears when to stop) {
  spawn(6, {with(attr::stdin_tgt, value::rank(3))});
  const auto whole = std::vector<proc_id>{{nspace, rank_wildcard}};
  const auto push = [&](std::string bytes) {
    return ask<ack>(tool,
                    io_push_request{whole, {with(attr::iof_push_stdin)}, bytes})
      ->code;
  };
  CAF_CHECK_EQUAL(push("text"), status::success);
  CAF_CHECK_EQUAL(push(""), status::iof_complete);
  CAF_CHECK_EQUAL(mesh[1].launcher->input_ends.size(), 1u);
  all_die_of(SIGTERM);
  control(tool, whole, attr::job_ctrl_terminate);
  CAF_CHECK_EQUAL(push("nobody reads this"), status::iof_complete);
}

CAF_TEST(X28 input for the job of another user is refused) {
  spawn(6, {with(attr::stdin_tgt, value::rank(3))});
  const auto push = [this](io_push_request what) {
    const auto x = fixtures::ask<ack>(
      sys, mesh[2].host, asks({"a tool", 0}, 99, our_uid + 1), std::move(what));
    consume_messages();
    return x->code;
  };
  CAF_CHECK_EQUAL(push({{{nspace, 3}}, {}, std::string{"text"}}),
                  status::no_permissions);
  CAF_CHECK(mesh[1].launcher->input.empty());
  CAF_CHECK_EQUAL(push({}), status::bad_param);
}

CAF_TEST(F5.19 a tool that vanishes ends its jobs) {
  all_die_of(SIGTERM);
  spawn(6);
  CAF_CHECK_EQUAL(count_jobs(), 1u);
  mesh[2].uut->lose(tool);
  consume_messages();
  CAF_CHECK_EQUAL(count_jobs(), 0u);
}

CAF_TEST(F5.19 a tool that wants to hear nothing leaves its job running) {
  ask<spawn_result>(tool, job_host::program(2));
  mesh[2].uut->lose(tool);
  consume_messages();
  CAF_CHECK_EQUAL(count_jobs(), 1u);
}

// -- control -----------------------------------------------------------------

CAF_TEST(F4.32 a tool ends a job on all nodes) {
  all_die_of(SIGTERM);
  spawn(6);
  const auto other = attach(2);
  CAF_CHECK_EQUAL(
    control(other, {{nspace, rank_wildcard}}, attr::job_ctrl_terminate)->code,
    status::success);
  CAF_CHECK_EQUAL(count_jobs(), 0u);
  CAF_REQUIRE_EQUAL(tool->wire->events.size(), 1u);
  CAF_CHECK(number<int32_t>(tool->wire->events[0].infos, attr::exit_code)
            == 143);
}

CAF_TEST(F4.32 a tool signals processes wherever they are) {
  spawn(6);
  CAF_CHECK_EQUAL(control(tool, {{nspace, 5}, {nspace, 0}},
                          attr::job_ctrl_signal, value::integer(SIGUSR1))
                    ->code,
                  status::success);
  CAF_CHECK_EQUAL(mesh[2].launcher->log.back(), "signal 5 10");
  CAF_CHECK_EQUAL(mesh[0].launcher->log.back(), "signal 0 10");
}

CAF_TEST(X29 control that is not allowed or makes no sense is refused) {
  spawn(6);
  const auto whole = std::vector<proc_id>{{nspace, rank_wildcard}};
  const auto nobody = std::vector<proc_id>{{nspace, 6}};
  const auto stranger = troupe::fixtures::ask<info_result>(
    sys, mesh[2].host, asks({"stranger", 0}, 9, our_uid + 1),
    job_control_request{whole, {with(attr::job_ctrl_kill)}});
  consume_messages();
  CAF_CHECK_EQUAL(stranger->code, status::no_permissions);
  CAF_CHECK_EQUAL(control(tool, nobody, attr::job_ctrl_kill)->code,
                  status::not_found);
  CAF_CHECK_EQUAL(control(tool, {{"server@9", 0}}, attr::job_ctrl_kill)->code,
                  status::not_found);
  CAF_CHECK_EQUAL(
    control(tool, whole, attr::job_ctrl_signal, value::integer(77))->code,
    status::bad_param);
  CAF_CHECK_EQUAL(
    control(tool, {}, attr::job_ctrl_signal, value::integer(10))->code,
    status::bad_param);
  CAF_CHECK_EQUAL(count_jobs(), 1u);
}

CAF_TEST(F4.32 X29 the tools of the owner end the DVM and nobody else) {
  const auto stranger = troupe::fixtures::ask<info_result>(
    sys, mesh[2].host, asks({"stranger", 0}, 9, our_uid + 1),
    job_control_request{{}, {with(attr::job_ctrl_terminate)}});
  consume_messages();
  CAF_CHECK_EQUAL(stranger->code, status::no_permissions);
  CAF_CHECK_EQUAL(*mesh.terminated, 0u);
  CAF_CHECK_EQUAL(control(tool, {}, attr::job_ctrl_terminate)->code,
                  status::success);
  CAF_CHECK_EQUAL(*mesh.terminated, 1u);
}

// -- questions ---------------------------------------------------------------

CAF_TEST(F4.30 any node tells of nodes and jobs and processes) {
  spawn(5);
  const auto nodes = items("troupe.nodes");
  CAF_REQUIRE_EQUAL(nodes.size(), 3u);
  CAF_CHECK(text(nodes[2], "name") == "n2");
  CAF_CHECK(text(nodes[2], "state") == "live");
  CAF_CHECK(number<uint32_t>(nodes[2], "slots") == 2u);
  CAF_CHECK(number<uint32_t>(nodes[2], "procs") == 1u);
  const auto jobs = items("troupe.jobs");
  CAF_REQUIRE_EQUAL(jobs.size(), 1u);
  CAF_CHECK(text(jobs[0], "nspace") == nspace);
  CAF_CHECK(text(jobs[0], "state") == "running");
  CAF_CHECK(number<uint32_t>(jobs[0], "nodes") == 3u);
  const auto procs = items("troupe.ps");
  CAF_REQUIRE_EQUAL(procs.size(), 5u);
  CAF_CHECK(text(procs[4], "host") == "n2");
  CAF_CHECK(number<uint32_t>(procs[4], "pid") == 1004u);
  CAF_CHECK(text(procs[4], "state") == "running");
  CAF_CHECK(find(procs[4], "connected") != nullptr);
  mesh.lose(1);
  CAF_CHECK(text(items("troupe.nodes")[1], "state") == "lost");
}

CAF_TEST(LOAD-2 any node tells how full the queues of all nodes are) {
  spawn(5);
  const auto nodes = items("troupe.net");
  CAF_REQUIRE_EQUAL(nodes.size(), 3u);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    CAF_CHECK(number<uint32_t>(nodes[rank], "rank") == rank);
    auto bounds = std::map<std::string, uint64_t>{};
    for (const auto& x : infos_of(*find(nodes[rank], "gauges"))) {
      const auto gauge = infos_of(x.val);
      bounds[text(gauge, "name").value()] =
        number<uint64_t>(gauge, "bound").value_or(0);
    }
    CAF_CHECK(bounds.at("host.calls") > 0);
    CAF_CHECK(bounds.at("server.posted_by_largest_namespace") > 0);
    CAF_CHECK_EQUAL(bounds.count("root.jobs"), rank == 0 ? 1u : 0u);
  }
}

CAF_TEST(LOAD-2 a host says how its own node is to who is in its process) {
  spawn(5);
  const auto x = mesh.tell<mesh_status>(1, get_mesh_status{});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.rank, 1u);
  const auto& gauges = x->value.gauges;
  const auto has = [&](const std::string& name) {
    return std::any_of(gauges.begin(), gauges.end(),
                       [&](const gauge& y) { return y.name == name; });
  };
  CAF_CHECK(has("host.calls"));
  CAF_CHECK(has("server.processes"));
  CAF_CHECK(has("events.raised"));
  CAF_CHECK(!has("root.jobs"));
}

CAF_TEST(LOAD-2 a node that does not answer holds up no other) {
  mesh[1].is_cut = true;
  auto wanted = troupe::query{};
  wanted.keys.emplace_back("troupe.net");
  const auto x = ask<info_result>(tool, query_request{{wanted}});
  CAF_CHECK(x->is_pending());
  elapse(2 * defaults::net_wait);
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto nodes = infos_of(x->value.infos.at(0).val);
  CAF_REQUIRE_EQUAL(nodes.size(), 3u);
  CAF_CHECK(find(infos_of(nodes[1].val), "trouble") != nullptr);
  CAF_CHECK(find(infos_of(nodes[2].val), "gauges") != nullptr);
}

CAF_TEST(F4.30 the table of processes is that of all nodes or of one) {
  spawn(5);
  const auto count = [this](std::string_view key) {
    auto wanted = troupe::query{};
    wanted.keys.emplace_back(key);
    wanted.qualifiers = {with(attr::nspace, value::string(nspace))};
    const auto x = ask<info_result>(tool, query_request{{wanted}});
    CAF_REQUIRE_EQUAL(x->code, status::success);
    const auto* all =
      std::get_if<box<data_array>>(&x->value.infos.at(0).val.data);
    return all == nullptr ? size_t{0} : (*all)->elements.size();
  };
  CAF_CHECK_EQUAL(count(attr::query_proc_table), 5u);
  CAF_CHECK_EQUAL(count(attr::query_local_proc_table), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
