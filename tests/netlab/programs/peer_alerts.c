/* Processes that are watched from another node. Rank 0 prints `ready` and hears of
 * alerts by a handler of RFC0002: `alert of 2: REASON` for each. All end when the file
 * `done` is in the directory of the job; whoever loses its node has ended before. */

#include <pmix.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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

int main(void) {
  pmix_proc_t me;
  if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
    return 1;
  if (me.rank == 0) {
    pmix_status_t code = PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED;
    if (PMIx_Register_event_handler(&code, 1, NULL, 0, on_alert, NULL, NULL)
        < 0)
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
