/* Functions of tools, without a server around. */

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

static void on_output(size_t iofhdlr, pmix_iof_channel_t channel,
                      pmix_proc_t* source, pmix_byte_object_t* payload,
                      pmix_info_t info[], size_t ninfo) {
  (void)iofhdlr;
  (void)channel;
  (void)source;
  (void)payload;
  (void)info;
  (void)ninfo;
}

int main(void) {
  int calls = 0;
  bool yes = true;
  pmix_proc_t proc, me;
  pmix_proc_t* servers = NULL;
  size_t nservers = 0;
  pmix_info_t info;
  pmix_server_module_t module;
  pmix_status_t status;
  pmix_byte_object_t bytes = PMIX_BYTE_OBJECT_STATIC_INIT;

  memset(&module, 0, sizeof(module));
  PMIx_Proc_load(&proc, "nobody", 0);
  PMIx_Proc_construct(&me);
  EXPECT(!PMIx_tool_is_connected());
  EXPECT_NO_SERVER(PMIx_tool_finalize());
  EXPECT_NO_SERVER(PMIx_tool_attach_to_server(&me, &proc, NULL, 0));
  EXPECT_NO_SERVER(PMIx_tool_connect_to_server(&me, NULL, 0));
  EXPECT_NO_SERVER(PMIx_tool_disconnect(&proc));
  EXPECT_NO_SERVER(PMIx_tool_get_servers(&servers, &nservers));
  EXPECT_NO_SERVER(PMIx_tool_set_server(&proc, NULL, 0));
  EXPECT_NO_SERVER(PMIx_tool_set_server_module(&module));
  EXPECT_NO_SERVER(PMIx_IOF_pull(&proc, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL,
                                 on_output, on_registration, &calls));
  EXPECT_NO_SERVER(PMIx_IOF_deregister(0, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_IOF_push(&proc, 1, &bytes, NULL, 0, on_done, &calls));
  EXPECT(calls == 0);
  EXPECT(servers == NULL);

  PMIx_Info_construct(&info);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_load(&info, PMIX_TOOL_DO_NOT_CONNECT,
                                             &yes, PMIX_BOOL));
  status = PMIx_tool_init(&me, &info, 1);
  EXPECT_STATUS(PMIX_SUCCESS, status);
  if (status == PMIX_SUCCESS) {
    EXPECT(me.nspace[0] != '\0');
    EXPECT(!PMIx_tool_is_connected());
    EXPECT_STATUS(PMIX_SUCCESS, PMIx_tool_finalize());
  }
  PMIx_Info_destruct(&info);
  return outcome();
}
