/* Log and abort, and requests that are not served yet. */

#include "client.h"

/* -- log ------------------------------------------------------------------- */

static void log_to(const char* key, const char* text) {
  begin();
  pmix_info_t data = string_info(key, text);
  if (me.rank == 0)
    succeed(PMIx_Log(&data, 1, NULL, 0), "log");
  meet();
  end();
}

static void log_stdout(void) {
  log_to(PMIX_LOG_STDOUT, "to standard output\n");
}

static void log_stderr(void) {
  log_to(PMIX_LOG_STDERR, "to standard error\n");
}

static void log_syslog(void) {
  log_to(PMIX_LOG_SYSLOG, "to the system log");
}

static void log_unknown(void) {
  begin();
  pmix_info_t data = string_info("no.such.channel", "x");
  const double start = now();
  demand(PMIx_Log(&data, 1, NULL, 0) != PMIX_SUCCESS, "no such channel");
  demand(now() - start < 5, "the answer comes");
  end();
}

static void log_email(void) {
  begin();
  pmix_info_t fields[4] = {
    string_info(PMIX_LOG_EMAIL_ADDR, "somebody@example.org"),
    string_info(PMIX_LOG_EMAIL_SENDER_ADDR, "job@example.org"),
    string_info(PMIX_LOG_EMAIL_SUBJECT, "a subject"),
    string_info(PMIX_LOG_EMAIL_MSG, "a message"),
  };
  pmix_data_array_t array = {PMIX_INFO, 4, fields};
  pmix_info_t data;
  PMIX_INFO_LOAD(&data, PMIX_LOG_EMAIL, &array, PMIX_DATA_ARRAY);
  succeed(PMIx_Log(&data, 1, NULL, 0), "log");
  end();
}

/* A mail with two receivers and no subject, alone and beside another channel:
   what becomes of each, as the status says. */
static void log_channels(void) {
  begin();
  pmix_info_t fields[2] = {
    string_info(PMIX_LOG_EMAIL_ADDR, "one@example.org,two@example.org"),
    string_info(PMIX_LOG_EMAIL_MSG, "a message"),
  };
  pmix_data_array_t array = {PMIX_INFO, 2, fields};
  pmix_info_t data[2];
  PMIX_INFO_LOAD(&data[0], PMIX_LOG_EMAIL, &array, PMIX_DATA_ARRAY);
  data[1] = string_info(PMIX_LOG_STDERR, "beside a mail");
  const pmix_status_t alone = PMIx_Log(data, 1, NULL, 0);
  const pmix_status_t both = PMIx_Log(data, 2, NULL, 0);
  printf("%d %d\n", alone, both);
  end();
}

/* -- abort ----------------------------------------------------------------- */

static void wait_for_the_end(void) {
  for (int i = 0; i < 200; ++i)
    pause_ms(100);
  fail("nobody ends this process");
}

static void abort_all(void) {
  begin();
  meet();
  if (me.rank == 1)
    PMIx_Abort(atoi(case_args[0]), "this is why", NULL, 0);
  wait_for_the_end();
}

static void abort_named(void) {
  begin();
  meet();
  pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  if (me.rank == 0)
    PMIx_Abort(9, "all by name", &all, 1);
  wait_for_the_end();
}

/* Rank 0 ends the last one; the others go on. */
static void abort_one(void) {
  begin();
  meet();
  pmix_proc_t last = rank_of(job_size - 1);
  if (me.rank == job_size - 1)
    wait_for_the_end();
  if (me.rank == 0)
    succeed(PMIx_Abort(5, "only one", &last, 1), "abort");
  const double start = now();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  demand(PMIx_Fence(&all, 1, NULL, 0) != PMIX_SUCCESS, "it is gone");
  demand(now() - start < 10, "that is noticed in bounded time");
  printf("rank %u goes on\n", me.rank);
  end();
}

/* -- not served yet -------------------------------------------------------- */

static void on_infos(pmix_status_t outcome, pmix_info_t* infos UNUSED,
                     size_t n UNUSED, void* data, pmix_release_cbfunc_t release,
                     void* release_data) {
  happen(data, outcome);
  if (release != NULL)
    release(release_data);
}

/* Checks what came of a request that should be refused. */
static void refused(pmix_status_t started, struct pending* x,
                    const char* what) {
  pmix_status_t outcome = started;
  if (started == PMIX_SUCCESS) {
    if (!happens(x, 1, 10))
      fail("%s: no answer", what);
    outcome = x->outcome;
  }
  expect(outcome, PMIX_ERR_NOT_SUPPORTED, what);
}

static void not_supported(void) {
  begin();
  {
    struct pending done = PENDING;
    const uint64_t nodes = 2;
    pmix_info_t wish;
    PMIX_INFO_LOAD(&wish, PMIX_ALLOC_NUM_NODES, &nodes, PMIX_UINT64);
    refused(
      PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, &wish, 1, on_infos, &done),
      &done, "allocation");
  }
  const double start = now();
  meet();
  demand(now() - start < 10, "the connection still works");
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"log_stdout", log_stdout},     {"log_stderr", log_stderr},
    {"log_syslog", log_syslog},     {"log_unknown", log_unknown},
    {"log_email", log_email},       {"abort_all", abort_all},
    {"abort_named", abort_named},   {"abort_one", abort_one},
    {"log_channels", log_channels}, {"not_supported", not_supported},
  };
  return RUN_CASE(cases);
}
