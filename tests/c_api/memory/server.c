/* What a host does with a server, every answer given back: for memory checkers.
 *
 *   server PROGRAM [ARGUMENT]...     serves two processes of it */

#include "../../interop/programs/client.h"

#include <pmix_server.h>
#include <spawn.h>
#include <sys/wait.h>

#define NUM_PROCS 2

static const pmix_nspace_t job = "memory";

/* -- the host -------------------------------------------------------------- */

static pmix_status_t at_once(const pmix_proc_t* proc UNUSED,
                             void* object UNUSED, pmix_op_cbfunc_t done UNUSED,
                             void* data UNUSED) {
  return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t later(const pmix_proc_t* proc UNUSED, void* object UNUSED,
                           pmix_op_cbfunc_t done, void* data) {
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static pmix_status_t publish(const pmix_proc_t* proc UNUSED,
                             const pmix_info_t infos[] UNUSED, size_t n UNUSED,
                             pmix_op_cbfunc_t done, void* data) {
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static pmix_status_t lookup(const pmix_proc_t* proc, char** keys,
                            const pmix_info_t infos[] UNUSED, size_t n UNUSED,
                            pmix_lookup_cbfunc_t done, void* data) {
  pmix_pdata_t found;
  PMIX_PDATA_CONSTRUCT(&found);
  PMIX_PDATA_LOAD(&found, proc, keys[0], "found", PMIX_STRING);
  done(PMIX_SUCCESS, &found, 1, data);
  PMIX_PDATA_DESTRUCT(&found);
  return PMIX_SUCCESS;
}

static pmix_status_t unpublish(const pmix_proc_t* proc UNUSED,
                               char** keys UNUSED,
                               const pmix_info_t infos[] UNUSED,
                               size_t n UNUSED, pmix_op_cbfunc_t done UNUSED,
                               void* data UNUSED) {
  return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t notify(pmix_status_t code UNUSED,
                            const pmix_proc_t* source UNUSED,
                            pmix_data_range_t range UNUSED,
                            pmix_info_t infos[] UNUSED, size_t n UNUSED,
                            pmix_op_cbfunc_t done, void* data) {
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static pmix_server_module_t host = {.client_connected = at_once,
                                    .client_finalized = later,
                                    .notify_event = notify,
                                    .publish = publish,
                                    .lookup = lookup,
                                    .unpublish = unpublish};

/* -- the job --------------------------------------------------------------- */

static void ok(pmix_status_t code, const char* what) {
  if (code != PMIX_OPERATION_SUCCEEDED)
    succeed(code, what);
}

static void register_job(void) {
  char *nodes = NULL, *procs = NULL, name[256] = "";
  gethostname(name, sizeof name - 1);
  succeed(PMIx_generate_regex(name, &nodes), "regex of nodes");
  succeed(PMIx_generate_ppn("0,1", &procs), "regex of processes");
  uint32_t size = NUM_PROCS;
  pmix_info_t info[4];
  PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, procs, PMIX_STRING);
  PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &size, PMIX_UINT32);
  PMIX_INFO_LOAD(&info[3], PMIX_UNIV_SIZE, &size, PMIX_UINT32);
  struct pending done = PENDING;
  ok(PMIx_server_register_nspace(job, NUM_PROCS, info, 4, on_done, &done),
     "namespace");
  demand(happens(&done, 1, 60), "the namespace is registered");
  succeed(done.outcome, "registration");
  for (int i = 0; i < 4; ++i)
    PMIX_INFO_DESTRUCT(&info[i]);
  free(nodes);
  free(procs);
}

static void on_setup(pmix_status_t outcome, pmix_info_t infos[] UNUSED,
                     size_t n UNUSED, void* mine, pmix_op_cbfunc_t done,
                     void* data) {
  if (done != NULL)
    done(PMIX_SUCCESS, data);
  happen(mine, outcome);
}

static void prepare(void) {
  struct pending done = PENDING;
  pmix_info_t info = flag_info(PMIX_SETUP_APP_ENVARS);
  ok(PMIx_server_setup_application(job, &info, 1, on_setup, &done), "setup");
  demand(happens(&done, 1, 60), "the application is set up");
  ok(PMIx_server_setup_local_support(job, NULL, 0, NULL, NULL), "support");
}

static void on_modex(pmix_status_t outcome, char* bytes UNUSED, size_t n UNUSED,
                     void* data) {
  happen(data, outcome);
}

static pid_t start(pmix_rank_t rank, char** words) {
  const pmix_proc_t proc = proc_in(job, rank);
  ok(PMIx_server_register_client(&proc, getuid(), getgid(), &host, NULL, NULL),
     "client");
  char** env = NULL;
  succeed(PMIx_server_setup_fork(&proc, &env), "fork");
  extern char** environ;
  for (char** x = environ; *x != NULL; ++x) {
    pmix_status_t code;
    PMIX_ARGV_APPEND(code, env, *x);
    succeed(code, "environment");
  }
  pid_t pid = 0;
  demand(posix_spawn(&pid, words[0], NULL, NULL, words, env) == 0, "spawn");
  PMIX_ARGV_FREE(env);
  return pid;
}

static void on_event(size_t id UNUSED, pmix_status_t code UNUSED,
                     const pmix_proc_t* source UNUSED,
                     pmix_info_t infos[] UNUSED, size_t n UNUSED,
                     pmix_info_t* results UNUSED, size_t n_results UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

int main(int argc UNUSED, char** argv) {
  succeed(PMIx_server_init(&host, NULL, 0), "init");
  pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
  handle(&code, 1, on_event);
  register_job();
  prepare();
  for (pmix_rank_t rank = 0; rank < NUM_PROCS; ++rank)
    start(rank, argv + 1);
  const pmix_proc_t first = proc_in(job, 0);
  struct pending modex = PENDING;
  ok(PMIx_server_dmodex_request(&first, on_modex, &modex), "dmodex");
  demand(happens(&modex, 1, 60), "its data comes");
  int failures = 0;
  for (int status; wait(&status) > 0;)
    failures += status != 0;
  PMIx_server_deregister_client(&first, NULL, NULL);
  struct pending gone = PENDING;
  PMIx_server_deregister_nspace(job, on_done, &gone);
  demand(happens(&gone, 1, 60), "the namespace is gone");
  succeed(PMIx_server_finalize(), "finalize");
  printf("memory: served %d processes, %d failed\n", NUM_PROCS, failures);
  return failures;
}
