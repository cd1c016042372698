/* Processes that have themselves monitored by heartbeats.
 *
 *   pmix_monitors MONITORS PERIOD_MS SECONDS
 *
 * Each process asks for MONITORS monitors and beats once in PERIOD_MS for
 * SECONDS; four beats may be missed. Rank 0 prints `ready` when all are
 * monitored. A process that heard of alerts says so: those of all monitors of
 * all processes, since their range is the namespace. On a machine that is busy
 * with other things some may not have been able to beat; nor does one beat that
 * waits in the fence for a process that is late. */

#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif

#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int alerts;
static volatile pmix_status_t registered = -1;
static volatile int answered;
static volatile int refused;

static void on_alert(size_t id, pmix_status_t code, const pmix_proc_t* source,
                     pmix_info_t* infos, size_t n, pmix_info_t* results,
                     size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                     void* data) {
  (void)id, (void)code, (void)source, (void)infos, (void)n, (void)results;
  (void)nresults;
  ++alerts;
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void on_registered(pmix_status_t outcome, size_t id, void* data) {
  (void)id, (void)data;
  registered = outcome;
}

static void on_answer(pmix_status_t outcome, pmix_info_t* infos, size_t n,
                      void* data, pmix_release_cbfunc_t release,
                      void* release_data) {
  (void)infos, (void)n, (void)data;
  if (release != NULL)
    release(release_data);
  if (outcome != PMIX_SUCCESS)
    ++refused;
  ++answered;
}

static void pause_ms(long ms) {
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(pmix_status_t outcome, const char* what) {
  if (outcome == PMIX_SUCCESS)
    return;
  fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(outcome));
  _exit(1);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s MONITORS PERIOD_MS SECONDS\n", argv[0]);
    return 2;
  }
  const int monitors = atoi(argv[1]);
  const uint32_t period = (uint32_t)atoi(argv[2]);
  const double seconds = atof(argv[3]);
  pmix_proc_t me;
  must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
  pmix_status_t code = PMIX_MONITOR_HEARTBEAT_ALERT;
  PMIx_Register_event_handler(&code, 1, NULL, 0, on_alert, on_registered, NULL);
  while (registered < 0)
    pause_ms(1);
  for (int i = 0; i < monitors; ++i) {
    pmix_info_t what;
    pmix_info_t directives[2];
    uint32_t drops = 4;
    PMIX_INFO_LOAD(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_POINTER);
    PMIX_INFO_LOAD(&directives[0], "troupe.monitor.heartbeat_ms", &period,
                   PMIX_UINT32);
    PMIX_INFO_LOAD(&directives[1], PMIX_MONITOR_HEARTBEAT_DROPS, &drops,
                   PMIX_UINT32);
    must(PMIx_Process_monitor_nb(&what, PMIX_SUCCESS, directives, 2, on_answer,
                                 NULL),
         "PMIx_Process_monitor_nb");
    while (answered <= i)
      usleep(100);
    PMIx_Heartbeat();
  }
  pmix_proc_t all;
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
  PMIx_Heartbeat();
  must(PMIx_Fence(&all, 1, NULL, 0), "PMIx_Fence");
  if (me.rank == 0) {
    printf("ready\n");
    fflush(stdout);
  }
  // Not all at the same time.
  pause_ms(period * (me.rank % 100) / 100);
  const double until = now() + seconds;
  while (now() < until) {
    PMIx_Heartbeat();
    pause_ms(period);
  }
  const int heard = alerts;
  must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
  if (heard > 0 || refused > 0)
    fprintf(stderr, "rank %u: %d alerts, %d refused\n", me.rank, heard,
            refused);
  return refused > 0 ? 1 : 0;
}
