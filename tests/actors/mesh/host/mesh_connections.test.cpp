// Processes of several jobs that are connected: who hears of failures, and what
// ends with what.

#include "tests/fixtures/exchange.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

const auto both = procs{{nspace, rank_wildcard}, {other, rank_wildcard}};

/// Job 1 runs on node 0, job 2 on nodes 1 and 2; two processes a node.
struct fixture : exchange {
  std::map<std::string, bool> recoverable;

  void begin(const std::string& name, uint32_t first, uint32_t size) {
    auto infos = std::vector<info>{};
    if (recoverable[name])
      infos.push_back(with(attr::job_recoverable, value::boolean(true)));
    const auto x = mesh.spawn(
      job_host::program(static_cast<int32_t>(size), std::move(infos)));
    consume_messages();
    CAF_REQUIRE_EQUAL(x->value.nspace, name);
    for (uint32_t rank = 0; rank < size; ++rank) {
      nodes[{name, rank}] = first + rank / 2;
      ranks[{name, rank}] = mesh.connect(first + rank / 2, name, rank);
      ask<ack>({name, rank},
               register_events_request{
                 {status::proc_aborted_by_sig, status::proc_term_wo_sync,
                  status::proc_aborted, status::proc_killed_by_cmd,
                  status::event_proc_terminated, status::proc_requested_abort,
                  status::job_term_wo_sync},
                 {}});
    }
  }

  void begin_both() {
    begin(nspace, 0, 2);
    begin(other, 1, 4);
  }

  void connect(const procs& who = both) {
    auto calls = std::vector<pending<connect_procs_result>>{};
    for (const auto& [id, unused] : ranks)
      if (is_in(who, id))
        calls.push_back(
          ask<connect_procs_result>(id, connect_procs_request{who, {}, {}}));
    for (const auto& x : calls)
      CAF_REQUIRE_EQUAL(x->code, status::success);
  }

  void disconnect(const procs& who = both) {
    auto calls = std::vector<pending<ack>>{};
    for (const auto& [id, unused] : ranks)
      if (is_in(who, id))
        calls.push_back(ask<ack>(id, disconnect_procs_request{who, {}}));
    for (const auto& x : calls)
      CAF_REQUIRE_EQUAL(x->code, status::success);
  }

  static bool is_in(const procs& who, const proc_id& id) {
    return std::any_of(who.begin(), who.end(),
                       [&](const proc_id& x) { return matches(x, id); });
  }

  void end(const proc_id& who, int32_t exit_code = 0, int32_t signal = 0) {
    mesh[nodes.at(who)].launcher->end(who.rank, exit_code, signal);
    consume_messages();
  }

  /// What it has heard since this was last called.
  std::vector<std::string> heard(const proc_id& who) {
    auto result = std::vector<std::string>{};
    auto& events = ranks.at(who)->wire->events;
    for (const auto& x : events) {
      auto line = std::to_string(static_cast<int32_t>(x.code));
      if (const auto* y = find(x.infos, attr::event_affected_proc))
        line += " " + to_string(procs_of(*y).front());
      result.push_back(line);
    }
    events.clear();
    return result;
  }

  static std::string line(status code, const proc_id& proc) {
    return std::to_string(static_cast<int32_t>(code)) + " " + to_string(proc);
  }

  bool is_ending(const std::string& name) {
    const auto x = mesh.tell<job_list>(0, list_jobs{name});
    consume_messages();
    return x->value.jobs.empty()
           || x->value.jobs.front().state == job_state::terminated_with_error;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_connections_tests, fixture)

// Edge cases 74 and 75.
CAF_TEST(G2 P-J3 all that are connected hear of a failure once) {
  recoverable[nspace] = recoverable[other] = true;
  begin_both();
  connect();
  end({other, 3}, 0, SIGKILL);
  end({other, 2}, 0, SIGSEGV);
  for (const auto& id : procs{{nspace, 0}, {nspace, 1}, {other, 0}})
    CAF_CHECK((heard(id)
               == std::vector<std::string>{
                 line(status::proc_aborted_by_sig, {other, 3}),
                 line(status::proc_aborted_by_sig, {other, 2})}));
  CAF_CHECK(!is_ending(nspace));
  CAF_CHECK(!is_ending(other));
}

CAF_TEST(G2 who is not connected hears nothing of other jobs) {
  recoverable[nspace] = recoverable[other] = true;
  begin_both();
  connect({{nspace, 1}, {other, 0}});
  end({other, 1}, 0, SIGKILL);
  CAF_CHECK(heard({nspace, 1}).empty());
  end({other, 0}, 0, SIGKILL);
  CAF_CHECK(heard({nspace, 0}).empty());
  CAF_CHECK((heard({nspace, 1})
             == std::vector<std::string>{
               line(status::proc_aborted_by_sig, {other, 0})}));
}

CAF_TEST(G2 after they have disconnected jobs fail alone) {
  begin_both();
  connect();
  connect();
  disconnect();
  disconnect();
  end({other, 0}, 0, SIGKILL);
  CAF_CHECK(heard({nspace, 0}).empty());
  CAF_CHECK(is_ending(other));
  CAF_CHECK(!is_ending(nspace));
}

CAF_TEST(G2 a failure that ends a job ends those that it is connected to) {
  begin_both();
  connect();
  end({other, 3}, 0, SIGKILL);
  CAF_CHECK(is_ending(nspace));
  CAF_CHECK(is_ending(other));
  const auto events = heard({nspace, 0});
  CAF_REQUIRE_EQUAL(events.size(), 3u);
  CAF_CHECK_EQUAL(events[0], line(status::proc_aborted_by_sig, {other, 3}));
  CAF_CHECK_EQUAL(events[1],
                  line(status::job_term_wo_sync, {other, rank_wildcard}));
  CAF_CHECK_EQUAL(events[2],
                  line(status::job_term_wo_sync, {nspace, rank_wildcard}));
  for (const auto& id : procs{{nspace, 0}, {nspace, 1}})
    end(id, 0, SIGTERM);
  const auto& reports = mesh.observer->ended;
  const auto report =
    std::find_if(reports.begin(), reports.end(),
                 [](const job_ended& x) { return x.nspace == nspace; });
  CAF_REQUIRE(report != reports.end());
  CAF_CHECK_EQUAL(report->exit_status, 128 + SIGKILL);
  CAF_CHECK_EQUAL(report->reason,
                  "job server@2, to which it was connected, failed: rank 3 "
                  "(prog, pid 1003 on n2) was killed by signal 9 (SIGKILL, "
                  "Killed)");
}

CAF_TEST(G2 a recoverable job outlives those that it is connected to) {
  recoverable[nspace] = true;
  begin_both();
  connect();
  end({other, 0}, 7);
  CAF_CHECK(is_ending(other));
  CAF_CHECK(!is_ending(nspace));
  // And its own failures end no other.
  CAF_CHECK(!heard({nspace, 0}).empty());
}

CAF_TEST(G2 failures of a recoverable job end no other) {
  recoverable[nspace] = true;
  begin_both();
  connect();
  end({nspace, 1}, 0, SIGKILL);
  CAF_CHECK(!is_ending(nspace));
  CAF_CHECK(!is_ending(other));
  CAF_CHECK((heard({other, 3})
             == std::vector<std::string>{
               line(status::proc_aborted_by_sig, {nspace, 1})}));
}

CAF_TEST(G2 who aborts its job ends those that it is connected to) {
  begin_both();
  connect();
  ask<ack>({nspace, 0}, abort_request{3, std::nullopt, {}});
  CAF_CHECK(is_ending(nspace));
  CAF_CHECK(is_ending(other));
}

CAF_TEST(G2 a good end without disconnecting is reported and ends nothing) {
  begin_both();
  connect();
  ask<ack>({other, 1}, finalize_request{});
  end({other, 1});
  CAF_CHECK(
    (heard({nspace, 0})
     == std::vector<std::string>{line(status::proc_term_wo_sync, {other, 1})}));
  CAF_CHECK((heard({other, 0})
             == std::vector<std::string>{
               line(status::event_proc_terminated, {other, 1})}));
  CAF_CHECK(!is_ending(nspace));
}

// Edge case 68 for connected processes.
CAF_TEST(G2 P-J3 the loss of a node is reported to all that are connected) {
  recoverable[nspace] = recoverable[other] = true;
  begin_both();
  connect();
  mesh.lose(2);
  consume_messages();
  CAF_CHECK(
    (heard({nspace, 1})
     == std::vector<std::string>{line(status::proc_aborted, {other, 2}),
                                 line(status::proc_aborted, {other, 3})}));
  CAF_CHECK(heard({other, 0}).size() >= 2u);
}

CAF_TEST(G2 the loss of a node ends all jobs that are connected to it) {
  begin_both();
  connect();
  mesh.lose(2);
  consume_messages();
  CAF_CHECK(is_ending(other));
  CAF_CHECK(is_ending(nspace));
}

// Source: Open MPI, MPI_Comm_disconnect.
CAF_TEST(G2 F6.3 a fence of Open MPI over connected processes disconnects) {
  begin_both();
  for (const auto& [id, unused] : ranks)
    commit(id, "btl.tcp.4.1", "address");
  connect();
  for (const auto& [id, unused] : ranks)
    ask<ack>(id, fence_request{both, {}});
  end({other, 0}, 0, SIGKILL);
  CAF_CHECK(heard({nspace, 0}).empty());
  CAF_CHECK(!is_ending(nspace));
}

CAF_TEST(G2 other fences over connected processes do not disconnect) {
  begin_both();
  connect();
  for (const auto& [id, unused] : ranks)
    ask<ack>(id, fence_request{both, {}});
  end({other, 0}, 0, SIGKILL);
  CAF_CHECK(is_ending(nspace));
}

CAF_TEST(X41 G2 a daemon connects its own processes only) {
  begin_both();
  const auto says = [&](uint32_t node, procs who) {
    auto call = host_call{};
    call.number = 1000;
    call.what = connection_changed{std::move(who), true};
    caf::anon_send(mesh[0].host,
                   member_message{node, mesh[node].incarnation, call});
    consume_messages();
  };
  says(2, {{nspace, 0}, {other, 0}});
  end({nspace, 0}, 0, SIGKILL);
  CAF_CHECK(heard({other, 0}).empty());
  says(1, {{nspace, 1}, {other, 0}});
  end({nspace, 1}, 0, SIGKILL);
  CAF_CHECK(!heard({other, 0}).empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
