/* Publish and look up. */

#include "expect.h"

static void on_done(pmix_status_t status, void* cbdata) {
  (void)status;
  *(int*)cbdata += 1;
}

static void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t ndata,
                      void* cbdata) {
  (void)status;
  (void)data;
  (void)ndata;
  *(int*)cbdata += 1;
}

int main(void) {
  int calls = 0;
  char key[] = "colour";
  char* keys[] = {key, NULL};
  pmix_info_t info;
  pmix_pdata_t data;

  PMIx_Info_construct(&info);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_load(&info, key, "red", PMIX_STRING));
  PMIx_Pdata_construct(&data);
  PMIx_Load_key(data.key, key);

  EXPECT_NO_SERVER(PMIx_Publish(&info, 1));
  EXPECT_NO_SERVER(PMIx_Publish(NULL, 0));
  EXPECT_NO_SERVER(PMIx_Publish_nb(&info, 1, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_Lookup(&data, 1, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Lookup(NULL, 0, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, &calls));
  EXPECT_NO_SERVER(PMIx_Unpublish(keys, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Unpublish(NULL, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Unpublish_nb(keys, NULL, 0, on_done, &calls));

  EXPECT(calls == 0);
  EXPECT(data.value.type == PMIX_UNDEF);
  PMIx_Pdata_destruct(&data);
  PMIx_Info_destruct(&info);
  return outcome();
}
