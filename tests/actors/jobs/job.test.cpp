// A job from its first process to its last byte.

#include "actors/jobs/job.hpp"

#include "actors/control/control_directives.hpp"
#include "actors/data/job_data.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

const auto nspace = std::string{"server@1"};

struct fixture : deterministic {
  job_host local{*this};
  node& uut = local.uut;
  launcher_script& launcher = *local.launcher;

  fixture() {
    consume_messages();
  }

  pending<spawn_result> spawn(spawn_request request) {
    auto result = local.spawn(std::move(request));
    consume_messages();
    return result;
  }

  pending<spawn_result> spawn(int32_t size, std::vector<info> infos = {}) {
    return spawn(job_host::program(size, std::move(infos)));
  }

  peer_ptr connect(uint32_t rank) {
    auto result = uut.connect(nspace, rank);
    consume_messages();
    return result;
  }

  void end(uint32_t rank, int32_t exit_code = 0, int32_t signal = 0,
           bool drained = true) {
    launcher.end(rank, exit_code, signal, drained);
    consume_messages();
  }

  status end_the_job(std::optional<int32_t> exit_status = std::nullopt) {
    const auto x =
      local.tell<ack>(end_job{nspace, "interrupted", exit_status, SIGTERM});
    consume_messages();
    return x->code;
  }

  /// What the launcher was asked since this was last called.
  std::string asked() {
    std::string result;
    for (const auto& x : launcher.log)
      result += (result.empty() ? "" : ", ") + x;
    launcher.log.clear();
    return result;
  }

  bool is_over() {
    return !local.observer->ended.empty();
  }

  job_ended outcome() {
    if (local.observer->ended.size() != 1)
      CAF_FAIL("the job ended " << local.observer->ended.size() << " times");
    return local.observer->ended.front();
  }

  /// The state that the observer heard of last.
  proc_state state_of(uint32_t rank) {
    auto result = proc_state::undef;
    for (const auto& x : local.observer->changes)
      if (x.proc.rank == rank)
        result = x.state;
    return result;
  }

  std::string variable(uint32_t rank, const std::string& name) {
    std::string result;
    for (const auto& x : launcher.processes.at(rank).spec.env)
      if (x.compare(0, name.size() + 1, name + "=") == 0)
        result += x.substr(name.size() + 1) + ";";
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(job_tests, fixture)

// -- start -------------------------------------------------------------------

CAF_TEST(F4.39 processes start one after the other) {
  launcher.holds_starts = true;
  const auto x = spawn(3);
  CAF_CHECK_EQUAL(asked(), "start 0");
  launcher.release();
  consume_messages();
  CAF_CHECK_EQUAL(asked(), "start 1");
  launcher.release();
  consume_messages();
  CAF_CHECK_EQUAL(asked(), "start 2");
  CAF_CHECK(x->is_pending());
  launcher.release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.nspace, nspace);
  CAF_CHECK_EQUAL(x->value.ranks.size(), 3u);
  CAF_CHECK(find(x->value.entries, attr::job_size) != nullptr);
}

CAF_TEST(F4.39 the observer hears of the map and of every process) {
  spawn(2);
  CAF_REQUIRE_EQUAL(local.observer->mapped.size(), 1u);
  CAF_CHECK_EQUAL(local.observer->mapped[0].nspace, nspace);
  CAF_CHECK_EQUAL(local.observer->mapped[0].procs.size(), 2u);
  CAF_REQUIRE_EQUAL(local.observer->changes.size(), 2u);
  CAF_CHECK(local.observer->changes[1].proc == (proc_id{nspace, 1}));
  CAF_CHECK(local.observer->changes[1].state == proc_state::running);
  CAF_CHECK_EQUAL(local.observer->changes[1].pid, 1001u);
  connect(1);
  CAF_CHECK(state_of(1) == proc_state::connected);
}

CAF_TEST(F4.39 a process may connect before its start is known) {
  launcher.holds_starts = true;
  spawn(1);
  CAF_CHECK_EQUAL(connect(0)->code, status::success);
  launcher.release();
  consume_messages();
  CAF_CHECK(state_of(0) == proc_state::connected);
}

CAF_TEST(F4.39 a process is told where its server is) {
  spawn(2);
  CAF_CHECK_EQUAL(variable(1, "PATH"), "/bin;");
  CAF_CHECK_EQUAL(variable(1, "PMIX_SERVER_URI"), "here;");
  CAF_CHECK_EQUAL(variable(1, "PMIX_NAMESPACE"), nspace + ";");
  CAF_CHECK_EQUAL(variable(1, "PMIX_RANK"), "1;");
  CAF_CHECK_EQUAL(launcher.processes.at(1).spec.wdir, "/work");
}

CAF_TEST(X12 F5.5 nobody is given the identity of another by a variable) {
  auto request = job_host::program(2);
  request.apps[0].env = {"PMIX_RANK=7", "PMIX_SERVER_URI=elsewhere",
                         "PMIX_RANK_MORE=kept"};
  spawn(request);
  CAF_CHECK_EQUAL(variable(1, "PMIX_RANK"), "1;");
  CAF_CHECK_EQUAL(variable(1, "PMIX_SERVER_URI"), "here;");
  CAF_CHECK_EQUAL(variable(1, "PMIX_RANK_MORE"), "kept;");
}

CAF_TEST(F5.4 processors are looked up only to bind or map) {
  spawn(1, {with(attr::bindto, value::string("none"))});
  CAF_CHECK_EQUAL(local.topology->asked, 0u);
  processing_unit cpu;
  cpu.os_index = 5;
  local.topology->found.units = {cpu};
  launcher.processes.clear();
  spawn(1, {with(attr::bindto, value::string("core"))});
  CAF_CHECK_EQUAL(local.topology->asked, 1u);
  CAF_CHECK((launcher.processes.at(0).spec.cpus == std::vector<uint32_t>{5}));
}

// -- a start that fails ------------------------------------------------------

CAF_TEST(F5.17 a program that is not there gives 127) {
  launcher.refused[0] = status::job_exe_not_found;
  const auto x = spawn(2);
  CAF_CHECK_EQUAL(x->code, status::job_exe_not_found);
  CAF_CHECK_EQUAL(asked(), "start 0, sweep");
  CAF_CHECK_EQUAL(outcome().exit_status, 127);
  CAF_CHECK_EQUAL(outcome().reason, "scripted");
  CAF_CHECK(outcome().state == job_state::terminated_with_error);
}

CAF_TEST(F5.17 a program that cannot be executed gives 126) {
  launcher.refused[0] = status::job_app_not_executable;
  CAF_CHECK_EQUAL(spawn(1)->code, status::job_app_not_executable);
  CAF_CHECK_EQUAL(outcome().exit_status, 126);
}

CAF_TEST(F5.17 F5.20 what has started is killed when the rest cannot) {
  launcher.refused[2] = status::sys_limits_children;
  launcher.fatal = {SIGKILL};
  const auto x = spawn(4);
  CAF_CHECK_EQUAL(x->code, status::sys_limits_children);
  CAF_CHECK_EQUAL(outcome().exit_status, 125);
  CAF_CHECK(launcher.ended == (std::set<uint32_t>{0, 1}));
  CAF_CHECK(state_of(2) == proc_state::failed_to_start);
}

CAF_TEST(F5.11 a job that does not fit is refused and reported) {
  const auto x = spawn(9);
  CAF_CHECK_EQUAL(x->code, status::job_insufficient_resources);
  CAF_CHECK_EQUAL(outcome().exit_status, 1);
  CAF_CHECK(outcome().reason.find("9 processes") != std::string::npos);
  CAF_CHECK_EQUAL(
    spawn(9, {with(attr::mapby, value::string(":OVERSUBSCRIBE"))})->code,
    status::success);
}

CAF_TEST(F5.3 a policy that nobody knows is refused and reported) {
  const auto x = spawn(1, {with(attr::mapby, value::string("planet"))});
  CAF_CHECK_EQUAL(x->code, status::not_supported);
  CAF_CHECK(is_over());
}

CAF_TEST(MAP-1 a node that cannot be explored binds nobody by default) {
  local.topology->code = status::not_available;
  CAF_CHECK_EQUAL(spawn(1)->code, status::success);
  CAF_CHECK(launcher.processes.at(0).spec.cpus.empty());
}

CAF_TEST(MAP-2 the next job of a node is bound elsewhere) {
  for (uint32_t i = 0; i < 2; ++i) {
    processing_unit cpu;
    cpu.os_index = cpu.core = cpu.hwthread = i;
    local.topology->found.units.push_back(cpu);
  }
  auto cpus = std::vector<std::vector<uint32_t>>{};
  for (auto i = 0; i < 3; ++i) {
    launcher.processes.clear();
    spawn(1);
    cpus.push_back(launcher.processes.at(0).spec.cpus);
  }
  CAF_CHECK((cpus == std::vector<std::vector<uint32_t>>{{0}, {1}, {}}));
}

CAF_TEST(MAP-3 a job that overloads processors is refused and reported) {
  local.topology->found.units.resize(1);
  const auto core = with(attr::bindto, value::string("core"));
  CAF_CHECK_EQUAL(spawn(2, {core})->code, status::job_insufficient_resources);
  CAF_CHECK(outcome().reason.find("core:overload-allowed")
            != std::string::npos);
}

CAF_TEST(F5.4 a node that cannot be explored ends the job) {
  local.topology->code = status::not_available;
  const auto x = spawn(1, {with(attr::bindto, value::string("core"))});
  CAF_CHECK_EQUAL(x->code, status::not_available);
  CAF_CHECK(is_over());
}

// -- the end -----------------------------------------------------------------

CAF_TEST(F5.15 F5.20 a job is over when all have ended and nothing is left) {
  spawn(2);
  asked();
  end(0);
  CAF_CHECK(!is_over());
  CAF_CHECK(state_of(0) == proc_state::terminated);
  end(1);
  CAF_CHECK_EQUAL(asked(), "end 0, end 1, sweep");
  CAF_CHECK_EQUAL(outcome().nspace, nspace);
  CAF_CHECK_EQUAL(outcome().exit_status, 0);
  CAF_CHECK_EQUAL(outcome().reason, "");
  CAF_CHECK(outcome().state == job_state::terminated);
  // Its name is free, and nobody can connect any more.
  CAF_CHECK_EQUAL(connect(0)->code, status::not_found);
}

CAF_TEST(F4.39 a job is not over before its output has been taken) {
  spawn(2);
  end(0, 0, 0, false);
  end(1, 0, 0, false);
  CAF_CHECK(!is_over());
  launcher.drain(1);
  consume_messages();
  CAF_CHECK(!is_over());
  launcher.drain(0);
  consume_messages();
  CAF_CHECK(is_over());
}

CAF_TEST(F5.20 a job is not over before it has been swept) {
  launcher.holds_sweeps = true;
  spawn(1);
  end(0);
  CAF_CHECK(!is_over());
  launcher.release();
  consume_messages();
  CAF_CHECK(is_over());
}

CAF_TEST(F5.20 what a job registered is removed at its end) {
  spawn(1);
  const auto x = uut.ask<info_result>(
    connect(0),
    job_control_request{
      {}, {with(attr::register_cleanup, value::string("/tmp/file"))}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(local.cleaner->removed.empty());
  end(0, 1);
  CAF_CHECK(is_over());
  CAF_REQUIRE_EQUAL(local.cleaner->removed.size(), 1u);
  CAF_REQUIRE_EQUAL(local.cleaner->removed[0].paths.size(), 1u);
  CAF_CHECK_EQUAL(local.cleaner->removed[0].paths[0].path, "/tmp/file");
}

// -- one process fails -------------------------------------------------------

CAF_TEST(F5.15 F5.18 one that fails ends the others) {
  spawn(3);
  asked();
  end(1, 3);
  CAF_CHECK_EQUAL(asked(), "end 1, signal 0 15, signal 2 15, signal 0 18,"
                           " signal 2 18");
  end(0, 0, SIGTERM);
  end(2, 0, SIGTERM);
  CAF_CHECK_EQUAL(asked(), "end 0, end 2, sweep");
  CAF_CHECK_EQUAL(outcome().exit_status, 3);
  CAF_CHECK_EQUAL(outcome().reason,
                  "rank 1 (prog, pid 1001 on node) exited with "
                  "status 3");
}

CAF_TEST(F5.16 F5.18 one that is killed ends the others) {
  launcher.fatal = {SIGTERM};
  spawn(2);
  end(0, 0, SIGSEGV);
  CAF_CHECK_EQUAL(outcome().exit_status, 139);
  CAF_CHECK(outcome().reason.find("rank 0 (prog, pid 1000 on node) was killed "
                                  "by signal 11")
            == 0);
  CAF_CHECK(state_of(0) == proc_state::aborted_by_sig);
}

CAF_TEST(F5.20 who does not end in the grace is killed) {
  spawn(3);
  end(1, 3);
  end(0, 0, SIGTERM);
  asked();
  elapse(defaults::kill_grace - 1ms);
  CAF_CHECK_EQUAL(asked(), "");
  elapse(1ms);
  CAF_CHECK_EQUAL(asked(), "signal 2 9");
  end(2, 0, SIGKILL);
  CAF_CHECK(is_over());
  CAF_CHECK_EQUAL(outcome().exit_status, 3);
}

CAF_TEST(MND-A11 an exit that follows a lost peer is not the cause) {
  launcher.keeps_connections = true;
  launcher.fatal = {SIGTERM};
  spawn(3);
  connect(0);
  const auto victim = connect(1);
  connect(2);
  asked();
  // Its descriptors are closed before it can be reaped.
  uut.lose(victim);
  consume_messages();
  end(0, 3);
  CAF_CHECK_EQUAL(asked(), "end 0"); // And nobody is told to end.
  end(1, 0, SIGKILL);
  CAF_CHECK(is_over());
  CAF_CHECK_EQUAL(outcome().exit_status, 137);
  CAF_CHECK_NOT_EQUAL(outcome().reason.find("rank 1 "), std::string::npos);
  CAF_CHECK(state_of(0) == proc_state::term_wo_sync);
}

CAF_TEST(MND-A11 an exit may overtake the news of the lost peer) {
  launcher.keeps_connections = true;
  launcher.fatal = {SIGTERM};
  spawn(3);
  for (uint32_t rank = 0; rank < 3; ++rank)
    connect(rank);
  // The host has heard, and has not passed it on.
  auto victim = requester{};
  victim.proc = {nspace, 1};
  caf::anon_send(uut.host, client_lost{victim});
  end(0, 3);
  CAF_CHECK(!is_over());
  end(1, 0, SIGKILL);
  CAF_CHECK(is_over());
  CAF_CHECK_EQUAL(outcome().exit_status, 137);
}

CAF_TEST(MND-A11 an exit is not held back by a peer that only lost its way) {
  launcher.keeps_connections = true;
  launcher.fatal = {SIGTERM};
  spawn(3);
  connect(0);
  const auto victim = connect(1);
  connect(2);
  uut.lose(victim);
  consume_messages();
  end(0, 3);
  CAF_CHECK(!is_over());
  elapse(defaults::lost_connection_wait);
  consume_messages();
  CAF_CHECK(is_over());
  CAF_CHECK_EQUAL(outcome().exit_status, 3);
}

CAF_TEST(MND-A11 an exit that is held back is judged when the job is ended) {
  launcher.keeps_connections = true;
  launcher.fatal = {SIGTERM};
  spawn(3);
  connect(0);
  const auto victim = connect(1);
  connect(2);
  uut.lose(victim);
  consume_messages();
  end(0, 3);
  end_the_job();
  CAF_CHECK(is_over());
  CAF_CHECK_EQUAL(outcome().reason, "interrupted");
}

CAF_TEST(F5.15 a status other than 0 may be no failure) {
  spawn(2, {with(attr::abort_non_zero_term, value::boolean(false))});
  asked();
  end(0, 3);
  CAF_CHECK_EQUAL(asked(), "end 0");
  end(1);
  CAF_CHECK_EQUAL(outcome().exit_status, 3);
}

CAF_TEST(F5.14 a recoverable job survives the death of a process) {
  spawn(3, {with(attr::job_recoverable)});
  asked();
  end(0, 0, SIGKILL);
  end(1, 7);
  CAF_CHECK_EQUAL(asked(), "end 0, end 1");
  CAF_CHECK(!is_over());
  end(2);
  CAF_CHECK(is_over());
  CAF_CHECK_EQUAL(outcome().exit_status, 137);
}

CAF_TEST(FIT-2 who ends before its last words are read is judged by them) {
  launcher.keeps_connections = true;
  spawn(1);
  const auto x = connect(0);
  end(0);
  CAF_CHECK(!is_over());
  uut.ask<ack>(x, finalize_request{});
  consume_messages();
  CAF_CHECK(is_over());
  CAF_CHECK(state_of(0) == proc_state::terminated);
  CAF_CHECK_EQUAL(outcome().exit_status, 0);
}

CAF_TEST(FIT-2 who ends without last words has failed) {
  launcher.keeps_connections = true;
  launcher.fatal = {SIGTERM};
  spawn(2);
  const auto x = connect(0);
  connect(1);
  end(0);
  CAF_CHECK(!is_over());
  uut.lose(x);
  consume_messages();
  CAF_CHECK(is_over());
  CAF_CHECK(state_of(0) == proc_state::term_wo_sync);
}

CAF_TEST(FIT-2 whose connection stays open is judged after a while) {
  launcher.keeps_connections = true;
  spawn(1);
  connect(0);
  end(0);
  elapse(5s - 1ms);
  CAF_CHECK(!is_over());
  elapse(1ms);
  consume_messages();
  CAF_CHECK(is_over());
  CAF_CHECK(state_of(0) == proc_state::term_wo_sync);
}

CAF_TEST(F5.15 F4.36 who connects and leaves without finalizing has failed) {
  launcher.fatal = {SIGTERM};
  spawn(2);
  uut.lose(connect(0));
  consume_messages();
  end(0);
  CAF_CHECK(is_over());
  CAF_CHECK(state_of(0) == proc_state::term_wo_sync);
  CAF_CHECK_EQUAL(outcome().exit_status, 1);
  CAF_CHECK(outcome().reason.find("without calling PMIx_Finalize")
            != std::string::npos);
}

CAF_TEST(F5.15 F4.36 who finalizes ends well) {
  spawn(1);
  const auto x = connect(0);
  uut.ask<ack>(x, finalize_request{});
  consume_messages();
  uut.lose(x, true);
  consume_messages();
  end(0);
  CAF_CHECK_EQUAL(outcome().exit_status, 0);
}

CAF_TEST(F4.19 F5.23 a fence of a recoverable job ends with its participant) {
  spawn(2, {with(attr::job_recoverable)});
  const auto x = uut.fence(connect(0));
  consume_messages();
  end(1, 0, SIGKILL);
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
}

// -- events ------------------------------------------------------------------

// 2.T, traps 1 and 2: only the affected process is of type PROC, and default
// handlers hear only of what they survive.
CAF_TEST(F5.23 peers hear of a death) {
  spawn(3, {with(attr::job_recoverable)});
  const auto witness = connect(0);
  const auto stranger = connect(2);
  uut.ask<ack>(witness,
               register_events_request{{status::proc_aborted_by_sig}, {}});
  uut.ask<ack>(stranger, register_events_request{{status::timeout}, {}});
  consume_messages();
  end(1, 0, SIGKILL);
  CAF_CHECK(stranger->wire->events.empty());
  CAF_REQUIRE_EQUAL(witness->wire->events.size(), 1u);
  const auto& x = witness->wire->events[0];
  CAF_CHECK_EQUAL(x.code, status::proc_aborted_by_sig);
  CAF_CHECK(x.source == (proc_id{"", rank_undef}));
  CAF_REQUIRE(find(x.infos, attr::event_affected_proc) != nullptr);
  CAF_CHECK(*find(x.infos, attr::event_affected_proc)
            == value::of_proc({nspace, 1}));
  CAF_CHECK_EQUAL(
    std::count_if(x.infos.begin(), x.infos.end(),
                  [](const info& y) { return y.val.type == data_type::proc; }),
    1);
}

CAF_TEST(F5.23 default handlers hear of what may be survived only) {
  spawn(5, {with(attr::job_recoverable)});
  const auto witness = connect(0);
  uut.ask<ack>(witness, register_events_request{});
  consume_messages();
  end(1, 0, SIGKILL);
  end(2, 7);
  uut.lose(connect(3));
  end(3);
  end(4);
  const auto& events = witness->wire->events;
  CAF_REQUIRE_EQUAL(events.size(), 2u);
  CAF_CHECK_EQUAL(events[0].code, status::proc_aborted_by_sig);
  CAF_CHECK_EQUAL(events[1].code, status::proc_term_wo_sync);
}

CAF_TEST(F5.23 default handlers hear nothing of a job that ends anyway) {
  spawn(2);
  const auto witness = connect(0);
  uut.ask<ack>(witness, register_events_request{});
  uut.ask<ack>(witness,
               register_events_request{{status::exit_nonzero_term}, {}});
  consume_messages();
  end(1, 7);
  CAF_REQUIRE_EQUAL(witness->wire->events.size(), 1u);
  CAF_CHECK_EQUAL(witness->wire->events[0].code, status::exit_nonzero_term);
  CAF_CHECK(flag(witness->wire->events[0].infos, attr::event_non_default));
}

// -- another life of a process -------------------------------------------------

namespace {

info max_restarts(uint32_t x) {
  return with(attr::max_restarts, value::uint32(x));
}

} // namespace

CAF_TEST(RST-1 who fails is started again where it ran) {
  launcher.fatal = {SIGTERM};
  spawn(2, {max_restarts(2)});
  asked();
  end(1, 7);
  CAF_CHECK(state_of(1) == proc_state::restart);
  elapse(1ms);
  CAF_CHECK_EQUAL(asked(), "end 1, signal 1 9, start 1");
  CAF_CHECK(state_of(1) == proc_state::running);
  CAF_CHECK_EQUAL(variable(1, "TROUPE_RESTARTS"), "1;");
  CAF_CHECK_EQUAL(variable(1, "PMIX_RANK"), "1;");
  // The next time it waits.
  end(1, 0, SIGSEGV);
  elapse(99ms);
  CAF_CHECK_EQUAL(asked(), "end 1, signal 1 9");
  elapse(1ms);
  CAF_CHECK_EQUAL(asked(), "start 1");
  CAF_CHECK_EQUAL(variable(1, "TROUPE_RESTARTS"), "2;");
  CAF_CHECK(!is_over());
  end(1, 7);
  elapse(2s);
  CAF_CHECK(is_over());
  CAF_CHECK_EQUAL(outcome().exit_status, 7);
}

CAF_TEST(RST-1 who ends well is not started again) {
  spawn(2, {max_restarts(5)});
  asked();
  end(0);
  end(1);
  elapse(2s);
  CAF_CHECK_EQUAL(asked(), "end 0, end 1, sweep");
  CAF_CHECK_EQUAL(outcome().exit_status, 0);
}

CAF_TEST(RST-1 the next life begins when the output of the former is taken) {
  spawn(1, {max_restarts(1)});
  asked();
  end(0, 7, 0, false);
  elapse(2s);
  CAF_CHECK_EQUAL(asked(), "end 0, signal 0 9");
  launcher.drain(0);
  consume_messages();
  CAF_CHECK_EQUAL(asked(), "start 0");
}

CAF_TEST(RST-1 a job may end while one waits for its next life) {
  spawn(1, {max_restarts(9)});
  end(0, 7);
  elapse(1ms);
  end(0, 7);
  CAF_CHECK(!is_over());
  CAF_CHECK_EQUAL(end_the_job(130), status::success);
  CAF_CHECK(is_over());
  asked();
  elapse(2s);
  CAF_CHECK_EQUAL(asked(), "");
}

CAF_TEST(RST-1 who cannot be started again has failed) {
  launcher.fatal = {SIGTERM};
  spawn(2, {max_restarts(9)});
  launcher.refused[1] = status::sys_limits_children;
  end(1, 7);
  elapse(2s);
  CAF_CHECK(state_of(1) == proc_state::cannot_restart);
  CAF_CHECK_EQUAL(outcome().exit_status, 7);
}

CAF_TEST(RST-1 a fence waits for who comes back) {
  spawn(2, {max_restarts(1)});
  const auto x = uut.fence(connect(0));
  const auto former = connect(1);
  consume_messages();
  uut.lose(former);
  end(1, 0, SIGKILL);
  elapse(1ms);
  CAF_CHECK(x->is_pending());
  const auto y = uut.fence(connect(1));
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->code, status::success);
}

CAF_TEST(RST-1 who has joined a fence joins it again in its next life) {
  spawn(2, {max_restarts(1)});
  const auto former = connect(1);
  uut.fence(former);
  const auto other = connect(0);
  consume_messages();
  uut.lose(former);
  end(1, 0, SIGKILL);
  elapse(1ms);
  const auto x = uut.fence(other);
  consume_messages();
  CAF_CHECK(x->is_pending());
  const auto y = uut.fence(connect(1));
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->code, status::success);
}

CAF_TEST(RST-1 a fence waits for a next life that has not begun) {
  spawn(2, {max_restarts(1)});
  const auto former = connect(1);
  uut.fence(former);
  const auto other = connect(0);
  consume_messages();
  uut.lose(former);
  end(1, 0, SIGKILL, false);
  elapse(1ms);
  const auto x = uut.fence(other);
  consume_messages();
  CAF_CHECK(x->is_pending());
  launcher.drain(1);
  consume_messages();
  const auto y = uut.fence(connect(1));
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->code, status::success);
}

CAF_TEST(RST-1 peers hear that one is started again) {
  spawn(2, {max_restarts(1)});
  const auto witness = connect(0);
  uut.ask<ack>(witness, register_events_request{{status::proc_restart}, {}});
  consume_messages();
  end(1, 0, SIGKILL);
  elapse(1ms);
  CAF_REQUIRE_EQUAL(witness->wire->events.size(), 1u);
  const auto& x = witness->wire->events[0];
  CAF_CHECK_EQUAL(x.code, status::proc_restart);
  CAF_REQUIRE(find(x.infos, attr::event_affected_proc) != nullptr);
  CAF_CHECK(*find(x.infos, attr::event_affected_proc)
            == value::of_proc({nspace, 1}));
  CAF_CHECK(number<uint32_t>(x.infos, attr::reincarnation) == 1u);
  CAF_CHECK(number<int32_t>(x.infos, attr::exit_code) == 137);
}

CAF_TEST(RST-1 a life that connects while it ends is told of once) {
  spawn(2, {max_restarts(9)});
  const auto witness = connect(0);
  uut.ask<ack>(witness, register_events_request{{status::proc_restart}, {}});
  consume_messages();
  end(1, 0, SIGKILL, false);
  CAF_CHECK_EQUAL(connect(1)->code, status::success);
  CAF_CHECK_EQUAL(witness->wire->events.size(), 1u);
  CAF_CHECK(state_of(1) == proc_state::restart);
}

CAF_TEST(RST-1 who is told to end between two lives has no other) {
  launcher.fatal = {SIGKILL};
  spawn(2,
        {max_restarts(9), with(attr::job_recoverable, value::boolean(true))});
  const auto witness = connect(0);
  const auto kill = [&] {
    const auto x = uut.ask<info_result>(
      witness, job_control_request{{{nspace, 1}}, {with(attr::job_ctrl_kill)}});
    consume_messages();
    return x;
  };
  launcher.holds_starts = true;
  end(1, 7);
  elapse(1ms);
  asked();
  const auto x = kill();
  CAF_CHECK_EQUAL(asked(), "");
  launcher.release();
  consume_messages();
  CAF_CHECK_EQUAL(asked(), "signal 1 9, end 1");
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(state_of(1) == proc_state::killed_by_cmd);
  elapse(2s);
  CAF_CHECK_EQUAL(asked(), "");
}

CAF_TEST(RST-2 processes are started again on request) {
  launcher.fatal = {SIGKILL};
  spawn(2, {max_restarts(0)});
  const auto witness = connect(0);
  asked();
  const auto x = uut.ask<info_result>(
    witness, job_control_request{{{nspace, 1}}, {with(control_key::in_place)}});
  elapse(1ms);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(asked(), "signal 1 9, end 1, signal 1 9, start 1");
  CAF_CHECK(state_of(1) == proc_state::running);
  CAF_CHECK(!is_over());
  // Its own failures still count.
  end(1, 7);
  CAF_CHECK_EQUAL(asked().substr(0, 5), "end 1");
  elapse(2s);
  CAF_CHECK(state_of(1) == proc_state::term_non_zero);
}

CAF_TEST(RST-2 jobs that were not started for that are left alone) {
  spawn(2);
  const auto witness = connect(0);
  asked();
  const auto x = uut.ask<info_result>(
    witness, job_control_request{{{nspace, 1}}, {with(control_key::in_place)}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::not_supported);
  CAF_CHECK_EQUAL(asked(), "");
}

CAF_TEST(SPW-1 a job that does not start in time is given up) {
  launcher.holds_starts = true;
  launcher.fatal = {SIGKILL};
  const auto x = spawn(2, {with(attr::spawn_timeout, value::integer(5))});
  elapse(4s);
  CAF_CHECK(x->is_pending());
  elapse(1s);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  launcher.release();
  consume_messages();
  CAF_CHECK(is_over());
}

CAF_TEST(SPW-1 a job that has started in time goes on) {
  const auto x = spawn(1, {with(attr::timeout, value::integer(5))});
  CAF_CHECK_EQUAL(x->code, status::success);
  elapse(1min);
  CAF_CHECK(!is_over());
}

// -- being ended -------------------------------------------------------------

CAF_TEST(F5.7 a job that takes too long is ended with 124) {
  launcher.fatal = {SIGTERM};
  spawn(2, {with(attr::job_timeout, value::integer(60))});
  elapse(59s);
  CAF_CHECK(!is_over());
  elapse(1s);
  CAF_CHECK_EQUAL(outcome().exit_status, 124);
  CAF_CHECK(outcome().reason.find("time-out") != std::string::npos);
}

CAF_TEST(F5.7 a job that ends in time is not timed out) {
  spawn(1, {with(attr::job_timeout, value::integer(60))});
  end(0);
  elapse(2min);
  CAF_CHECK_EQUAL(outcome().exit_status, 0);
}

CAF_TEST(F5.19 an interrupt ends all and the second kills) {
  spawn(2);
  asked();
  CAF_CHECK_EQUAL(end_the_job(130), status::success);
  CAF_CHECK_EQUAL(asked(), "signal 0 15, signal 1 15, signal 0 18,"
                           " signal 1 18");
  CAF_CHECK_EQUAL(end_the_job(), status::success);
  CAF_CHECK_EQUAL(asked(), "signal 0 15, signal 1 15, signal 0 9, signal 1 9");
  end(0, 0, SIGKILL);
  end(1, 0, SIGKILL);
  CAF_CHECK_EQUAL(outcome().exit_status, 130);
  CAF_CHECK_EQUAL(outcome().reason, "interrupted");
  CAF_CHECK_EQUAL(end_the_job(), status::not_found);
}

CAF_TEST(F5.19 F5.20 a job ended while it starts leaves nobody behind) {
  launcher.holds_starts = true;
  launcher.fatal = {SIGKILL};
  const auto x = spawn(3);
  end_the_job(130);
  CAF_CHECK(!is_over()); // Rank 0 is on its way.
  launcher.release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::job_canceled);
  CAF_CHECK_EQUAL(asked(), "start 0, signal 0 9, end 0, sweep");
  CAF_CHECK_EQUAL(outcome().exit_status, 130);
}

CAF_TEST(F5.19 F5.20 a job ended while its start fails is over) {
  launcher.holds_starts = true;
  spawn(2);
  launcher.refused[1] = status::sys_limits_children;
  launcher.release();
  launcher.fatal = {SIGKILL, SIGTERM};
  end_the_job(130);
  consume_messages();
  CAF_CHECK_EQUAL(outcome().exit_status, 130);
}

CAF_TEST(F5.19 F5.20 a job ended before it was mapped is over) {
  local.topology->holds = true;
  const auto x = spawn(2, {with(attr::bindto, value::string("core"))});
  launcher.holds_sweeps = true;
  end_the_job(130);
  local.topology->release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::job_canceled);
  launcher.release();
  consume_messages();
  CAF_CHECK_EQUAL(asked(), "sweep");
  CAF_CHECK_EQUAL(outcome().exit_status, 130);
}

CAF_TEST(F4.35 an abort ends the job with the status and text given) {
  launcher.fatal = {SIGTERM};
  spawn(3);
  const auto x =
    uut.ask<ack>(connect(1), abort_request{42, "lost the plot", {}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(outcome().exit_status, 42);
  CAF_CHECK_EQUAL(outcome().reason,
                  "rank 1 (prog, pid 1001 on node) called PMIx_Abort with "
                  "status 42: lost the plot");
  CAF_CHECK(state_of(1) == proc_state::called_abort);
}

CAF_TEST(F4.35 an abort may name the whole job) {
  spawn(2);
  asked();
  uut.ask<ack>(connect(0),
               abort_request{1, std::nullopt, {{nspace, rank_wildcard}}});
  consume_messages();
  CAF_CHECK_EQUAL(asked(), "signal 0 15, signal 1 15, signal 0 18,"
                           " signal 1 18");
}

CAF_TEST(F4.35 an abort may name processes) {
  spawn(3, {with(attr::job_recoverable)});
  asked();
  const auto caller = connect(0);
  uut.ask<ack>(caller, abort_request{5, std::nullopt, {{nspace, 2}}});
  uut.ask<ack>(caller, abort_request{5, std::nullopt, {{nspace, 77}}});
  consume_messages();
  CAF_CHECK_EQUAL(asked(), "signal 2 9");
}

// -- while it runs -----------------------------------------------------------

CAF_TEST(F5.10 input is handed on) {
  spawn(2, {with(attr::stdin_tgt, value::rank(1))});
  CAF_CHECK(!launcher.processes.at(0).spec.with_stdin);
  CAF_CHECK(launcher.processes.at(1).spec.with_stdin);
  const auto x = local.tell<io_input_taken>(
    io_input{nspace, {1}, std::nullopt, "text", true});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_REQUIRE_EQUAL(launcher.input.size(), 1u);
  CAF_CHECK_EQUAL(launcher.input[0].bytes, "text");
  CAF_CHECK_EQUAL(launcher.input_ends.size(), 1u);
}

CAF_TEST(F4.30 a job describes itself) {
  spawn(2);
  connect(1);
  const auto x = local.tell<job_list>(list_jobs{nspace});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->value.jobs.size(), 1u);
  const auto& job = x->value.jobs[0];
  CAF_CHECK_EQUAL(job.nspace, nspace);
  CAF_CHECK_EQUAL(job.cmd, "prog");
  CAF_CHECK(job.state == job_state::running);
  CAF_REQUIRE_EQUAL(job.procs.size(), 2u);
  CAF_CHECK_EQUAL(job.procs[1].pid, 1001u);
  CAF_CHECK(job.procs[1].hostname == "node");
  CAF_CHECK_EQUAL(job.procs[1].state,
                  static_cast<uint8_t>(proc_state::connected));
}

CAF_TEST(F4.39 an end that is reported twice counts once) {
  spawn(2);
  end(0);
  caf::anon_send(launcher.processes.at(1).owner,
                 process_ended{{nspace, 0}, 9, 0, false});
  caf::anon_send(launcher.processes.at(1).owner,
                 process_ended{{nspace, 77}, 9, 0, false});
  consume_messages();
  CAF_CHECK(!is_over());
  end(1);
  CAF_CHECK_EQUAL(outcome().exit_status, 0);
}

CAF_TEST_FIXTURE_SCOPE_END()
