/* What processes of one node that share memory could do at the least: the floor
 * of the machine for calls of PMIx that stay on a node. It starts no server and
 * calls no PMIx; bench/run runs it beside what it measures.
 *
 *   node_floor MODE --procs N --out FILE [--rounds N] [--bytes N] [--parts N]
 *
 *   fence  rounds in which all processes meet at a counter, where those who come
 *          early sleep on a futex until the last one wakes them; nobody spins.
 *          With --bytes each copies as many into the shared memory before. With
 *          --parts the processes meet in so many sets.
 *   get    look-ups of others' values by their keys: the first of each, when its
 *          page has not been touched here, and repeated; and the first of a
 *          second value
 *   local  stores of 64 bytes, without and with a mark that they are complete
 *
 * Modes and samples are called as in pmix_bench.c. The first process writes a
 * line `NAME MICROSECONDS` per sample to FILE. */

#define _GNU_SOURCE

#include "samples.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  page = 4096,
  max_bytes = page - 64,
  max_procs = 1024,
  warm_up_rounds = 5,
  repeated_gets = 20,
  max_life_seconds = 120,
};

/* Where a set of processes meets; a cache line of its own. */
struct meeting {
  _Alignas(64) atomic_uint arrived;
  atomic_uint round;
};

/* A value of a process, in a page of its own. `version` is odd while it is
 * written. */
struct post {
  _Alignas(page) atomic_uint version;
  atomic_uint complete;
  uint32_t size;
  char key[32];
  char data[max_bytes];
};

enum { fenced, direct, posts_of_each };

static int rounds = 100;
static size_t bytes;
static uint32_t parts = 1;
static struct meeting* meetings;
static struct post (*posts)[posts_of_each];

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void* shared(size_t size) {
  void* result =
    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (result == MAP_FAILED)
    fail("mmap");
  return result;
}

static void meet(struct meeting* at, uint32_t members) {
  unsigned round = atomic_load(&at->round);
  if (atomic_fetch_add(&at->arrived, 1) + 1 < members) {
    while (atomic_load(&at->round) == round)
      syscall(SYS_futex, &at->round, FUTEX_WAIT, round, NULL, NULL, 0);
    return;
  }
  atomic_store(&at->arrived, 0);
  atomic_fetch_add(&at->round, 1);
  syscall(SYS_futex, &at->round, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void meet_all(void) {
  meet(&meetings[0], job_size);
}

/* The set of this process, cut as pmix_bench.c cuts a job. */
static void meet_part(void) {
  uint32_t mine = self.rank * parts / job_size;
  uint32_t members = 0;
  for (uint32_t rank = 0; rank < job_size; ++rank)
    members += rank * parts / job_size == mine;
  meet(&meetings[1 + mine], members);
}

static void put(struct post* to, const char* key, size_t size) {
  static char data[max_bytes];
  atomic_fetch_add(&to->version, 1);
  to->size = (uint32_t)size;
  strncpy(to->key, key, sizeof(to->key) - 1);
  memset(data, (int)(self.rank & 0x7f), size);
  memcpy(to->data, data, size);
  atomic_fetch_add(&to->version, 1);
}

/* Copies a value of another process, as its reader would own it. */
static void get(const char* name, uint32_t rank, const char* key) {
  int64_t begin = now_ns();
  char* copy = NULL;
  for (int i = 0; i < posts_of_each && copy == NULL; ++i) {
    const struct post* from = &posts[rank][i];
    unsigned version = atomic_load(&from->version);
    if (strcmp(from->key, key) != 0)
      continue;
    copy = malloc(from->size);
    memcpy(copy, from->data, from->size);
    if (version % 2 != 0 || atomic_load(&from->version) != version) {
      free(copy);
      copy = NULL;
    }
  }
  record_us(name, now_ns() - begin);
  if (copy == NULL || copy[0] != (char)(rank & 0x7f)) {
    fprintf(stderr, "node_floor: no value of process %u\n", rank);
    exit(1);
  }
  free(copy);
}

/* -- modes ---------------------------------------------------------------- */

static void run_fence(void) {
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    if (bytes > 0)
      put(&posts[self.rank][fenced], "bench.fence", bytes);
    meet_part();
    if (i >= 0)
      record_us("fence", now_ns() - begin);
  }
}

static void run_get(void) {
  size_t size = bytes > 0 ? bytes : 64;
  put(&posts[self.rank][fenced], "bench.fenced", size);
  meet_all();
  if (self.rank == 0) {
    for (uint32_t i = 1; i < job_size; ++i)
      get("get_first", i, "bench.fenced");
    for (int n = 0; n < repeated_gets; ++n)
      for (uint32_t i = 1; i < job_size; ++i)
        get("get_repeated", i, "bench.fenced");
  }
  meet_all();
  put(&posts[self.rank][direct], "bench.direct", size);
  meet_all();
  if (self.rank == 0)
    for (uint32_t i = 1; i < job_size; ++i)
      get("get_direct", i, "bench.direct");
}

static void run_local(void) {
  struct post* mine = &posts[self.rank][fenced];
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    put(mine, "bench.put", 64);
    int64_t end = now_ns();
    if (i >= 0)
      record_us("put", end - begin);
  }
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    put(mine, "bench.put", 64);
    atomic_store(&mine->complete, atomic_load(&mine->version));
    int64_t end = now_ns();
    if (i >= 0)
      record_us("put_commit", end - begin);
  }
}

/* -- main ----------------------------------------------------------------- */

static const struct mode modes[] = {
  {"fence", run_fence},
  {"get", run_get},
  {"local", run_local},
};

static bool parse(int argc, char** argv) {
  for (int i = 2; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--out") == 0)
      out_file = argv[i + 1];
    else if (strcmp(argv[i], "--procs") == 0)
      job_size = (uint32_t)atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--rounds") == 0)
      rounds = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--bytes") == 0)
      bytes = (size_t)atol(argv[i + 1]);
    else if (strcmp(argv[i], "--parts") == 0)
      parts = (uint32_t)atoi(argv[i + 1]);
    else
      return false;
  }
  return argc % 2 == 0 && bytes <= max_bytes && job_size > 0
         && job_size <= max_procs && parts > 0 && parts <= job_size;
}

int main(int argc, char** argv) {
  void (*run)(void) = FIND_MODE(modes, argc > 1 ? argv[1] : NULL);
  if (run == NULL || !parse(argc, argv)) {
    fprintf(stderr, "usage: node_floor fence|get|local --procs N --out FILE "
                    "[--rounds N] [--bytes N] [--parts N]\n");
    return 2;
  }
  alarm(max_life_seconds);
  meetings = shared((1 + parts) * sizeof(*meetings));
  posts = shared(job_size * sizeof(*posts));
  for (uint32_t rank = 1; rank < job_size; ++rank) {
    pid_t pid = fork();
    if (pid < 0)
      fail("fork");
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      self.rank = rank;
      run();
      _exit(0);
    }
  }
  run();
  while (wait(NULL) > 0)
    ;
  write_samples();
  return 0;
}
