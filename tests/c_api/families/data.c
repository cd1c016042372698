/* Data of processes. */

#include "expect.h"

static void on_done(pmix_status_t status, void* cbdata) {
  (void)status;
  *(int*)cbdata += 1;
}

static void on_value(pmix_status_t status, pmix_value_t* kv, void* cbdata) {
  (void)status;
  (void)kv;
  *(int*)cbdata += 1;
}

int main(void) {
  int calls = 0;
  pmix_proc_t proc;
  pmix_value_t value;
  pmix_value_t* found = NULL;
  uint32_t number = 7;

  PMIx_Proc_load(&proc, "nobody", 0);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_load(&value, &number, PMIX_UINT32));

  EXPECT_NO_SERVER(PMIx_Put(PMIX_GLOBAL, "key", &value));
  EXPECT_NO_SERVER(PMIx_Put(PMIX_GLOBAL, NULL, NULL));
  EXPECT_NO_SERVER(PMIx_Store_internal(&proc, "key", &value));
  EXPECT_NO_SERVER(PMIx_Commit());
  EXPECT_NO_SERVER(PMIx_Fence(NULL, 0, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Fence(&proc, 1, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Fence_nb(NULL, 0, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_Get(&proc, "key", NULL, 0, &found));
  EXPECT_NO_SERVER(PMIx_Get(NULL, NULL, NULL, 0, NULL));
  EXPECT_NO_SERVER(PMIx_Get_nb(&proc, "key", NULL, 0, on_value, &calls));

  EXPECT(found == NULL);
  EXPECT(calls == 0);
  PMIx_Value_destruct(&value);
  return outcome();
}
