/* Times PMIx operations as a program sees them. It knows pmix.h only, so the
 * same binary runs under every launcher; bench/run starts it under two of them.
 *
 *   pmix_bench MODE [--out FILE] [--rounds N] [--bytes N] [--seconds N]
 *              [--gate FIFO] [--parts N]
 *
 *   init     PMIx_Init and PMIx_Finalize, once
 *   fence    rounds of PMIx_Fence; with --bytes of PMIx_Put, PMIx_Commit and a
 *            PMIx_Fence that collects; with --gate it waits before the first
 *            and after the last of them, so that others can count; with --parts
 *            the job is cut in so many, each of which fences by itself
 *   get      first and repeated PMIx_Get of fenced data, PMIx_Get of data that
 *            was committed but not collected (direct modex); 2 or more
 *            processes
 *   publish  PMIx_Publish and PMIx_Lookup of the next process's data
 *   event    half of a round trip of PMIx_Notify_event between two
 *            local processes
 *   idle     stays connected and does nothing for --seconds; with --bytes, when
 *            each has posted so many and read what all have posted
 *
 * Rank 0 writes a line `NAME MICROSECONDS` per sample to FILE. A process that
 * hangs is ended by SIGALRM. */

#define _GNU_SOURCE

#include "samples.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  max_bytes = 1 << 20,
  max_members = 1024,
  warm_up_rounds = 5,
  repeated_gets = 20,
  max_life_seconds = 120,
  /* Two event codes of our own: codes below this are the user's. */
  ping = PMIX_EXTERNAL_ERR_BASE - 1,
  pong = PMIX_EXTERNAL_ERR_BASE - 2,
};

static int rounds = 100;
static size_t bytes;
static unsigned seconds = 5;
static const char* gate;
static uint32_t parts = 1;

/* -- helpers -------------------------------------------------------------- */

static pmix_proc_t peer(uint32_t rank) {
  pmix_proc_t result;
  PMIX_LOAD_PROCID(&result, self.nspace, rank);
  return result;
}

static void fence(bool collect) {
  pmix_proc_t everybody = peer(PMIX_RANK_WILDCARD);
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  check(PMIx_Fence(&everybody, 1, &info, collect ? 1 : 0), "PMIx_Fence");
}

/* As `fence`, of the processes of our part only. */
static void fence_part(bool collect) {
  static pmix_proc_t members[max_members];
  uint32_t mine = self.rank * parts / job_size;
  size_t n = 0;
  for (uint32_t rank = 0; rank < job_size && n < max_members; ++rank)
    if (rank * parts / job_size == mine)
      members[n++] = peer(rank);
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  check(PMIx_Fence(members, n, &info, collect ? 1 : 0), "PMIx_Fence");
}

/* Posts `size` bytes that differ from rank to rank under `key`. */
static void put(const char* key, size_t size) {
  static char data[max_bytes];
  memset(data, (int)(self.rank & 0x7f), size);
  pmix_value_t val;
  val.type = PMIX_BYTE_OBJECT;
  val.data.bo.bytes = data;
  val.data.bo.size = size;
  check(PMIx_Put(PMIX_GLOBAL, key, &val), "PMIx_Put");
}

static void get(const char* name, uint32_t rank, const char* key) {
  pmix_proc_t who = peer(rank);
  pmix_value_t* val = NULL;
  int64_t begin = now_ns();
  check(PMIx_Get(&who, key, NULL, 0, &val), "PMIx_Get");
  record_us(name, now_ns() - begin);
  if (val->type != PMIX_BYTE_OBJECT || val->data.bo.size == 0
      || val->data.bo.bytes[0] != (char)(rank & 0x7f))
    check(PMIX_ERR_BAD_PARAM, "the value of another process");
  PMIX_VALUE_RELEASE(val);
}

static void need_procs(uint32_t count) {
  if (job_size >= count)
    return;
  fprintf(stderr, "pmix_bench: this needs %u processes\n", count);
  exit(2);
}

/* -- modes ---------------------------------------------------------------- */

static void run_init(void) {
  /* main does the rest. */
  record("threads", (double)own_status("Threads:"));
  record("rss", (double)own_status("VmRSS:"));
}

/* What needs nobody else. */
static void run_local(void) {
  pmix_proc_t job = peer(PMIX_RANK_WILDCARD);
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    pmix_value_t* val = NULL;
    int64_t begin = now_ns();
    check(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &val), "the job's size");
    if (i >= 0)
      record_us("get_job", now_ns() - begin);
    PMIX_VALUE_RELEASE(val);
  }
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    put("bench.put", 64);
    if (i >= 0)
      record_us("put", now_ns() - begin);
  }
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    put("bench.put", 64);
    check(PMIx_Commit(), "PMIx_Commit");
    if (i >= 0)
      record_us("put_commit", now_ns() - begin);
  }
}

/* What a round trip costs that does nothing else. */
static void* echo(void* listener) {
  char byte[32];
  int fd = accept(*(int*)listener, NULL, NULL);
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  while (read(fd, byte, sizeof(byte)) == sizeof(byte)
         && write(fd, byte, sizeof(byte)) == sizeof(byte))
    ;
  close(fd);
  return NULL;
}

static void run_tcp(void) {
  struct sockaddr_in where = {.sin_family = AF_INET};
  socklen_t size = sizeof(where);
  char message[32] = "round trip";
  pthread_t thread;
  int on = 1;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&where, size) != 0
      || listen(listener, 1) != 0
      || getsockname(listener, (struct sockaddr*)&where, &size) != 0
      || pthread_create(&thread, NULL, echo, &listener) != 0
      || connect(fd, (struct sockaddr*)&where, size) != 0)
    check(PMIX_ERR_UNREACH, "a connection to ourselves");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    if (write(fd, message, sizeof(message)) != sizeof(message)
        || read(fd, message, sizeof(message)) != sizeof(message))
      check(PMIX_ERR_UNREACH, "a round trip");
    if (i >= 0)
      record_us("tcp", now_ns() - begin);
  }
  close(fd);
  pthread_join(thread, NULL);
  close(listener);
}

/* Where there is a gate, rank 0 writes a mark into its file of samples and waits for
 * somebody who opens the gate, a FIFO, and closes it; the others wait for rank 0. */
static void pass_gate(const char* mark) {
  if (gate == NULL)
    return;
  if (self.rank == 0) {
    char text[8];
    record(mark, 0);
    write_samples();
    int fd = open(gate, O_RDONLY);
    if (fd < 0) {
      perror(gate);
      exit(1);
    }
    while (read(fd, text, sizeof(text)) > 0)
      ;
    close(fd);
  }
  fence(false);
}

static void run_fence(void) {
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    if (i == 0)
      pass_gate("ready");
    int64_t begin = now_ns();
    if (bytes > 0) {
      put("bench.fence", bytes);
      check(PMIx_Commit(), "PMIx_Commit");
    }
    if (parts > 1)
      fence_part(bytes > 0);
    else
      fence(bytes > 0);
    if (i >= 0)
      record_us("fence", now_ns() - begin);
  }
  pass_gate("done");
}

static void run_get(void) {
  need_procs(2);
  size_t size = bytes > 0 ? bytes : 64;
  put("bench.fenced", size);
  check(PMIx_Commit(), "PMIx_Commit");
  fence(true);
  if (self.rank == 0) {
    for (uint32_t i = 1; i < job_size; ++i)
      get("get_first", i, "bench.fenced");
    for (int n = 0; n < repeated_gets; ++n)
      for (uint32_t i = 1; i < job_size; ++i)
        get("get_repeated", i, "bench.fenced");
  }
  fence(false);
  put("bench.direct", size);
  check(PMIx_Commit(), "PMIx_Commit");
  fence(false);
  if (self.rank == 0)
    for (uint32_t i = 1; i < job_size; ++i)
      get("get_direct", i, "bench.direct");
  /* Who has ended may have nothing to give any more. */
  fence(false);
}

static void key_of(pmix_key_t key, uint32_t rank, int round) {
  snprintf(key, PMIX_MAX_KEYLEN, "bench.published.%u.%d", rank, round);
}

static void run_publish(void) {
  for (int i = 0; i < rounds; ++i) {
    pmix_key_t key;
    key_of(key, self.rank, i);
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, key, &self.rank, PMIX_UINT32);
    int64_t begin = now_ns();
    check(PMIx_Publish(&info, 1), "PMIx_Publish");
    record_us("publish", now_ns() - begin);
  }
  fence(false);
  uint32_t next = (self.rank + 1) % job_size;
  for (int i = 0; i < rounds; ++i) {
    pmix_pdata_t found;
    PMIX_PDATA_CONSTRUCT(&found);
    key_of(found.key, next, i);
    int64_t begin = now_ns();
    check(PMIx_Lookup(&found, 1, NULL, 0), "PMIx_Lookup");
    record_us("lookup", now_ns() - begin);
    if (found.value.type != PMIX_UINT32 || found.value.data.uint32 != next)
      check(PMIX_ERR_BAD_PARAM, "published data");
    PMIX_PDATA_DESTRUCT(&found);
  }
}

/* -- events --------------------------------------------------------------- */

static pthread_mutex_t event_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t event_arrived = PTHREAD_COND_INITIALIZER;
static int events_heard;
static int64_t heard_ns;

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t* source,
                     pmix_info_t info[], size_t num_info, pmix_info_t* results,
                     size_t num_results,
                     pmix_event_notification_cbfunc_fn_t done, void* token) {
  int64_t now = now_ns();
  (void)id, (void)code, (void)source, (void)info, (void)num_info;
  (void)results, (void)num_results;
  pthread_mutex_lock(&event_mutex);
  heard_ns = now;
  ++events_heard;
  pthread_cond_signal(&event_arrived);
  pthread_mutex_unlock(&event_mutex);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, token);
}

static void await_event(int count) {
  pthread_mutex_lock(&event_mutex);
  while (events_heard < count)
    pthread_cond_wait(&event_arrived, &event_mutex);
  pthread_mutex_unlock(&event_mutex);
}

static void notify(pmix_status_t code) {
  pmix_info_t info;
  bool yes = true;
  PMIX_INFO_LOAD(&info, PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
  /* Open MPI 4.1's server brings events of wider ranges to nobody. */
  check(PMIx_Notify_event(code, &self, PMIX_RANGE_LOCAL, &info, 1, NULL, NULL),
        "PMIx_Notify_event");
}

static void run_event(void) {
  need_procs(2);
  pmix_status_t mine = self.rank == 0 ? pong : ping;
  if (self.rank < 2) {
    pmix_status_t id =
      PMIx_Register_event_handler(&mine, 1, NULL, 0, on_event, NULL, NULL);
    check(id < 0 ? id : PMIX_SUCCESS, "PMIx_Register_event_handler");
  }
  fence(false);
  for (int i = 1; i <= rounds && self.rank < 2; ++i) {
    if (self.rank == 1) {
      await_event(i);
      notify(pong);
      continue;
    }
    int64_t begin = now_ns();
    notify(ping);
    await_event(i);
    record_us("event", (heard_ns - begin) / 2);
  }
  fence(false);
}

static void run_idle(void) {
  if (bytes > 0) {
    put("bench.shared", bytes);
    check(PMIx_Commit(), "PMIx_Commit");
    fence(true);
    for (uint32_t i = 1; i < job_size; ++i)
      get("get_shared", (self.rank + i) % job_size, "bench.shared");
  }
  fence(false);
  record("ready", 0);
  write_samples();
  sleep(seconds);
  fence(false);
}

/* -- main ----------------------------------------------------------------- */

static const struct mode modes[] = {
  {"init", run_init},   {"local", run_local}, {"tcp", run_tcp},
  {"fence", run_fence}, {"get", run_get},     {"publish", run_publish},
  {"event", run_event}, {"idle", run_idle},
};

static int usage(void) {
  fprintf(stderr,
          "usage: pmix_bench init|local|tcp|fence|get|publish|event|idle "
          "[--out FILE] [--rounds N] [--bytes N] [--seconds N] "
          "[--gate FIFO] [--parts N]\n");
  return 2;
}

static bool parse(int argc, char** argv) {
  for (int i = 2; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--out") == 0)
      out_file = argv[i + 1];
    else if (strcmp(argv[i], "--rounds") == 0)
      rounds = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--bytes") == 0)
      bytes = (size_t)atol(argv[i + 1]);
    else if (strcmp(argv[i], "--seconds") == 0)
      seconds = (unsigned)atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--gate") == 0)
      gate = argv[i + 1];
    else if (strcmp(argv[i], "--parts") == 0)
      parts = (uint32_t)atoi(argv[i + 1]);
    else
      return false;
  }
  return argc % 2 == 0 && bytes <= max_bytes && parts > 0;
}

int main(int argc, char** argv) {
  void (*run)(void) = FIND_MODE(modes, argc > 1 ? argv[1] : NULL);
  if (run == NULL || !parse(argc, argv))
    return usage();
  alarm(max_life_seconds);
  int64_t begin = now_ns();
  check(PMIx_Init(&self, NULL, 0), "PMIx_Init");
  record_us("init", now_ns() - begin);
  if (run != run_init)
    ask_job_size();
  run();
  begin = now_ns();
  check(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
  record_us("finalize", now_ns() - begin);
  if (run == run_init)
    record("init_finalize",
           samples[0].figure + samples[num_samples - 1].figure);
  write_samples();
  return 0;
}
