/* What resource managers in C share: a job of which two processes run on this
 * node, each this program, built for any libpmix. What is not so is said, and
 * counted in `failures`. */

#ifndef TROUPE_INTEROP_HOST_H
#define TROUPE_INTEROP_HOST_H

#define PMIX_PLAIN_SERVER_INIT
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOSTED "hosted"

static atomic_int failures;

static inline void expect(bool fine, const char* what) {
  if (!fine) {
    fprintf(stderr, "%d: not so: %s\n", (int)getpid(), what);
    ++failures;
  }
}

static inline void expect_code(pmix_status_t code, pmix_status_t wanted,
                               const char* what) {
  if (code != wanted) {
    fprintf(stderr, "%d: %s: %d, not %d\n", (int)getpid(), what, code, wanted);
    ++failures;
  }
}

static inline const pmix_info_t* find(const pmix_info_t* infos, size_t n,
                                      const char* key) {
  for (size_t i = 0; i < n; ++i)
    if (strcmp(infos[i].key, key) == 0)
      return &infos[i];
  return NULL;
}

/* Whether something becomes so within ten seconds. */
static inline bool becomes(atomic_int* x, int wanted) {
  const struct timespec moment = {0, 2000000};
  for (int i = 0; i < 5000; ++i) {
    if (atomic_load(x) == wanted)
      return true;
    nanosleep(&moment, NULL);
  }
  fprintf(stderr, "%d: %d, not %d\n", (int)getpid(), atomic_load(x), wanted);
  return false;
}

/* An answer that is waited for. */
struct answer {
  atomic_int calls;
  _Atomic pmix_status_t status;
};

static inline void on_op(pmix_status_t status, void* data) {
  struct answer* x = data;
  x->status = status;
  ++x->calls;
}

static inline pmix_status_t answer_of(struct answer* x) {
  expect(becomes(&x->calls, 1), "an answer, once");
  return x->status;
}

/* -- the host's side --------------------------------------------------------- */

/* Starts the first two processes of a job of four, PROGRAM client ARGUMENT. The
 * others are said to be on another node. */
static inline void start_job(char* program, char* argument) {
  pmix_nspace_t nspace = HOSTED;
  char hostname[256], names[300], *nodes, *procs;
  pmix_info_t info[2];
  struct answer done = {0, 0};
  gethostname(hostname, sizeof hostname);
  snprintf(names, sizeof names, "%s,elsewhere", hostname);
  expect_code(PMIx_generate_regex(names, &nodes), PMIX_SUCCESS, "regex");
  expect_code(PMIx_generate_ppn("0,1;2,3", &procs), PMIX_SUCCESS, "ppn");
  PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, procs, PMIX_STRING);
  expect_code(PMIx_server_register_nspace(nspace, 2, info, 2, on_op, &done),
              PMIX_SUCCESS, "register the job");
  expect_code(answer_of(&done), PMIX_SUCCESS, "the job is registered");
  for (int i = 0; i < 2; ++i) {
    pmix_proc_t proc;
    struct answer client = {0, 0};
    PMIX_LOAD_PROCID(&proc, HOSTED, i);
    expect_code(PMIx_server_register_client(&proc, getuid(), getgid(), NULL,
                                            on_op, &client),
                PMIX_SUCCESS, "register a client");
    expect_code(answer_of(&client), PMIX_SUCCESS, "the client is registered");
    if (fork() == 0) {
      char** env = NULL;
      char* args[] = {program, "client", argument, NULL};
      if (PMIx_server_setup_fork(&proc, &env) == PMIX_SUCCESS)
        execve(program, args, env);
      _exit(3);
    }
  }
}

/* Waits for the processes, ends the server and says how it went. */
static inline int end_job(const char* name) {
  int status;
  pmix_nspace_t nspace = HOSTED;
  struct answer done = {0, 0};
  while (wait(&status) > 0)
    expect(status == 0, "a client has ended well");
  PMIx_server_deregister_nspace(nspace, on_op, &done);
  expect_code(answer_of(&done), PMIX_SUCCESS, "deregister the job");
  expect_code(PMIx_server_finalize(), PMIX_SUCCESS, "server_finalize");
  printf("%s: %d failures\n", name, failures);
  return failures != 0;
}

#endif
