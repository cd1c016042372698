/* Starting, joining and finding processes. */

#include "expect.h"

static void on_done(pmix_status_t status, void* cbdata) {
  (void)status;
  *(int*)cbdata += 1;
}

static void on_spawn(pmix_status_t status, pmix_nspace_t nspace, void* cbdata) {
  (void)status;
  (void)nspace;
  *(int*)cbdata += 1;
}

int main(void) {
  int calls = 0;
  pmix_app_t* app = PMIx_App_create(1);
  pmix_nspace_t nspace = "";
  pmix_proc_t proc;
  pmix_proc_t* procs = NULL;
  size_t nprocs = 0;
  char* nodes = NULL;

  PMIx_Proc_load(&proc, "nobody", PMIX_RANK_WILDCARD);
  app->maxprocs = 1;
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Argv_append_nosize(&app->argv, "true"));

  EXPECT_NO_SERVER(PMIx_Spawn(NULL, 0, app, 1, nspace));
  EXPECT_NO_SERVER(PMIx_Spawn(NULL, 0, NULL, 0, NULL));
  EXPECT_NO_SERVER(PMIx_Spawn_nb(NULL, 0, app, 1, on_spawn, &calls));
  EXPECT_NO_SERVER(PMIx_Connect(&proc, 1, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Connect_nb(&proc, 1, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_Disconnect(&proc, 1, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Disconnect_nb(&proc, 1, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_Resolve_peers(NULL, proc.nspace, &procs, &nprocs));
  EXPECT_NO_SERVER(PMIx_Resolve_nodes(proc.nspace, &nodes));

  EXPECT(calls == 0);
  EXPECT(procs == NULL && nodes == NULL);
  PMIx_App_release(app);
  return outcome();
}
