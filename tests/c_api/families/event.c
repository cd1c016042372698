/* Events. */

#include "expect.h"

static void on_done(pmix_status_t status, void* cbdata) {
  (void)status;
  *(int*)cbdata += 1;
}

static void on_registration(pmix_status_t status, size_t refid, void* cbdata) {
  (void)status;
  (void)refid;
  *(int*)cbdata += 1;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t* source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t* results,
                     size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void* cbdata) {
  (void)id;
  (void)status;
  (void)source;
  (void)info;
  (void)ninfo;
  (void)results;
  (void)nresults;
  if (cbfunc != NULL)
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

int main(void) {
  int calls = 0;
  pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED, PMIX_EVENT_NODE_DOWN};
  pmix_status_t status;

  EXPECT_NO_SERVER(
    PMIx_Register_event_handler(codes, 2, NULL, 0, on_event, NULL, NULL));
  /* With a callback, the answer may come by it; then it comes now. */
  status = PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event,
                                       on_registration, &calls);
  EXPECT((status == PMIX_ERR_INIT) != (calls == 1));
  calls = 0;
  EXPECT_NO_SERVER(PMIx_Deregister_event_handler(0, NULL, NULL));
  EXPECT_NO_SERVER(PMIx_Notify_event(
    PMIX_ERR_PROC_ABORTED, NULL, PMIX_RANGE_LOCAL, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, NULL,
                                     PMIX_RANGE_GLOBAL, NULL, 0, NULL, NULL));
  EXPECT(calls == 0);
  return outcome();
}
