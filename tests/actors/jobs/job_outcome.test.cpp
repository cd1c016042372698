// What the end of a job comes to for whoever started it.

#include "actors/jobs/job_outcome.hpp"

#include "tests/test.hpp"

#include <csignal>

using namespace troupe;

namespace {

using state = proc_state;

process_ended exited(int32_t code) {
  return {{"job", 0}, code, 0, false};
}

process_ended killed(int32_t signal) {
  return {{"job", 0}, 0, signal, false};
}

struct fixture {
  job_outcome uut{"job"};

  int32_t exit_status() {
    return uut.report().exit_status;
  }

  std::string reason() {
    return uut.report().reason;
  }

  bool is_error() {
    return uut.report().state == job_state::terminated_with_error;
  }
};

} // namespace

// -- states ------------------------------------------------------------------

CAF_TEST(F5.15 F5.16 how a process ended is its final state) {
  struct row {
    process_ended what;
    bool connected;
    bool finalized;
    state result;
  };
  for (const auto& x : std::vector<row>{
         {exited(0), false, false, state::terminated},
         {exited(0), true, true, state::terminated},
         {exited(0), true, false, state::term_wo_sync},
         {exited(3), false, false, state::term_non_zero},
         {exited(3), true, true, state::term_non_zero},
         {exited(3), true, false, state::term_wo_sync},
         {killed(SIGSEGV), true, true, state::aborted_by_sig},
         {killed(SIGTERM), false, false, state::aborted_by_sig},
       })
    CAF_CHECK(final_state(x.what, x.connected, x.finalized) == x.result);
}

CAF_TEST(F5.14 some states are failures) {
  for (const auto good : {state::running, state::connected, state::terminated})
    CAF_CHECK(!is_failure(good, true));
  for (const auto bad :
       {state::aborted_by_sig, state::term_wo_sync, state::called_abort,
        state::failed_to_start, state::killed_by_cmd}) {
    CAF_CHECK(is_failure(bad, true));
    CAF_CHECK(is_failure(bad, false));
  }
  CAF_CHECK(is_failure(state::term_non_zero, true));
  CAF_CHECK(!is_failure(state::term_non_zero, false));
}

// -- outcomes ----------------------------------------------------------------

CAF_TEST_FIXTURE_SCOPE(job_outcome_tests, fixture)

CAF_TEST(F5.15 a job whose processes end well ends well) {
  uut.add({0, state::terminated, 0, 0, false, {}});
  uut.add({1, state::terminated, 0, 0, false, {}});
  CAF_CHECK_EQUAL(uut.report().nspace, "job");
  CAF_CHECK_EQUAL(exit_status(), 0);
  CAF_CHECK_EQUAL(reason(), "");
  CAF_CHECK(!is_error());
}

CAF_TEST(F5.15 the exit status is that of the worst process) {
  uut.add({0, state::term_non_zero, 3, 0, false, {}});
  uut.add({1, state::term_non_zero, 7, 0, false, {}});
  uut.add({2, state::term_non_zero, 5, 0, false, {}});
  CAF_CHECK_EQUAL(exit_status(), 7);
  CAF_CHECK(is_error());
}

CAF_TEST(F5.18 the reason names who failed first) {
  uut.add({4, state::terminated, 0, 0, false, {}});
  uut.add({2, state::term_non_zero, 3, 0, false, {}});
  uut.add({1, state::term_non_zero, 7, 0, false, {}});
  CAF_CHECK_EQUAL(reason(), "rank 2 exited with status 3");
}

CAF_TEST(F5.16 F5.18 a signal gives 128 and its number and its name) {
  uut.add({1, state::aborted_by_sig, 0, SIGSEGV, false, {}});
  CAF_CHECK_EQUAL(exit_status(), 139);
  CAF_CHECK_EQUAL(reason(), "rank 1 was killed by signal 11 (SIGSEGV,"
                            " Segmentation fault)");
  CAF_CHECK(is_error());
}

CAF_TEST(DIR-6 F5.18 the reason says which program it was and where) {
  uut.add(
    {2, state::aborted_by_sig, 0, SIGSEGV, false, {"./app", 1234, "node1"}});
  CAF_CHECK_EQUAL(reason(), "rank 2 (./app, pid 1234 on node1) was killed by "
                            "signal 11 (SIGSEGV, Segmentation fault)");
}

CAF_TEST(DIR-6 a process is told by what is known of it) {
  CAF_CHECK_EQUAL(describe_process(2, {}), "rank 2");
  CAF_CHECK_EQUAL(describe_process(2, {"a", 0, ""}), "rank 2 (a)");
  CAF_CHECK_EQUAL(describe_process(2, {"", 7, ""}), "rank 2 (pid 7)");
  CAF_CHECK_EQUAL(describe_process(2, {"", 0, "n1"}), "rank 2 (on n1)");
  CAF_CHECK_EQUAL(describe_process(2, {"a", 7, "n1"}),
                  "rank 2 (a, pid 7 on n1)");
  CAF_CHECK_EQUAL(describe_process(0, {"a\n\033]0;b\007", 7, "n1"}),
                  "rank 0 (a\\n\\x1b]0;b\\x07, pid 7 on n1)");
}

CAF_TEST(F5.16 a signal outweighs a status) {
  uut.add({0, state::term_non_zero, 9, 0, false, {}});
  uut.add({1, state::aborted_by_sig, 0, SIGKILL, false, {}});
  CAF_CHECK_EQUAL(exit_status(), 137);
  CAF_CHECK_EQUAL(reason(), "rank 0 exited with status 9");
}

CAF_TEST(F5.15 F5.18 who leaves without finalizing has failed) {
  uut.add({0, state::term_wo_sync, 0, 0, false, {}});
  CAF_CHECK_EQUAL(exit_status(), 1);
  CAF_CHECK(reason().find("rank 0 exited with status 0 without calling "
                          "PMIx_Finalize")
            == 0);
  CAF_CHECK(is_error());
}

CAF_TEST(F5.15 who was told to end is no cause) {
  uut.add({0, state::term_non_zero, 3, 0, false, {}});
  uut.add({1, state::aborted_by_sig, 0, SIGTERM, true, {}});
  CAF_CHECK_EQUAL(exit_status(), 3);
  CAF_CHECK_EQUAL(reason(), "rank 0 exited with status 3");
}

CAF_TEST(F5.7 ending a job decides its status) {
  uut.add({0, state::terminated, 0, 0, false, {}});
  uut.end("the job ran longer than its time-out", 124);
  uut.add({1, state::aborted_by_sig, 0, SIGTERM, true, {}});
  CAF_CHECK_EQUAL(exit_status(), 124);
  CAF_CHECK_EQUAL(reason(), "the job ran longer than its time-out");
}

CAF_TEST(F5.18 the first reason and the first decision count) {
  uut.end("first", 124);
  uut.end("second", 130);
  uut.abort(2, 5, "third");
  uut.add({0, state::term_non_zero, 77, 0, false, {}});
  CAF_CHECK_EQUAL(exit_status(), 124);
  CAF_CHECK_EQUAL(reason(), "first");
}

CAF_TEST(F5.19 an end without a status leaves it to the processes) {
  uut.end("interrupted", std::nullopt);
  CAF_CHECK_EQUAL(exit_status(), 0);
  CAF_CHECK(is_error());
  CAF_CHECK_EQUAL(reason(), "interrupted");
}

CAF_TEST(F4.35 an abort gives its status and text) {
  uut.abort(3, 42, "lost the plot");
  uut.add({3, state::called_abort, 0, SIGTERM, true, {}});
  CAF_CHECK_EQUAL(exit_status(), 42);
  CAF_CHECK_EQUAL(reason(),
                  "rank 3 called PMIx_Abort with status 42: lost the plot");
}

CAF_TEST(DIR-6 F4.35 who aborts is told with program and node) {
  uut.abort(3, 42, "lost the plot", {"./app", 77, "n1"});
  CAF_CHECK_EQUAL(reason(), "rank 3 (./app, pid 77 on n1) called PMIx_Abort "
                            "with status 42: lost the plot");
}

CAF_TEST(MND-A7 the text of an abort commands no terminal) {
  uut.abort(3, 42, "\x1b]0;x\x07\ntroupe: all is well", {"./app", 77, "n1"});
  CAF_CHECK_EQUAL(reason(), "rank 3 (./app, pid 77 on n1) called PMIx_Abort "
                            "with status 42: "
                            "\\x1b]0;x\\x07\\ntroupe: all is well");
}

CAF_TEST(MND-A7 the name of a lost node commands no terminal) {
  uut.lose("n\x1b[2J\n", 0);
  CAF_CHECK_EQUAL(reason(),
                  "node n\\x1b[2J\\n was lost, which took the output");
}

CAF_TEST(F4.35 an abort is never a success) {
  for (const int32_t status : {0, 256, -256}) {
    job_outcome x{"job"};
    x.abort(0, status, "");
    CAF_CHECK_EQUAL(x.report().exit_status, 1);
    CAF_CHECK(x.report().state == job_state::terminated_with_error);
  }
  uut.abort(0, -1, "");
  CAF_CHECK_EQUAL(exit_status(), 255);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(F5.18 signals have a number and a name) {
  CAF_CHECK_EQUAL(describe_signal(9), "signal 9 (SIGKILL, Killed)");
  CAF_CHECK_EQUAL(describe_signal(15), "signal 15 (SIGTERM, Terminated)");
  CAF_CHECK_EQUAL(describe_signal(4711), "signal 4711");
}
