/* Calls at the wrong time, from the wrong thread, with odd arguments, and from
 * many threads. */

#include "client.h"

/* -- before init and after finalize ---------------------------------------- */

static void refused(void) {
  pmix_value_t value;
  pmix_value_t* found = NULL;
  pmix_info_t info = flag_info(PMIX_COLLECT_DATA);
  pmix_info_t* infos = NULL;
  pmix_proc_t proc = rank_of(0);
  pmix_proc_t* procs = NULL;
  pmix_app_t app;
  pmix_pdata_t pdata;
  pmix_query_t query;
  pmix_nspace_t nspace;
  pmix_byte_object_t bytes = {NULL, 0};
  size_t n = 0;
  char* text = NULL;
  char* keys[] = {"key", NULL};
  PMIX_VALUE_LOAD(&value, "x", PMIX_STRING);
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = "true";
  PMIX_PDATA_CONSTRUCT(&pdata);
  PMIX_LOAD_KEY(pdata.key, "key");
  PMIX_QUERY_CONSTRUCT(&query);
  query.keys = keys;
#define REFUSED(call) expect(call, PMIX_ERR_INIT, #call)
  REFUSED(PMIx_Finalize(NULL, 0));
  REFUSED(PMIx_Abort(1, "x", NULL, 0));
  REFUSED(PMIx_Put(PMIX_GLOBAL, "key", &value));
  REFUSED(PMIx_Commit());
  REFUSED(PMIx_Store_internal(&proc, "key", &value));
  REFUSED(PMIx_Get(&proc, "key", NULL, 0, &found));
  REFUSED(PMIx_Get_nb(&proc, "key", NULL, 0, NULL, NULL));
  REFUSED(PMIx_Fence(NULL, 0, NULL, 0));
  REFUSED(PMIx_Fence_nb(NULL, 0, NULL, 0, on_done, NULL));
  REFUSED(PMIx_Connect(&proc, 1, NULL, 0));
  REFUSED(PMIx_Connect_nb(&proc, 1, NULL, 0, on_done, NULL));
  REFUSED(PMIx_Disconnect(&proc, 1, NULL, 0));
  REFUSED(PMIx_Disconnect_nb(&proc, 1, NULL, 0, on_done, NULL));
  REFUSED(PMIx_Publish(&info, 1));
  REFUSED(PMIx_Publish_nb(&info, 1, on_done, NULL));
  REFUSED(PMIx_Lookup(&pdata, 1, NULL, 0));
  REFUSED(PMIx_Lookup_nb(keys, NULL, 0, NULL, NULL));
  REFUSED(PMIx_Unpublish(keys, NULL, 0));
  REFUSED(PMIx_Unpublish_nb(keys, NULL, 0, on_done, NULL));
  REFUSED(PMIx_Spawn(NULL, 0, &app, 1, nspace));
  REFUSED(PMIx_Spawn_nb(NULL, 0, &app, 1, NULL, NULL));
  REFUSED(PMIx_Resolve_peers(NULL, NULL, &procs, &n));
  REFUSED(PMIx_Resolve_nodes(NULL, &text));
  REFUSED(PMIx_Query_info(&query, 1, &infos, &n));
  REFUSED(PMIx_Query_info_nb(&query, 1, NULL, NULL));
  REFUSED(PMIx_Log(&info, 1, NULL, 0));
  REFUSED(PMIx_Log_nb(&info, 1, NULL, 0, on_done, NULL));
  REFUSED(PMIx_Job_control(&proc, 1, &info, 1, &infos, &n));
  REFUSED(PMIx_Job_control_nb(&proc, 1, &info, 1, NULL, NULL));
  REFUSED(PMIx_Process_monitor(&info, PMIX_SUCCESS, NULL, 0, &infos, &n));
  REFUSED(PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, &infos, &n));
  REFUSED(PMIx_Get_credential(NULL, 0, &bytes));
  REFUSED(PMIx_Validate_credential(&bytes, NULL, 0, &infos, &n));
  REFUSED(PMIx_Group_construct("g", &proc, 1, NULL, 0, &infos, &n));
  REFUSED(PMIx_Group_destruct("g", NULL, 0));
  REFUSED(PMIx_Group_leave("g", NULL, 0));
  REFUSED(PMIx_Notify_event(PMIX_ERR_TIMEOUT, &proc, PMIX_RANGE_LOCAL, NULL, 0,
                            NULL, NULL));
  REFUSED(PMIx_tool_finalize());
  REFUSED(PMIx_tool_disconnect(&proc));
  REFUSED(PMIx_tool_get_servers(&procs, &n));
  PMIx_Progress();
}

static void wrong_time(void) {
  refused();
  begin();
  end();
  refused();
}

/* -- in a callback --------------------------------------------------------- */

static void in_callback(pmix_status_t outcome, void* data) {
  pmix_value_t* value = NULL;
  pmix_info_t* infos = NULL;
  pmix_proc_t* procs = NULL;
  size_t n = 0;
  char* keys[] = {"pmix.qry.ns", NULL};
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  query.keys = keys;
  const pmix_proc_t other = rank_of(job_size - 1);
  const double start = now();
  succeed(outcome, "fence_nb");
#define BLOCKS(call) expect(call, PMIX_ERR_WOULD_BLOCK, #call)
  BLOCKS(PMIx_Fence(NULL, 0, NULL, 0));
  BLOCKS(PMIx_Get(&other, "nobody posts this", NULL, 0, &value));
  BLOCKS(PMIx_Query_info(&query, 1, &infos, &n));
  BLOCKS(PMIx_Connect(&other, 1, NULL, 0));
  BLOCKS(PMIx_Resolve_peers(NULL, me.nspace, &procs, &n));
  BLOCKS(PMIx_Group_construct("g", &other, 1, NULL, 0, &infos, &n));
  BLOCKS(PMIx_Abort(0, NULL, NULL, 0));
  BLOCKS(PMIx_Finalize(NULL, 0));
  /* What is here needs no wait. */
  succeed(PMIx_Get(&me, PMIX_LOCAL_RANK, NULL, 0, &value), "local rank");
  PMIX_VALUE_RELEASE(value);
  put_string(PMIX_GLOBAL, "from a callback", "text");
  succeed(PMIx_Commit(), "commit");
  demand(now() - start < 5, "nothing hangs");
  happen(data, outcome);
}

static void callbacks(void) {
  begin();
  struct pending done = PENDING;
  succeed(PMIx_Fence_nb(NULL, 0, NULL, 0, in_callback, &done), "fence_nb");
  demand(happens(&done, 1, 20), "the callback comes");
  meet();
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t peer = rank_of(i);
    expect_string(&peer, "from a callback", "text", 10);
  }
  meet();
  end();
}

/* -- odd arguments --------------------------------------------------------- */

static void arguments(void) {
  begin();
  pmix_value_t* value = NULL;
  pmix_value_t own;
  pmix_proc_t nameless = proc_in("", me.rank);
  char long_key[PMIX_MAX_KEYLEN + 10];
  memset(long_key, 'k', sizeof long_key - 1);
  long_key[sizeof long_key - 1] = '\0';
  put_string(PMIX_GLOBAL, "key", "text");
  /* An empty namespace is ours, no process too; no key is everything. */
  succeed(PMIx_Get(&nameless, "key", NULL, 0, &value), "empty namespace");
  demand(strcmp(value->data.string, "text") == 0, "our own value");
  PMIX_VALUE_RELEASE(value);
  nameless.rank = PMIX_RANK_WILDCARD;
  succeed(PMIx_Get(&nameless, PMIX_JOB_SIZE, NULL, 0, &value), "job size");
  demand(value->type == PMIX_UINT32 && value->data.uint32 == job_size, "size");
  PMIX_VALUE_RELEASE(value);
  succeed(PMIx_Get(NULL, PMIX_JOB_SIZE, NULL, 0, &value), "no process");
  PMIX_VALUE_RELEASE(value);
  succeed(PMIx_Get(NULL, "key", NULL, 0, &value), "no process, own key");
  PMIX_VALUE_RELEASE(value);
  succeed(PMIx_Get(&me, NULL, NULL, 0, &value), "no key");
  demand(value->type == PMIX_DATA_ARRAY, "everything is an array");
  PMIX_VALUE_RELEASE(value);
  /* Values in the caller's memory, and in ours. */
  PMIX_VALUE_CONSTRUCT(&own);
  value = &own;
  pmix_info_t how = flag_info(PMIX_GET_STATIC_VALUES);
  succeed(PMIx_Get(&me, "key", &how, 1, &value), "static value");
  demand(value == &own && strcmp(own.data.string, "text") == 0, "filled in");
  PMIX_VALUE_DESTRUCT(&own);
  how = flag_info(PMIX_GET_POINTER_VALUES);
  pmix_value_t* first = NULL;
  succeed(PMIx_Get(&me, "key", &how, 1, &first), "pointer value");
  succeed(PMIx_Get(&me, "key", &how, 1, &value), "pointer value again");
  demand(first == value && strcmp(value->data.string, "text") == 0, "the same");
  /* Nothing where something must be. */
  expect(PMIx_Get(NULL, NULL, NULL, 0, &value), PMIX_ERR_BAD_PARAM, "get");
  expect(PMIx_Get(&me, "key", NULL, 0, NULL), PMIX_ERR_BAD_PARAM, "get");
  expect(PMIx_Get(&me, "", NULL, 0, &value), PMIX_ERR_BAD_PARAM, "get");
  expect(PMIx_Get(&me, long_key, NULL, 0, &value), PMIX_ERR_BAD_PARAM, "get");
  expect(PMIx_Get(&me, "key", NULL, 1, &value), PMIX_ERR_BAD_PARAM, "get");
  PMIX_VALUE_LOAD(&own, "x", PMIX_STRING);
  expect(PMIx_Put(PMIX_GLOBAL, NULL, &own), PMIX_ERR_BAD_PARAM, "put");
  expect(PMIx_Put(PMIX_GLOBAL, "", &own), PMIX_ERR_BAD_PARAM, "put");
  expect(PMIx_Put(PMIX_GLOBAL, "key", NULL), PMIX_ERR_BAD_PARAM, "put");
  expect(PMIx_Put(PMIX_GLOBAL, long_key, &own), PMIX_ERR_BAD_PARAM, "put");
  expect(PMIx_Put(77, "key", &own), PMIX_ERR_BAD_PARAM, "put");
  expect(PMIx_Fence(NULL, 3, NULL, 0), PMIX_ERR_BAD_PARAM, "fence");
  expect(PMIx_Fence(NULL, 0, NULL, 3), PMIX_ERR_BAD_PARAM, "fence");
  expect(PMIx_Connect(NULL, 0, NULL, 0), PMIX_ERR_BAD_PARAM, "connect");
  expect(PMIx_Publish(NULL, 0), PMIX_ERR_BAD_PARAM, "publish");
  expect(PMIx_Lookup(NULL, 0, NULL, 0), PMIX_ERR_BAD_PARAM, "lookup");
  expect(PMIx_Spawn(NULL, 0, NULL, 0, NULL), PMIX_ERR_BAD_PARAM, "spawn");
  expect(PMIx_Query_info(NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM, "query");
  expect(PMIx_Resolve_nodes(me.nspace, NULL), PMIX_ERR_BAD_PARAM, "resolve");
  expect(PMIx_Group_construct(NULL, &me, 1, NULL, 0, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "group");
  PMIX_VALUE_DESTRUCT(&own);
  /* No callback is no reason to fail. Of oneself: OpenPMIx's servers take two fences
   * of the same processes that are under way for one. */
  succeed(PMIx_Fence_nb(&me, 1, NULL, 0, NULL, NULL), "fence_nb");
  meet();
  end();
}

/* -- many threads ---------------------------------------------------------- */

static void on_value(pmix_status_t outcome, pmix_value_t* value, void* data) {
  demand(outcome != PMIX_SUCCESS || value != NULL, "a value comes");
  happen(data, outcome);
}

static void* hammer(void* number) {
  const long id = (long)number;
  char key[64];
  char text[64];
  for (int i = 0; i < 300; ++i) {
    snprintf(key, sizeof key, "key.%ld", id);
    snprintf(text, sizeof text, "text.%ld.%d", id, i);
    put_string(PMIX_GLOBAL, key, text);
    expect_string(&me, key, text, 0);
    if (i % 10 == 0)
      succeed(PMIx_Commit(), "commit");
    if (i % 30 == 0)
      succeed(PMIx_Fence(&me, 1, NULL, 0), "fence with itself");
    const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
    demand(number_of(&all, PMIX_JOB_SIZE) == job_size, "the size");
    struct pending found = PENDING;
    succeed(PMIx_Get_nb(&me, key, NULL, 0, on_value, &found), "get_nb");
    demand(happens(&found, 1, 20), "the value comes");
    succeed(found.outcome, "get_nb");
    pmix_info_t now_ = flag_info(PMIX_IMMEDIATE);
    const pmix_proc_t other = rank_of((me.rank + 1) % job_size);
    expect(try_get(&other, "nobody posts this", &now_, 1), PMIX_ERR_NOT_FOUND,
           "what nobody posts");
  }
  return NULL;
}

static void many_threads(void) {
  begin();
  pthread_t threads[8];
  for (long i = 0; i < 8; ++i)
    pthread_create(&threads[i], NULL, hammer, (void*)i);
  for (int i = 0; i < 8; ++i)
    pthread_join(threads[i], NULL);
  meet();
  const pmix_proc_t other = rank_of((me.rank + 1) % job_size);
  put_string(PMIX_GLOBAL, "last", "one");
  succeed(PMIx_Commit(), "commit");
  meet();
  expect_string(&other, "last", "one", 10);
  expect_string(&other, "key.7", "text.7.299", 10);
  meet();
  end();
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
    {"wrong_time", wrong_time},
    {"callbacks", callbacks},
    {"arguments", arguments},
    {"many_threads", many_threads},
  };
  return RUN_CASE(cases);
}
