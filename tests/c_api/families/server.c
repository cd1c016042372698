/* Functions of servers, where no server was started. */

#include "expect.h"

static void on_done(pmix_status_t status, void* cbdata) {
  (void)status;
  *(int*)cbdata += 1;
}

static void on_modex(pmix_status_t status, char* data, size_t sz,
                     void* cbdata) {
  (void)status;
  (void)data;
  (void)sz;
  *(int*)cbdata += 1;
}

static void on_setup(pmix_status_t status, pmix_info_t info[], size_t ninfo,
                     void* provided_cbdata, pmix_op_cbfunc_t cbfunc,
                     void* cbdata) {
  (void)status;
  (void)info;
  (void)ninfo;
  *(int*)provided_cbdata += 1;
  if (cbfunc != NULL)
    cbfunc(PMIX_SUCCESS, cbdata);
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

/* A list that is compressed, and one that is damaged. */
static void long_list(void) {
  static char list[64 * 1024];
  char* full = NULL;
  size_t size = 0;
  pmix_regex2_t regex = PMIX_REGEX2_STATIC_INIT;
  for (int i = 0; size + 32 < sizeof list; ++i)
    size += (size_t)snprintf(list + size, sizeof list - size, "%snode%05d",
                             i > 0 ? "," : "", i * 7);
  if (PMIx_generate_regex2(list, NULL, 0, &regex) != PMIX_SUCCESS)
    return;
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_parse_regex2(&regex, NULL, 0, &full));
  EXPECT_TEXT(list, full);
  free(full);
  if (strcmp(regex.type, "compress") == 0) {
    EXPECT(regex.len < size / 2);
    --regex.len;
    EXPECT_STATUS(PMIX_ERR_BAD_PARAM,
                  PMIx_parse_regex2(&regex, NULL, 0, &full));
  }
  PMIx_Regex2_destruct(&regex);
}

/* Without a server, or of pure functions of texts. */
static void texts(void) {
  char* text = NULL;
  char* full = NULL;
  pmix_regex2_t regex = PMIX_REGEX2_STATIC_INIT;
  pmix_cpuset_t cpuset = PMIX_CPUSET_STATIC_INIT;
  pmix_cpuset_t other = PMIX_CPUSET_STATIC_INIT;

  CALL(PMIx_generate_regex("node1,node2,node3", &text));
  free(text);
  text = NULL;
  CALL(PMIx_generate_ppn("0,1;2,3", &text));
  free(text);
  text = NULL;
  if (PMIx_generate_regex2("node1,node2", NULL, 0, &regex) == PMIX_SUCCESS) {
    EXPECT_STATUS(PMIX_SUCCESS, PMIx_parse_regex2(&regex, NULL, 0, &full));
    EXPECT_TEXT("node1,node2", full);
    free(full);
  }
  PMIx_Regex2_destruct(&regex);
  long_list();
  if (PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS) == PMIX_SUCCESS) {
    CALL(PMIx_server_generate_locality_string(&cpuset, &text));
    free(text);
    text = NULL;
    EXPECT_STATUS(PMIX_SUCCESS,
                  PMIx_server_generate_cpuset_string(&cpuset, &text));
    EXPECT_STATUS(PMIX_SUCCESS, PMIx_server_generate_cpuset(text, &other));
    free(text);
  }
  PMIx_Cpuset_destruct(&cpuset);
  PMIx_Cpuset_destruct(&other);
}

int main(void) {
  int calls = 0;
  char set[] = "set";
  char function[] = "PMIx_Get";
  char* attributes[] = {NULL};
  char** environment = NULL;
  pmix_proc_t proc;
  pmix_info_t info;
  pmix_byte_object_t bytes = PMIX_BYTE_OBJECT_STATIC_INIT;
  pmix_data_buffer_t buffer = PMIX_DATA_BUFFER_STATIC_INIT;

  PMIx_Proc_load(&proc, "nobody", 0);
  PMIx_Info_construct(&info);
  EXPECT_NO_SERVER(PMIx_server_finalize());
  EXPECT_NO_SERVER(
    PMIx_server_register_nspace(proc.nspace, 1, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(
    PMIx_server_register_client(&proc, 0, 0, NULL, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_server_setup_fork(&proc, &environment));
  EXPECT_NO_SERVER(PMIx_server_dmodex_request(&proc, on_modex, &calls));
  EXPECT_NO_SERVER(
    PMIx_server_setup_application(proc.nspace, NULL, 0, on_setup, &calls));
  EXPECT_NO_SERVER(
    PMIx_server_setup_local_support(proc.nspace, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL,
                                           &bytes, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_server_IOF_flow_control(
    &proc, PMIX_FWD_STDIN_CHANNEL, true, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_server_collect_inventory(NULL, 0, on_infos, &calls));
  EXPECT_NO_SERVER(
    PMIx_server_deliver_inventory(&info, 1, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_server_register_resources(&info, 1, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_server_deregister_resources(&info, 1, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_server_define_process_set(&proc, 1, set));
  EXPECT_NO_SERVER(PMIx_server_delete_process_set(set));
  EXPECT_NO_SERVER(PMIx_server_collect_job_info(&proc, 1, &buffer));
  EXPECT_NO_SERVER(PMIx_Register_attributes(function, attributes));
  EXPECT(calls == 0);
  EXPECT(environment == NULL);

  /* These return nothing; with a callback they say it by that. */
  PMIx_server_deregister_client(&proc, NULL, NULL);
  PMIx_server_deregister_nspace(proc.nspace, NULL, NULL);
  PMIx_server_deregister_client(&proc, on_done, &calls);
  PMIx_server_deregister_nspace(proc.nspace, on_done, &calls);
  EXPECT(calls == 2);
  texts();
  PMIx_Info_destruct(&info);
  PMIx_Data_buffer_destruct(&buffer);
  return outcome();
}
