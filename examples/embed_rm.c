/* A resource manager's daemon in C: it becomes a PMIx server, starts two
 * processes and serves them. With PREFIX/lib/troupe/pmix/lib/pkgconfig in
 * PKG_CONFIG_PATH, and pmix_hello built as its first lines say:
 *
 *   cc embed_rm.c $(pkg-config --cflags --libs pmix) -o embed_rm
 *   ./embed_rm ./pmix_hello
 */

#include <pmix.h>
#include <pmix_server.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUM_PROCS 2

extern char** environ;

static pmix_status_t connected(const pmix_proc_t* proc, void* object,
                               pmix_op_cbfunc_t done, void* data) {
  printf("%s:%u connected\n", proc->nspace, proc->rank);
  fflush(stdout);
  (void)object, (void)done, (void)data;
  return PMIX_OPERATION_SUCCEEDED; /* `done` will not be called. */
}

static pmix_status_t aborted(const pmix_proc_t* proc, void* object, int status,
                             const char* text, pmix_proc_t* procs, size_t n,
                             pmix_op_cbfunc_t done, void* data) {
  printf("%s:%u gives up: %d %s\n", proc->nspace, proc->rank, status, text);
  (void)object, (void)procs, (void)n;
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static pmix_server_module_t host = {.client_connected = connected,
                                    .abort = aborted};

static int failed(pmix_status_t code, const char* what) {
  if (code == PMIX_SUCCESS || code == PMIX_OPERATION_SUCCEEDED)
    return 0;
  fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(code));
  return 1;
}

/* What its processes are told of the job: the maps say the rest. */
static pmix_status_t register_job(const pmix_nspace_t nspace) {
  char *nodes, *procs, hostname[256], ranks[] = "0,1";
  uint32_t size = NUM_PROCS;
  pmix_info_t info[4];
  gethostname(hostname, sizeof hostname);
  PMIx_generate_regex(hostname, &nodes);
  PMIx_generate_ppn(ranks, &procs);
  PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, procs, PMIX_STRING);
  PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &size, PMIX_UINT32);
  PMIX_INFO_LOAD(&info[3], PMIX_UNIV_SIZE, &size, PMIX_UINT32);
  pmix_status_t code =
    PMIx_server_register_nspace(nspace, NUM_PROCS, info, 4, NULL, NULL);
  for (int i = 0; i < 4; ++i)
    PMIX_INFO_DESTRUCT(&info[i]);
  free(nodes);
  free(procs);
  return code;
}

int main(int argc, char** argv) {
  pmix_proc_t proc;
  int status, failures = 0;
  PMIX_LOAD_PROCID(&proc, "embedded", 0);
  setenv("OMPI_MCA_schizo", "ompi", 1); /* Open MPI 4.1 is no singleton. */
  if (argc < 2 || failed(PMIx_server_init(&host, NULL, 0), "init")
      || failed(register_job(proc.nspace), "register the job"))
    return 2;
  for (; proc.rank < NUM_PROCS; ++proc.rank) {
    char** env;
    pid_t pid;
    PMIX_ARGV_COPY(env, environ);
    if (failed(PMIx_server_register_client(&proc, getuid(), getgid(), NULL,
                                           NULL, NULL),
               "register a client")
        || failed(PMIx_server_setup_fork(&proc, &env), "set up a fork")
        || posix_spawn(&pid, argv[1], NULL, NULL, argv + 1, env) != 0)
      return 2;
    PMIX_ARGV_FREE(env);
  }
  while (wait(&status) > 0)
    failures += status != 0;
  PMIx_server_deregister_nspace(proc.nspace, NULL, NULL);
  PMIx_server_finalize();
  printf("served %d processes, %d failed\n", NUM_PROCS, failures);
  return failures;
}
