/* A PMIx client, built against whatever libpmix the system has: it reads its
 * job's data, posts a value, meets the others at a fence, reads their values,
 * and waits for an event that rank 0 sends to the processes of its node.
 *
 *   cc -O2 -o pmix_hello pmix_hello.c $(pkg-config --cflags --libs pmix)
 *   troupe run -n 4 --oversubscribe ./pmix_hello
 */

#include <inttypes.h>
#include <pmix.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GREETING_KEY "hello.greeting"
#define GREETING_EVENT (PMIX_EXTERNAL_ERR_BASE - 1)

static pmix_proc_t me;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool greeted = false; /* guarded by mutex */

static void check(pmix_status_t outcome, const char* what) {
  if (outcome == PMIX_SUCCESS)
    return;
  fprintf(stderr, "pmix rank %u: %s: %s\n", me.rank, what,
          PMIx_Error_string(outcome));
  PMIx_Abort(EXIT_FAILURE, what, NULL, 0);
  exit(EXIT_FAILURE);
}

/* Reads a number about the whole job or, given a rank, about one process. */
static uint32_t number(pmix_rank_t rank, const char* key) {
  pmix_proc_t whom;
  PMIX_LOAD_PROCID(&whom, me.nspace, rank);
  pmix_value_t* value = NULL;
  check(PMIx_Get(&whom, key, NULL, 0, &value), key);
  const uint32_t result =
    value->type == PMIX_UINT16 ? value->data.uint16 : value->data.uint32;
  PMIX_VALUE_RELEASE(value);
  return result;
}

/* Waits for everybody; with `collect`, everybody's values come along. */
static void meet(bool collect) {
  pmix_proc_t all;
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  check(PMIx_Fence(&all, 1, &info, 1), "fence");
  PMIX_INFO_DESTRUCT(&info);
}

static void post_greeting(void) {
  char text[64];
  snprintf(text, sizeof text, "greetings from rank %u", me.rank);
  pmix_value_t value;
  PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
  check(PMIx_Put(PMIX_GLOBAL, GREETING_KEY, &value), "put");
  PMIX_VALUE_DESTRUCT(&value);
  check(PMIx_Commit(), "commit");
}

/* Returns how many processes posted what they should have. */
static uint32_t read_greetings(uint32_t size) {
  uint32_t right = 0;
  for (pmix_rank_t rank = 0; rank < size; ++rank) {
    pmix_proc_t whom;
    PMIX_LOAD_PROCID(&whom, me.nspace, rank);
    pmix_value_t* value = NULL;
    check(PMIx_Get(&whom, GREETING_KEY, NULL, 0, &value), "get");
    char expected[64];
    snprintf(expected, sizeof expected, "greetings from rank %u", rank);
    if (value->type == PMIX_STRING && strcmp(value->data.string, expected) == 0)
      ++right;
    PMIX_VALUE_RELEASE(value);
  }
  return right;
}

static void on_greeting(size_t handler, pmix_status_t code,
                        const pmix_proc_t* source, pmix_info_t info[],
                        size_t ninfo, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done,
                        void* cbdata) {
  (void)handler, (void)code, (void)source, (void)info, (void)ninfo;
  (void)results, (void)nresults;
  pthread_mutex_lock(&mutex);
  greeted = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void listen_for_greeting(void) {
  pmix_status_t code = GREETING_EVENT;
  pmix_info_t name;
  PMIX_INFO_LOAD(&name, PMIX_EVENT_HDLR_NAME, "greeting", PMIX_STRING);
  const pmix_status_t handler =
    PMIx_Register_event_handler(&code, 1, &name, 1, on_greeting, NULL, NULL);
  PMIX_INFO_DESTRUCT(&name);
  if (handler < 0)
    check(handler, "register event handler");
}

/* To every process of the node that listens; no default handler is bothered. */
static void send_greeting(void) {
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);
  const pmix_status_t outcome = PMIx_Notify_event(
    GREETING_EVENT, &me, PMIX_RANGE_LOCAL, &info, 1, NULL, NULL);
  PMIX_INFO_DESTRUCT(&info);
  if (outcome != PMIX_OPERATION_SUCCEEDED)
    check(outcome, "notify");
}

/* Returns whether the event came within ten seconds. */
static bool await_greeting(void) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 10;
  int outcome = 0;
  pthread_mutex_lock(&mutex);
  while (!greeted && outcome == 0)
    outcome = pthread_cond_timedwait(&changed, &mutex, &deadline);
  const bool result = greeted;
  pthread_mutex_unlock(&mutex);
  return result;
}

int main(void) {
  const pmix_status_t outcome = PMIx_Init(&me, NULL, 0);
  if (outcome != PMIX_SUCCESS) {
    fprintf(stderr, "PMIx_Init: %s\n", PMIx_Error_string(outcome));
    return EXIT_FAILURE;
  }
  const uint32_t size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
  const uint32_t local_rank = number(me.rank, PMIX_LOCAL_RANK);
  printf("pmix rank %u of %" PRIu32 ": local rank %" PRIu32 " in %s\n", me.rank,
         size, local_rank, me.nspace);
  fflush(stdout);

  listen_for_greeting();
  post_greeting();
  meet(true);
  const uint32_t right = read_greetings(size);
  if (local_rank == 0)
    send_greeting();
  const bool event_came = await_greeting();
  if (me.rank == 0)
    printf("pmix fence brought %" PRIu32 " of %" PRIu32 " values, event %s\n",
           right, size, event_came ? "received" : "MISSING");
  fflush(stdout);
  meet(false);
  check(PMIx_Finalize(NULL, 0), "finalize");
  return right == size && event_came ? EXIT_SUCCESS : EXIT_FAILURE;
}
