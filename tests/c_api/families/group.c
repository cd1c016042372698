/* Groups. */

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
  pmix_proc_t members[2];
  pmix_info_t* results = NULL;
  size_t nresults = 0;

  PMIx_Proc_load(&members[0], "nobody", 0);
  PMIx_Proc_load(&members[1], "nobody", 1);
  EXPECT_NO_SERVER(
    PMIx_Group_construct("group", members, 2, NULL, 0, &results, &nresults));
  EXPECT_NO_SERVER(PMIx_Group_construct(NULL, NULL, 0, NULL, 0, NULL, NULL));
  EXPECT_NO_SERVER(
    PMIx_Group_construct_nb("group", members, 2, NULL, 0, on_infos, &calls));
  EXPECT_NO_SERVER(
    PMIx_Group_invite("group", members, 2, NULL, 0, &results, &nresults));
  EXPECT_NO_SERVER(
    PMIx_Group_invite_nb("group", members, 2, NULL, 0, on_infos, &calls));
  EXPECT_NO_SERVER(PMIx_Group_join("group", &members[0], PMIX_GROUP_ACCEPT,
                                   NULL, 0, &results, &nresults));
  EXPECT_NO_SERVER(PMIx_Group_join_nb("group", &members[0], PMIX_GROUP_DECLINE,
                                      NULL, 0, on_infos, &calls));
  EXPECT_NO_SERVER(PMIx_Group_leave("group", NULL, 0));
  EXPECT_NO_SERVER(PMIx_Group_leave_nb("group", NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_Group_destruct("group", NULL, 0));
  EXPECT_NO_SERVER(PMIx_Group_destruct_nb("group", NULL, 0, on_done, &calls));

  EXPECT(calls == 0);
  EXPECT(results == NULL);
  return outcome();
}
