/* Job control and heartbeats as clients call them, for every libpmix. */

#include "client.h"

static volatile sig_atomic_t signals_seen;

static void on_signal(int number UNUSED) {
  ++signals_seen;
}

/* -- job control ----------------------------------------------------------- */

struct answer {
  struct pending done;
  char reason[256];
};

static void on_answer(pmix_status_t outcome, pmix_info_t* infos, size_t n,
                      void* data, pmix_release_cbfunc_t release,
                      void* release_data) {
  struct answer* x = data;
  for (size_t i = 0; i < n; ++i)
    if (strcmp(infos[i].key, PMIX_EVENT_TEXT_MESSAGE) == 0)
      snprintf(x->reason, sizeof x->reason, "%s", infos[i].value.data.string);
  if (release != NULL)
    release(release_data);
  happen(&x->done, outcome);
}

/* Asks without blocking, and waits for the answer. */
static pmix_status_t control(const pmix_proc_t* targets, size_t n,
                             const pmix_info_t* directives, size_t ndirs,
                             char* reason) {
  struct answer x = {PENDING, ""};
  pmix_status_t outcome =
    PMIx_Job_control_nb(targets, n, directives, ndirs, on_answer, &x);
  if (outcome == PMIX_SUCCESS) {
    demand(happens(&x.done, 1, 20), "job control is answered");
    outcome = x.done.outcome;
  }
  if (reason != NULL)
    strcpy(reason, x.reason);
  return outcome;
}

/* As the example of RFC0015 declares itself; targets mean nothing to it. */
static void declare(void) {
  pmix_info_t methods[2];
  const int number = SIGUSR2;
  PMIX_INFO_LOAD(&methods[0], PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, &number,
                 PMIX_INT);
  const pmix_status_t code = PMIX_JCTRL_CHECKPOINT;
  PMIX_INFO_LOAD(&methods[1], PMIX_JOB_CTRL_CHECKPOINT_EVENT, &code,
                 PMIX_STATUS);
  pmix_data_array_t array = {PMIX_INFO, 2, methods};
  pmix_info_t infos[2] = {flag_info(PMIX_JOB_CTRL_PREEMPTIBLE)};
  PMIX_INFO_LOAD(&infos[1], PMIX_JOB_CTRL_CHECKPOINT_METHOD, &array,
                 PMIX_DATA_ARRAY);
  succeed(control(NULL, 0, infos, 2, NULL), "what the process declares");
}

/* Rank 0 signals rank 1, then all by NULL, then rank 0 and 1 by name. Signals
   of real time wait in a queue: each is counted. */
static void signals(void) {
  begin();
  signal(SIGRTMIN + 1, on_signal);
  declare();
  meet();
  const pmix_info_t number = int_info(PMIX_JOB_CTRL_SIGNAL, SIGRTMIN + 1);
  if (me.rank == 0) {
    const pmix_proc_t first = rank_of(1);
    succeed(control(&first, 1, &number, 1, NULL), "signal rank 1");
    succeed(control(NULL, 0, &number, 1, NULL), "signal all");
    const pmix_proc_t two[3] = {rank_of(0), rank_of(1), rank_of(1)};
    pmix_info_t named[2] = {number, string_info(PMIX_JOB_CTRL_ID, "named")};
    pmix_info_t* results = NULL;
    size_t n = 0;
    succeed(PMIx_Job_control(two, 3, named, 2, &results, &n), "signal two");
    if (results != NULL)
      PMIX_INFO_FREE(results, n);
  }
  const int wanted = me.rank == 0 ? 2 : me.rank == 1 ? 3 : 1;
  for (int i = 0; i < 500 && signals_seen < wanted; ++i)
    pause_ms(10);
  meet();
  demand(signals_seen == wanted, "each rank gets its own signals");
  end();
}

/* What cannot be done is refused, and callbacks say why (from release 5 on). */
static void refusals(void) {
  begin();
  char reason[256];
  const pmix_proc_t nobody = proc_in("no-such-job", 0);
  const pmix_info_t usr1 = int_info(PMIX_JOB_CTRL_SIGNAL, SIGUSR1);
  demand(control(&nobody, 1, &usr1, 1, reason) < 0, "an unknown job");
  printf("unknown job: %s\n", reason);
  const pmix_info_t signal99 = int_info(PMIX_JOB_CTRL_SIGNAL, 99);
  expect(control(NULL, 0, &signal99, 1, NULL), PMIX_ERR_BAD_PARAM, "signal 99");
  pmix_info_t unknown[2] = {usr1, flag_info("no.such.directive")};
  unknown[1].flags = PMIX_INFO_REQD;
  expect(control(NULL, 0, unknown, 2, NULL), PMIX_ERR_NOT_SUPPORTED,
         "a required directive that nobody knows");
  const pmix_info_t checkpoint =
    string_info(PMIX_JOB_CTRL_CHECKPOINT, "nothing");
  demand(control(NULL, 0, &checkpoint, 1, NULL) < 0,
         "a checkpoint without a method");
  end();
}

/* All ways to say: cancel all of mine. */
static void cancels(void) {
  begin();
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_CANCEL, NULL, PMIX_STRING);
  succeed(control(NULL, 0, &info, 1, NULL), "a null string");
  PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_CANCEL, NULL, PMIX_POINTER);
  succeed(control(NULL, 0, &info, 1, NULL), "a null pointer");
  info = flag_info(PMIX_JOB_CTRL_CANCEL);
  succeed(control(NULL, 0, &info, 1, NULL), "true");
  info = string_info(PMIX_JOB_CTRL_CANCEL, "never used");
  demand(control(NULL, 0, &info, 1, NULL) < 0, "an id that was never used");
  end();
}

/* -- heartbeats ------------------------------------------------------------ */

static struct pending alert = PENDING;

static void on_alert(size_t id UNUSED, pmix_status_t code,
                     const pmix_proc_t* source, pmix_info_t* infos UNUSED,
                     size_t n UNUSED, pmix_info_t* results UNUSED,
                     size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  if (strcmp(source->nspace, me.nspace) == 0 && source->rank == me.rank)
    happen(&alert, code);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static pmix_status_t monitor(const pmix_info_t* what,
                             const pmix_info_t* directives, size_t n) {
  struct answer x = {PENDING, ""};
  pmix_status_t outcome = PMIx_Process_monitor_nb(
    what, PMIX_MONITOR_HEARTBEAT_ALERT, directives, n, on_answer, &x);
  if (outcome == PMIX_SUCCESS) {
    demand(happens(&x.done, 1, 20), "the monitor is answered");
    outcome = x.done.outcome;
  }
  return outcome;
}

/* Beats, in all their forms, then none: the alert comes when they end. */
static void beats(void) {
  begin();
  pmix_status_t code = PMIX_MONITOR_HEARTBEAT_ALERT;
  handle(&code, 1, on_alert);
  pmix_info_t what;
  PMIX_INFO_LOAD(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_POINTER);
  const uint32_t period = 1;
  pmix_info_t how[2] = {string_info(PMIX_MONITOR_ID, "MONITOR1")};
  PMIX_INFO_LOAD(&how[1], PMIX_MONITOR_HEARTBEAT_TIME, &period, PMIX_UINT32);
  succeed(monitor(&what, how, 2), "a heartbeat monitor");
  pmix_info_t bare;
  PMIX_INFO_LOAD(&bare, PMIX_SEND_HEARTBEAT, NULL, PMIX_POINTER);
  const pmix_info_t yes = flag_info(PMIX_SEND_HEARTBEAT);
  const double start = now();
  for (int i = 0; now() - start < 2; ++i, pause_ms(100)) {
    if (i % 3 == 0)
      PMIx_Heartbeat();
    else
      succeed(PMIx_Process_monitor_nb(i % 3 == 1 ? &bare : &yes, PMIX_SUCCESS,
                                      NULL, 0, NULL, NULL),
              "a beat");
  }
  demand(alert.happened == 0, "no alert while it beats");
  const double last = now();
  demand(happens(&alert, 1, 5), "an alert when it does not");
  const double delay = now() - last;
  demand(delay > 0.5, "not early");
  printf("alert after %.0f ms\n", delay * 1000);
  pmix_info_t all;
  PMIX_INFO_LOAD(&all, PMIX_MONITOR_CANCEL, NULL, PMIX_STRING);
  succeed(monitor(&all, NULL, 0), "cancel all monitors");
  end();
}

/* Waits to be controlled by somebody else; counts the signals that come. */
static void waits(void) {
  begin();
  signal(SIGUSR1, on_signal);
  printf("rank %u waits\n", me.rank);
  fflush(stdout);
  meet();
  for (int seen = 0; seen < 100000;) {
    pause_ms(10);
    if (signals_seen > seen) {
      seen = signals_seen;
      printf("rank %u has %d\n", me.rank, seen);
      fflush(stdout);
    }
  }
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"signals", signals}, {"refusals", refusals}, {"cancels", cancels},
    {"beats", beats},     {"waits", waits},
  };
  return RUN_CASE(cases);
}
