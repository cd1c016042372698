// What others are told of the ends of processes and jobs.

#include "actors/events/process_events.hpp"

#include "actors/jobs/job_outcome.hpp"
#include "messages/attributes.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;

namespace {

using state = proc_state;

const auto proc = proc_id{"job", 3};

proc_changed ended(state how, int32_t exit_code = 0, int32_t signal = 0) {
  return {proc, how, 77, exit_code, signal};
}

event end_event(state how, int32_t exit_code = 0, int32_t signal = 0,
                bool was_told = false, bool recoverable = false) {
  const auto what = ended(how, exit_code, signal);
  const auto x =
    make_end_event(what, was_told, recoverable, describe_end(what));
  if (!x)
    CAF_FAIL("no event");
  return *x;
}

bool reaches_default_handlers(const event& x) {
  return !flag(x.infos, attr::event_non_default);
}

size_t procs_in(const event& x) {
  return static_cast<size_t>(
    std::count_if(x.infos.begin(), x.infos.end(),
                  [](const info& y) { return y.val.type == data_type::proc; }));
}

} // namespace

CAF_TEST(E3 E28 each end has its code and names its process) {
  struct row {
    state how;
    int32_t exit_code;
    int32_t signal;
    status code;
  };
  for (const auto& x : std::vector<row>{
         {state::terminated, 0, 0, status::event_proc_terminated},
         {state::term_non_zero, 3, 0, status::exit_nonzero_term},
         {state::term_wo_sync, 0, 0, status::proc_term_wo_sync},
         {state::aborted_by_sig, 0, 11, status::proc_aborted_by_sig},
         {state::called_abort, 9, 0, status::proc_requested_abort},
         {state::killed_by_cmd, 0, 15, status::proc_killed_by_cmd},
         {state::failed_to_start, 0, 0, status::proc_failed_to_start},
         {state::comm_failed, 0, 0, status::proc_aborted}}) {
    const auto what = end_event(x.how, x.exit_code, x.signal);
    CAF_CHECK_EQUAL(what.code, x.code);
    CAF_CHECK(what.source == (proc_id{"", rank_undef}));
    CAF_REQUIRE(find(what.infos, attr::event_affected_proc) != nullptr);
    CAF_CHECK(*find(what.infos, attr::event_affected_proc)
              == value::of_proc(proc));
  }
}

CAF_TEST(E3 what is no end is no event) {
  for (const auto x : {state::prepped, state::running, state::connected})
    CAF_CHECK(!make_end_event(ended(x), false, false, {}));
}

CAF_TEST(E3 the exit code is what a shell reports and the signal is told) {
  const auto by_exit = end_event(state::term_non_zero, 3);
  CAF_CHECK(*find(by_exit.infos, attr::exit_code) == value::integer(3));
  CAF_CHECK(find(by_exit.infos, exit_signal_key) == nullptr);
  const auto by_signal = end_event(state::aborted_by_sig, 0, 9);
  CAF_CHECK(*find(by_signal.infos, attr::exit_code) == value::integer(137));
  CAF_CHECK(*find(by_signal.infos, exit_signal_key) == value::integer(9));
  // Nobody knows how a process ended whose node is lost.
  CAF_CHECK(find(end_event(state::comm_failed).infos, attr::exit_code)
            == nullptr);
}

CAF_TEST(E3 a process that is killed with its job is no cause) {
  const auto x = end_event(state::aborted_by_sig, 0, 15, true, true);
  CAF_CHECK_EQUAL(x.code, status::proc_killed_by_cmd);
  CAF_CHECK(!reaches_default_handlers(x));
}

// 2.T, trap 1: Open MPI aborts on any other event in its default handler.
CAF_TEST(211 default handlers hear only of what Open MPI survives) {
  for (const auto how :
       {state::aborted_by_sig, state::term_wo_sync, state::comm_failed}) {
    CAF_CHECK(reaches_default_handlers(end_event(how, 0, 0, false, true)));
    CAF_CHECK(!reaches_default_handlers(end_event(how, 0, 0, false, false)));
    CAF_CHECK(!reaches_default_handlers(end_event(how, 0, 0, true, true)));
  }
  for (const auto how :
       {state::terminated, state::term_non_zero, state::called_abort,
        state::killed_by_cmd, state::failed_to_start})
    CAF_CHECK(!reaches_default_handlers(end_event(how, 1, 0, false, true)));
  const auto outcome = job_ended{"job", job_state::terminated, 0, ""};
  for (const auto& x : {make_lost_connection_event(proc),
                        make_unsynced_event(ended(state::terminated)),
                        make_job_event(status::job_term_wo_sync, "job"),
                        make_job_event(status::job_start, "job"),
                        make_job_event(status::launch_complete, "job"),
                        make_job_end_event(outcome),
                        make_node_event(status::event_node_down, "n1")})
    CAF_CHECK(!reaches_default_handlers(x));
}

// 2.T, trap 2: Open MPI takes every info of type PROC for a dead process.
CAF_TEST(211 only the affected process is of type PROC) {
  for (const auto how :
       {state::aborted_by_sig, state::term_wo_sync, state::comm_failed})
    CAF_CHECK_EQUAL(procs_in(end_event(how, 0, 0, false, true)), 1u);
}

CAF_TEST(E3 the end of a job tells its status and why) {
  const auto good = make_job_end_event({"job", job_state::terminated, 0, ""});
  CAF_CHECK_EQUAL(good.code, status::job_end);
  CAF_CHECK(*find(good.infos, attr::nspace) == value::string("job"));
  CAF_CHECK(*find(good.infos, attr::job_term_status) == value::of_status(0));
  CAF_CHECK(find(good.infos, attr::event_text_message) == nullptr);
  const auto bad = make_job_end_event(
    {"job", job_state::terminated_with_error, 3, "rank 1 exited with 3"});
  CAF_CHECK(*find(bad.infos, attr::exit_code) == value::integer(3));
  CAF_CHECK(*find(bad.infos, attr::job_term_status) == value::of_status(3));
  CAF_CHECK(*find(bad.infos, attr::event_text_message)
            == value::string("rank 1 exited with 3"));
}

CAF_TEST(E3 an event about a node names it) {
  const auto x = make_node_event(status::event_node_offline, "n2");
  CAF_CHECK(*find(x.infos, attr::hostname) == value::string("n2"));
  CAF_CHECK_EQUAL(procs_in(x), 0u);
}
