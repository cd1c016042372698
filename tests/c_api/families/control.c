/* Control and monitoring. */

#include "expect.h"

static void on_infos(pmix_status_t status, pmix_info_t* info, size_t ninfo,
                     void* cbdata, pmix_release_cbfunc_t release_fn,
                     void* release_cbdata) {
  (void)status;
  (void)info;
  (void)ninfo;
  *(int*)cbdata += 1;
  if (release_fn != NULL)
    release_fn(release_cbdata);
}

/* As RFC0015 writes it, with its own spelling of PMIX_INFO_LOAD. */
#define RFC_HEARTBEAT()                                                        \
  do {                                                                         \
    pmix_info_t in_;                                                           \
    PMIX_INFO_CONSTRUCT(&in_);                                                 \
    PMIX_LOAD_INFO(&in_, PMIX_SEND_HEARTBEAT, NULL, PMIX_POINTER);             \
    CALL(PMIx_Process_monitor_nb(&in_, PMIX_SUCCESS, NULL, 0, NULL, NULL));    \
    PMIX_INFO_DESTRUCT(&in_);                                                  \
  } while (0)

int main(void) {
  int calls = 0;
  pmix_proc_t target;
  pmix_info_t info;
  pmix_info_t* results = NULL;
  size_t nresults = 0;
  bool yes = true;

  PMIx_Proc_load(&target, "nobody", 0);
  PMIx_Info_construct(&info);
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Info_load(&info, PMIX_JOB_CTRL_KILL, &yes, PMIX_BOOL));

  EXPECT_NO_SERVER(PMIx_Job_control(&target, 1, &info, 1, &results, &nresults));
  EXPECT_NO_SERVER(PMIx_Job_control(NULL, 0, NULL, 0, NULL, NULL));
  EXPECT_NO_SERVER(PMIx_Job_control_nb(&target, 1, &info, 1, on_infos, &calls));
  EXPECT_NO_SERVER(PMIx_Process_monitor(&info, PMIX_MONITOR_HEARTBEAT_ALERT,
                                        NULL, 0, &results, &nresults));
  EXPECT_NO_SERVER(PMIx_Process_monitor_nb(&info, PMIX_MONITOR_FILE_ALERT, NULL,
                                           0, on_infos, &calls));
  PMIx_Heartbeat();
  RFC_HEARTBEAT();
  EXPECT(PMIX_RANK_WILDARD == PMIX_RANK_WILDCARD);
  EXPECT_NO_SERVER(PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL));
  EXPECT_NO_SERVER(PMIx_Job_control_nb(NULL, 0, NULL, 0, NULL, NULL));
  EXPECT_NO_SERVER(
    PMIx_Process_monitor(NULL, PMIX_SUCCESS, NULL, 0, &results, &nresults));

  EXPECT(calls == 0);
  EXPECT(results == NULL);
  PMIx_Info_destruct(&info);
  return outcome();
}
