/* A daemon in C and its processes: which events of the environment it keeps for
 * those who come later, which handlers get which, and what it hears of processes
 * that break the protocol or go without a word.
 *
 *   event_host ring COUNT [SIZE]   COUNT events of the environment before the
 *                                  process comes; SIZE: PMIx_server_cache_size
 *   event_host levels              one of the job and one of the environment, for
 *                                  handlers that ask for either
 *   event_host faults PROGRAM...   PROGRAM breaks the protocol, another process
 *                                  goes without PMIx_Finalize
 *   event_host garbled             a process whose server says what cannot be
 *                                  read
 */

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NSPACE "hosted"
/* A site's own code for the environment, and one for jobs: docs/events.md. */
#define EVENT (-32300)
#define LAST_EVENT (PMIX_EXTERNAL_ERR_BASE - 31)
#define NUMBER_KEY "host.number"
#define MISSED_KEY "troupe.event.missed"

extern char** environ;

static void need(pmix_status_t code, const char* what) {
  if (code == PMIX_SUCCESS || code == PMIX_OPERATION_SUCCEEDED)
    return;
  fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(code));
  exit(2);
}

/* -- what handlers were called with ---------------------------------------- */

enum { plain, job_level, environment_level, all_plain, all_environment, kinds };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned of_job[kinds];
static unsigned of_environment[kinds];
static uint64_t first_number;
static uint64_t missed;
static bool is_over;
static unsigned faults;
static char fault[8][512];

static const pmix_info_t* find(const pmix_info_t* infos, size_t n,
                               const char* key) {
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], key))
      return &infos[i];
  return NULL;
}

static void note(int kind, pmix_status_t code, const pmix_proc_t* source,
                 const pmix_info_t* infos, size_t n) {
  pthread_mutex_lock(&lock);
  if (code == EVENT) {
    const pmix_info_t* number = find(infos, n, NUMBER_KEY);
    const pmix_info_t* gap = find(infos, n, MISSED_KEY);
    ++(source->nspace[0] != '\0' ? of_job : of_environment)[kind];
    if (first_number == 0 && number != NULL)
      first_number = number->value.data.uint64;
    if (gap != NULL)
      missed += gap->value.data.uint64;
  } else if (code == LAST_EVENT && kind == plain) {
    is_over = true;
    pthread_cond_signal(&changed);
  }
  pthread_mutex_unlock(&lock);
}

#define HANDLER(kind)                                                          \
  static void on_##kind(                                                       \
    size_t id, pmix_status_t code, const pmix_proc_t* source,                  \
    pmix_info_t infos[], size_t n, pmix_info_t results[], size_t nresults,     \
    pmix_event_notification_cbfunc_fn_t done, void* data) {                    \
    (void)id, (void)results, (void)nresults;                                   \
    note(kind, code, source, infos, n);                                        \
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, data);                             \
  }

HANDLER(plain)
HANDLER(job_level)
HANDLER(environment_level)
HANDLER(all_plain)
HANDLER(all_environment)

static void on_fault(size_t id, pmix_status_t code, const pmix_proc_t* source,
                     pmix_info_t infos[], size_t n, pmix_info_t results[],
                     size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                     void* data) {
  (void)id, (void)source, (void)results, (void)nresults;
  const pmix_info_t* who = find(infos, n, PMIX_EVENT_AFFECTED_PROC);
  const pmix_info_t* why = find(infos, n, PMIX_EVENT_TEXT_MESSAGE);
  const bool has_targets = find(infos, n, PMIX_EVENT_CUSTOM_RANGE) != NULL;
  pthread_mutex_lock(&lock);
  char* text = fault[faults % 8];
  snprintf(text, sizeof fault[0], "%s %s:%u%s%s%s", PMIx_Error_string(code),
           who != NULL ? who->value.data.proc->nspace : "?",
           who != NULL ? who->value.data.proc->rank : 0,
           has_targets ? ", with targets" : "", why != NULL ? ", " : "",
           why != NULL ? why->value.data.string : "");
  ++faults;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void handle(pmix_status_t code, const char* level,
                   pmix_notification_fn_t f) {
  pmix_info_t info;
  const bool yes = true;
  if (level != NULL)
    PMIX_INFO_LOAD(&info, level, &yes, PMIX_BOOL);
  const pmix_status_t id = PMIx_Register_event_handler(
    code != PMIX_SUCCESS ? &code : NULL, code != PMIX_SUCCESS, &info,
    level != NULL, f, NULL, NULL);
  need(id < 0 ? id : PMIX_SUCCESS, "register");
}

/* Waits for a condition on what handlers note, 20 s. */
static bool comes(const bool* flag, const unsigned* count, unsigned wanted) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 20;
  int outcome = 0;
  pthread_mutex_lock(&lock);
  while (outcome == 0 && (flag != NULL ? !*flag : *count < wanted))
    outcome = pthread_cond_timedwait(&changed, &lock, &until);
  pthread_mutex_unlock(&lock);
  return outcome == 0;
}

/* -- the processes --------------------------------------------------------- */

static int heir(void) {
  pmix_proc_t me;
  need(PMIx_Init(&me, NULL, 0), "init");
  pmix_status_t codes[] = {EVENT, LAST_EVENT};
  const pmix_status_t id =
    PMIx_Register_event_handler(codes, 2, NULL, 0, on_plain, NULL, NULL);
  need(id < 0 ? id : PMIX_SUCCESS, "register");
  if (!comes(&is_over, NULL, 0))
    return 3;
  printf("%u events from %llu on, %llu missed\n", of_environment[plain],
         (unsigned long long)first_number, (unsigned long long)missed);
  need(PMIx_Finalize(NULL, 0), "finalize");
  return 0;
}

static int listener(int ready) {
  pmix_proc_t me;
  need(PMIx_Init(&me, NULL, 0), "init");
  handle(EVENT, NULL, on_plain);
  handle(LAST_EVENT, NULL, on_plain);
  handle(EVENT, PMIX_EVENT_JOB_LEVEL, on_job_level);
  handle(EVENT, PMIX_EVENT_ENVIRO_LEVEL, on_environment_level);
  handle(PMIX_SUCCESS, NULL, on_all_plain);
  handle(PMIX_SUCCESS, PMIX_EVENT_ENVIRO_LEVEL, on_all_environment);
  if (write(ready, "", 1) != 1 || !comes(&is_over, NULL, 0))
    return 3;
  /* All handlers of an event have run when the call for the next one begins,
   * and the last one is for two. */
  need(PMIx_Finalize(NULL, 0), "finalize");
  static const char* const names[kinds] = {"code", "job", "environment",
                                           "default", "default environment"};
  for (int i = 0; i < kinds; ++i)
    printf("%s: %u of the job, %u of the environment\n", names[i], of_job[i],
           of_environment[i]);
  return 0;
}

static int vanish(void) {
  pmix_proc_t me;
  need(PMIx_Init(&me, NULL, 0), "init");
  _exit(0);
}

static int garbled(void) {
  pmix_proc_t me;
  need(PMIx_Init(&me, NULL, 0), "init");
  handle(PMIX_ERR_FAILED_COMM, NULL, on_fault);
  handle(PMIX_SUCCESS, NULL, on_all_plain);
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, "event_host.key", "value", PMIX_STRING);
  need(PMIx_Publish(&info, 1), "publish");
  /* What came before the answer came first. */
  PMIx_Finalize(NULL, 0);
  printf("heard: %s\n", faults > 0 ? fault[0] : "nothing");
  return 0;
}

/* -- the daemon ------------------------------------------------------------ */

static pmix_server_module_t host;

static void start(const char* size) {
  pmix_info_t wish;
  const uint32_t events = size != NULL ? (uint32_t)atoi(size) : 0;
  PMIX_INFO_LOAD(&wish, "PMIx_server_cache_size", &events, PMIX_UINT32);
  need(PMIx_server_init(&host, size != NULL ? &wish : NULL, size != NULL),
       "start");
  const uint32_t procs = 2;
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_JOB_SIZE, &procs, PMIX_UINT32);
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, NSPACE, 0);
  need(
    PMIx_server_register_nspace(proc.nspace, (int)procs, &info, 1, NULL, NULL),
    "register the job");
  for (uint32_t i = 0; i < procs; ++i) {
    PMIX_LOAD_PROCID(&proc, NSPACE, i);
    need(
      PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
      "register a process");
  }
}

static void raise_one(pmix_status_t code, bool is_of_job, uint64_t number) {
  pmix_proc_t source;
  pmix_info_t info;
  PMIX_LOAD_PROCID(&source, NSPACE, 1);
  PMIX_INFO_LOAD(&info, NUMBER_KEY, &number, PMIX_UINT64);
  need(PMIx_Notify_event(code, is_of_job ? &source : NULL,
                         is_of_job ? PMIX_RANGE_NAMESPACE : PMIX_RANGE_SESSION,
                         &info, 1, NULL, NULL),
       "notify");
}

static pid_t run(uint32_t rank, char** arguments) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, NSPACE, rank);
  char** env;
  PMIX_ARGV_COPY(env, environ);
  need(PMIx_server_setup_fork(&proc, &env), "set up a fork");
  pid_t pid;
  if (posix_spawn(&pid, arguments[0], NULL, NULL, arguments, env) != 0)
    exit(2);
  return pid;
}

static int outcome_of(pid_t pid) {
  int status = 2;
  waitpid(pid, &status, 0);
  return status != 0;
}

static int ring(char* self, int count, const char* size) {
  start(size);
  for (int i = 1; i <= count; ++i)
    raise_one(EVENT, false, (uint64_t)i);
  raise_one(LAST_EVENT, true, 0);
  char* arguments[] = {self, "heir", NULL};
  const int result = outcome_of(run(0, arguments));
  PMIx_server_finalize();
  return result;
}

static int levels(char* self) {
  start(NULL);
  int ready[2];
  char number[16];
  char byte;
  if (pipe(ready) != 0)
    return 2;
  snprintf(number, sizeof number, "%d", ready[1]);
  char* arguments[] = {self, "listener", number, NULL};
  const pid_t pid = run(0, arguments);
  close(ready[1]);
  if (read(ready[0], &byte, 1) == 1) {
    raise_one(EVENT, true, 1);
    raise_one(EVENT, false, 2);
    raise_one(LAST_EVENT, true, 3);
  }
  const int result = outcome_of(pid);
  PMIx_server_finalize();
  return result;
}

/* The next fault that the daemon hears of. */
static int hears(const char* what, const char* of) {
  static unsigned heard;
  if (!comes(NULL, &faults, heard + 1))
    return 1;
  const char* text = fault[heard++];
  printf("%s: %s\n", what, text);
  return strstr(text, of) == NULL;
}

static int break_rules(char* self, char** program) {
  start(NULL);
  handle(PMIX_ERR_COMM_FAILURE, NULL, on_fault);
  handle(PMIX_ERR_LOST_CONNECTION, NULL, on_fault);
  const pid_t breaker = run(0, program);
  int result = hears("breaks", NSPACE ":0");
  result |= outcome_of(breaker);
  char* arguments[] = {self, "vanish", NULL};
  /* The connection of who broke the rules is gone, too. */
  result |= hears("breaks and goes", NSPACE ":0");
  const pid_t goer = run(1, arguments);
  result |= hears("goes", NSPACE ":1");
  result |= outcome_of(goer);
  PMIx_server_finalize();
  return result;
}

int main(int argc, char** argv) {
  const char* role = argc > 1 ? argv[1] : "";
  if (strcmp(role, "heir") == 0)
    return heir();
  if (strcmp(role, "listener") == 0 && argc > 2)
    return listener(atoi(argv[2]));
  if (strcmp(role, "vanish") == 0)
    return vanish();
  if (strcmp(role, "garbled") == 0)
    return garbled();
  if (strcmp(role, "ring") == 0 && argc > 2)
    return ring(argv[0], atoi(argv[2]), argc > 3 ? argv[3] : NULL);
  if (strcmp(role, "levels") == 0)
    return levels(argv[0]);
  if (strcmp(role, "faults") == 0 && argc > 2)
    return break_rules(argv[0], argv + 2);
  return 2;
}
