/* Output that a resource manager in C delivers to a client of its server.
 *
 *   io_host MODE SIZE CLIENT    CLIENT: this program, for any libpmix
 *   CLIENT client MODE SIZE     what the server starts
 *
 * SIZE bytes of a stream are delivered, the first of them before anybody asks.
 * MODE: `fast` takes them as they come, `slow` sleeps first, `stops` wants no
 * more in the middle. */

#define PMIX_PLAIN_SERVER_INIT
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NSPACE "watcher"
#define WATCHED "watched"

enum { early = 100000, piece = 65536, most_on_way = 16 };

static int failures = 0;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void expect(bool fine, const char* what) {
  if (!fine) {
    fprintf(stderr, "%d: not so: %s\n", (int)getpid(), what);
    ++failures;
  }
}

static char byte_at(size_t offset) {
  return (char)('a' + (offset * 2654435761U >> 11) % 26);
}

/* -- the client -------------------------------------------------------------
 */

static size_t got = 0; /* guarded by mutex */
static bool has_ended = false;
static bool sleeps = false;

static void on_output(size_t handler, pmix_iof_channel_t channel,
                      pmix_proc_t* source, pmix_byte_object_t* bytes,
                      pmix_info_t infos[], size_t n) {
  (void)handler, (void)infos, (void)n;
  if (sleeps) {
    sleeps = false;
    sleep(2);
  }
  pthread_mutex_lock(&mutex);
  expect(channel == PMIX_FWD_STDOUT_CHANNEL, "the channel");
  expect(strcmp(source->nspace, WATCHED) == 0 && source->rank == 3,
         "the source");
  const size_t size = bytes == NULL ? 0 : bytes->size;
  bool fits = true;
  for (size_t i = 0; i < size; ++i)
    fits = fits && bytes->bytes[i] == byte_at(got + i);
  expect(fits, "each byte in its place");
  expect(!has_ended, "nothing comes after the end");
  got += size;
  has_ended = size == 0;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void wait_until(const int* x, int wanted) {
  pthread_mutex_lock(&mutex);
  while (*x < wanted)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

static int deregistered = 0; /* guarded by mutex */

static void on_deregistered(pmix_status_t status, void* data) {
  (void)data;
  pthread_mutex_lock(&mutex);
  expect(status == PMIX_SUCCESS, "deregistered");
  ++deregistered;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static int client(const char* mode, size_t size) {
  pmix_proc_t me, source;
  expect(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS, "init");
  sleeps = strcmp(mode, "slow") == 0;
  PMIX_LOAD_PROCID(&source, WATCHED, 3);
  const pmix_status_t id = PMIx_IOF_pull(
    &source, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL);
  expect(id >= 0, "pull");
  const size_t enough = strcmp(mode, "stops") == 0 ? size / 2 : size;
  pthread_mutex_lock(&mutex);
  while (got < enough || (enough == size && !has_ended))
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  /* Without a callback libpmix 4.2.2 frees what it waits for. */
  expect(PMIx_IOF_deregister((size_t)id, NULL, 0, on_deregistered, NULL)
           == PMIX_SUCCESS,
         "deregister");
  wait_until(&deregistered, 1);
  expect(enough < size || got == size, "all bytes and no more");
  expect(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS, "finalize");
  return failures;
}

/* -- the host ---------------------------------------------------------------
 */

static int pulls = 0, stops = 0;             /* guarded by mutex */
static int calls = 0, on_way = 0, worst = 0; /* guarded by mutex */

static pmix_status_t iof_pull(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t infos[], size_t n,
                              pmix_iof_channel_t channels,
                              pmix_op_cbfunc_t done, void* data) {
  bool is_stop = false;
  for (size_t i = 0; i < n; ++i)
    is_stop = is_stop || strcmp(infos[i].key, PMIX_IOF_STOP) == 0;
  pthread_mutex_lock(&mutex);
  expect(nprocs == 1 && strcmp(procs[0].nspace, WATCHED) == 0
           && procs[0].rank == 3,
         "who is watched");
  expect((channels & PMIX_FWD_STDOUT_CHANNEL) != 0, "which channel");
  ++*(is_stop ? &stops : &pulls);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static void on_call(pmix_status_t status, void* data) {
  (void)data;
  pthread_mutex_lock(&mutex);
  expect(status == PMIX_SUCCESS, "it is taken");
  ++calls;
  --on_way;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

/* Delivers bytes, a few pieces ahead of the answers. */
static void deliver(size_t from, size_t until, bool is_end) {
  static char bytes[piece];
  pmix_proc_t source;
  pmix_info_t last;
  bool yes = true;
  PMIX_LOAD_PROCID(&source, WATCHED, 3);
  PMIX_INFO_LOAD(&last, PMIX_IOF_COMPLETE, &yes, PMIX_BOOL);
  while (from < until) {
    const size_t n = until - from < piece ? until - from : piece;
    for (size_t i = 0; i < n; ++i)
      bytes[i] = byte_at(from + i);
    const pmix_byte_object_t what = {bytes, n};
    pthread_mutex_lock(&mutex);
    while (on_way >= most_on_way)
      pthread_cond_wait(&changed, &mutex);
    ++on_way;
    if (worst < on_way)
      worst = on_way;
    pthread_mutex_unlock(&mutex);
    from += n;
    expect(PMIx_server_IOF_deliver(&source, PMIX_FWD_STDOUT_CHANNEL, &what,
                                   &last, is_end && from == until, on_call,
                                   NULL)
             == PMIX_SUCCESS,
           "deliver");
  }
}

struct answer {
  int calls;
  pmix_status_t status;
};

static void on_op(pmix_status_t status, void* data) {
  struct answer* x = data;
  pthread_mutex_lock(&mutex);
  x->status = status;
  ++x->calls;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void start(char* program, char* mode, char* size) {
  pmix_nspace_t nspace = NSPACE;
  pmix_proc_t proc;
  char hostname[256], *nodes, *procs;
  pmix_info_t info[2];
  struct answer job = {0, 0}, rank = {0, 0};
  gethostname(hostname, sizeof hostname);
  PMIx_generate_regex(hostname, &nodes);
  PMIx_generate_ppn("0", &procs);
  PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, procs, PMIX_STRING);
  PMIx_server_register_nspace(nspace, 1, info, 2, on_op, &job);
  wait_until(&job.calls, 1);
  PMIX_LOAD_PROCID(&proc, NSPACE, 0);
  PMIx_server_register_client(&proc, getuid(), getgid(), NULL, on_op, &rank);
  wait_until(&rank.calls, 1);
  expect(job.status == PMIX_SUCCESS && rank.status == PMIX_SUCCESS,
         "register the client");
  if (fork() == 0) {
    char** env = NULL;
    char* args[] = {program, "client", mode, size, NULL};
    if (PMIx_server_setup_fork(&proc, &env) == PMIX_SUCCESS)
      execve(program, args, env);
    _exit(3);
  }
}

/* The most memory that this process has had, in kilobytes. */
static long peak(void) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  long result = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    sscanf(line, "VmHWM: %ld", &result);
  if (file != NULL)
    fclose(file);
  return result;
}

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "client") == 0)
    return client(argv[2], strtoul(argv[3], NULL, 10));
  if (argc != 4)
    return 2;
  const size_t size = strtoul(argv[2], NULL, 10);
  pmix_server_module_t host;
  memset(&host, 0, sizeof host);
  host.iof_pull = iof_pull;
  expect(PMIx_server_init(&host, NULL, 0) == PMIX_SUCCESS, "init of a server");
  deliver(0, early, false);
  wait_until(&calls, 2);
  start(argv[3], argv[1], argv[2]);
  wait_until(&pulls, 1);
  deliver(early, size, true);
  int status;
  while (wait(&status) > 0)
    expect(status == 0, "the client has ended well");
  wait_until(&stops, 1);
  /* Who has stopped holds nobody up: all is answered. */
  pthread_mutex_lock(&mutex);
  while (on_way > 0)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  expect(PMIx_server_finalize() == PMIX_SUCCESS, "finalize");
  printf("io host: %d failures, %ld kB\n", failures, peak());
  return failures;
}
