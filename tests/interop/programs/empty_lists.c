/* Every call of the interface that takes lists, with empty ones: none of them
 * hangs or crashes. The names of the calls are in the text of the steps.
 *
 *   empty_lists client     a process of a job, any number
 *   empty_lists server     a server of its own
 *   empty_lists nobody     groups of nobody end at once (any number) */

#include "client.h"

#include <pmix_server.h>

/* -- steps ----------------------------------------------------------------- */

enum { step_seconds = 8 };

static const char* volatile step_name = "none";

static void on_signal(int which) {
  const char* what = which == SIGALRM ? "hangs: " : "crashes: ";
  if (write(2, what, strlen(what)) < 0
      || write(2, step_name, strlen(step_name)) < 0 || write(2, "\n", 1) < 0)
    _exit(3);
  _exit(2);
}

static void watch(void) {
  signal(SIGALRM, on_signal);
  signal(SIGSEGV, on_signal);
  signal(SIGABRT, on_signal);
  signal(SIGBUS, on_signal);
  signal(SIGFPE, on_signal);
}

/* Only has to return. */
#define STEP(call)                                                             \
  do {                                                                         \
    step_name = #call;                                                         \
    alarm(step_seconds);                                                       \
    (void)(call);                                                              \
    alarm(0);                                                                  \
  } while (0)

/* Has to return this. */
#define CODE(wanted, call)                                                     \
  do {                                                                         \
    step_name = #call;                                                         \
    alarm(step_seconds);                                                       \
    const pmix_status_t code_ = (call);                                        \
    alarm(0);                                                                  \
    expect(code_, wanted, #call);                                              \
  } while (0)

/* Has to return an error, or to call back. */
#define LATER(call)                                                            \
  do {                                                                         \
    struct pending* later = calloc(1, sizeof *later);                          \
    pthread_mutex_init(&later->mutex, NULL);                                   \
    pthread_cond_init(&later->changed, NULL);                                  \
    step_name = #call;                                                         \
    alarm(step_seconds);                                                       \
    if ((call) == PMIX_SUCCESS && !happens(later, 1, step_seconds))            \
      fail("never called back: %s", #call);                                    \
    alarm(0);                                                                  \
  } while (0)

/* The same without a callback. */
#define EMPTY STEP

static void on_infos(pmix_status_t code, pmix_info_t* infos UNUSED,
                     size_t n UNUSED, void* data, pmix_release_cbfunc_t release,
                     void* release_data) {
  if (release != NULL)
    release(release_data);
  happen(data, code);
}

static void on_value(pmix_status_t code, pmix_value_t* x UNUSED, void* data) {
  happen(data, code);
}

static void on_lookup(pmix_status_t code, pmix_pdata_t xs[] UNUSED,
                      size_t n UNUSED, void* data) {
  happen(data, code);
}

static void on_spawn(pmix_status_t code, pmix_nspace_t nspace UNUSED,
                     void* data) {
  happen(data, code);
}

static void on_credential(pmix_status_t code, pmix_byte_object_t* x UNUSED,
                          pmix_info_t infos[] UNUSED, size_t n UNUSED,
                          void* data) {
  happen(data, code);
}

static void on_valid(pmix_status_t code, pmix_info_t infos[] UNUSED,
                     size_t n UNUSED, void* data) {
  happen(data, code);
}

static void on_distances(pmix_status_t code, pmix_device_distance_t* xs UNUSED,
                         size_t n UNUSED, void* data,
                         pmix_release_cbfunc_t release, void* release_data) {
  if (release != NULL)
    release(release_data);
  happen(data, code);
}

static void on_setup(pmix_status_t code, pmix_info_t infos[] UNUSED,
                     size_t n UNUSED, void* data, pmix_op_cbfunc_t done,
                     void* done_data) {
  if (done != NULL)
    done(PMIX_SUCCESS, done_data);
  happen(data, code);
}

static void on_modex(pmix_status_t code, char* bytes UNUSED, size_t n UNUSED,
                     void* data) {
  happen(data, code);
}

/* -- clients --------------------------------------------------------------- */

static void data_calls(void) {
  pmix_value_t* value = NULL;
  pmix_proc_t* procs = NULL;
  size_t n = 0;
  char* text = NULL;
  const pmix_nspace_t none = "";

  CODE(PMIX_ERR_BAD_PARAM, PMIx_Put(PMIX_GLOBAL, NULL, NULL));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Put(PMIX_GLOBAL, "", NULL));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Put(PMIX_GLOBAL, "key", NULL));
  CODE(PMIX_SUCCESS, PMIx_Commit());
  CODE(PMIX_SUCCESS, PMIx_Fence(NULL, 0, NULL, 0));
  LATER(PMIx_Fence_nb(NULL, 0, NULL, 0, on_done, later));
  EMPTY(PMIx_Fence_nb(NULL, 0, NULL, 0, NULL, NULL));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Fence(NULL, 1, NULL, 0));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Fence(NULL, 0, NULL, 1));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Get(NULL, NULL, NULL, 0, &value));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Get(&me, "key", NULL, 0, NULL));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Get(&me, "key", NULL, 1, &value));
  STEP(PMIx_Get(&me, NULL, NULL, 0, &value));
  STEP(PMIx_Get(NULL, "key", NULL, 0, &value));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Get_nb(&me, "key", NULL, 0, NULL, NULL));
  LATER(PMIx_Get_nb(NULL, NULL, NULL, 0, on_value, later));
  LATER(PMIx_Get_nb(NULL, "key", NULL, 0, on_value, later));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Store_internal(NULL, NULL, NULL));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Store_internal(&me, "key", NULL));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Publish(NULL, 0));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Publish_nb(NULL, 0, NULL, NULL));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Lookup(NULL, 0, NULL, 0));
  LATER(PMIx_Lookup_nb(NULL, NULL, 0, on_lookup, later));
  EMPTY(PMIx_Lookup_nb(NULL, NULL, 0, NULL, NULL));
  STEP(PMIx_Unpublish(NULL, NULL, 0));
  LATER(PMIx_Unpublish_nb(NULL, NULL, 0, on_done, later));
  EMPTY(PMIx_Unpublish_nb(NULL, NULL, 0, NULL, NULL));
  STEP(PMIx_Resolve_peers(NULL, NULL, NULL, NULL));
  STEP(PMIx_Resolve_peers(NULL, NULL, &procs, &n));
  STEP(PMIx_Resolve_peers("", none, &procs, &n));
  STEP(PMIx_Resolve_nodes(NULL, NULL));
  STEP(PMIx_Resolve_nodes(NULL, &text));
  STEP(PMIx_Resolve_nodes(none, &text));
}

static void control_calls(void) {
  pmix_info_t* results = NULL;
  size_t n = 0;
  pmix_nspace_t nspace;
  pmix_byte_object_t bytes = {NULL, 0};

  CODE(PMIX_ERR_BAD_PARAM, PMIx_Spawn(NULL, 0, NULL, 0, nspace));
  LATER(PMIx_Spawn_nb(NULL, 0, NULL, 0, on_spawn, later));
  EMPTY(PMIx_Spawn_nb(NULL, 0, NULL, 0, NULL, NULL));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Connect(NULL, 0, NULL, 0));
  LATER(PMIx_Connect_nb(NULL, 0, NULL, 0, on_done, later));
  CODE(PMIX_ERR_BAD_PARAM, PMIx_Disconnect(NULL, 0, NULL, 0));
  LATER(PMIx_Disconnect_nb(NULL, 0, NULL, 0, on_done, later));
  STEP(PMIx_Query_info(NULL, 0, NULL, NULL));
  STEP(PMIx_Query_info(NULL, 0, &results, &n));
  LATER(PMIx_Query_info_nb(NULL, 0, on_infos, later));
  EMPTY(PMIx_Query_info_nb(NULL, 0, NULL, NULL));
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  STEP(PMIx_Query_info(&query, 1, &results, &n));
  LATER(PMIx_Query_info_nb(&query, 1, on_infos, later));
  STEP(PMIx_Log(NULL, 0, NULL, 0));
  LATER(PMIx_Log_nb(NULL, 0, NULL, 0, on_done, later));
  EMPTY(PMIx_Log_nb(NULL, 0, NULL, 0, NULL, NULL));
  STEP(PMIx_Allocation_request(0, NULL, 0, NULL, NULL));
  LATER(PMIx_Allocation_request_nb(0, NULL, 0, on_infos, later));
  EMPTY(PMIx_Allocation_request_nb(0, NULL, 0, NULL, NULL));
  STEP(PMIx_Resource_block(0, NULL, NULL, 0, NULL, 0));
  LATER(PMIx_Resource_block_nb(0, NULL, NULL, 0, NULL, 0, on_done, later));
  EMPTY(PMIx_Resource_block_nb(0, NULL, NULL, 0, NULL, 0, NULL, NULL));
  LATER(PMIx_Session_control(0, NULL, 0, on_infos, later));
  EMPTY(PMIx_Session_control(0, NULL, 0, NULL, NULL));
  STEP(PMIx_Job_control(NULL, 0, NULL, 0, &results, &n));
  STEP(PMIx_Job_control(NULL, 0, NULL, 0, NULL, NULL));
  LATER(PMIx_Job_control_nb(NULL, 0, NULL, 0, on_infos, later));
  EMPTY(PMIx_Job_control_nb(NULL, 0, NULL, 0, NULL, NULL));
  STEP(PMIx_Process_monitor(NULL, 0, NULL, 0, &results, &n));
  LATER(PMIx_Process_monitor_nb(NULL, 0, NULL, 0, on_infos, later));
  EMPTY(PMIx_Process_monitor_nb(NULL, 0, NULL, 0, NULL, NULL));
  STEP(PMIx_Get_credential(NULL, 0, NULL));
  STEP(PMIx_Get_credential(NULL, 0, &bytes));
  LATER(PMIx_Get_credential_nb(NULL, 0, on_credential, later));
  EMPTY(PMIx_Get_credential_nb(NULL, 0, NULL, NULL));
  STEP(PMIx_Validate_credential(NULL, NULL, 0, &results, &n));
  LATER(PMIx_Validate_credential_nb(NULL, NULL, 0, on_valid, later));
  EMPTY(PMIx_Validate_credential_nb(NULL, NULL, 0, NULL, NULL));
  bytes = (pmix_byte_object_t){NULL, 0};
  STEP(PMIx_Validate_credential(&bytes, NULL, 0, &results, &n));
  LATER(
    PMIx_Register_event_handler(NULL, 0, NULL, 0, NULL, on_registered, later));
  EMPTY(PMIx_Register_event_handler(NULL, 0, NULL, 0, NULL, NULL, NULL));
  LATER(PMIx_Deregister_event_handler(4711, on_done, later));
  EMPTY(PMIx_Deregister_event_handler(4711, NULL, NULL));
  LATER(
    PMIx_Notify_event(-4711, NULL, PMIX_RANGE_LOCAL, NULL, 0, on_done, later));
  EMPTY(PMIx_Notify_event(-4711, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL));
  LATER(
    PMIx_Notify_event(-4711, NULL, PMIX_RANGE_CUSTOM, NULL, 0, on_done, later));
  STEP(PMIx_Fabric_register(NULL, NULL, 0));
  LATER(PMIx_Fabric_register_nb(NULL, NULL, 0, on_done, later));
  STEP(PMIx_Fabric_update(NULL));
  LATER(PMIx_Fabric_update_nb(NULL, on_done, later));
  STEP(PMIx_Fabric_deregister(NULL));
  LATER(PMIx_Fabric_deregister_nb(NULL, on_done, later));
  STEP(PMIx_Load_topology(NULL));
  STEP(PMIx_Get_cpuset(NULL, 0));
  STEP(PMIx_Parse_cpuset_string(NULL, NULL));
  STEP(PMIx_Get_relative_locality(NULL, NULL, NULL));
  STEP(PMIx_Compute_distances(NULL, NULL, NULL, 0, NULL, NULL));
  LATER(PMIx_Compute_distances_nb(NULL, NULL, NULL, 0, on_distances, later));
  EMPTY(PMIx_Compute_distances_nb(NULL, NULL, NULL, 0, NULL, NULL));
  STEP(
    PMIx_IOF_pull(NULL, 0, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, NULL, NULL, NULL));
  LATER(PMIx_IOF_pull(NULL, 0, NULL, 0, 0, NULL, on_registered, later));
  LATER(PMIx_IOF_deregister(4711, NULL, 0, on_done, later));
  EMPTY(PMIx_IOF_deregister(4711, NULL, 0, NULL, NULL));
  LATER(PMIx_IOF_push(NULL, 0, NULL, NULL, 0, on_done, later));
  EMPTY(PMIx_IOF_push(NULL, 0, NULL, NULL, 0, NULL, NULL));
  bytes = (pmix_byte_object_t){NULL, 0};
  LATER(PMIx_IOF_push(NULL, 0, &bytes, NULL, 0, on_done, later));
  STEP(PMIx_Register_attributes(NULL, NULL));
  STEP((PMIx_Progress(), 0));
  STEP((PMIx_Heartbeat(), 0));
}

static void group_calls(void) {
  pmix_info_t* results = NULL;
  size_t n = 0;

  CODE(PMIX_ERR_BAD_PARAM,
       PMIx_Group_construct(NULL, NULL, 0, NULL, 0, NULL, NULL));
  CODE(PMIX_ERR_BAD_PARAM,
       PMIx_Group_construct("", NULL, 0, NULL, 0, NULL, NULL));
  CODE(PMIX_ERR_BAD_PARAM,
       PMIx_Group_construct("empty.0", NULL, 1, NULL, 0, NULL, NULL));
  CODE(PMIX_ERR_BAD_PARAM,
       PMIx_Group_invite("empty.1", NULL, 0, NULL, 0, &results, &n));
  LATER(PMIx_Group_invite_nb("empty.2", NULL, 0, NULL, 0, on_infos, later));
  EMPTY(PMIx_Group_invite_nb("empty.3", NULL, 0, NULL, 0, NULL, NULL));
  STEP(PMIx_Group_join(NULL, NULL, PMIX_GROUP_ACCEPT, NULL, 0, &results, &n));
  STEP(PMIx_Group_join("empty.4", NULL, PMIX_GROUP_DECLINE, NULL, 0, &results,
                       &n));
  LATER(PMIx_Group_join_nb(NULL, NULL, PMIX_GROUP_ACCEPT, NULL, 0, on_infos,
                           later));
  STEP(PMIx_Group_leave(NULL, NULL, 0));
  STEP(PMIx_Group_leave("empty.5", NULL, 0));
  LATER(PMIx_Group_leave_nb(NULL, NULL, 0, on_done, later));
  LATER(PMIx_Group_leave_nb("empty.6", NULL, 0, on_done, later));
  STEP(PMIx_Group_destruct(NULL, NULL, 0));
  STEP(PMIx_Group_destruct("empty.7", NULL, 0));
  LATER(PMIx_Group_destruct_nb(NULL, NULL, 0, on_done, later));
  LATER(PMIx_Group_destruct_nb("empty.8", NULL, 0, on_done, later));
}

/* Nobody is named, and nobody is left who could name others. */
static void nobody(void) {
  begin();
  watch();
  pmix_info_t* results = NULL;
  size_t n = 0;
  meet();
  for (int i = 0; i < 2; ++i) {
    CODE(PMIX_ERR_BAD_PARAM,
         PMIx_Group_construct("nobody", NULL, 0, NULL, 0, &results, &n));
    demand(results == NULL && n == 0, "no results");
    CODE(PMIX_ERR_BAD_PARAM,
         PMIx_Group_construct("nobody.more", NULL, 0, NULL, 0, NULL, NULL));
    LATER(PMIx_Group_construct_nb("nobody.later", NULL, 0, NULL, 0, on_infos,
                                  later));
    meet();
  }
  /* All may go on. */
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  CODE(PMIX_SUCCESS,
       PMIx_Group_construct("nobody", &all, 1, NULL, 0, NULL, NULL));
  CODE(PMIX_SUCCESS, PMIx_Group_destruct("nobody", NULL, 0));
  end();
}

static void client(void) {
  watch();
  step_name = "PMIx_Init(NULL, NULL, 0)";
  alarm(step_seconds);
  begin();
  alarm(0);
  CODE(PMIX_SUCCESS, PMIx_Init(NULL, NULL, 0));
  CODE(PMIX_SUCCESS, PMIx_Finalize(NULL, 0));
  data_calls();
  meet();
  control_calls();
  group_calls();
  meet();
  end();
}

/* -- servers --------------------------------------------------------------- */

static void server(void) {
  const pmix_nspace_t none = "";
  const pmix_nspace_t empty = "empty";
  const pmix_nspace_t plain = "plain";
  watch();
  CODE(PMIX_SUCCESS, PMIx_server_init(NULL, NULL, 0));
  LATER(PMIx_server_register_nspace(NULL, 0, NULL, 0, on_done, later));
  LATER(PMIx_server_register_nspace(none, 0, NULL, 0, on_done, later));
  LATER(PMIx_server_register_nspace(empty, 0, NULL, 0, on_done, later));
  EMPTY(PMIx_server_register_nspace(plain, 0, NULL, 0, NULL, NULL));
  LATER(PMIx_server_register_client(NULL, 0, 0, NULL, on_done, later));
  EMPTY(PMIx_server_register_client(NULL, 0, 0, NULL, NULL, NULL));
  STEP(PMIx_server_setup_fork(NULL, NULL));
  char** env = NULL;
  STEP(PMIx_server_setup_fork(NULL, &env));
  LATER(PMIx_server_dmodex_request(NULL, on_modex, later));
  EMPTY(PMIx_server_dmodex_request(NULL, NULL, NULL));
  LATER(PMIx_server_setup_application(NULL, NULL, 0, on_setup, later));
  LATER(PMIx_server_setup_application(empty, NULL, 0, on_setup, later));
  EMPTY(PMIx_server_setup_application(empty, NULL, 0, NULL, NULL));
  LATER(PMIx_server_setup_local_support(NULL, NULL, 0, on_done, later));
  LATER(PMIx_server_setup_local_support(empty, NULL, 0, on_done, later));
  LATER(PMIx_server_IOF_deliver(NULL, 0, NULL, NULL, 0, on_done, later));
  EMPTY(PMIx_server_IOF_deliver(NULL, 0, NULL, NULL, 0, NULL, NULL));
  LATER(PMIx_server_collect_inventory(NULL, 0, on_infos, later));
  EMPTY(PMIx_server_collect_inventory(NULL, 0, NULL, NULL));
  LATER(PMIx_server_deliver_inventory(NULL, 0, NULL, 0, on_done, later));
  EMPTY(PMIx_server_deliver_inventory(NULL, 0, NULL, 0, NULL, NULL));
  LATER(PMIx_server_register_resources(NULL, 0, on_done, later));
  EMPTY(PMIx_server_register_resources(NULL, 0, NULL, NULL));
  LATER(PMIx_server_deregister_resources(NULL, 0, on_done, later));
  EMPTY(PMIx_server_deregister_resources(NULL, 0, NULL, NULL));
  STEP(PMIx_server_define_process_set(NULL, 0, NULL));
  STEP(PMIx_server_define_process_set(NULL, 0, "set"));
  STEP(PMIx_server_delete_process_set(NULL));
  STEP(PMIx_server_delete_process_set("set"));
  STEP(PMIx_server_generate_locality_string(NULL, NULL));
  STEP(PMIx_server_generate_cpuset_string(NULL, NULL));
  STEP(PMIx_generate_regex(NULL, NULL));
  STEP(PMIx_generate_ppn(NULL, NULL));
  STEP(PMIx_Notify_event(-4711, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL));
  STEP(PMIx_Fence(NULL, 0, NULL, 0));
  STEP(PMIx_Publish(NULL, 0));
  STEP(PMIx_Query_info(NULL, 0, NULL, NULL));
  STEP(PMIx_Log(NULL, 0, NULL, 0));
  LATER((PMIx_server_deregister_client(NULL, on_done, later), PMIX_ERROR));
  LATER((PMIx_server_deregister_nspace(NULL, on_done, later), PMIX_ERROR));
  LATER((PMIx_server_deregister_nspace(empty, on_done, later), PMIX_SUCCESS));
  STEP((PMIx_server_deregister_nspace(plain, NULL, NULL), 0));
  CODE(PMIX_SUCCESS, PMIx_server_finalize());

  /* Tools that know no server. */
  pmix_info_t alone = flag_info(PMIX_TOOL_DO_NOT_CONNECT);
  CODE(PMIX_SUCCESS, PMIx_tool_init(NULL, &alone, 1));
  pmix_proc_t* servers = NULL;
  size_t n = 0;
  STEP(PMIx_tool_get_servers(NULL, NULL));
  STEP(PMIx_tool_get_servers(&servers, &n));
  STEP(PMIx_tool_attach_to_server(NULL, NULL, NULL, 0));
  STEP(PMIx_tool_disconnect(NULL));
  STEP(PMIx_tool_set_server(NULL, NULL, 0));
  STEP(PMIx_tool_set_server_module(NULL));
  STEP(PMIx_tool_connect_to_server(NULL, NULL, 0));
  CODE(PMIX_SUCCESS, PMIx_tool_finalize());
}

/* -- main ------------------------------------------------------------------ */

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"client", client}, {"server", server}, {"nobody", nobody}};
  return RUN_CASE(cases);
}
