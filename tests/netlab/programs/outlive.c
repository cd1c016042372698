/* Events while the node that keeps their order is lost. Run with `--rtos
 * recoverable`.
 *
 *   outlive events N DOOMED...    every rank raises N events, one each other
 *                                 millisecond, and writes those of others into
 *                                 the file `heard.RANK`; rank 0 or, if it is
 *                                 among the DOOMED, the first that is not
 * prints `ready` when all have begun. Those who are not DOOMED end when they
 * have all of each other. */

#include "../../interop/programs/client.h"

#include <semaphore.h>
#include <stdatomic.h>

#define EVENT (PMIX_EXTERNAL_ERR_BASE - 20)
#define NUMBER_KEY "test.number"

enum { max_ranks = 64, window = 32 };

static bool doomed[max_ranks];
static _Atomic uint64_t heard[max_ranks];
static FILE* heard_file;
static pthread_mutex_t heard_mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t credit;
static atomic_int refused;

static void on_sent(pmix_status_t outcome, void* data UNUSED) {
  if (outcome != PMIX_SUCCESS)
    atomic_store(&refused, outcome);
  sem_post(&credit);
}

static void on_event(size_t id UNUSED, pmix_status_t code,
                     const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  pthread_mutex_lock(&heard_mutex);
  if (source->rank != me.rank && source->rank < max_ranks)
    for (size_t i = 0; i < n; ++i)
      if (PMIX_CHECK_KEY(&infos[i], NUMBER_KEY)) {
        fprintf(heard_file, "%d %u %llu\n", code, source->rank,
                (unsigned long long)infos[i].value.data.uint64);
        atomic_fetch_add(&heard[source->rank], 1);
      }
  pthread_mutex_unlock(&heard_mutex);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static bool has_all(uint64_t each) {
  for (uint32_t i = 0; i < job_size; ++i)
    if (i != me.rank && !doomed[i] && atomic_load(&heard[i]) < each)
      return false;
  return true;
}

static void events(void) {
  begin();
  demand(case_args[0] != NULL && job_size <= max_ranks, "a number of events");
  const uint64_t each = strtoull(case_args[0], NULL, 10);
  for (int i = 1; case_args[i] != NULL; ++i)
    doomed[atoi(case_args[i]) % max_ranks] = true;
  uint32_t speaker = 0;
  while (speaker + 1 < job_size && doomed[speaker])
    ++speaker;
  char path[32];
  snprintf(path, sizeof path, "heard.%u", me.rank);
  heard_file = fopen(path, "w");
  demand(heard_file != NULL, "a file to write to");
  sem_init(&credit, 0, window);
  pmix_status_t code = EVENT;
  handle(&code, 1, on_event);
  meet();
  double longest = 0;
  for (uint64_t i = 0; i < each; ++i) {
    const double start = now();
    sem_wait(&credit);
    if (now() - start > longest)
      longest = now() - start;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, NUMBER_KEY, &i, PMIX_UINT64);
    const pmix_status_t outcome = PMIx_Notify_event(
      EVENT, &me, PMIX_RANGE_NAMESPACE, &info, 1, on_sent, NULL);
    if (outcome == PMIX_OPERATION_SUCCEEDED)
      sem_post(&credit);
    else
      succeed(outcome, "notify");
    if (i == 100 && me.rank == speaker) {
      printf("ready\n");
      fflush(stdout);
    }
    pause_ms(2);
  }
  for (int i = 0; i < window; ++i)
    sem_wait(&credit);
  expect(atomic_load(&refused), 0, "notify");
  const double start = now();
  while (!has_all(each) && now() - start < 60)
    pause_ms(20);
  demand(has_all(each), "all events of those who are left");
  pause_ms(1000);
  pthread_mutex_lock(&heard_mutex);
  fclose(heard_file);
  heard_file = fopen("/dev/null", "w");
  pthread_mutex_unlock(&heard_mutex);
  printf("rank %u: all events, longest wait %.1f s\n", me.rank, longest);
  fflush(stdout);
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"events", events}};
  return RUN_CASE(cases);
}
