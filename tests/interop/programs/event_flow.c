/* Events by the thousand, and whom they reach.
 *
 *   event_flow flood N      rank 0 raises N events: a part before anybody has
 *                           registered, the rest while rank 1 does; those that
 *                           register behind all of it get all of them, too, once
 *                           and in order
 *   event_flow late N       the same, for processes that have not even started
 *   event_flow order N      every rank raises N; each writes what it heard into
 *                           the file `heard.RANK`, for a script to compare
 *   event_flow ranges       two jobs: nobody hears what is not for him
 *   event_flow first [local]  a default handler is the first to be registered;
 *                           with `local` for events of that range only */

#include "client.h"

#include <semaphore.h>
#include <stdatomic.h>

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
  atomic_fetch_add(&seen, 1);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  if (expected + 1 >= wanted)
    happen(&complete, PMIX_SUCCESS);
}

/* As long as something comes. */
static void await_wanted(void) {
  for (uint64_t before = UINT64_MAX; !happens(&complete, 1, 30);) {
    const uint64_t so_far = atomic_load(&seen);
    if (so_far == before)
      fail("%llu of %llu events came, then none in 30 s",
           (unsigned long long)so_far, (unsigned long long)wanted);
    before = so_far;
  }
}

static void await_numbers(double since) {
  await_wanted();
  pause_ms(100);
  if (wrong_at != UINT64_MAX)
    fail("event %llu came where %llu was to come",
         (unsigned long long)wrong_got, (unsigned long long)wrong_at);
  const uint64_t all = atomic_load(&seen);
  if (all != wanted)
    fail("%llu events came, of %llu", (unsigned long long)all,
         (unsigned long long)wanted);
  printf("rank %u: %llu events, all, once, in order, %.2f s\n", me.rank,
         (unsigned long long)all, now() - since);
  fflush(stdout);
}

static void flood(void) {
  begin();
  wanted = first_number();
  const uint64_t early = wanted / 3;
  sem_init(&credit, 0, window);
  pmix_status_t code = EVENT;
  const double start = now();
  const long before = me.rank == 0 ? server_memory() : 0;
  if (me.rank == 0) {
    /* Before anybody has registered. */
    raise_numbers(0, early);
    settle();
  }
  meet();
  if (me.rank == 0) {
    /* While rank 1 registers. */
    raise_numbers(early, wanted);
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

static void late(void) {
  const bool is_source = strcmp(getenv("PMIX_RANK"), "0") == 0;
  if (!is_source)
    pause_ms(1000);
  begin();
  wanted = first_number();
  sem_init(&credit, 0, window);
  const double start = now();
  if (is_source) {
    raise_numbers(0, wanted);
    settle();
  } else {
    pmix_status_t code = EVENT;
    handle(&code, 1, on_number);
    await_numbers(start);
  }
  meet();
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
  await_wanted();
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
  const pmix_data_range_t to =
    case_args[0] != NULL && strcmp(case_args[0], "local") == 0
      ? PMIX_RANGE_LOCAL
      : PMIX_RANGE_NAMESPACE;
  begin();
  sem_init(&credit, 0, window);
  if (me.rank != 0)
    handle(NULL, 0, on_kind);
  meet();
  if (me.rank == 0) {
    pmix_info_t info = number_info(nspace);
    for (int i = 0; i < 5; ++i)
      raise_one(EVENT, to, &info, 1);
    raise_one(LAST, to, NULL, 0);
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

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"flood", flood},   {"late", late},         {"order", order},
    {"ranges", ranges}, {"stranger", stranger}, {"first", first}};
  return RUN_CASE(cases);
}
