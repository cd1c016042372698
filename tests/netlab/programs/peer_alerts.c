/* Processes that are watched from another node.
 *
 *   peer_alerts          rank 0 prints `ready` and hears of alerts by a handler of
 *                        RFC0002: `alert of 2: REASON` for each
 *   peer_alerts FOLDER   before that it has all watched: itself by the kind `backlog`,
 *                        others by `peer`; the queue of rank 2 is FOLDER.2
 *
 * All end when the file `done` is in the directory of the job; whoever loses its node
 * has ended before. */

#include <pmix.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* PMIX_MONITOR_TARGET_PROCS, which older headers do not have. */
#define TARGET_PROCS "pmix.monitor.tgtproc"

static void on_alert(size_t id, pmix_status_t code, const pmix_proc_t* source,
                     pmix_info_t* infos, size_t n, pmix_info_t* results,
                     size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                     void* data) {
  (void)id, (void)code, (void)results, (void)nresults;
  const char* reason = "no reason";
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_TEXT_MESSAGE)
        && infos[i].value.type == PMIX_STRING)
      reason = infos[i].value.data.string;
  printf("alert of %u: %s\n", source != NULL ? source->rank : 9999, reason);
  fflush(stdout);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Has a process watched, on whichever node it is. */
static int watch(const pmix_proc_t* me, pmix_rank_t rank, const char* folder) {
  char directory[4096];
  double interval = 0.2;
  pmix_proc_t proc = *me;
  pmix_data_array_t procs = {.type = PMIX_PROC, .size = 1, .array = &proc};
  pmix_info_t what, how[5], *results = NULL;
  size_t n = 4, nresults = 0;
  proc.rank = rank;
  snprintf(directory, sizeof directory, "%s.%u", folder, rank);
  PMIX_INFO_LOAD(&how[0], TARGET_PROCS, &procs, PMIX_DATA_ARRAY);
  PMIX_INFO_LOAD(&how[1], "troupe.monitor.interval", &interval, PMIX_DOUBLE);
  PMIX_INFO_LOAD(&how[2], "troupe.monitor.directory", directory, PMIX_STRING);
  PMIX_INFO_LOAD(&how[3], "troupe.monitor.limit", "0", PMIX_STRING);
  if (rank != me->rank) {
    PMIX_INFO_LOAD(&how[4], "troupe.monitor.probe", "backlog", PMIX_STRING);
    n = 5;
  }
  PMIX_INFO_LOAD(&what, "troupe.monitor.kind",
                 rank == me->rank ? "backlog" : "peer", PMIX_STRING);
  const pmix_status_t outcome = PMIx_Process_monitor(
    &what, PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED, how, n, &results, &nresults);
  if (outcome == PMIX_SUCCESS || outcome == PMIX_OPERATION_SUCCEEDED)
    return 0;
  printf("rank %u is not watched: %s\n", rank, PMIx_Error_string(outcome));
  return 1;
}

static int watch_all(const pmix_proc_t* me, const char* folder) {
  pmix_proc_t job;
  pmix_value_t* size = NULL;
  PMIX_LOAD_PROCID(&job, me->nspace, PMIX_RANK_WILDCARD);
  if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &size) != PMIX_SUCCESS)
    return 1;
  for (uint32_t rank = 0; rank < size->data.uint32; ++rank)
    if (watch(me, rank, folder) != 0)
      return 1;
  return 0;
}

int main(int argc, char** argv) {
  pmix_proc_t me;
  if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
    return 1;
  if (me.rank == 0) {
    pmix_status_t code = PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED;
    if (PMIx_Register_event_handler(&code, 1, NULL, 0, on_alert, NULL, NULL)
        < 0)
      return 1;
    if (argc > 1 && watch_all(&me, argv[1]) != 0)
      return 1;
    printf("ready\n");
    fflush(stdout);
  }
  struct stat s;
  while (stat("done", &s) != 0)
    usleep(20000);
  PMIx_Finalize(NULL, 0);
  return 0;
}
