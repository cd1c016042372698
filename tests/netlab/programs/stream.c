/* A stream of notifications from rank 0 to all others, each with its number.
 * Everybody else says at the end what came: nothing may be lost, come twice or
 * in another order, whatever happens to networks meanwhile.
 *
 *   stream COUNT [PAUSE_MS]    rank 0 rests so long after each 100; 0 if not
 * given
 *
 * The last line of each receiver: `rank 1: 1000 received, 0 lost, 0 duplicated,
 * 0 reordered, longest pause 12 ms`. */

#include "../../interop/programs/client.h"

#define STREAM (PMIX_EXTERNAL_ERR_BASE - 20)
#define NUMBER "stream.number"

enum { in_flight_max = 64, silence_seconds = 60 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Receivers: the next number, and what was not right. */
static uint64_t count;
static uint64_t received;
static uint64_t next_number;
static uint64_t duplicated;
static uint64_t reordered;
static unsigned char* seen;
static double last_arrival;
static double longest_pause;

/* The sender: notifications that nobody has answered yet. */
static int in_flight;

static void on_event(size_t id UNUSED, pmix_status_t code UNUSED,
                     const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                     size_t n, pmix_info_t* results UNUSED,
                     size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  uint64_t number = UINT64_MAX;
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], NUMBER) && infos[i].value.type == PMIX_UINT64)
      number = infos[i].value.data.uint64;
  pthread_mutex_lock(&mutex);
  if (number >= count)
    fail("a notification without a number");
  const double at = now();
  if (received > 0 && at - last_arrival > longest_pause)
    longest_pause = at - last_arrival;
  last_arrival = at;
  ++received;
  if (seen[number] != 0)
    ++duplicated;
  else if (number < next_number)
    ++reordered;
  seen[number] = 1;
  if (number >= next_number)
    next_number = number + 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

struct notification {
  pmix_info_t infos[2];
};

static void on_sent(pmix_status_t outcome, void* data) {
  succeed(outcome, "a notification");
  free(data);
  pthread_mutex_lock(&mutex);
  --in_flight;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}

static void await_in_flight(int limit) {
  pthread_mutex_lock(&mutex);
  while (in_flight > limit)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void send_all(int rest_ms) {
  const double start = now();
  for (uint64_t i = 0; i < count; ++i) {
    struct notification* x = calloc(1, sizeof *x);
    demand(x != NULL, "memory");
    PMIX_INFO_LOAD(&x->infos[0], NUMBER, &i, PMIX_UINT64);
    x->infos[1] = flag_info(PMIX_EVENT_NON_DEFAULT);
    await_in_flight(in_flight_max - 1);
    pthread_mutex_lock(&mutex);
    ++in_flight;
    pthread_mutex_unlock(&mutex);
    const pmix_status_t outcome = PMIx_Notify_event(
      STREAM, &me, PMIX_RANGE_NAMESPACE, x->infos, 2, on_sent, x);
    if (outcome == PMIX_OPERATION_SUCCEEDED)
      on_sent(PMIX_SUCCESS, x);
    else
      succeed(outcome, "PMIx_Notify_event");
    if (rest_ms > 0 && i % 100 == 99)
      pause_ms(rest_ms);
  }
  await_in_flight(0);
  printf("rank 0: %llu sent in %.1f s\n", (unsigned long long)count,
         now() - start);
}

static void receive_all(void) {
  pthread_mutex_lock(&mutex);
  while (next_number < count) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += silence_seconds;
    if (pthread_cond_timedwait(&changed, &mutex, &until) != 0)
      break;
  }
  pthread_mutex_unlock(&mutex);
}

static void report(void) {
  uint64_t lost = 0;
  for (uint64_t i = 0; i < count; ++i)
    lost += seen[i] == 0;
  printf("rank %u: %llu received, %llu lost, %llu duplicated, %llu reordered, "
         "longest pause %.0f ms\n",
         me.rank, (unsigned long long)received, (unsigned long long)lost,
         (unsigned long long)duplicated, (unsigned long long)reordered,
         longest_pause * 1e3);
}

int main(int argc, char** argv) {
  if (argc < 2 || (count = strtoull(argv[1], NULL, 10)) == 0) {
    fprintf(stderr, "usage: stream COUNT [PAUSE_MS]\n");
    return 2;
  }
  begin();
  seen = calloc(count, 1);
  demand(seen != NULL, "memory");
  pmix_status_t code = STREAM;
  if (me.rank != 0)
    handle(&code, 1, on_event);
  meet();
  if (me.rank == 0)
    send_all(argc > 2 ? atoi(argv[2]) : 0);
  else
    receive_all();
  meet();
  if (me.rank != 0)
    report();
  end();
  return 0;
}
