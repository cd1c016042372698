/* Questions, logs, allocations, sessions. */

#include "expect.h"

static void on_done(pmix_status_t status, void* cbdata) {
  (void)status;
  *(int*)cbdata += 1;
}

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

int main(void) {
  int calls = 0;
  char block[] = "block";
  pmix_query_t* query = PMIx_Query_create(1);
  pmix_info_t* results = NULL;
  size_t nresults = 0;
  pmix_info_t info;
  pmix_resource_unit_t unit = PMIX_RESOURCE_UNIT_STATIC_INIT;

  PMIx_Info_construct(&info);
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Argv_append_nosize(&query->keys, PMIX_QUERY_NAMESPACES));

  EXPECT_NO_SERVER(PMIx_Query_info(query, 1, &results, &nresults));
  EXPECT_NO_SERVER(PMIx_Query_info_nb(query, 1, on_infos, &calls));
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Info_load(&info, PMIX_LOG_STDERR, "hello", PMIX_STRING));
  EXPECT_NO_SERVER(PMIx_Log(&info, 1, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Log_nb(&info, 1, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(
    PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, &results, &nresults));
  EXPECT_NO_SERVER(
    PMIx_Allocation_request_nb(PMIX_ALLOC_EXTEND, &info, 1, on_infos, &calls));
  EXPECT_NO_SERVER(
    PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, block, &unit, 1, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Resource_block_nb(PMIX_RESOURCE_BLOCK_DELETE, block,
                                          NULL, 0, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_Session_control(1, &info, 1, on_infos, &calls));

  EXPECT(calls == 0);
  EXPECT(results == NULL);
  PMIx_Info_destruct(&info);
  PMIx_Query_release(query);
  return outcome();
}
