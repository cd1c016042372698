/* A server that starts and ends, by each of its entrances. */

#include "expect.h"

static pmix_status_t client_connected(const pmix_proc_t* proc,
                                      void* server_object,
                                      pmix_op_cbfunc_t cbfunc, void* cbdata) {
  (void)proc;
  (void)server_object;
  (void)cbfunc;
  (void)cbdata;
  return PMIX_OPERATION_SUCCEEDED;
}

int main(void) {
  pmix_server_module_t module;
  pmix_status_t (*plain)(pmix_server_module_t*, pmix_info_t*, size_t);

  memset(&module, 0, sizeof(module));
  module.client_connected = client_connected;
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_server_init(&module, NULL, 0));
  EXPECT(PMIx_Initialized() != 0);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_server_finalize());
  EXPECT(PMIx_Initialized() == 0);

  /* Its name is a value, too, as it was when it was a function only. */
  plain = PMIx_server_init;
  EXPECT_STATUS(PMIX_SUCCESS, plain(NULL, NULL, 0));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_server_finalize());
  return outcome();
}
