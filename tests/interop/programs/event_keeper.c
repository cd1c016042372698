/* A daemon in C that raises events for a process before it comes: the process
 * says how many of them it got.
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
  (void)handler, (void)source, (void)info, (void)ninfo;
  (void)results, (void)nresults;
  pthread_mutex_lock(&lock);
  count += code == EVENT;
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
  printf("%u events\n", count);
  need(PMIx_Finalize(NULL, 0), "finalize");
  return 0;
}

static void raise_one(pmix_status_t code, const char* text) {
  pmix_proc_t source;
  pmix_info_t info;
  PMIX_LOAD_PROCID(&source, "kept", 1);
  PMIX_INFO_LOAD(&info, "keeper.text", text, PMIX_STRING);
  need(PMIx_Notify_event(code, &source, PMIX_RANGE_NAMESPACE, &info, 1, NULL,
                         NULL),
       "notify");
  PMIX_INFO_DESTRUCT(&info);
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
  for (int i = atoi(argv[1]); i > 0; --i)
    raise_one(EVENT, text);
  raise_one(LAST_EVENT, "");
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
