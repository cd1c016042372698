/* A resource manager of two nodes that offers fence, direct modex and abort and
 * nothing else, as several do: two daemons, each a PMIx server with two
 * processes of one job, joined by a socket.
 *
 *   two_nodes [--no-modex] [--no-shared-memory] [--mesh | --mesh-on-first]
 *             PROGRAM ARGUMENTS...
 *
 * With --no-modex it offers no direct modex either, with --no-shared-memory its
 * servers share none with their processes. */

#define _GNU_SOURCE

#include <errno.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PER_NODE 2

enum kind { FENCE, ASK, ANSWER };

/* What one daemon sends the other, before its bytes. */
struct header {
  enum kind kind;
  uint64_t number;
  uint32_t rank;
  int32_t status;
  uint64_t size;
};

static const pmix_nspace_t job = "two-nodes";
static unsigned node;
static int line;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char* what) {
  fprintf(stderr, "node %u: %s: %s\n", node, what, strerror(errno));
  _exit(2);
}

static void put(const void* bytes, size_t size) {
  for (const char* from = bytes; size > 0;) {
    const ssize_t n = write(line, from, size);
    if (n <= 0)
      die("write to the other node");
    from += n;
    size -= (size_t)n;
  }
}

static void tell(struct header head, const void* bytes) {
  pthread_mutex_lock(&lock);
  put(&head, sizeof head);
  put(bytes, head.size);
  pthread_mutex_unlock(&lock);
}

static bool get(void* bytes, size_t size) {
  for (char* to = bytes; size > 0;) {
    const ssize_t n = read(line, to, size);
    if (n <= 0)
      return false;
    to += n;
    size -= (size_t)n;
  }
  return true;
}

/* -- fences: the n-th here meets the n-th there -----------------------------
 */

struct part {
  char* bytes;
  size_t size;
  pmix_modex_cbfunc_t done;
  void* data;
};

#define MOST 4096

static struct part ours[MOST], theirs[MOST];
static size_t num_ours, num_theirs, num_met;
static pthread_mutex_t fences = PTHREAD_MUTEX_INITIALIZER;

static void free_bytes(void* bytes) {
  free(bytes);
}

/* Ends the fences that both nodes have joined. */
static void match(void) {
  pthread_mutex_lock(&fences);
  while (num_met < num_ours && num_met < num_theirs) {
    const struct part a = ours[num_met], b = theirs[num_met];
    ++num_met;
    pthread_mutex_unlock(&fences);
    char* both = malloc(a.size + b.size + 1);
    /* In the order of the nodes. */
    const struct part* first = node == 0 ? &a : &b;
    const struct part* second = node == 0 ? &b : &a;
    if (first->size > 0)
      memcpy(both, first->bytes, first->size);
    if (second->size > 0)
      memcpy(both + first->size, second->bytes, second->size);
    a.done(PMIX_SUCCESS, both, a.size + b.size, a.data, free_bytes, both);
    free(a.bytes);
    free(b.bytes);
    pthread_mutex_lock(&fences);
  }
  pthread_mutex_unlock(&fences);
}

static pmix_status_t fence(const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t info[], size_t ninfo, char* data,
                           size_t ndata, pmix_modex_cbfunc_t done,
                           void* cbdata) {
  (void)procs, (void)nprocs, (void)info, (void)ninfo;
  const struct header head = {FENCE, 0, 0, 0, ndata};
  tell(head, data);
  pthread_mutex_lock(&fences);
  if (num_ours == MOST)
    die("too many fences");
  ours[num_ours++] = (struct part){data, ndata, done, cbdata};
  pthread_mutex_unlock(&fences);
  match();
  return PMIX_SUCCESS;
}

/* -- direct modex ---------------------------------------------------------- */

static struct part questions[MOST];
static size_t num_questions;

static pmix_status_t modex(const pmix_proc_t* proc, const pmix_info_t info[],
                           size_t ninfo, pmix_modex_cbfunc_t done,
                           void* cbdata) {
  (void)info, (void)ninfo;
  pthread_mutex_lock(&fences);
  const size_t number = num_questions++ % MOST;
  questions[number] = (struct part){NULL, 0, done, cbdata};
  pthread_mutex_unlock(&fences);
  const struct header head = {ASK, number, proc->rank, 0, 0};
  tell(head, NULL);
  return PMIX_SUCCESS;
}

static void on_modex(pmix_status_t status, char* bytes, size_t size,
                     void* number) {
  const struct header head = {ANSWER, (uintptr_t)number, 0, status,
                              status == PMIX_SUCCESS ? size : 0};
  tell(head, bytes);
}

/* -- the other node -------------------------------------------------------- */

static void* listen_to_other(void* unused) {
  (void)unused;
  struct header head;
  while (get(&head, sizeof head)) {
    char* bytes = malloc(head.size + 1);
    if (!get(bytes, head.size))
      break;
    if (head.kind == FENCE) {
      pthread_mutex_lock(&fences);
      if (num_theirs == MOST)
        die("too many fences");
      theirs[num_theirs++] = (struct part){bytes, head.size, NULL, NULL};
      pthread_mutex_unlock(&fences);
      match();
    } else if (head.kind == ASK) {
      pmix_proc_t proc;
      PMIX_LOAD_PROCID(&proc, job, head.rank);
      if (PMIx_server_dmodex_request(&proc, on_modex,
                                     (void*)(uintptr_t)head.number)
          != PMIX_SUCCESS)
        on_modex(PMIX_ERR_NOT_FOUND, NULL, 0, (void*)(uintptr_t)head.number);
      free(bytes);
    } else {
      const struct part x = questions[head.number];
      x.done(head.status, bytes, head.size, x.data, free_bytes, bytes);
    }
  }
  return NULL;
}

/* -- one node -------------------------------------------------------------- */

static pmix_status_t aborted(const pmix_proc_t* proc, void* object, int status,
                             const char* text, pmix_proc_t* procs, size_t n,
                             pmix_op_cbfunc_t done, void* data) {
  (void)object, (void)procs, (void)n;
  fprintf(stderr, "%s:%u gives up: %d %s\n", proc->nspace, proc->rank, status,
          text);
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static pmix_server_module_t host = {
  .abort = aborted, .fence_nb = fence, .direct_modex = modex};

static void check(pmix_status_t code, const char* what) {
  if (code == PMIX_SUCCESS || code == PMIX_OPERATION_SUCCEEDED)
    return;
  fprintf(stderr, "node %u: %s: %s\n", node, what, PMIx_Error_string(code));
  _exit(3);
}

static void register_job(void) {
  char *nodes, *procs, peers[32], ranks[] = "0,1;2,3", names[] = "n0,n1";
  uint32_t size = 2 * PER_NODE, local = PER_NODE;
  snprintf(peers, sizeof peers, "%u,%u", node * PER_NODE, node * PER_NODE + 1);
  PMIx_generate_regex(names, &nodes);
  PMIx_generate_ppn(ranks, &procs);
  pmix_info_t info[6];
  PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, procs, PMIX_STRING);
  PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &size, PMIX_UINT32);
  PMIX_INFO_LOAD(&info[3], PMIX_UNIV_SIZE, &size, PMIX_UINT32);
  PMIX_INFO_LOAD(&info[4], PMIX_LOCAL_PEERS, peers, PMIX_STRING);
  PMIX_INFO_LOAD(&info[5], PMIX_LOCAL_SIZE, &local, PMIX_UINT32);
  check(PMIx_server_register_nspace(job, PER_NODE, info, 6, NULL, NULL),
        "register the job");
  free(nodes);
  free(procs);
}

static int serve(char** argv, bool with_mesh, bool shares_nothing) {
  char hostname[16];
  snprintf(hostname, sizeof hostname, "n%u", node);
  pmix_info_t info[3];
  size_t n = 0;
  PMIX_INFO_LOAD(&info[n++], PMIX_HOSTNAME, hostname, PMIX_STRING);
  if (with_mesh)
    PMIX_INFO_LOAD(&info[n++], "troupe.mesh", NULL, PMIX_BOOL);
  if (shares_nothing)
    PMIX_INFO_LOAD(&info[n++], "troupe.no_shared_memory", NULL, PMIX_BOOL);
  check(PMIx_server_init(&host, info, n), "init");
  register_job();
  pthread_t listener;
  pthread_create(&listener, NULL, listen_to_other, NULL);
  pid_t pids[PER_NODE];
  for (unsigned i = 0; i < PER_NODE; ++i) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, job, node * PER_NODE + i);
    char** env = NULL;
    check(
      PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
      "register a process");
    /* Its own library is the one that it was built for. */
    for (char** x = environ; *x != NULL; ++x)
      if (strncmp(*x, "LD_LIBRARY_PATH=", 16) != 0)
        PMIx_Argv_append_nosize(&env, *x);
    check(PMIx_server_setup_fork(&proc, &env), "set up a process");
    if (posix_spawn(&pids[i], argv[0], NULL, NULL, argv, env) != 0)
      die("start a process");
  }
  int failures = 0;
  for (unsigned i = 0; i < PER_NODE; ++i) {
    int status = 0;
    waitpid(pids[i], &status, 0);
    failures += status != 0;
  }
  PMIx_server_deregister_nspace(job, NULL, NULL);
  /* The other node may still ask for something. */
  shutdown(line, SHUT_WR);
  pthread_join(listener, NULL);
  PMIx_server_finalize();
  printf("node %u served %d processes, %d failed\n", node, PER_NODE, failures);
  return failures;
}

int main(int argc, char** argv) {
  bool mesh[2] = {false, false};
  bool shares_nothing = false;
  int first = 1;
  if (argc > first && strcmp(argv[first], "--no-modex") == 0)
    host.direct_modex = NULL, ++first;
  if (argc > first && strcmp(argv[first], "--no-shared-memory") == 0)
    shares_nothing = true, ++first;
  if (argc > first && strcmp(argv[first], "--mesh") == 0)
    mesh[0] = mesh[1] = true, ++first;
  else if (argc > first && strcmp(argv[first], "--mesh-on-first") == 0)
    mesh[0] = true, ++first;
  int lines[2];
  if (argc <= first
      || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines) != 0) {
    fprintf(stderr,
            "usage: %s [--no-modex] [--no-shared-memory] "
            "[--mesh | --mesh-on-first] PROGRAM ARGS...\n",
            argv[0]);
    return 2;
  }
  const pid_t other = fork();
  node = other == 0;
  line = lines[node];
  close(lines[!node]);
  const int failures = serve(argv + first, mesh[node], shares_nothing);
  if (node == 1)
    return failures;
  int status = 0;
  waitpid(other, &status, 0);
  return failures != 0 || status != 0;
}
