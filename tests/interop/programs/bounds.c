/* Processes that go up to bounds that a site has set; counts are printed.
 *
 *   bounds codes N        codes of events: how many of N can be registered (1)
 *   bounds monitors N     monitors of heartbeats: the same (1)
 *   bounds updates N      requests for updates on resources: the same (1)
 *   bounds groups N       groups: the same (1)
 *   bounds operations OUTCOME
 *                         rank 0 is in two fences at a time, of which the second
 *                         is `refused` or `fits` (3)
 *   bounds requests OUTCOME FILE
 *                         rank 0 has 20 requests without an answer, and one more
 *                         that is `answered` or `held` until rank 1 answers the
 *                         others, which FILE tells it to do (2) */

#include "client.h"

#include <fcntl.h>

/* The headers of release 4 do not have these. */
#define PROC_USAGE "pmix.monitor.presuse"
#define RATE "pmix.monitor.resrate"
#define HEARTBEAT_MS "troupe.monitor.heartbeat_ms"
#define UPDATE (-114)

static int argument(void) {
  demand(case_args[0] != NULL, "a number is given");
  return atoi(case_args[0]);
}

static void print(int count) {
  printf("%d\n", count);
  fflush(stdout);
}

/* How many of N a request is granted for, before the first that is refused. */
static void count(pmix_status_t (*request)(int)) {
  begin();
  const int most = argument();
  int done = 0;
  pmix_status_t outcome = PMIX_SUCCESS;
  while (done < most && (outcome = request(done)) == PMIX_SUCCESS)
    ++done;
  if (done < most)
    expect(outcome, PMIX_ERR_OUT_OF_RESOURCE, "what is refused");
  print(done);
  end();
}

static void on_event(size_t id UNUSED, pmix_status_t code UNUSED,
                     const pmix_proc_t* source UNUSED,
                     pmix_info_t* infos UNUSED, size_t n UNUSED,
                     pmix_info_t* more UNUSED, size_t nmore UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static pmix_status_t add_code(int i) {
  static struct pending done = PENDING;
  pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 100 - i;
  PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered,
                              &done);
  demand(happens(&done, i + 1, 10), "the registration is answered");
  return done.outcome >= 0 || done.outcome == PMIX_OPERATION_SUCCEEDED
           ? PMIX_SUCCESS
           : done.outcome;
}

static void codes(void) {
  count(add_code);
}

static pmix_status_t ask(const pmix_info_t* what, pmix_status_t code,
                         const pmix_info_t* directives, size_t n) {
  pmix_info_t* results = NULL;
  size_t nresults = 0;
  const pmix_status_t outcome =
    PMIx_Process_monitor(what, code, directives, n, &results, &nresults);
  return outcome == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : outcome;
}

static pmix_status_t add_monitor(int i) {
  char id[32];
  snprintf(id, sizeof id, "m%d", i);
  pmix_info_t what;
  PMIX_INFO_LOAD(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_POINTER);
  pmix_info_t directives[2] = {string_info(PMIX_MONITOR_ID, id)};
  const uint32_t window = 60000;
  PMIX_INFO_LOAD(&directives[1], HEARTBEAT_MS, &window, PMIX_UINT32);
  return ask(&what, PMIX_SUCCESS, directives, 2);
}

static void monitors(void) {
  count(add_monitor);
}

static pmix_status_t add_updates(int i) {
  char id[32];
  snprintf(id, sizeof id, "u%d", i);
  pmix_data_array_t none = {.type = PMIX_INFO, .size = 0, .array = NULL};
  pmix_info_t what;
  PMIX_INFO_LOAD(&what, PROC_USAGE, &none, PMIX_DATA_ARRAY);
  pmix_info_t directives[2] = {string_info(PMIX_MONITOR_ID, id)};
  const uint32_t seconds = 60;
  PMIX_INFO_LOAD(&directives[1], RATE, &seconds, PMIX_UINT32);
  return ask(&what, UPDATE, directives, 2);
}

static void updates(void) {
  count(add_updates);
}

static pmix_status_t add_group(int i) {
  char id[32];
  snprintf(id, sizeof id, "g%d", i);
  pmix_info_t* results = NULL;
  size_t nresults = 0;
  return PMIx_Group_construct(id, &me, 1, NULL, 0, &results, &nresults);
}

static void groups(void) {
  count(add_group);
}

static bool is_told(const char* outcome) {
  return case_args[0] != NULL && strcmp(case_args[0], outcome) == 0;
}

static void operations(void) {
  begin();
  const bool fits = is_told("fits");
  const pmix_proc_t zero = rank_of(0);
  if (me.rank == 0) {
    static struct pending done[2] = {PENDING, PENDING};
    for (uint32_t i = 0; i < 2; ++i) {
      const pmix_proc_t procs[2] = {zero, rank_of(i + 1)};
      succeed(PMIx_Fence_nb(procs, 2, NULL, 0, on_done, &done[i]), "fence");
    }
    if (!fits) {
      demand(happens(&done[1], 1, 10), "the second fence is answered");
      expect(done[1].outcome, PMIX_ERR_OUT_OF_RESOURCE, "the second fence");
    }
    post("begun", "yes");
    for (int i = 0; i < (fits ? 2 : 1); ++i) {
      demand(happens(&done[i], 1, 20), "the fence is over");
      succeed(done[i].outcome, "fence");
    }
  } else {
    /* Whoever joins first would begin it. */
    expect_string(&zero, "begun", "yes", 20);
    if (me.rank == 1 || fits) {
      const pmix_proc_t procs[2] = {zero, me};
      succeed(PMIx_Fence(procs, 2, NULL, 0), "fence");
    }
  }
  end();
}

enum { waiting = 20 };

static void on_found(pmix_status_t outcome, pmix_pdata_t data[] UNUSED,
                     size_t n UNUSED, void* to) {
  happen(to, outcome);
}

static void requests(void) {
  begin();
  demand(case_args[0] != NULL && case_args[1] != NULL, "a file is given");
  char key[32];
  if (me.rank == 0) {
    static struct pending found = PENDING;
    static struct pending probe = PENDING;
    const pmix_info_t wait = flag_info(PMIX_WAIT);
    for (int i = 0; i < waiting; ++i) {
      snprintf(key, sizeof key, "bounds.%d", i);
      char* keys[] = {key, NULL};
      succeed(PMIx_Lookup_nb(keys, &wait, 1, on_found, &found), "lookup");
    }
    char* none[] = {"bounds.none", NULL};
    succeed(PMIx_Lookup_nb(none, NULL, 0, on_found, &probe), "lookup");
    if (is_told("held"))
      demand(!happens(&probe, 1, 1), "one more is not read");
    else
      demand(happens(&probe, 1, 10), "one more is answered");
    demand(found.happened == 0, "nobody has answered the others");
    const int fd = open(case_args[1], O_CREAT | O_WRONLY, 0600);
    demand(fd >= 0, "the other is told");
    close(fd);
    demand(happens(&found, waiting, 20), "all are answered");
    demand(happens(&probe, 1, 20), "and the one more");
    expect(probe.outcome, PMIX_ERR_NOT_FOUND, "what nobody has published");
  } else {
    while (access(case_args[1], F_OK) != 0)
      pause_ms(20);
    for (int i = 0; i < waiting; ++i) {
      snprintf(key, sizeof key, "bounds.%d", i);
      const pmix_info_t info = int_info(key, i);
      succeed(PMIx_Publish(&info, 1), "publish");
    }
  }
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"codes", codes},   {"monitors", monitors},     {"updates", updates},
    {"groups", groups}, {"operations", operations}, {"requests", requests}};
  return RUN_CASE(cases);
}
