/* A daemon in C that raises events for a process before it comes: the process
 * says how many of them it got, from which number on, and how many it was told
 * that it has missed.
 *
 *   event_keeper COUNT [yes | no]     what the host says of "troupe.event.spool"
 *   event_keeper client               the process
 *
 * Each event has 64 KiB. */

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT (PMIX_EXTERNAL_ERR_BASE - 21)
#define LAST_EVENT (PMIX_EXTERNAL_ERR_BASE - 22)

extern char** environ;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned count;
static unsigned first;
static unsigned last;
static unsigned long missed;
static bool is_over;

static void need(pmix_status_t code, const char* what) {
  if (code == PMIX_SUCCESS || code == PMIX_OPERATION_SUCCEEDED)
    return;
  fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(code));
  exit(2);
}

static void on_event(size_t handler, pmix_status_t code,
                     const pmix_proc_t* source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void* cbdata) {
  (void)handler, (void)source, (void)results, (void)nresults;
  unsigned number = 0;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < ninfo; ++i) {
    if (PMIX_CHECK_KEY(&info[i], "keeper.number"))
      number = info[i].value.data.uint32;
    if (PMIX_CHECK_KEY(&info[i], "troupe.event.missed"))
      missed += (unsigned long)info[i].value.data.uint64;
  }
  if (code == EVENT) {
    ++count;
    if (first == 0)
      first = number;
    else if (number != last + 1) {
      fprintf(stderr, "%u came after %u\n", number, last);
      exit(4);
    }
    last = number;
  }
  is_over = code == LAST_EVENT;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static int client(void) {
  pmix_proc_t me;
  pmix_status_t codes[] = {EVENT, LAST_EVENT};
  need(PMIx_Init(&me, NULL, 0), "init");
  const pmix_status_t handler =
    PMIx_Register_event_handler(codes, 2, NULL, 0, on_event, NULL, NULL);
  need(handler < 0 ? handler : PMIX_SUCCESS, "register");
  pthread_mutex_lock(&lock);
  while (!is_over)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  printf("%u events, from %u to %u, %lu missed\n", count, first, last, missed);
  need(PMIx_Finalize(NULL, 0), "finalize");
  return 0;
}

static void raise_one(pmix_status_t code, uint32_t number, const char* text) {
  pmix_proc_t source;
  pmix_info_t info[2];
  PMIX_LOAD_PROCID(&source, "kept", 1);
  PMIX_INFO_LOAD(&info[0], "keeper.number", &number, PMIX_UINT32);
  PMIX_INFO_LOAD(&info[1], "keeper.text", text, PMIX_STRING);
  need(
    PMIx_Notify_event(code, &source, PMIX_RANGE_NAMESPACE, info, 2, NULL, NULL),
    "notify");
  PMIX_INFO_DESTRUCT(&info[1]);
}

static pmix_server_module_t host;

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "client") == 0)
    return client();
  pmix_info_t wish;
  const bool has_wish = argc > 2;
  const bool spools = has_wish && strcmp(argv[2], "yes") == 0;
  PMIX_INFO_LOAD(&wish, "troupe.event.spool", &spools, PMIX_BOOL);
  need(PMIx_server_init(&host, has_wish ? &wish : NULL, has_wish), "start");
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, "kept", 0);
  uint32_t size = 1;
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
  need(PMIx_server_register_nspace(proc.nspace, 1, &info, 1, NULL, NULL),
       "register the job");
  need(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
       "register the process");
  char* text = malloc(65537);
  memset(text, 'x', 65536);
  text[65536] = '\0';
  const uint32_t events = (uint32_t)atoi(argv[1]);
  for (uint32_t i = 1; i <= events; ++i)
    raise_one(EVENT, i, text);
  raise_one(LAST_EVENT, 0, "");
  free(text);
  char** env;
  PMIX_ARGV_COPY(env, environ);
  need(PMIx_server_setup_fork(&proc, &env), "set up a fork");
  char* arguments[] = {argv[0], "client", NULL};
  pid_t pid;
  int status = 2;
  if (posix_spawn(&pid, argv[0], NULL, NULL, arguments, env) == 0)
    waitpid(pid, &status, 0);
  PMIx_server_finalize();
  return status != 0;
}
