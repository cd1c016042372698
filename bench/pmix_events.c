/* Times events as a program sees them. It knows pmix.h only, so the same binary
 * runs under every launcher; bench/events starts it under three of them.
 *
 *   pmix_events MODE [--out FILE] [--rounds N] [--events N] [--bytes N]
 *                    [--range N] [--seconds N]
 *
 *   hop       one way over two TCP connections through a process that passes
 *             bytes on; no PMIx
 *   wake      a thread that waits in epoll is woken by another; no PMIx
 *   self      an event for the process itself: one at a time, a burst, from
 *             inside of its handler
 *   chain     an event through ten handlers
 *   register  PMIx_Register_event_handler and its counterpart
 *   oneway    an event from one process to another; two processes on one node,
 *             the first and the last of several on several
 *   fanout    one process raises --events, all others hear them
 *   flood     the same from all processes to all others
 *   disturbed the same between the first two of three processes, at first
 *             alone, then while the third fills the server with connections
 *             that send nonsense
 *   late      events that are raised before anybody registers for them
 *   handlers  memory of --events handlers
 *   cached    raises --events that nobody wants, then waits for --seconds
 *
 * Rank 0 writes a line `NAME FIGURE` per sample to FILE. A process that hangs
 * is ended by SIGALRM. */

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pmix.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  max_samples = 1 << 16,
  warm_up_rounds = 5,
  max_life_seconds = 60,
  chain_length = 10,
  max_bytes = 1 << 16,
  /* Codes of our own: those below the base are the user's. */
  ping = PMIX_EXTERNAL_ERR_BASE - 1,
  pong = PMIX_EXTERNAL_ERR_BASE - 2,
  finished = PMIX_EXTERNAL_ERR_BASE - 3,
  unwanted = PMIX_EXTERNAL_ERR_BASE - 4,
  first_free = PMIX_EXTERNAL_ERR_BASE - 100,
};

static const char sent_key[] = "bench.sent";
static const char number_key[] = "bench.number";

struct sample {
  const char* name;
  double figure;
};

static struct sample samples[max_samples];
static size_t num_samples;

static const char* out_file;
static int rounds = 100;
static int events = 1000;
static int bytes;
static pmix_data_range_t range = PMIX_RANGE_LOCAL;
static unsigned seconds = 5;

static pmix_proc_t self;
static uint32_t job_size = 1;

/* -- helpers -------------------------------------------------------------- */

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void record(const char* name, double figure) {
  if (num_samples < max_samples)
    samples[num_samples++] = (struct sample){name, figure};
}

static void record_us(const char* name, int64_t elapsed_ns) {
  record(name, (double)elapsed_ns / 1000.0);
}

static void check(pmix_status_t status, const char* what) {
  if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED)
    return;
  fprintf(stderr, "pmix_events: rank %u: %s: %s\n", self.rank, what,
          PMIx_Error_string(status));
  exit(1);
}

static void write_samples(void) {
  if (self.rank != 0 || out_file == NULL)
    return;
  FILE* out = fopen(out_file, "w");
  if (out == NULL) {
    perror(out_file);
    exit(1);
  }
  for (size_t i = 0; i < num_samples; ++i)
    fprintf(out, "%s %.3f\n", samples[i].name, samples[i].figure);
  fclose(out);
}

static void fence(void) {
  pmix_proc_t everybody;
  PMIX_LOAD_PROCID(&everybody, self.nspace, PMIX_RANK_WILDCARD);
  check(PMIx_Fence(&everybody, 1, NULL, 0), "PMIx_Fence");
}

static void ask_job_size(void) {
  pmix_proc_t job;
  PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
  pmix_value_t* val = NULL;
  check(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &val), "the job's size");
  job_size = val->data.uint32;
  PMIX_VALUE_RELEASE(val);
}

static long status_kib(const char* label) {
  char line[256];
  long result = 0;
  FILE* in = fopen("/proc/self/status", "r");
  while (in != NULL && fgets(line, sizeof(line), in) != NULL)
    if (strncmp(line, label, strlen(label)) == 0)
      result = atol(line + strlen(label));
  if (in != NULL)
    fclose(in);
  return result;
}

/* -- waiting -------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int heard;
static int awaited;

/* Wakes nobody before the last one. */
static void hear(void) {
  pthread_mutex_lock(&mutex);
  if (++heard == awaited)
    pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}

static void await_heard(int count) {
  pthread_mutex_lock(&mutex);
  awaited = count;
  while (heard < count)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

/* Whether `count` are heard in a while. */
static bool await_some(int count, int limit_seconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += limit_seconds;
  pthread_mutex_lock(&mutex);
  awaited = count;
  int failure = 0;
  while (heard < count && failure == 0)
    failure = pthread_cond_timedwait(&changed, &mutex, &until);
  bool result = heard >= count;
  pthread_mutex_unlock(&mutex);
  return result;
}

/* -- raising and hearing --------------------------------------------------- */

static void notify(pmix_status_t code, pmix_data_range_t to, uint64_t number) {
  static char text[max_bytes];
  pmix_info_t infos[4];
  bool yes = true;
  uint64_t sent = (uint64_t)now_ns();
  size_t n = 0;
  PMIX_INFO_LOAD(&infos[n++], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
  PMIX_INFO_LOAD(&infos[n++], sent_key, &sent, PMIX_UINT64);
  PMIX_INFO_LOAD(&infos[n++], number_key, &number, PMIX_UINT64);
  if (bytes > 0) {
    memset(text, 'x', (size_t)bytes - 1);
    PMIX_INFO_LOAD(&infos[n++], "bench.text", text, PMIX_STRING);
  }
  check(PMIx_Notify_event(code, &self, to, infos, n, NULL, NULL),
        "PMIx_Notify_event");
  if (bytes > 0)
    PMIX_INFO_DESTRUCT(&infos[n - 1]);
}

static uint64_t number_in(const pmix_info_t* infos, size_t n, const char* key) {
  for (size_t i = 0; i < n; ++i)
    if (strcmp(infos[i].key, key) == 0)
      return infos[i].value.data.uint64;
  return 0;
}

#define UNUSED __attribute__((unused))
#define HANDLER(name)                                                          \
  static void name(                                                            \
    size_t id UNUSED, pmix_status_t code UNUSED,                               \
    const pmix_proc_t* source UNUSED, pmix_info_t infos[] UNUSED,              \
    size_t n UNUSED, pmix_info_t* results UNUSED, size_t nresults UNUSED,      \
    pmix_event_notification_cbfunc_fn_t done UNUSED, void* token UNUSED)

static void complete(pmix_event_notification_cbfunc_fn_t done, void* token,
                     pmix_status_t status) {
  if (done != NULL)
    done(status, NULL, 0, NULL, NULL, token);
}

static size_t add(pmix_status_t code, pmix_notification_fn_t handler) {
  pmix_status_t id =
    PMIx_Register_event_handler(&code, 1, NULL, 0, handler, NULL, NULL);
  check(id < 0 ? id : PMIX_SUCCESS, "PMIx_Register_event_handler");
  return (size_t)id;
}

/* -- without PMIx ---------------------------------------------------------- */

static int connection(int* other) {
  struct sockaddr_in where = {.sin_family = AF_INET};
  socklen_t size = sizeof(where);
  int on = 1;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&where, size) != 0
      || listen(listener, 1) != 0
      || getsockname(listener, (struct sockaddr*)&where, &size) != 0
      || connect(fd, (struct sockaddr*)&where, size) != 0
      || (*other = accept(listener, NULL, NULL)) < 0)
    check(PMIX_ERR_UNREACH, "a connection to ourselves");
  close(listener);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(*other, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

/* As a server does: waits, reads, writes. */
static void pass_on(int from, int to) {
  char message[256];
  int poll = epoll_create1(0);
  struct epoll_event interest = {.events = EPOLLIN};
  epoll_ctl(poll, EPOLL_CTL_ADD, from, &interest);
  for (;;) {
    epoll_wait(poll, &interest, 1, -1);
    ssize_t got = read(from, message, sizeof(message));
    if (got <= 0 || write(to, message, (size_t)got) != got)
      _exit(0);
  }
}

static int receiver_fd;

static void* receive(void* unused) {
  int64_t sent;
  int poll = epoll_create1(0);
  struct epoll_event interest = {.events = EPOLLIN};
  epoll_ctl(poll, EPOLL_CTL_ADD, receiver_fd, &interest);
  for (;;) {
    char message[256];
    epoll_wait(poll, &interest, 1, -1);
    if (read(receiver_fd, message, sizeof(message)) != sizeof(message))
      return unused;
    memcpy(&sent, message, sizeof(sent));
    record_us("hop", now_ns() - sent);
    hear();
  }
}

static void run_hop(void) {
  int from, to;
  int fd = connection(&from);
  int out = connection(&to);
  receiver_fd = to;
  pid_t child = fork();
  if (child == 0) {
    close(fd);
    close(to);
    pass_on(from, out);
  }
  close(from);
  close(out);
  pthread_t thread;
  pthread_create(&thread, NULL, receive, NULL);
  char message[256] = {0};
  for (int i = 1; i <= rounds; ++i) {
    int64_t begin = now_ns();
    memcpy(message, &begin, sizeof(begin));
    if (write(fd, message, sizeof(message)) != sizeof(message))
      check(PMIX_ERR_UNREACH, "a message");
    await_heard(i);
  }
  shutdown(fd, SHUT_RDWR);
  pthread_join(thread, NULL);
}

static int wake_fd;
static _Atomic int64_t woken_by;

static void* sleeper(void* unused) {
  int poll = epoll_create1(0);
  struct epoll_event interest = {.events = EPOLLIN};
  epoll_ctl(poll, EPOLL_CTL_ADD, wake_fd, &interest);
  for (;;) {
    uint64_t count;
    epoll_wait(poll, &interest, 1, -1);
    if (read(wake_fd, &count, sizeof(count)) != sizeof(count))
      return unused;
    int64_t begin = atomic_load(&woken_by);
    if (begin == 0)
      return unused;
    record_us("wake", now_ns() - begin);
    hear();
  }
}

static void run_wake(void) {
  pthread_t thread;
  wake_fd = eventfd(0, 0);
  pthread_create(&thread, NULL, sleeper, NULL);
  uint64_t one = 1;
  for (int i = 1; i <= rounds + 1; ++i) {
    atomic_store(&woken_by, i <= rounds ? now_ns() : 0);
    if (write(wake_fd, &one, sizeof(one)) != sizeof(one))
      check(PMIX_ERROR, "a wake-up");
    if (i <= rounds)
      await_heard(i);
  }
  pthread_join(thread, NULL);
}

/* -- one process ------------------------------------------------------------
 */

static int64_t heard_ns;

HANDLER(on_self) {
  heard_ns = now_ns();
  complete(done, token, PMIX_EVENT_ACTION_COMPLETE);
  hear();
}

static int left;

/* Raises the next event itself. */
HANDLER(on_inside) {
  heard_ns = now_ns();
  complete(done, token, PMIX_EVENT_ACTION_COMPLETE);
  if (--left > 0)
    notify(pong, PMIX_RANGE_PROC_LOCAL, 0);
  else
    hear();
}

static void run_self(void) {
  add(ping, on_self);
  add(pong, on_inside);
  int count = 0;
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    notify(ping, PMIX_RANGE_PROC_LOCAL, 0);
    await_heard(++count);
    if (i >= 0)
      record_us("self", heard_ns - begin);
  }
  for (int i = 0; i < 10; ++i) {
    int64_t begin = now_ns();
    for (int k = 0; k < events; ++k)
      notify(ping, PMIX_RANGE_PROC_LOCAL, 0);
    count += events;
    await_heard(count);
    record_us("self_burst", (heard_ns - begin) / events);
  }
  for (int i = 0; i < 10; ++i) {
    left = events;
    int64_t begin = now_ns();
    notify(pong, PMIX_RANGE_PROC_LOCAL, 0);
    await_heard(++count);
    record_us("self_inside", (heard_ns - begin) / events);
  }
}

static int64_t first_ns;

HANDLER(on_first) {
  first_ns = now_ns();
  complete(done, token, PMIX_EVENT_NO_ACTION_TAKEN);
}

HANDLER(on_middle) {
  complete(done, token, PMIX_EVENT_NO_ACTION_TAKEN);
}

static void run_chain(void) {
  pmix_info_t place;
  bool yes = true;
  pmix_status_t code = ping;
  PMIX_INFO_LOAD(&place, PMIX_EVENT_HDLR_FIRST, &yes, PMIX_BOOL);
  PMIx_Register_event_handler(&code, 1, &place, 1, on_first, NULL, NULL);
  for (int i = 2; i < chain_length; ++i)
    add(ping, on_middle);
  PMIX_INFO_LOAD(&place, PMIX_EVENT_HDLR_LAST, &yes, PMIX_BOOL);
  PMIx_Register_event_handler(&code, 1, &place, 1, on_self, NULL, NULL);
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    notify(ping, PMIX_RANGE_PROC_LOCAL, 0);
    await_heard(i + warm_up_rounds + 1);
    if (i < 0)
      continue;
    record_us("chain", heard_ns - begin);
    record_us("chain_alone", heard_ns - first_ns);
  }
}

static void run_register(void) {
  for (int i = 0; i < rounds; ++i) {
    int64_t begin = now_ns();
    size_t id = add(first_free - i, on_self);
    record_us("register", now_ns() - begin);
    begin = now_ns();
    check(PMIx_Deregister_event_handler(id, NULL, NULL), "deregister");
    record_us("deregister", now_ns() - begin);
  }
}

static void run_handlers(void) {
  add(ping, on_self);
  long before = status_kib("VmRSS:");
  for (int i = 0; i < events; ++i)
    add(ping, on_self);
  record("handler_bytes",
         (double)(status_kib("VmRSS:") - before) * 1024.0 / events);
}

/* -- several processes ------------------------------------------------------
 */

HANDLER(on_ping) {
  complete(done, token, PMIX_EVENT_ACTION_COMPLETE);
  hear();
}

static int64_t passed_ns;

HANDLER(on_pong) {
  passed_ns = now_ns() - (int64_t)number_in(infos, n, sent_key);
  complete(done, token, PMIX_EVENT_ACTION_COMPLETE);
  hear();
}

/* Rounds of `oneway` between two processes. */
static int rounds_done;

static void play(const char* name, uint32_t last) {
  for (int i = 1; i <= rounds; ++i) {
    ++rounds_done;
    if (self.rank == 0) {
      notify(ping, range, 0);
      await_heard(rounds_done);
      if (i > warm_up_rounds)
        record_us(name, passed_ns);
    } else if (self.rank == last) {
      await_heard(rounds_done);
      notify(pong, range, 0);
    }
  }
}

static void run_oneway(void) {
  const uint32_t last = job_size - 1;
  if (self.rank == 0)
    add(pong, on_pong);
  else if (self.rank == last)
    add(ping, on_ping);
  fence();
  play("oneway", last);
  fence();
}

static atomic_bool is_over;

HANDLER(on_over) {
  atomic_store(&is_over, true);
  complete(done, token, PMIX_EVENT_ACTION_COMPLETE);
}

/* The port of our server. */
static struct sockaddr_in server_address(void) {
  struct sockaddr_in where = {.sin_family = AF_INET};
  const char* uri = getenv("PMIX_SERVER_URI41");
  const char* address = uri != NULL ? strstr(uri, "tcp4://") : NULL;
  char host[32];
  unsigned port = 0;
  if (address == NULL
      || sscanf(address, "tcp4://%31[0-9.]:%u", host, &port) != 2
      || inet_pton(AF_INET, host, &where.sin_addr) != 1)
    check(PMIX_ERR_UNREACH, "PMIX_SERVER_URI41");
  where.sin_port = htons((uint16_t)port);
  return where;
}

/* Connects, sends nonsense until the server closes, and again. */
static void send_nonsense(void) {
  const struct sockaddr_in where = server_address();
  static char nonsense[1 << 16];
  for (size_t i = 0; i < sizeof(nonsense); ++i)
    nonsense[i] = (char)rand();
  double connections = 0;
  while (!atomic_load(&is_over)) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr*)&where, sizeof(where)) == 0) {
      ++connections;
      while (!atomic_load(&is_over)
             && send(fd, nonsense, sizeof(nonsense), MSG_NOSIGNAL) > 0)
        ;
    }
    close(fd);
  }
  fprintf(stderr, "nonsense over %.0f connections\n", connections);
}

static void run_disturbed(void) {
  if (self.rank == 0)
    add(pong, on_pong);
  else if (self.rank == 1)
    add(ping, on_ping);
  else
    add(finished, on_over);
  fence();
  play("calm", 1);
  fence();
  if (self.rank > 1)
    send_nonsense();
  play("disturbed", 1);
  if (self.rank == 0)
    notify(finished, range, 0);
  fence();
}

static atomic_int got;
static atomic_bool in_order = true;
static int64_t last_heard_ns;
static uint64_t next_of[1024];

HANDLER(on_flood) {
  uint64_t number = number_in(infos, n, number_key);
  uint64_t* next = &next_of[source->rank % 1024];
  if (number != *next)
    atomic_store(&in_order, false);
  *next = number + 1;
  last_heard_ns = now_ns();
  ++got;
  complete(done, token, PMIX_EVENT_ACTION_COMPLETE);
  hear();
}

static atomic_int num_finished;
static _Atomic int64_t last_finished;

HANDLER(on_finished) {
  int64_t when = (int64_t)number_in(infos, n, number_key);
  if (when > atomic_load(&last_finished))
    atomic_store(&last_finished, when);
  complete(done, token, PMIX_EVENT_ACTION_COMPLETE);
  ++num_finished;
}

/* All ranks below `senders` raise events; everybody hears all of them, but for
 * a process that is alone in raising them. */
static void flood(const char* name, uint32_t senders) {
  const bool hears = senders > 1 || self.rank > 0;
  const int expected = hears ? (int)senders * events : 0;
  if (hears)
    add(ping, on_flood);
  if (self.rank == 0)
    add(finished, on_finished);
  fence();
  int64_t begin = now_ns();
  if (self.rank < senders)
    for (int i = 0; i < events; ++i)
      notify(ping, range, (uint64_t)i);
  if (expected > 0 && !await_some(expected, 30))
    fprintf(stderr, "pmix_events: rank %u has %d of %d events\n", self.rank,
            atomic_load(&got), expected);
  if (!atomic_load(&in_order))
    fprintf(stderr, "pmix_events: rank %u: events out of order\n", self.rank);
  const bool is_whole = got == expected && in_order;
  if (self.rank > 0)
    notify(finished, range, is_whole ? (uint64_t)last_heard_ns : 0);
  while (self.rank == 0 && num_finished < (int)job_size - 1)
    usleep(1000);
  int64_t end = atomic_load(&last_finished);
  if (last_heard_ns > end)
    end = last_heard_ns;
  const uint32_t hearers = senders > 1 ? job_size : job_size - 1;
  const double deliveries = (double)events * senders * hearers;
  if (is_whole && end > begin)
    record(name, deliveries * 1e9 / (double)(end - begin));
  fence();
}

static void run_fanout(void) {
  flood("fanout", 1);
}

static void run_flood(void) {
  flood("flood", job_size);
}

static void run_late(void) {
  if (self.rank == 0)
    for (int i = 0; i < events; ++i)
      notify(ping, range, (uint64_t)i);
  fence();
  if (self.rank == 1) {
    int64_t begin = now_ns();
    add(ping, on_flood);
    await_some(events, 3);
    notify(finished, range, (uint64_t)(last_heard_ns - begin));
    fprintf(stderr, "late %d %d\n", atomic_load(&got), atomic_load(&in_order));
    /* By way of a file: a peer may lose that event, too. */
    if (out_file != NULL) {
      FILE* out = fopen(out_file, "w");
      fprintf(out, "late_heard %d\nlate_in_order %d\nlate_us %.1f\n",
              atomic_load(&got), atomic_load(&in_order) ? 1 : 0,
              (double)(last_heard_ns - begin) / 1000.0);
      fclose(out);
    }
  }
  fence();
  out_file = NULL;
}

static void run_cached(void) {
  if (self.rank == 0)
    for (int i = 0; i < events; ++i)
      notify(unwanted, range, (uint64_t)i);
  fence();
  record("ready", 0);
  write_samples();
  sleep(seconds);
  fence();
}

/* -- main ----------------------------------------------------------------- */

static const struct {
  const char* name;
  void (*run)(void);
} modes[] = {
  {"hop", run_hop},           {"wake", run_wake},
  {"self", run_self},         {"chain", run_chain},
  {"register", run_register}, {"handlers", run_handlers},
  {"oneway", run_oneway},     {"fanout", run_fanout},
  {"flood", run_flood},       {"late", run_late},
  {"cached", run_cached},     {"disturbed", run_disturbed},
};

static void (*find_mode(const char* name))(void) {
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i)
    if (strcmp(modes[i].name, name) == 0)
      return modes[i].run;
  return NULL;
}

static bool parse(int argc, char** argv) {
  for (int i = 2; i + 1 < argc; i += 2) {
    const char* value = argv[i + 1];
    if (strcmp(argv[i], "--out") == 0)
      out_file = value;
    else if (strcmp(argv[i], "--rounds") == 0)
      rounds = atoi(value);
    else if (strcmp(argv[i], "--events") == 0)
      events = atoi(value);
    else if (strcmp(argv[i], "--bytes") == 0)
      bytes = atoi(value);
    else if (strcmp(argv[i], "--range") == 0)
      range = (pmix_data_range_t)atoi(value);
    else if (strcmp(argv[i], "--seconds") == 0)
      seconds = (unsigned)atoi(value);
    else
      return false;
  }
  return argc % 2 == 0 && rounds > 0 && events > 0 && bytes >= 0
         && bytes < max_bytes;
}

int main(int argc, char** argv) {
  void (*run)(void) = argc > 1 ? find_mode(argv[1]) : NULL;
  if (run == NULL || !parse(argc, argv)) {
    fprintf(stderr,
            "usage: pmix_events hop|wake|self|chain|register|handlers|oneway|"
            "fanout|flood|late|cached|disturbed [--out FILE] [--rounds N] "
            "[--events N] "
            "[--bytes N] [--range N] [--seconds N]\n");
    return 2;
  }
  alarm(max_life_seconds);
  check(PMIx_Init(&self, NULL, 0), "PMIx_Init");
  ask_job_size();
  run();
  check(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
  write_samples();
  return 0;
}
