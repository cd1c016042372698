/* Events by the thousand, and whom they reach.
 *
 *   event_flow flood N      rank 0 raises N events: a part before anybody has
 *                           registered, the rest while others do; all others
 *                           get all of them, once and in order
 *   event_flow order N      every rank raises N; each writes what it heard into
 *                           the file `heard.RANK`, for a script to compare
 *   event_flow ranges       two jobs: nobody hears what is not for him
 *   event_flow first        a default handler is the first to be registered
 *   event_flow deaths       ranks end in all ways; rank 0 hears of each once
 *   event_flow bereaved     the node of rank 1 is lost, once all are `ready`;
 * the others hear of it once event_flow aborts       rank 1 calls PMIx_Abort;
 * rank 0 hears of it event_flow orphan       the server vanishes; what happened
 * is written into the file `orphan` event_flow steady S     waits for S seconds
 * with a default handler, which ends it, as that of Open MPI does */

#include "client.h"

#include <limits.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define EVENT (PMIX_EXTERNAL_ERR_BASE - 20)
#define LAST (PMIX_EXTERNAL_ERR_BASE - 21)
#define NUMBER_KEY "test.number"

enum { window = 512 };

static uint64_t number_in(const pmix_info_t* infos, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], NUMBER_KEY))
      return infos[i].value.data.uint64;
  return UINT64_MAX;
}

static pmix_info_t number_info(uint64_t x) {
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, NUMBER_KEY, &x, PMIX_UINT64);
  return result;
}

static uint64_t first_number(void) {
  const uint64_t result =
    case_args[0] != NULL ? strtoull(case_args[0], NULL, 10) : 1000;
  demand(result > 0, "a number of events");
  return result;
}

/* -- raising --------------------------------------------------------------- */

static sem_t credit;
static atomic_int refused;

static void on_sent(pmix_status_t outcome, void* data UNUSED) {
  if (outcome != PMIX_SUCCESS)
    atomic_store(&refused, outcome);
  sem_post(&credit);
}

static void raise_one(pmix_status_t code, pmix_data_range_t range,
                      pmix_info_t* infos, size_t n) {
  sem_wait(&credit);
  const pmix_status_t outcome =
    PMIx_Notify_event(code, &me, range, infos, n, on_sent, NULL);
  if (outcome == PMIX_OPERATION_SUCCEEDED)
    sem_post(&credit);
  else
    succeed(outcome, "notify");
}

static void raise_numbers(uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; ++i) {
    pmix_info_t info = number_info(i);
    raise_one(EVENT, PMIX_RANGE_NAMESPACE, &info, 1);
  }
}

/* Waits until everything that was raised has been answered. */
static void settle(void) {
  for (int i = 0; i < window; ++i)
    sem_wait(&credit);
  expect(atomic_load(&refused), 0, "notify");
  for (int i = 0; i < window; ++i)
    sem_post(&credit);
}

/* -- memory of the server -------------------------------------------------- */

/* The greatest resident memory of whoever started us, in KiB. */
static long server_memory(void) {
  char path[64];
  char line[256];
  snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
  FILE* file = fopen(path, "r");
  long result = -1;
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmHWM: %ld", &result) == 1)
      break;
  if (file != NULL)
    fclose(file);
  return result;
}

/* -- flood ----------------------------------------------------------------- */

static struct pending complete = PENDING;
static uint64_t wanted;
static _Atomic uint64_t seen;
static uint64_t wrong_at = UINT64_MAX;
static uint64_t wrong_got;

static void on_number(size_t id UNUSED, pmix_status_t code UNUSED,
                      const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                      size_t n, pmix_info_t* results UNUSED,
                      size_t nresults UNUSED,
                      pmix_event_notification_cbfunc_fn_t done, void* data) {
  const uint64_t expected = atomic_load(&seen);
  const uint64_t got = number_in(infos, n);
  if (got != expected && wrong_at == UINT64_MAX) {
    wrong_at = expected;
    wrong_got = got;
  }
  atomic_store(&seen, expected + 1);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  if (expected + 1 >= wanted)
    happen(&complete, PMIX_SUCCESS);
}

static void await_numbers(double since) {
  /* As long as something comes. */
  for (uint64_t last = UINT64_MAX; !happens(&complete, 1, 30);) {
    const uint64_t now_seen = atomic_load(&seen);
    if (now_seen == last)
      fail("%llu of %llu events came, then none in 30 s",
           (unsigned long long)now_seen, (unsigned long long)wanted);
    last = now_seen;
  }
  pause_ms(100);
  if (wrong_at != UINT64_MAX)
    fail("event %llu came where %llu was to come",
         (unsigned long long)wrong_got, (unsigned long long)wrong_at);
  const uint64_t all = atomic_load(&seen);
  if (all != wanted)
    fail("%llu events came instead of %llu", (unsigned long long)all,
         (unsigned long long)wanted);
  printf("rank %u: %llu events, all, once, in order, %.2f s\n", me.rank,
         (unsigned long long)all, now() - since);
  fflush(stdout);
}

static void flood(void) {
  begin();
  wanted = first_number();
  sem_init(&credit, 0, window);
  pmix_status_t code = EVENT;
  const double start = now();
  const long before = me.rank == 0 ? server_memory() : 0;
  if (me.rank == 0) {
    /* Before anybody has registered. */
    raise_numbers(0, wanted / 3);
    settle();
  }
  meet();
  if (me.rank == 0) {
    /* While rank 1 registers. */
    raise_numbers(wanted / 3, wanted);
    settle();
    const double seconds = now() - start;
    printf("raised %llu events, %.0f a second\n", (unsigned long long)wanted,
           (double)wanted / seconds);
  } else if (me.rank == 1) {
    handle(&code, 1, on_number);
    await_numbers(start);
  }
  meet();
  /* After all of it, for those that are left. */
  if (me.rank > 1) {
    handle(&code, 1, on_number);
    await_numbers(start);
  }
  meet();
  if (me.rank == 0)
    printf("memory of the server: %ld KiB before, %ld KiB at most\n", before,
           server_memory());
  end();
}

/* -- order ----------------------------------------------------------------- */

static FILE* heard_file;
static pthread_mutex_t heard_mutex = PTHREAD_MUTEX_INITIALIZER;

static void on_line(size_t id UNUSED, pmix_status_t code,
                    const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                    pmix_info_t* results UNUSED, size_t nresults UNUSED,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  pthread_mutex_lock(&heard_mutex);
  /* What a process raises itself takes no part in the order of the others. */
  if (source->rank != me.rank) {
    fprintf(heard_file, "%d %u %llu\n", code, source->rank,
            (unsigned long long)number_in(infos, n));
    if (atomic_fetch_add(&seen, 1) + 1 >= wanted)
      happen(&complete, PMIX_SUCCESS);
  }
  pthread_mutex_unlock(&heard_mutex);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void order(void) {
  begin();
  const uint64_t each = first_number();
  wanted = each * (job_size - 1);
  sem_init(&credit, 0, window);
  char path[32];
  snprintf(path, sizeof path, "heard.%u", me.rank);
  heard_file = fopen(path, "w");
  demand(heard_file != NULL, "a file to write to");
  pmix_status_t code = EVENT;
  handle(&code, 1, on_line);
  meet();
  const double start = now();
  raise_numbers(0, each);
  settle();
  for (uint64_t last = UINT64_MAX; !happens(&complete, 1, 30);) {
    const uint64_t now_seen = atomic_load(&seen);
    if (now_seen == last)
      fail("%llu of %llu events came, then none in 30 s",
           (unsigned long long)now_seen, (unsigned long long)wanted);
    last = now_seen;
  }
  pause_ms(200);
  meet();
  pthread_mutex_lock(&heard_mutex);
  fclose(heard_file);
  heard_file = fopen("/dev/null", "w");
  pthread_mutex_unlock(&heard_mutex);
  printf("rank %u: %llu events of others in %.2f s\n", me.rank,
         (unsigned long long)atomic_load(&seen), now() - start);
  end();
}

/* -- ranges ---------------------------------------------------------------- */

/* Numbers of what is raised, by range. */
enum { proc_local = 1, local, nspace, session, global, custom, kinds };

static atomic_int heard[kinds];
static struct pending last = PENDING;

static void on_kind(size_t id UNUSED, pmix_status_t code,
                    const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                    size_t n, pmix_info_t* results UNUSED,
                    size_t nresults UNUSED,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  const uint64_t kind = number_in(infos, n);
  if (code == LAST)
    happen(&last, code);
  else if (kind < kinds)
    atomic_fetch_add(&heard[kind], 1);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void listen_to_kinds(void) {
  pmix_status_t codes[] = {EVENT, LAST};
  handle(codes, 2, on_kind);
}

static void raise_kind(int kind, pmix_data_range_t range, pmix_proc_t* to) {
  pmix_info_t infos[2] = {number_info((uint64_t)kind)};
  if (to != NULL)
    PMIX_INFO_LOAD(&infos[1], PMIX_EVENT_CUSTOM_RANGE, to, PMIX_PROC);
  raise_one(EVENT, range, infos, to != NULL ? 2 : 1);
  settle();
}

/* Compares what was heard of each range. */
static void demand_kinds(const char* who, const int* wanted_kinds) {
  for (int i = 1; i < kinds; ++i)
    if (atomic_load(&heard[i]) != wanted_kinds[i])
      fail("%s heard %d events of kind %d, not %d", who, atomic_load(&heard[i]),
           i, wanted_kinds[i]);
}

static void publish_text(const char* key, const char* text) {
  pmix_info_t info = string_info(key, text);
  succeed(PMIx_Publish(&info, 1), "publish");
}

static int await_number(const char* key) {
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  snprintf(data.key, sizeof data.key, "%s", key);
  pmix_info_t directives[] = {flag_info(PMIX_WAIT), int_info(PMIX_TIMEOUT, 20)};
  succeed(PMIx_Lookup(&data, 1, directives, 2), "lookup");
  demand(data.value.type == PMIX_STRING, "a text");
  const int result = atoi(data.value.data.string);
  PMIX_PDATA_DESTRUCT(&data);
  return result;
}

/* Whether rank 0 of the first job, who raises everything, is on our node. */
static bool is_near(void) {
  return (int)number_of(&me, PMIX_NODEID) == await_number("ranges.node");
}

static void stranger(void) {
  begin();
  listen_to_kinds();
  meet();
  const bool near = is_near();
  if (me.rank == 0)
    publish_text("ranges.stranger", "1");
  demand(happens(&last, 1, 30), "the last event comes");
  pause_ms(200);
  const int wanted_kinds[kinds] = {[local] = near, [session] = 1, [global] = 1};
  demand_kinds("a stranger", wanted_kinds);
  end();
}

static void ranges(void) {
  begin();
  sem_init(&credit, 0, window);
  listen_to_kinds();
  meet();
  if (me.rank == 0) {
    char other[PMIX_MAX_NSLEN + 1];
    char node[16];
    snprintf(node, sizeof node, "%u", number_of(&me, PMIX_NODEID));
    publish_text("ranges.node", node);
    spawn_case("stranger", 2, other);
    await_number("ranges.stranger");
    pmix_proc_t one = rank_of(1);
    raise_kind(proc_local, PMIX_RANGE_PROC_LOCAL, NULL);
    raise_kind(local, PMIX_RANGE_LOCAL, NULL);
    raise_kind(nspace, PMIX_RANGE_NAMESPACE, NULL);
    raise_kind(session, PMIX_RANGE_SESSION, NULL);
    raise_kind(global, PMIX_RANGE_GLOBAL, NULL);
    raise_kind(custom, PMIX_RANGE_CUSTOM, &one);
    raise_one(LAST, PMIX_RANGE_GLOBAL, NULL, 0);
    settle();
  }
  demand(happens(&last, 1, 30), "the last event comes");
  pause_ms(200);
  /* The library runs the handlers of its own process for its own events. */
  const int own[kinds] = {0, 1, 1, 1, 1, 1, 0};
  const int near = is_near();
  const int named[kinds] = {0, 0, near, 1, 1, 1, 1};
  const int others[kinds] = {0, 0, near, 1, 1, 1, 0};
  if (me.rank > 0)
    demand_kinds("a peer", me.rank == 1 ? named : others);
  else
    for (int i = 1; i < custom; ++i)
      demand(atomic_load(&heard[i]) == own[i], "our own events");
  meet();
  if (me.rank == 0)
    printf("each range reached whom it names\n");
  end();
}

/* -- the first registration is a default handler ----------------------------
 */

static void first(void) {
  begin();
  sem_init(&credit, 0, window);
  if (me.rank != 0)
    handle(NULL, 0, on_kind);
  meet();
  if (me.rank == 0) {
    pmix_info_t info = number_info(nspace);
    for (int i = 0; i < 5; ++i)
      raise_one(EVENT, PMIX_RANGE_NAMESPACE, &info, 1);
    raise_one(LAST, PMIX_RANGE_NAMESPACE, NULL, 0);
    settle();
  } else {
    demand(happens(&last, 1, 20), "the last event comes");
    demand(atomic_load(&heard[nspace]) == 5, "and all before it");
    printf("rank %u: the default handler got all\n", me.rank);
    fflush(stdout);
  }
  meet();
  end();
}

/* -- deaths ---------------------------------------------------------------- */

enum { max_ranks = 16 };

struct death {
  pmix_status_t code;
  int times;
  int exit_code;
  double at;
};

static struct death deaths_of[max_ranks];
static struct pending dead = PENDING;
static int other_events;

static void on_death(size_t id UNUSED, pmix_status_t code,
                     const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  const double at = now();
  const pmix_proc_t* affected = NULL;
  int exit_code = -1;
  int procs = 0;
  for (size_t i = 0; i < n; ++i) {
    procs += infos[i].value.type == PMIX_PROC;
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC))
      affected = infos[i].value.data.proc;
    else if (PMIX_CHECK_KEY(&infos[i], PMIX_EXIT_CODE))
      exit_code = infos[i].value.data.integer;
  }
  if (affected != NULL && strcmp(affected->nspace, me.nspace) == 0
      && affected->rank < max_ranks && procs == 1 && source->nspace[0] == '\0'
      && source->rank == PMIX_RANK_UNDEF) {
    struct death* x = &deaths_of[affected->rank];
    x->code = code;
    x->exit_code = exit_code;
    x->at = at;
    if (x->times++ == 0)
      happen(&dead, code);
  } else {
    ++other_events;
  }
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static pmix_status_t death_codes[] = {
  PMIX_EVENT_PROC_TERMINATED,   PMIX_ERR_PROC_ABORTED,
  PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_TERM_WO_SYNC,
  PMIX_ERR_EXIT_NONZERO_TERM,   PMIX_ERR_PROC_REQUESTED_ABORT,
  PMIX_ERR_PROC_KILLED_BY_CMD};

enum { num_death_codes = sizeof death_codes / sizeof death_codes[0] };

/* Says when it ends, for rank 0. */
static void note_time(void) {
  char path[32];
  snprintf(path, sizeof path, "died.%u", me.rank);
  FILE* file = fopen(path, "w");
  fprintf(file, "%.9f", now());
  fclose(file);
}

static double noted_time(uint32_t rank) {
  char path[32];
  snprintf(path, sizeof path, "died.%u", rank);
  FILE* file = fopen(path, "r");
  double result = 0;
  demand(file != NULL && fscanf(file, "%lf", &result) == 1, "a time");
  fclose(file);
  return result;
}

static int compare_times(const void* x, const void* y) {
  const double difference = *(const double*)x - *(const double*)y;
  return (difference > 0) - (difference < 0);
}

static void deaths(void) {
  begin();
  demand(job_size >= 5 && job_size <= max_ranks, "5 to 16 processes");
  handle(death_codes, num_death_codes, on_death);
  meet();
  /* One after another, so that each is timed by itself. */
  pause_ms(150 * (long)me.rank);
  if (me.rank != 0) {
    switch (me.rank % 4) {
      case 1:
        note_time();
        kill(getpid(), SIGKILL);
        break;
      case 2:
        note_time();
        _exit(0);
      case 3:
        end();
        note_time();
        _exit(3);
      default:
        end();
        note_time();
        _exit(0);
    }
  }
  demand(happens(&dead, (int)job_size - 1, 20), "all ends are told of");
  pause_ms(1500); /* A connection lost would be told of now. */
  static const struct {
    pmix_status_t code;
    int exit_code;
  } expected[4] = {{PMIX_EVENT_PROC_TERMINATED, 0},
                   {PMIX_ERR_PROC_ABORTED_BY_SIG, 137},
                   {PMIX_ERR_PROC_TERM_WO_SYNC, 0},
                   {PMIX_ERR_EXIT_NONZERO_TERM, 3}};
  double times[max_ranks];
  for (uint32_t i = 1; i < job_size; ++i) {
    const struct death* x = &deaths_of[i];
    expect(x->code, expected[i % 4].code, "the code of an end");
    demand(x->times == 1, "each end is told of once");
    demand(x->exit_code == expected[i % 4].exit_code, "with its exit code");
    times[i - 1] = (x->at - noted_time(i)) * 1e3;
  }
  demand(other_events == 0, "nothing else is told");
  qsort(times, job_size - 1, sizeof times[0], compare_times);
  printf("%u ends, each once, median %.2f ms, longest %.2f ms\n", job_size - 1,
         times[(job_size - 1) / 2], times[job_size - 2]);
  demand(times[(job_size - 1) / 2] < 50, "within 50 ms");
  end();
}

static void bereaved(void) {
  begin();
  handle(death_codes, num_death_codes, on_death);
  meet();
  if (me.rank == 0) {
    printf("ready\n");
    fflush(stdout);
  }
  if (me.rank == 1)
    for (;;)
      pause();
  demand(happens(&dead, 1, 30), "the loss is told of");
  pause_ms(3000);
  expect(deaths_of[1].code, PMIX_ERR_PROC_ABORTED, "its code");
  printf("rank %u: heard of 1 %s\n", me.rank,
         deaths_of[1].times == 1 ? "once" : "more than once");
  end();
}

static void aborts(void) {
  signal(SIGTERM, SIG_IGN);
  begin();
  handle(death_codes, num_death_codes, on_death);
  meet();
  if (me.rank == 1) {
    PMIx_Abort(3, "on purpose", NULL, 0);
    _exit(3);
  }
  if (me.rank == 0) {
    demand(happens(&dead, 1, 1.5), "the end is told of");
    expect(deaths_of[1].code, PMIX_ERR_PROC_REQUESTED_ABORT, "its code");
    printf("heard of the abort\n");
    fflush(stdout);
  }
  for (;;)
    pause();
}

/* -- the server vanishes ----------------------------------------------------
 */

static atomic_int losses;
static struct pending lost = PENDING;

static void on_loss(size_t id UNUSED, pmix_status_t code,
                    const pmix_proc_t* source UNUSED, pmix_info_t* infos UNUSED,
                    size_t n UNUSED, pmix_info_t* results UNUSED,
                    size_t nresults UNUSED,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  atomic_fetch_add(&losses, 1);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  happen(&lost, code);
}

static void orphan(void) {
  /* The output goes with the server. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  begin();
  pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
  handle(&code, 1, on_loss);
  meet();
  FILE* file = fopen("orphan.new", "w");
  demand(file != NULL, "a file to write to");
  const double start = now();
  kill(getppid(), SIGKILL);
  const bool came = happens(&lost, 1, 10);
  const double after = now() - start;
  pause_ms(2500); /* Theirs gathers losses for a second. */
  fprintf(file, "%s %d time(s) after %.0f ms\n", came ? "lost" : "nothing",
          atomic_load(&losses), after * 1e3);
  fclose(file);
  rename("orphan.new", "orphan");
  _exit(0);
}

/* -- one that ends at any event ---------------------------------------------
 */

static void on_any(size_t id UNUSED, pmix_status_t code,
                   const pmix_proc_t* source, pmix_info_t* infos UNUSED,
                   size_t n UNUSED, pmix_info_t* results UNUSED,
                   size_t nresults UNUSED,
                   pmix_event_notification_cbfunc_fn_t done UNUSED,
                   void* data UNUSED) {
  fail("a default handler got %s of %s", PMIx_Error_string(code),
       source->nspace);
}

static void steady(void) {
  begin();
  handle(NULL, 0, on_any);
  meet();
  printf("rank %u is ready\n", me.rank);
  fflush(stdout);
  pause_ms(1000 * (long)first_number());
  meet();
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"flood", flood},       {"order", order},   {"ranges", ranges},
    {"stranger", stranger}, {"first", first},   {"deaths", deaths},
    {"bereaved", bereaved}, {"aborts", aborts}, {"orphan", orphan},
    {"steady", steady},
  };
  return RUN_CASE(cases);
}
