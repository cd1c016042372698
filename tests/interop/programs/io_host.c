/* What a resource manager in C delivers to a client of its server, and what it
 * gets from it.
 *
 *   io_host MODE SIZE CLIENT    CLIENT: this program, for any libpmix
 *   CLIENT client MODE SIZE     what the server starts
 *
 * `lists` asks first which streams there are, and then is as `fast`.
 * SIZE bytes of a stream are delivered, the first of them before anybody asks.
 * MODE: `fast` takes them as they come, `slow` sleeps first, `stops` wants no
 * more in the middle. `pushes`: the client pushes as many, and is told to stop
 * in the middle, and to go on. `file`, `directory`: they go to files; CLIENT is
 * their name. */

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

/* Libraries of 4.2 have none; their clients need none. */
pmix_status_t PMIx_server_IOF_flow_control(const pmix_proc_t* source,
                                           pmix_iof_channel_t channel,
                                           bool xoff,
                                           const pmix_info_t directives[],
                                           size_t ndirs, pmix_op_cbfunc_t done,
                                           void* data) __attribute__((weak));

#define NSPACE "watcher"
#define WATCHED "watched"

enum {
  early = 100000,
  piece = 65536,
  most_on_way = 16,

  /* What may reach the host after it has said stop: what is on its way. */
  most_after_stop = 2 << 20
};

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

static int pushed = 0; /* guarded by mutex */

static void on_pushed(pmix_status_t status, void* data) {
  free(data);
  pthread_mutex_lock(&mutex);
  expect(status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED,
         "pushed");
  ++pushed;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

/* Pushes a few pieces ahead of the answers, then the end. */
static int pusher(size_t size) {
  pmix_proc_t me, target;
  expect(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS, "init");
  PMIX_LOAD_PROCID(&target, WATCHED, 3);
  int count = 0;
  size_t at = 0, n = 1;
  for (; n > 0; at += n, ++count) {
    n = size - at < piece ? size - at : piece;
    char* bytes = malloc(n + 1);
    for (size_t i = 0; i < n; ++i)
      bytes[i] = byte_at(at + i);
    const pmix_byte_object_t what = {n == 0 ? NULL : bytes, n};
    const pmix_status_t code = PMIx_IOF_push(
      &target, 1, (pmix_byte_object_t*)&what, NULL, 0, on_pushed, bytes);
    if (code == PMIX_OPERATION_SUCCEEDED)
      on_pushed(PMIX_SUCCESS, bytes);
    else
      expect(code == PMIX_SUCCESS, "push");
    pthread_mutex_lock(&mutex);
    while (pushed + most_on_way <= count)
      pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
  }
  wait_until(&pushed, count);
  expect(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS, "finalize");
  return failures;
}

/* What the server says of the stream, as `troupe io list` asks it: how far it
 * is. */
static void list_streams(void) {
  pmix_query_t query;
  pmix_status_t code;
  pmix_info_t* infos = NULL;
  size_t n = 0;
  PMIX_QUERY_CONSTRUCT(&query);
  PMIX_ARGV_APPEND(code, query.keys, "troupe.iof.streams");
  expect(code == PMIX_SUCCESS, "a query");
  expect(PMIx_Query_info(&query, 1, &infos, &n) == PMIX_SUCCESS && n == 1
           && infos[0].value.type == PMIX_DATA_ARRAY,
         "streams are listed");
  if (failures > 0)
    return;
  const pmix_data_array_t* items = infos[0].value.data.darray;
  expect(items->size == 1, "one stream");
  const pmix_data_array_t* fields =
    ((const pmix_info_t*)items->array)->value.data.darray;
  const pmix_info_t* x = fields->array;
  int found = 0;
  for (size_t i = 0; i < fields->size; ++i) {
    if (strcmp(x[i].key, "nspace") == 0)
      found += strcmp(x[i].value.data.string, WATCHED) == 0;
    else if (strcmp(x[i].key, "stream") == 0)
      found += strcmp(x[i].value.data.string, "stdout") == 0;
    else if (strcmp(x[i].key, "end") == 0)
      found += x[i].value.data.uint64 == early;
  }
  expect(found == 3, "of the process, and as long as it is");
  PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&query);
}

static int client(const char* mode, size_t size) {
  pmix_proc_t me, source;
  if (strcmp(mode, "pushes") == 0)
    return pusher(size);
  expect(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS, "init");
  sleeps = strcmp(mode, "slow") == 0;
  if (strcmp(mode, "lists") == 0)
    list_streams();
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

/* Delivers bytes, a few pieces ahead of the answers. What is said of them that
 * nobody acts upon hinders nothing, and what is required is done. */
static void deliver(size_t from, size_t until, bool is_end) {
  static char bytes[piece];
  pmix_proc_t source;
  pmix_info_t said[2];
  bool yes = true;
  PMIX_LOAD_PROCID(&source, WATCHED, 3);
  PMIX_INFO_LOAD(&said[0], PMIX_IOF_TAG_OUTPUT, &yes, PMIX_BOOL);
  PMIX_INFO_LOAD(&said[1], PMIX_IOF_COMPLETE, &yes, PMIX_BOOL);
  PMIX_INFO_REQUIRED(&said[1]);
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
                                   said, is_end && from == until ? 2 : 1,
                                   on_call, NULL)
             == PMIX_SUCCESS,
           "deliver");
  }
}

/* What is required and not done is refused, and none of the bytes is taken: the
 * client would find them. */
static void require(void) {
  static const char* const keys[] = {
    PMIX_IOF_TAG_OUTPUT,  PMIX_IOF_RANK_OUTPUT,  PMIX_IOF_XML_OUTPUT,
    PMIX_IOF_OUTPUT_RAW,  PMIX_IOF_LOCAL_OUTPUT, PMIX_IOF_TIMESTAMP_OUTPUT,
    "nobody.knows.of.it",
  };
  char text[] = "not taken";
  const pmix_byte_object_t what = {text, sizeof text};
  pmix_proc_t source;
  bool yes = true;
  PMIX_LOAD_PROCID(&source, WATCHED, 3);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, keys[i], &yes, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&info);
    expect(PMIx_server_IOF_deliver(&source, PMIX_FWD_STDOUT_CHANNEL, &what,
                                   &info, 1, on_call, NULL)
             == PMIX_ERR_NOT_SUPPORTED,
           keys[i]);
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

static size_t input = 0;        /* guarded by mutex */
static int is_input_over = 0;   /* guarded by mutex */
static size_t reaches_host = 0; /* guarded by mutex: when it is told to stop */
static int has_stopped_pusher = 0; /* guarded by mutex */

static pmix_status_t push_stdin(const pmix_proc_t* source,
                                const pmix_proc_t targets[], size_t ntargets,
                                const pmix_info_t infos[], size_t n,
                                const pmix_byte_object_t* bytes,
                                pmix_op_cbfunc_t done, void* data) {
  (void)infos, (void)n;
  pthread_mutex_lock(&mutex);
  expect(strcmp(source->nspace, NSPACE) == 0 && source->rank == 0,
         "who pushes");
  expect(ntargets == 1 && strcmp(targets[0].nspace, WATCHED) == 0
           && targets[0].rank == 3,
         "whose input it is");
  const size_t size = bytes == NULL ? 0 : bytes->size;
  bool fits = true;
  for (size_t i = 0; i < size; ++i)
    fits = fits && bytes->bytes[i] == byte_at(input + i);
  expect(fits, "each byte of the input in its place");
  expect(!is_input_over, "nothing is pushed after the end");
  input += size;
  is_input_over = size == 0;
  const bool is_time =
    reaches_host > 0 && input >= reaches_host && !has_stopped_pusher;
  has_stopped_pusher = has_stopped_pusher || is_time;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  if (is_time)
    expect(PMIx_server_IOF_flow_control(source, PMIX_FWD_STDIN_CHANNEL, true,
                                        NULL, 0, NULL, NULL)
             == PMIX_OPERATION_SUCCEEDED,
           "stop");
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static size_t input_so_far(void) {
  pthread_mutex_lock(&mutex);
  const size_t result = input;
  pthread_mutex_unlock(&mutex);
  return result;
}

/* The client pushes, and stands still as long as it is told to. */
static void control(size_t size) {
  pmix_proc_t source;
  PMIX_LOAD_PROCID(&source, NSPACE, 0);
  wait_until(&has_stopped_pusher, 1);
  /* What is on its way comes; then nothing does. */
  size_t before = 0, after = input_so_far();
  for (int i = 0; i < 100 && before != after; ++i) {
    before = after;
    usleep(200000);
    after = input_so_far();
  }
  usleep(500000);
  expect(input_so_far() == after, "whoever is told to stop stands still");
  expect(after < reaches_host + most_after_stop, "and soon");
  expect(after < size, "in the middle");
  expect(PMIx_server_IOF_flow_control(&source, PMIX_FWD_STDIN_CHANNEL, false,
                                      NULL, 0, NULL, NULL)
           == PMIX_OPERATION_SUCCEEDED,
         "go on");
  wait_until(&is_input_over, 1);
  expect(input_so_far() == size, "all input comes, and no more");
}

/* Names the nodes and processes of a job, and how its output is kept. */
static void add_job(char* nspace, char* ranks, const char* key, char* name) {
  char hostname[256], *nodes, *procs;
  pmix_info_t info[4];
  uint32_t job_size = 12;
  struct answer job = {0, 0};
  gethostname(hostname, sizeof hostname);
  PMIx_generate_regex(hostname, &nodes);
  PMIx_generate_ppn(ranks, &procs);
  PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, procs, PMIX_STRING);
  PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &job_size, PMIX_UINT32);
  if (key != NULL)
    PMIX_INFO_LOAD(&info[3], key, name, PMIX_STRING);
  PMIx_server_register_nspace(nspace, 1, info, key != NULL ? 4 : 2, on_op,
                              &job);
  wait_until(&job.calls, 1);
  expect(job.status == PMIX_SUCCESS, "register the job");
}

/* Output goes to a file, and is there when it has been taken. */
static void keep(const char* mode, size_t size, char* name) {
  char path[4096], ranks[] = "0,1,2,3", nspace[] = WATCHED;
  const bool is_file = strcmp(mode, "file") == 0;
  add_job(nspace, ranks,
          is_file ? PMIX_IOF_OUTPUT_TO_FILE : PMIX_IOF_OUTPUT_TO_DIRECTORY,
          name);
  deliver(0, size, true);
  pthread_mutex_lock(&mutex);
  while (on_way > 0)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  snprintf(path, sizeof path,
           is_file ? "%s." WATCHED ".03.out" : "%s/" WATCHED "/rank.03/stdout",
           name);
  FILE* file = fopen(path, "r");
  expect(file != NULL, path);
  size_t at = 0;
  for (int c; file != NULL && (c = getc(file)) != EOF; ++at)
    if (c != byte_at(at))
      break;
  expect(at == size, "the file has each byte in its place");
}

static void start(char* program, char* mode, char* size) {
  pmix_nspace_t nspace = NSPACE;
  pmix_proc_t proc;
  char ranks[] = "0";
  struct answer rank = {0, 0};
  add_job(nspace, ranks, NULL, NULL);
  PMIX_LOAD_PROCID(&proc, NSPACE, 0);
  PMIx_server_register_client(&proc, getuid(), getgid(), NULL, on_op, &rank);
  wait_until(&rank.calls, 1);
  expect(rank.status == PMIX_SUCCESS, "register the client");
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
  const char* mode = argv[1];
  const bool is_kept =
    strcmp(mode, "file") == 0 || strcmp(mode, "directory") == 0;
  const bool is_pushed = strcmp(mode, "pushes") == 0;
  host.iof_pull = iof_pull;
  host.push_stdin = push_stdin;
  expect(PMIx_server_init(&host, NULL, 0) == PMIX_SUCCESS, "init of a server");
  require();
  if (is_kept) {
    keep(mode, size, argv[3]);
  } else if (is_pushed) {
    reaches_host = size / 2;
    start(argv[3], argv[1], argv[2]);
    control(size);
  } else {
    deliver(0, early, false);
    wait_until(&calls, 2);
    start(argv[3], argv[1], argv[2]);
    wait_until(&pulls, 1);
    deliver(early, size, true);
  }
  int status;
  while (wait(&status) > 0)
    expect(status == 0, "the client has ended well");
  if (!is_kept && !is_pushed)
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
