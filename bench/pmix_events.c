/* Times events as programs see them. It knows pmix.h only, so the same binary
 * runs under every launcher; bench/events starts it under three of them.
 *
 *   pmix_events MODE [--out FILE] [--rounds N] [--events N] [--bytes N]
 *                    [--range N] [--seconds N]
 *
 *   oneway    an event from one process to another; two processes on one node,
 *             the first and the last of several on several
 *   fanout    one process raises --events, all others hear them
 *   flood     the same from all processes to all others
 *   disturbed the same between the first two of three processes, at first
 *             alone, then while the third fills the server with connections
 *             that send nonsense
 *   late      events that are raised before anybody registers for them
 *   cached    raises --events that nobody wants, then waits for --seconds
 *
 * Rank 0 writes a line `NAME FIGURE` per sample to FILE. A process that hangs
 * is ended by SIGALRM. pmix_events_alone has what one process does alone. */

#define _GNU_SOURCE

#include "event_calls.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <sys/socket.h>

static void fence(void) {
  pmix_proc_t everybody;
  PMIX_LOAD_PROCID(&everybody, self.nspace, PMIX_RANK_WILDCARD);
  check(PMIx_Fence(&everybody, 1, NULL, 0), "PMIx_Fence");
}

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

int main(int argc, char** argv) {
  static const struct mode modes[] = {
    {"oneway", run_oneway}, {"fanout", run_fanout},
    {"flood", run_flood},   {"late", run_late},
    {"cached", run_cached}, {"disturbed", run_disturbed},
  };
  return run_events(argc, argv, modes, sizeof(modes) / sizeof(modes[0]));
}
