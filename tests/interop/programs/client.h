/* What the C programs of this folder share: a program is a list of cases, one
 * of which is chosen by its first argument. A case that finds something wrong
 * says so and ends the process with status 1; otherwise the process ends with 0
 * after PMIx_Finalize. */

#ifndef TROUPE_INTEROP_CLIENT_H
#define TROUPE_INTEROP_CLIENT_H

#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif

#include <pmix.h>
#include <pmix_tool.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

static pmix_proc_t me;
static uint32_t job_size;

/* The program itself, for cases that start it again. */
static char self_path[4096];

/* What follows the name of the case on the command line. */
static char** case_args;

/* -- complaints ------------------------------------------------------------ */

#define fail(...)                                                              \
  do {                                                                         \
    fprintf(stderr, "%s:%d: %s rank %u: ", __FILE__, __LINE__, me.nspace,      \
            me.rank);                                                          \
    fprintf(stderr, __VA_ARGS__);                                              \
    fputc('\n', stderr);                                                       \
    fflush(NULL);                                                              \
    _exit(1);                                                                  \
  } while (0)

#define expect(got, wanted, what)                                              \
  do {                                                                         \
    const pmix_status_t got_ = (got);                                          \
    const pmix_status_t wanted_ = (wanted);                                    \
    if (got_ != wanted_)                                                       \
      fail("%s: %s (%d), expected %s (%d)", what, PMIx_Error_string(got_),     \
           got_, PMIx_Error_string(wanted_), wanted_);                         \
  } while (0)

#define succeed(got, what) expect(got, PMIX_SUCCESS, what)

#define demand(condition, what)                                                \
  do {                                                                         \
    if (!(condition))                                                          \
      fail("%s: not so: %s", what, #condition);                                \
  } while (0)

/* -- time ------------------------------------------------------------------ */

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void pause_ms(long ms) {
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

/* -- names ----------------------------------------------------------------- */

static inline pmix_proc_t proc_in(const char* nspace, pmix_rank_t rank) {
  pmix_proc_t result;
  PMIX_LOAD_PROCID(&result, nspace, rank);
  return result;
}

static inline pmix_proc_t rank_of(pmix_rank_t rank) {
  return proc_in(me.nspace, rank);
}

/* -- directives ------------------------------------------------------------ */

static inline pmix_info_t flag_info(const char* key) {
  const bool yes = true;
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, key, &yes, PMIX_BOOL);
  return result;
}

static inline pmix_info_t int_info(const char* key, int value) {
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, key, &value, PMIX_INT);
  return result;
}

static inline pmix_info_t string_info(const char* key, const char* value) {
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, key, value, PMIX_STRING);
  return result;
}

static inline pmix_info_t range_info(pmix_data_range_t value) {
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, PMIX_RANGE, &value, PMIX_DATA_RANGE);
  return result;
}

/* -- job ------------------------------------------------------------------- */

static inline uint32_t number_of(const pmix_proc_t* whom, const char* key) {
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(whom, key, NULL, 0, &value), key);
  uint32_t result = 0;
  pmix_status_t outcome;
  PMIX_VALUE_GET_NUMBER(outcome, value, result, uint32_t);
  if (outcome != PMIX_SUCCESS)
    fail("%s is a %s", key, PMIx_Data_type_string(value->type));
  PMIX_VALUE_RELEASE(value);
  return result;
}

static inline void begin(void) {
  succeed(PMIx_Init(&me, NULL, 0), "PMIx_Init");
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  job_size = number_of(&all, PMIX_JOB_SIZE);
}

static inline void end(void) {
  succeed(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
}

/* Waits for all processes of the job. */
static inline void meet(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  succeed(PMIx_Fence(&all, 1, NULL, 0), "fence of all");
}

/* -- data ------------------------------------------------------------------ */

static inline void put_string(pmix_scope_t scope, const char* key,
                              const char* text) {
  pmix_value_t value;
  PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
  succeed(PMIx_Put(scope, key, &value), key);
  PMIX_VALUE_DESTRUCT(&value);
}

static inline void post(const char* key, const char* text) {
  put_string(PMIX_GLOBAL, key, text);
  succeed(PMIx_Commit(), "commit");
}

/* Reads a string; waits up to `timeout` seconds for it if that is not 0. */
static inline void expect_string(const pmix_proc_t* whom, const char* key,
                                 const char* wanted, int timeout) {
  pmix_info_t directive = int_info(PMIX_TIMEOUT, timeout);
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(whom, key, &directive, timeout > 0 ? 1 : 0, &value), key);
  if (value->type != PMIX_STRING || strcmp(value->data.string, wanted) != 0)
    fail("%s of rank %u is a %s, \"%.60s\", expected \"%.60s\"", key,
         whom->rank, PMIx_Data_type_string(value->type),
         value->type == PMIX_STRING ? value->data.string : "", wanted);
  PMIX_VALUE_RELEASE(value);
}

static inline pmix_status_t try_get(const pmix_proc_t* whom, const char* key,
                                    const pmix_info_t* infos, size_t n) {
  pmix_value_t* value = NULL;
  const pmix_status_t outcome = PMIx_Get(whom, key, infos, n, &value);
  if (outcome == PMIX_SUCCESS)
    PMIX_VALUE_RELEASE(value);
  return outcome;
}

/* -- callbacks ------------------------------------------------------------- */

/* Something that happens later. */
struct pending {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int happened;
  pmix_status_t outcome;
};

#define PENDING                                                                \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, PMIX_SUCCESS }

static inline void happen(struct pending* x, pmix_status_t outcome) {
  pthread_mutex_lock(&x->mutex);
  ++x->happened;
  x->outcome = outcome;
  pthread_cond_broadcast(&x->changed);
  pthread_mutex_unlock(&x->mutex);
}

/* Whether it happened `times` times within `seconds`. */
static inline bool happens(struct pending* x, int times, double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (time_t)seconds;
  until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    ++until.tv_sec;
  }
  pthread_mutex_lock(&x->mutex);
  int error = 0;
  while (x->happened < times && error == 0)
    error =
      pthread_cond_clockwait(&x->changed, &x->mutex, CLOCK_MONOTONIC, &until);
  const bool result = x->happened >= times;
  pthread_mutex_unlock(&x->mutex);
  return result;
}

static inline void on_done(pmix_status_t outcome, void* data) {
  happen(data, outcome);
}

static inline void on_registered(pmix_status_t outcome, size_t id UNUSED,
                                 void* data) {
  happen(data, outcome);
}

/* Registers a handler and waits for the answer. */
static inline void handle(pmix_status_t* codes, size_t n,
                          pmix_notification_fn_t handler) {
  struct pending done = PENDING;
  PMIx_Register_event_handler(codes, n, NULL, 0, handler, on_registered, &done);
  demand(happens(&done, 1, 10), "the registration is answered");
  demand(done.outcome >= 0 || done.outcome == PMIX_OPERATION_SUCCEEDED,
         "the registration succeeds");
}

/* -- the server ------------------------------------------------------------ */

/* The greatest resident memory of a process, in KiB; -1 if there is none. */
static inline long peak_memory(const char* pid) {
  char path[64];
  char line[256];
  snprintf(path, sizeof path, "/proc/%s/status", pid);
  FILE* file = fopen(path, "r");
  long result = -1;
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmHWM: %ld", &result) == 1)
      break;
  if (file != NULL)
    fclose(file);
  return result;
}

/* The same of whoever started us. */
static inline long server_memory(void) {
  char pid[16];
  snprintf(pid, sizeof pid, "%d", (int)getppid());
  return peak_memory(pid);
}

/* -- other jobs ------------------------------------------------------------ */

/* Starts `procs` processes of this program with another case. */
static inline void spawn_case(const char* name, int procs, char* nspace) {
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup(self_path);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, app.argv, self_path);
  PMIX_ARGV_APPEND(outcome, app.argv, name);
  succeed(outcome, "arguments");
  app.maxprocs = procs;
  pmix_info_t info = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  succeed(PMIx_Spawn(&info, 1, &app, 1, nspace), "spawn");
  PMIX_APP_DESTRUCT(&app);
}

/* The process that started this job. */
static inline pmix_proc_t parent(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(&all, PMIX_PARENT_ID, NULL, 0, &value), "parent");
  demand(value->type == PMIX_PROC, "the parent is a process");
  const pmix_proc_t result = *value->data.proc;
  PMIX_VALUE_RELEASE(value);
  return result;
}

/* Whether the server still knows a namespace. */
static inline bool nspace_exists(const char* nspace) {
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, query.keys, PMIX_QUERY_NAMESPACES);
  pmix_info_t refresh = flag_info(PMIX_QUERY_REFRESH_CACHE);
  PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
  PMIX_INFO_XFER(&query.qualifiers[0], &refresh);
  pmix_info_t* infos = NULL;
  size_t n = 0;
  outcome = PMIx_Query_info(&query, 1, &infos, &n);
  bool found = false;
  if (outcome == PMIX_SUCCESS && n > 0 && infos[0].value.type == PMIX_STRING) {
    char* rest = infos[0].value.data.string;
    for (char* name = NULL; (name = strsep(&rest, ",")) != NULL;)
      found = found || strcmp(name, nspace) == 0;
  } else if (outcome != PMIX_ERR_NOT_FOUND) {
    succeed(outcome, "query of the namespaces");
  }
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&query);
  return found;
}

/* Waits until a job is over. */
static inline void await_end(const char* nspace, double seconds) {
  const double deadline = now() + seconds;
  while (nspace_exists(nspace)) {
    demand(now() < deadline, "the job ends in time");
    pause_ms(2);
  }
}

/* -- main ------------------------------------------------------------------ */

struct test_case {
  const char* name;
  void (*run)(void);
};

static inline int run_case(int argc, char** argv, const struct test_case* cases,
                           size_t n) {
  const ssize_t length =
    readlink("/proc/self/exe", self_path, sizeof self_path - 1);
  self_path[length > 0 ? length : 0] = '\0';
  case_args = argc > 2 ? argv + 2 : argv + argc;
  for (size_t i = 0; argc > 1 && i < n; ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) {
      cases[i].run();
      return 0;
    }
  }
  fprintf(stderr, "usage: %s CASE; there is:", argv[0]);
  for (size_t i = 0; i < n; ++i)
    fprintf(stderr, " %s", cases[i].name);
  fputc('\n', stderr);
  return 2;
}

#define RUN_CASE(cases)                                                        \
  run_case(argc, argv, cases, sizeof(cases) / sizeof((cases)[0]))

#endif
