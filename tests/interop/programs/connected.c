/* Two jobs that are connected: rank 0 of the first starts the second, of three
 * processes, and all processes connect.
 *
 *   connected survives   the last process of the second is killed; the jobs are
 *                        recoverable, all others hear of it once
 *   connected ends       the same for jobs that are not: both end
 *   connected parts      they disconnect before: the first hears nothing
 *   connected finalizes  it finalizes without disconnecting
 *   connected bereaved   the node of that process is lost, once there is the
 * file `connected.ready` connected strangers  disconnects, and connects that
 * cannot be, are refused
 */

#include "client.h"

enum { children = 3 };

static const char* second_map = "slot:OVERSUBSCRIBE";
static char partner[PMIX_MAX_NSLEN + 1];
static struct pending heard = PENDING;

/* The first end. */
static pmix_proc_t affected_proc;
static pmix_status_t first_code;

static void on_end(size_t id UNUSED, pmix_status_t code,
                   const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                   size_t n, pmix_info_t* results UNUSED,
                   size_t nresults UNUSED,
                   pmix_event_notification_cbfunc_fn_t done, void* data) {
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC)) {
      if (heard.happened == 0) {
        affected_proc = *infos[i].value.data.proc;
        first_code = code;
      }
      happen(&heard, code);
    }
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void listen_for_ends(void) {
  static pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED_BY_SIG,
                                  PMIX_ERR_PROC_TERM_WO_SYNC,
                                  PMIX_ERR_PROC_ABORTED};
  handle(codes, 3, on_end);
}

static void name_both(const char* other, pmix_proc_t procs[2]) {
  procs[0] = rank_of(PMIX_RANK_WILDCARD);
  procs[1] = proc_in(other, PMIX_RANK_WILDCARD);
}

static void connect_with(const char* other) {
  pmix_proc_t procs[2];
  name_both(other, procs);
  succeed(PMIx_Connect(procs, 2, NULL, 0), "connect");
}

static void disconnect_from(const char* other) {
  pmix_proc_t procs[2];
  name_both(other, procs);
  succeed(PMIx_Disconnect(procs, 2, NULL, 0), "disconnect");
}

/* -- the first job --------------------------------------------------------- */

/* Starts the second job with a case of its own, and names it to all. */
static void start_second(const char* name, bool recoverable) {
  begin();
  listen_for_ends();
  if (me.rank == 0) {
    pmix_app_t app;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(self_path);
    pmix_status_t outcome;
    PMIX_ARGV_APPEND(outcome, app.argv, self_path);
    PMIX_ARGV_APPEND(outcome, app.argv, name);
    succeed(outcome, "arguments");
    app.maxprocs = children;
    pmix_info_t infos[2] = {string_info(PMIX_MAPBY, second_map),
                            flag_info(PMIX_JOB_RECOVERABLE)};
    succeed(PMIx_Spawn(infos, recoverable ? 2 : 1, &app, 1, partner), "spawn");
    PMIX_APP_DESTRUCT(&app);
    post("second", partner);
  }
  const pmix_proc_t zero = rank_of(0);
  pmix_info_t limit = int_info(PMIX_TIMEOUT, 20);
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(&zero, "second", &limit, 1, &value), "name of the second");
  snprintf(partner, sizeof partner, "%s", value->data.string);
  PMIX_VALUE_RELEASE(value);
}

static void expect_end_of(const char* nspace, pmix_status_t code) {
  demand(happens(&heard, 1, 10), "the end is heard of");
  expect(first_code, code, "the end");
  demand(strcmp(affected_proc.nspace, nspace) == 0, "the job of the dead");
  demand(affected_proc.rank == children - 1, "the rank of the dead");
}

/* Each end of the second job is heard of, and none twice. */
static void expect_all_ends(void) {
  demand(happens(&heard, children, 10), "all ends are heard of");
  await_end(partner, 20);
  meet();
  if (heard.happened != children)
    fail("heard of %d ends", heard.happened);
}

static void survives(void) {
  start_second("dies", true);
  connect_with(partner);
  expect_end_of(partner, PMIX_ERR_PROC_ABORTED_BY_SIG);
  /* All others end well: without disconnecting, which cannot be any more. */
  expect_all_ends();
  end();
}

static void ends(void) {
  start_second("dies", false);
  connect_with(partner);
  pause_ms(20000);
  fail("the job has not ended");
}

static void parts(void) {
  start_second("parts_and_dies", false);
  connect_with(partner);
  disconnect_from(partner);
  post("parted", "yes");
  await_end(partner, 20);
  meet();
  /* Of a job that it has started, the first hears anyway. */
  end();
}

static void finalizes(void) {
  start_second("just_ends", false);
  connect_with(partner);
  expect_all_ends();
  expect(first_code, PMIX_ERR_PROC_TERM_WO_SYNC, "the end");
  end();
}

static void bereaved(void) {
  second_map = "ppr:1:node";
  start_second("mourns", true);
  connect_with(partner);
  meet();
  if (me.rank == 0)
    fclose(fopen("connected.ready", "w"));
  happens(&heard, 1, 30);
  expect_end_of(partner, PMIX_ERR_PROC_ABORTED);
  expect_all_ends();
  end();
}

static void strangers(void) {
  start_second("waits", false);
  pmix_proc_t procs[2];
  name_both(partner, procs);
  expect(PMIx_Disconnect(procs, 2, NULL, 0), PMIX_ERR_INVALID_OPERATION,
         "disconnect of strangers");
  pmix_info_t limit = int_info(PMIX_TIMEOUT, 1);
  expect(PMIx_Connect(procs, 2, &limit, 1), PMIX_ERR_TIMEOUT,
         "connect that not all call");
  expect(PMIx_Disconnect(procs, 2, NULL, 0), PMIX_ERR_INVALID_OPERATION,
         "disconnect after that");
  meet();
  post("go", "on");
  await_end(partner, 20);
  end();
}

/* -- the second job -------------------------------------------------------- */

static void begin_second(void) {
  begin();
  listen_for_ends();
  snprintf(partner, sizeof partner, "%s", parent().nspace);
}

static void dies(void) {
  begin_second();
  connect_with(partner);
  if (me.rank == children - 1)
    kill(getpid(), SIGKILL);
  expect_end_of(me.nspace, PMIX_ERR_PROC_ABORTED_BY_SIG);
  pause_ms(20);
  demand(heard.happened >= 1, "it was heard of");
  end();
}

static void mourns(void) {
  begin_second();
  connect_with(partner);
  happens(&heard, 1, 30);
  expect_end_of(me.nspace, PMIX_ERR_PROC_ABORTED);
  end();
}

static void parts_and_dies(void) {
  begin_second();
  connect_with(partner);
  disconnect_from(partner);
  const pmix_proc_t zero = proc_in(partner, 0);
  expect_string(&zero, "parted", "yes", 20);
  if (me.rank == children - 1)
    kill(getpid(), SIGKILL);
  pause_ms(20000);
}

static void just_ends(void) {
  begin_second();
  connect_with(partner);
  end();
}

static void waits(void) {
  begin_second();
  const pmix_proc_t zero = proc_in(partner, 0);
  expect_string(&zero, "go", "on", 20);
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"survives", survives},   {"ends", ends},
    {"parts", parts},         {"finalizes", finalizes},
    {"strangers", strangers}, {"dies", dies},
    {"just_ends", just_ends}, {"parts_and_dies", parts_and_dies},
    {"waits", waits},         {"bereaved", bereaved},
    {"mourns", mourns},
  };
  return RUN_CASE(cases);
}
