/* The program of RFC0015, corrected: a process says that it may be preempted
 * and how it takes checkpoints, has itself monitored by heartbeats, and beats.
 * The RFC's text does not compile (data of an array without its type, a missing
 * macro) and ends before its monitor could tell of anything; here beats stop,
 * and the default handler, which the RFC registers, hears of it.
 *
 *   rfc0015 [SECONDS [DROPS]]     period of the beats, and how many may be
 *                                 missed; the RFC has 5 and 2 */

#include "client.h"

static struct pending alerted = PENDING;
static double alerted_at;

/* The RFC's handler hears of everything. */
static void notification(size_t id UNUSED, pmix_status_t code,
                         const pmix_proc_t* source, pmix_info_t* infos,
                         size_t n, pmix_info_t* results UNUSED,
                         size_t nresults UNUSED,
                         pmix_event_notification_cbfunc_fn_t done, void* data) {
  if (code == PMIX_MONITOR_HEARTBEAT_ALERT) {
    alerted_at = now();
    for (size_t i = 0; i < n; ++i)
      if (PMIX_CHECK_KEY(&infos[i], PMIX_MONITOR_ID))
        printf("alert of %s, rank %u\n", infos[i].value.data.string,
               source->rank);
    happen(&alerted, code);
  }
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void on_answer(pmix_status_t outcome, pmix_info_t* infos UNUSED,
                      size_t n UNUSED, void* data,
                      pmix_release_cbfunc_t release, void* release_data) {
  if (release != NULL)
    release(release_data);
  happen(data, outcome);
}

/* Source: RFC0015, "Job control": methods are an array of infos. */
static void declare_methods(void) {
  pmix_info_t* infos;
  PMIX_INFO_CREATE(infos, 2);
  bool yes = true;
  PMIX_INFO_LOAD(&infos[0], PMIX_JOB_CTRL_PREEMPTIBLE, &yes, PMIX_BOOL);
  pmix_data_array_t methods;
  PMIX_DATA_ARRAY_CONSTRUCT(&methods, 2, PMIX_INFO);
  pmix_info_t* method = methods.array;
  int signal_number = SIGUSR2;
  PMIX_INFO_LOAD(&method[0], PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, &signal_number,
                 PMIX_INT);
  pmix_status_t event = PMIX_JCTRL_CHECKPOINT;
  PMIX_INFO_LOAD(&method[1], PMIX_JOB_CTRL_CHECKPOINT_EVENT, &event,
                 PMIX_STATUS);
  PMIX_INFO_LOAD(&infos[1], PMIX_JOB_CTRL_CHECKPOINT_METHOD, &methods,
                 PMIX_DATA_ARRAY);
  struct pending done = PENDING;
  // "The target parameter doesn't mean anything and can be ignored."
  succeed(PMIx_Job_control_nb(NULL, 0, infos, 2, on_answer, &done),
          "PMIx_Job_control_nb");
  demand(happens(&done, 1, 10), "job control is answered");
  succeed(done.outcome, "job control");
  PMIX_DATA_ARRAY_DESTRUCT(&methods);
  PMIX_INFO_FREE(infos, 2);
}

static void be_monitored(uint32_t seconds, uint32_t drops) {
  pmix_info_t* what;
  PMIX_INFO_CREATE(what, 1);
  PMIX_INFO_LOAD(&what[0], PMIX_MONITOR_HEARTBEAT, NULL, PMIX_POINTER);
  pmix_info_t* infos;
  PMIX_INFO_CREATE(infos, 3);
  PMIX_INFO_LOAD(&infos[0], PMIX_MONITOR_ID, "MONITOR1", PMIX_STRING);
  PMIX_INFO_LOAD(&infos[1], PMIX_MONITOR_HEARTBEAT_TIME, &seconds, PMIX_UINT32);
  PMIX_INFO_LOAD(&infos[2], PMIX_MONITOR_HEARTBEAT_DROPS, &drops, PMIX_UINT32);
  struct pending done = PENDING;
  succeed(PMIx_Process_monitor_nb(what, PMIX_MONITOR_HEARTBEAT_ALERT, infos, 3,
                                  on_answer, &done),
          "PMIx_Process_monitor_nb");
  demand(happens(&done, 1, 10), "the monitor is answered");
  succeed(done.outcome, "monitor");
  PMIX_INFO_FREE(what, 1);
  PMIX_INFO_FREE(infos, 3);
}

int main(int argc, char** argv) {
  const uint32_t seconds = argc > 1 ? (uint32_t)atoi(argv[1]) : 5;
  const uint32_t drops = argc > 2 ? (uint32_t)atoi(argv[2]) : 2;
  begin();
  handle(NULL, 0, notification);
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  const uint32_t universe = number_of(&all, PMIX_UNIV_SIZE);
  demand(universe >= job_size, "universe size");
  declare_methods();
  be_monitored(seconds, drops);
  PMIx_Heartbeat();
  const double beaten = now();
  bool collect = false;
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  succeed(PMIx_Fence(&all, 1, &info, 1), "PMIx_Fence");
  // No beat comes any more.
  const double window = seconds * (drops + 1.0);
  demand(happens(&alerted, 1, window + 5), "the alert comes");
  const double late = alerted_at - beaten - window;
  printf("%.1f ms after it is due\n", late * 1e3);
  // The first that comes may be that of another process, which beat before us.
  demand(late > -1 && (job_size > 1 || late >= 0), "and not early");
  meet();
  end();
  return 0;
}
