/* A debugger as far as the server sees it: a tool that has a job stop, and
 * releases it.
 *
 *   debugger URI PROCESSES PROGRAM PLACES [RANK]
 *   PROGRAM waits               what it starts: this program, for any libpmix
 *   PROGRAM daemon              what it has release them, if PLACES has `beside`
 *
 * PLACES: `init`, `app`, or both with a comma between; RANK alone stops, or all
 * do. With `,beside` daemons are started beside the processes when these have
 * stopped in PMIx_Init, and release them. Each process leaves the file
 * `passed.RANK` when nobody holds it up any more. */

#include "client.h"

#define IN_APP "here"

static struct pending stops = PENDING;
static struct pending released = PENDING;
static char stopped[PMIX_MAX_NSLEN + 1]; /* before `stops` */
static char place[64];                   /* likewise */

static bool has_passed(const char* rank) {
  char path[64];
  snprintf(path, sizeof path, "passed.%s", rank);
  return access(path, F_OK) == 0;
}

static int count_passed(int procs) {
  int result = 0;
  for (int i = 0; i < procs; ++i) {
    char rank[16];
    snprintf(rank, sizeof rank, "%d", i);
    result += has_passed(rank);
  }
  return result;
}

/* -- a process of the job --------------------------------------------------- */

static void on_release(size_t id UNUSED, pmix_status_t code UNUSED,
                       const pmix_proc_t* source UNUSED,
                       pmix_info_t infos[] UNUSED, size_t n UNUSED,
                       pmix_info_t* results UNUSED, size_t nresults UNUSED,
                       pmix_event_notification_cbfunc_fn_t done, void* data) {
  happen(&released, PMIX_SUCCESS);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Whether the job is to stop where the program has a place for it. */
static bool stops_here(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t optional = flag_info(PMIX_OPTIONAL);
  pmix_value_t* value = NULL;
  if (PMIx_Get(&all, PMIX_DEBUG_STOP_IN_APP, &optional, 1, &value)
      != PMIX_SUCCESS)
    return false;
  const bool result =
    value->type == PMIX_BOOL
      ? value->data.flag
      : value->type == PMIX_PROC_RANK && value->data.rank == me.rank;
  PMIX_VALUE_RELEASE(value);
  return result;
}

static void waits(void) {
  begin();
  if (stops_here()) {
    pmix_status_t code = PMIX_DEBUGGER_RELEASE;
    handle(&code, 1, on_release);
    pmix_info_t where[2] = {flag_info(PMIX_EVENT_NON_DEFAULT),
                            string_info(PMIX_BREAKPOINT, IN_APP)};
    succeed(PMIx_Notify_event(PMIX_READY_FOR_DEBUG, &me, PMIX_RANGE_RM, where,
                              2, NULL, NULL),
            "it says that it waits");
    demand(happens(&released, 1, 60), "it is released");
  }
  char path[64];
  snprintf(path, sizeof path, "passed.%u", me.rank);
  FILE* file = fopen(path, "w");
  demand(file != NULL && fclose(file) == 0, path);
  end();
}

static void release(const char* nspace) {
  const pmix_proc_t all = proc_in(nspace, PMIX_RANK_WILDCARD);
  pmix_info_t whom[2];
  PMIX_INFO_LOAD(&whom[0], PMIX_EVENT_CUSTOM_RANGE, &all, PMIX_PROC);
  whom[1] = flag_info(PMIX_EVENT_NON_DEFAULT);
  succeed(PMIx_Notify_event(PMIX_DEBUGGER_RELEASE, &me, PMIX_RANGE_CUSTOM, whom,
                            2, NULL, NULL),
          "release");
  PMIX_INFO_DESTRUCT(&whom[0]);
}

/* A daemon beside each process of its target. */
static void daemon_of_debugger(void) {
  begin();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(&all, PMIX_DEBUG_TARGET, NULL, 0, &value), "whom we debug");
  demand(value->type == PMIX_PROC, "a process or job");
  const pmix_proc_t target =
    proc_in(value->data.proc->nspace, PMIX_RANK_WILDCARD);
  PMIX_VALUE_RELEASE(value);
  demand(number_of(&target, PMIX_JOB_SIZE) == job_size,
         "there are as many of us as of them");
  meet();
  if (me.rank == 0)
    release(target.nspace);
  end();
}

/* -- the debugger ----------------------------------------------------------- */

static void on_stop(size_t id UNUSED, pmix_status_t code,
                    const pmix_proc_t* source UNUSED, pmix_info_t infos[],
                    size_t n, pmix_info_t* results UNUSED,
                    size_t nresults UNUSED,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  pthread_mutex_lock(&stops.mutex);
  for (size_t i = 0; i < n; ++i) {
    if (strcmp(infos[i].key, PMIX_NSPACE) == 0)
      snprintf(stopped, sizeof stopped, "%s", infos[i].value.data.string);
    if (strcmp(infos[i].key, PMIX_BREAKPOINT) == 0)
      snprintf(place, sizeof place, "%s", infos[i].value.data.string);
  }
  pthread_mutex_unlock(&stops.mutex);
  happen(&stops, code);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* The job stops at a place, its n-th. RANK alone does, or all do. */
static void meet_at(const char* where, const char* nspace, int times, int procs,
                    const char* rank) {
  demand(happens(&stops, times, 60), where);
  pthread_mutex_lock(&stops.mutex);
  demand(strcmp(stopped, nspace) == 0, "the job that has stopped is named");
  demand(strcmp(place, where) == 0, "and where");
  demand(stops.happened == times, "once");
  pthread_mutex_unlock(&stops.mutex);
  demand(rank != NULL ? !has_passed(rank) : count_passed(procs) == 0,
         "nobody who is to stop has passed");
}

static void put_daemons_beside(const char* nspace, const char* program) {
  const pmix_proc_t target = proc_in(nspace, PMIX_RANK_WILDCARD);
  pmix_info_t infos[2];
  infos[0] = flag_info(PMIX_DEBUGGER_DAEMONS);
  PMIX_INFO_REQUIRED(&infos[0]);
  PMIX_INFO_LOAD(&infos[1], PMIX_DEBUG_TARGET, &target, PMIX_PROC);
  PMIX_INFO_REQUIRED(&infos[1]);
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup(program);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, app.argv, program);
  PMIX_ARGV_APPEND(outcome, app.argv, "daemon");
  succeed(outcome, "arguments");
  app.maxprocs = 1;
  app.cwd = getcwd(NULL, 0);
  char daemons[PMIX_MAX_NSLEN + 1];
  succeed(PMIx_Spawn(infos, 2, &app, 1, daemons), "spawn of daemons");
  PMIX_APP_DESTRUCT(&app);
  PMIX_INFO_DESTRUCT(&infos[1]);
}

static pmix_info_t stop_info(const char* key, const char* rank) {
  pmix_info_t result;
  if (rank != NULL) {
    const pmix_rank_t which = (pmix_rank_t)strtoul(rank, NULL, 10);
    PMIX_INFO_LOAD(&result, key, &which, PMIX_PROC_RANK);
  } else {
    result = flag_info(key);
  }
  PMIX_INFO_REQUIRED(&result);
  return result;
}

static int debug(char** argv) {
  const int procs = atoi(argv[2]);
  const char* places = argv[4];
  const bool in_init = strstr(places, "init") != NULL;
  const bool in_app = strstr(places, "app") != NULL;
  pmix_info_t server = string_info(PMIX_SERVER_URI, argv[1]);
  succeed(PMIx_tool_init(&me, &server, 1), "PMIx_tool_init");
  pmix_status_t code = PMIX_READY_FOR_DEBUG;
  handle(&code, 1, on_stop);
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup(argv[3]);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, app.argv, argv[3]);
  PMIX_ARGV_APPEND(outcome, app.argv, "waits");
  succeed(outcome, "arguments");
  app.maxprocs = procs;
  app.cwd = getcwd(NULL, 0);
  pmix_info_t infos[3];
  size_t n = 0;
  infos[n++] = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  if (in_init)
    infos[n++] = stop_info(PMIX_DEBUG_STOP_IN_INIT, argv[5]);
  if (in_app)
    infos[n++] = stop_info(PMIX_DEBUG_STOP_IN_APP, argv[5]);
  char nspace[PMIX_MAX_NSLEN + 1];
  succeed(PMIx_Spawn(infos, n, &app, 1, nspace), "spawn");
  PMIX_APP_DESTRUCT(&app);
  int times = 0;
  if (in_init) {
    meet_at("pmix-init", nspace, ++times, procs, argv[5]);
    if (strstr(places, "beside") != NULL)
      put_daemons_beside(nspace, argv[3]);
    else
      release(nspace);
  }
  if (in_app) {
    meet_at(IN_APP, nspace, ++times, procs, argv[5]);
    release(nspace);
  }
  await_end(nspace, 60);
  demand(count_passed(procs) == procs, "all have gone on");
  demand(!happens(&stops, times + 1, 0), "and nobody has stopped since");
  succeed(PMIx_tool_finalize(), "PMIx_tool_finalize");
  return 0;
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"waits", waits},
                                           {"daemon", daemon_of_debugger}};
  if (argc == 2)
    return RUN_CASE(cases);
  if (argc != 5 && argc != 6) {
    fprintf(stderr, "usage: %s URI PROCESSES PROGRAM PLACES [RANK]\n", argv[0]);
    return 2;
  }
  return debug(argv);
}
