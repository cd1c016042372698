/* Job control and monitoring at a resource manager in C, with one client of its
 * own program.
 *
 *   server_control MODE FILE CLIENT    CLIENT: this program, for any libpmix
 *   CLIENT client MODE FILE            what the server starts
 *
 * MODE: `host` has both entries, `none` has none, `monitors` has both and asks
 * for the server's own monitoring. FILE is what the client registers for
 * cleanup. */

#define PMIX_PLAIN_SERVER_INIT
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NSPACE "controlled"

static int failures = 0;

static void expect(bool fine, const char* what) {
  if (!fine) {
    fprintf(stderr, "%d: not so: %s\n", (int)getpid(), what);
    ++failures;
  }
}

static void expect_code(pmix_status_t code, pmix_status_t wanted,
                        const char* what) {
  if (code != wanted)
    fprintf(stderr, "%d: %s: %d, not %d\n", (int)getpid(), what, code, wanted);
  failures += code != wanted;
}

/* -- answers ----------------------------------------------------------------
 */

struct answer {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int calls; /* guarded by mutex */
  pmix_status_t status;
  char text[128];
};

static void called(struct answer* x, pmix_status_t status) {
  pthread_mutex_lock(&x->mutex);
  ++x->calls;
  x->status = status;
  pthread_cond_broadcast(&x->changed);
  pthread_mutex_unlock(&x->mutex);
}

static void on_op(pmix_status_t status, void* data) {
  called(data, status);
}

static const pmix_info_t* find(const pmix_info_t* infos, size_t n,
                               const char* key) {
  for (size_t i = 0; i < n; ++i)
    if (strcmp(infos[i].key, key) == 0)
      return &infos[i];
  return NULL;
}

static void on_infos(pmix_status_t status, pmix_info_t* infos, size_t n,
                     void* data, pmix_release_cbfunc_t release, void* what) {
  struct answer* x = data;
  const pmix_info_t* text = find(infos, n, PMIX_EVENT_TEXT_MESSAGE);
  if (text != NULL)
    snprintf(x->text, sizeof x->text, "%s", text->value.data.string);
  if (release != NULL)
    release(what);
  called(x, status);
}

static void answer_init(struct answer* x) {
  memset(x, 0, sizeof *x);
  pthread_mutex_init(&x->mutex, NULL);
  pthread_cond_init(&x->changed, NULL);
}

static pmix_status_t wait_for(struct answer* x) {
  pthread_mutex_lock(&x->mutex);
  while (x->calls == 0)
    pthread_cond_wait(&x->changed, &x->mutex);
  pthread_mutex_unlock(&x->mutex);
  return x->status;
}

/* -- the client --------------------------------------------------------------
 */

static pmix_status_t control(const pmix_info_t* what, size_t n, char* text) {
  struct answer x;
  answer_init(&x);
  const pmix_status_t code =
    PMIx_Job_control_nb(NULL, 0, what, n, on_infos, &x);
  const pmix_status_t result = code == PMIX_SUCCESS ? wait_for(&x) : code;
  if (text != NULL)
    strcpy(text, x.text);
  return result;
}

static pmix_status_t monitor(const pmix_info_t* what, const pmix_info_t* how,
                             size_t n) {
  struct answer x;
  answer_init(&x);
  const pmix_status_t code = PMIx_Process_monitor_nb(
    what, PMIX_MONITOR_HEARTBEAT_ALERT, how, n, on_infos, &x);
  return code == PMIX_SUCCESS ? wait_for(&x) : code;
}

static int client(const char* mode, const char* file) {
  const bool has_host = strcmp(mode, "none") != 0;
  pmix_proc_t me;
  expect_code(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS, "init");

  pmix_info_t what[2];
  PMIX_INFO_LOAD(&what[0], PMIX_REGISTER_CLEANUP, file, PMIX_STRING);
  expect_code(control(what, 1, NULL), PMIX_SUCCESS, "cleanup is kept");

  pmix_info_t method;
  int number = SIGUSR2;
  PMIX_INFO_LOAD(&method, PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, &number, PMIX_INT);
  pmix_data_array_t methods = {PMIX_INFO, 1, &method};
  PMIX_INFO_LOAD(&what[0], PMIX_JOB_CTRL_CHECKPOINT_METHOD, &methods,
                 PMIX_DATA_ARRAY);
  expect_code(control(what, 1, NULL), PMIX_SUCCESS, "methods are kept");

  bool yes = true;
  char text[128];
  PMIX_INFO_LOAD(&what[0], PMIX_JOB_CTRL_PAUSE, &yes, PMIX_BOOL);
  PMIX_INFO_LOAD(&what[1], PMIX_JOB_CTRL_ID, "mine", PMIX_STRING);
  expect_code(control(what, 2, text),
              has_host ? PMIX_ERR_NOT_FOUND : PMIX_ERR_NOT_SUPPORTED,
              "what the host accepted fails");
#ifdef TROUPE_REASONS
  if (has_host)
    expect(strcmp(text, "nobody to pause") == 0, "the host says why");
#endif
  number = SIGUSR1;
  PMIX_INFO_LOAD(&what[0], PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT);
  expect_code(control(what, 1, NULL),
              has_host ? PMIX_ERR_NO_PERMISSIONS : PMIX_ERR_NOT_SUPPORTED,
              "what the host returns is the answer");
  PMIX_INFO_LOAD(&what[0], PMIX_JOB_CTRL_CHECKPOINT, "one", PMIX_STRING);
  expect_code(control(what, 1, NULL),
              has_host ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED,
              "a checkpoint by a registered method");

  pmix_info_t beats, how;
  uint32_t seconds = 60;
  PMIX_INFO_LOAD(&beats, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_POINTER);
  PMIX_INFO_LOAD(&how, PMIX_MONITOR_HEARTBEAT_TIME, &seconds, PMIX_UINT32);
  expect_code(monitor(&beats, &how, 1),
              strcmp(mode, "host") == 0       ? PMIX_ERR_IN_ERRNO
              : strcmp(mode, "monitors") == 0 ? PMIX_SUCCESS
                                              : PMIX_ERR_NOT_SUPPORTED,
              "a monitor");
  PMIx_Heartbeat();
  expect_code(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "finalize");
  return failures;
}

/* -- the host ----------------------------------------------------------------
 */

static pmix_status_t job_control(const pmix_proc_t* requestor,
                                 const pmix_proc_t targets[], size_t ntargets,
                                 const pmix_info_t directives[], size_t ndirs,
                                 pmix_info_cbfunc_t done, void* data) {
  const pmix_info_t* uid = find(directives, ndirs, PMIX_USERID);
  expect(uid != NULL && uid->value.data.uint32 == getuid(), "who asks");
  expect(find(directives, ndirs, PMIX_GRPID) != NULL, "of which group");
  if (strcmp(requestor->nspace, NSPACE) != 0) {
    /* This server itself. */
    expect(ntargets == 1 && targets[0].rank == 7, "the server's targets");
    done(PMIX_SUCCESS, NULL, 0, data, NULL, NULL);
    return PMIX_SUCCESS;
  }
  expect(requestor->rank == 0, "which of them asks");
  expect(targets == NULL && ntargets == 0, "no targets");
  expect(find(directives, ndirs, PMIX_REGISTER_CLEANUP) == NULL,
         "cleanup is the server's");
  if (find(directives, ndirs, PMIX_JOB_CTRL_PAUSE) != NULL) {
    pmix_info_t why;
    const pmix_info_t* id = find(directives, ndirs, PMIX_JOB_CTRL_ID);
    expect(id != NULL && strcmp(id->value.data.string, "mine") == 0, "the id");
    PMIX_INFO_LOAD(&why, PMIX_EVENT_TEXT_MESSAGE, "nobody to pause",
                   PMIX_STRING);
    done(PMIX_ERR_NOT_FOUND, &why, 1, data, NULL, NULL);
    return PMIX_SUCCESS;
  }
  if (find(directives, ndirs, PMIX_JOB_CTRL_CHECKPOINT_METHOD) != NULL)
    return PMIX_ERR_NOT_SUPPORTED;
  if (find(directives, ndirs, PMIX_JOB_CTRL_CHECKPOINT) != NULL) {
    const pmix_info_t* method =
      find(directives, ndirs, PMIX_JOB_CTRL_CHECKPOINT_SIGNAL);
    expect(method != NULL && method->value.data.integer == SIGUSR2,
           "by the method that is registered");
    return PMIX_OPERATION_SUCCEEDED;
  }
  return PMIX_ERR_NO_PERMISSIONS;
}

static pmix_status_t on_monitor(const pmix_proc_t* requestor,
                                const pmix_info_t* what, pmix_status_t error,
                                const pmix_info_t directives[], size_t ndirs,
                                pmix_info_cbfunc_t done, void* data) {
  (void)done, (void)data;
  expect(requestor->rank == 0, "who wants to be monitored");
  expect(strcmp(what->key, PMIX_MONITOR_HEARTBEAT) == 0, "what is monitored");
  expect(error == PMIX_MONITOR_HEARTBEAT_ALERT, "the code of the alert");
  expect(find(directives, ndirs, PMIX_MONITOR_HEARTBEAT_TIME) != NULL,
         "how it is monitored");
  return PMIX_ERR_IN_ERRNO;
}

static void start(char* program, char* mode, char* file) {
  pmix_nspace_t nspace = NSPACE;
  pmix_proc_t proc;
  struct answer done;
  char hostname[256], *nodes, *procs;
  pmix_info_t info[2];
  gethostname(hostname, sizeof hostname);
  expect_code(PMIx_generate_regex(hostname, &nodes), PMIX_SUCCESS, "regex");
  expect_code(PMIx_generate_ppn("0", &procs), PMIX_SUCCESS, "ppn");
  PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, procs, PMIX_STRING);
  answer_init(&done);
  expect(PMIx_server_register_nspace(nspace, 1, info, 2, on_op, &done)
             == PMIX_SUCCESS
           && wait_for(&done) == PMIX_SUCCESS,
         "register the job");
  PMIX_LOAD_PROCID(&proc, NSPACE, 0);
  answer_init(&done);
  expect(
    PMIx_server_register_client(&proc, getuid(), getgid(), NULL, on_op, &done)
        == PMIX_SUCCESS
      && wait_for(&done) == PMIX_SUCCESS,
    "register the client");
  if (fork() == 0) {
    char** env = NULL;
    char* args[] = {program, "client", mode, file, NULL};
    if (PMIx_server_setup_fork(&proc, &env) == PMIX_SUCCESS)
      execve(program, args, env);
    _exit(3);
  }
}

/* A server's own calls go to its own host. */
static void control_by_the_server(bool has_host) {
  pmix_proc_t target;
  bool yes = true;
  pmix_info_t info, *results = NULL;
  size_t n = 0;
  PMIX_LOAD_PROCID(&target, "elsewhere", 7);
  PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_KILL, &yes, PMIX_BOOL);
  expect_code(PMIx_Job_control(&target, 1, &info, 1, &results, &n),
              has_host ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED,
              "job control by the server");
  if (results != NULL)
    PMIX_INFO_FREE(results, n);
}

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "client") == 0)
    return client(argv[2], argv[3]);
  if (argc != 4)
    return 2;
  pmix_server_module_t host;
  memset(&host, 0, sizeof host);
  const bool has_host = strcmp(argv[1], "none") != 0;
  if (has_host) {
    host.job_control = job_control;
    host.monitor = on_monitor;
  }
  pmix_info_t info;
  bool yes = true;
  PMIX_INFO_LOAD(&info, PMIX_SERVER_ENABLE_MONITORING, &yes, PMIX_BOOL);
  expect_code(PMIx_server_init(&host, &info, strcmp(argv[1], "monitors") == 0),
              PMIX_SUCCESS, "init of a server");
  start(argv[3], argv[1], argv[2]);
  control_by_the_server(has_host);
  int status;
  while (wait(&status) > 0)
    expect(status == 0, "the client has ended well");
  expect(access(argv[2], F_OK) == 0, "the file is there while the job is");
  struct answer done;
  answer_init(&done);
  pmix_nspace_t nspace = NSPACE;
  PMIx_server_deregister_nspace(nspace, on_op, &done);
  expect_code(wait_for(&done), PMIX_SUCCESS, "deregister the job");
  for (int i = 0; i < 500 && access(argv[2], F_OK) == 0; ++i)
    usleep(10000);
  expect(access(argv[2], F_OK) != 0, "the file is removed with the job");
  expect_code(PMIx_server_finalize(), PMIX_SUCCESS, "finalize");
  printf("server control: %d failures\n", failures);
  return failures;
}
