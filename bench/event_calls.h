/* How pmix_events and pmix_events_alone raise events, hear them and wait for
 * them, and their options. */

#ifndef TROUPE_BENCH_EVENT_CALLS_H
#define TROUPE_BENCH_EVENT_CALLS_H

#include "samples.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum {
  warm_up_rounds = 5,
  max_life_seconds = 60,
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

static int rounds = 100;
static int events = 1000;
static int bytes;
static pmix_data_range_t range = PMIX_RANGE_LOCAL;
static unsigned seconds = 5;

/* -- waiting -------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int heard;
static int awaited;

/* Wakes nobody before the last one. */
static inline void hear(void) {
  pthread_mutex_lock(&mutex);
  if (++heard == awaited)
    pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}

static inline void await_heard(int count) {
  pthread_mutex_lock(&mutex);
  awaited = count;
  while (heard < count)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

/* Whether `count` are heard in a while. */
static inline bool await_some(int count, int limit_seconds) {
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

static inline void notify(pmix_status_t code, pmix_data_range_t to,
                          uint64_t number) {
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

static inline uint64_t number_in(const pmix_info_t* infos, size_t n,
                                 const char* key) {
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

static inline void complete(pmix_event_notification_cbfunc_fn_t done,
                            void* token, pmix_status_t status) {
  if (done != NULL)
    done(status, NULL, 0, NULL, NULL, token);
}

static inline size_t add(pmix_status_t code, pmix_notification_fn_t handler) {
  pmix_status_t id =
    PMIx_Register_event_handler(&code, 1, NULL, 0, handler, NULL, NULL);
  check(id < 0 ? id : PMIX_SUCCESS, "PMIx_Register_event_handler");
  return (size_t)id;
}

/* -- main ----------------------------------------------------------------- */

static inline bool parse(int argc, char** argv) {
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

/* Runs the mode that the command line names. */
static inline int run_events(int argc, char** argv, const struct mode* modes,
                             size_t n) {
  void (*run)(void) = find_mode(modes, n, argc > 1 ? argv[1] : NULL);
  if (run == NULL || !parse(argc, argv)) {
    fprintf(stderr,
            "usage: %s MODE [--out FILE] [--rounds N] [--events N] [--bytes N] "
            "[--range N] [--seconds N]; MODE is one of",
            program_invocation_short_name);
    for (size_t i = 0; i < n; ++i)
      fprintf(stderr, " %s", modes[i].name);
    fputc('\n', stderr);
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

#endif
