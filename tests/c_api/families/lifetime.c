/* Start and end of a process that has no server. */

#include "expect.h"

int main(void) {
  pmix_proc_t me;
  pmix_status_t status;

  EXPECT(PMIx_Get_version()[0] >= '3');
  EXPECT(PMIx_Initialized() == 0);
  EXPECT_NO_SERVER(PMIx_Finalize(NULL, 0));
  EXPECT_NO_SERVER(PMIx_Abort(1, "nobody hears", NULL, 0));
  PMIx_Progress();
  PMIx_Progress_thread_stop(NULL, 0);

  PMIx_Proc_construct(&me);
  status = PMIx_Init(&me, NULL, 0);
  if (status == PMIX_SUCCESS) {
    EXPECT(PMIx_Initialized() != 0);
    EXPECT(me.nspace[0] != '\0');
    EXPECT(PMIx_Rank_valid(me.rank));
    EXPECT_STATUS(PMIX_SUCCESS, PMIx_Init(NULL, NULL, 0));
    EXPECT_STATUS(PMIX_SUCCESS, PMIx_Finalize(NULL, 0));
    EXPECT(PMIx_Initialized() != 0);
    EXPECT_STATUS(PMIX_SUCCESS, PMIx_Finalize(NULL, 0));
  } else {
    EXPECT_STATUS(PMIX_ERR_UNREACH, status);
  }
  EXPECT(PMIx_Initialized() == 0);
  EXPECT_NO_SERVER(PMIx_Finalize(NULL, 0));
  return outcome();
}
