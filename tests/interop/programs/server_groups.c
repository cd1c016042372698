/* A resource manager in C that conducts groups and monitors, with two clients.
 *
 *   server_groups CLIENT         CLIENT: this program, built for any libpmix
 *   CLIENT client -              what the server starts */

#include "host.h"

/* -- the clients ------------------------------------------------------------- */

struct built {
  atomic_int calls;
  _Atomic pmix_status_t status;
  size_t context;
};

static void on_built(pmix_status_t status, pmix_info_t* infos, size_t n,
                     void* data, pmix_release_cbfunc_t release, void* token) {
  struct built* x = data;
  const pmix_info_t* context = find(infos, n, PMIX_GROUP_CONTEXT_ID);
  if (context != NULL && context->value.type == PMIX_SIZE)
    x->context = context->value.data.size;
  x->status = status;
  if (release != NULL)
    release(token);
  ++x->calls;
}

static atomic_int alerts;
static char monitor_id[64];

static void on_alert(size_t id, pmix_status_t status, const pmix_proc_t* source,
                     pmix_info_t infos[], size_t n, pmix_info_t* results,
                     size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                     void* data) {
  (void)id, (void)status, (void)source, (void)results, (void)nresults;
  const pmix_info_t* which = find(infos, n, PMIX_MONITOR_ID);
  if (which != NULL && which->value.type == PMIX_STRING)
    snprintf(monitor_id, sizeof monitor_id, "%s", which->value.data.string);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  ++alerts;
}

static int client(void) {
  pmix_proc_t me, all, group;
  expect_code(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS, "init");
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);

  /* Two at once over the same processes, each of which gets its own answer. */
  struct built one = {0, 0, 0}, two = {0, 0, 0};
  pmix_info_t context, limit;
  int seconds = 10;
  PMIX_INFO_LOAD(&context, PMIX_GROUP_ASSIGN_CONTEXT_ID, NULL, PMIX_BOOL);
  PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
  expect_code(
    PMIx_Group_construct_nb("one", &all, 1, &context, 1, on_built, &one),
    PMIX_SUCCESS, "the first");
  expect_code(
    PMIx_Group_construct_nb("two", &all, 1, &context, 1, on_built, &two),
    PMIX_SUCCESS, "the second");
  expect(becomes(&one.calls, 1) && becomes(&two.calls, 1), "both are answered");
  expect_code(one.status, PMIX_SUCCESS, "the first is there");
  expect_code(two.status, PMIX_SUCCESS, "the second is there");
  expect(one.context == 1001, "the first has the host's context for it");
  expect(two.context == 1002, "the second has its own");

  /* The host sees processes, by their own names, whatever they are called by. */
  PMIX_LOAD_PROCID(&group, "one", PMIX_RANK_WILDCARD);
  expect_code(PMIx_Fence(&group, 1, &limit, 1), PMIX_SUCCESS,
              "a fence over the group");
  expect_code(PMIx_Group_destruct("one", &limit, 1), PMIX_SUCCESS,
              "the end of the first");
  PMIX_LOAD_PROCID(&group, "two", PMIX_RANK_WILDCARD);
  expect_code(PMIx_Fence(&group, 1, &limit, 1), PMIX_SUCCESS,
              "the second goes on");
  expect_code(PMIx_Group_destruct("two", &limit, 1), PMIX_SUCCESS,
              "the end of the second");

  /* A monitor that the host keeps: it alerts the first, and refuses the second. */
  pmix_status_t code = PMIX_MONITOR_HEARTBEAT_ALERT;
  pmix_info_t what, how[2], *results = NULL;
  size_t n = 0;
  uint32_t period = 1;
  PMIx_Register_event_handler(&code, 1, NULL, 0, on_alert, NULL, NULL);
  PMIX_INFO_LOAD(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_POINTER);
  PMIX_INFO_LOAD(&how[0], PMIX_MONITOR_HEARTBEAT_TIME, &period, PMIX_UINT32);
  PMIX_INFO_LOAD(&how[1], PMIX_MONITOR_ID, "pulse", PMIX_STRING);
  expect_code(PMIx_Process_monitor(&what, code, how, 2, &results, &n),
              me.rank == 0 ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS,
              "what the host answers");
  if (me.rank == 0) {
    expect(becomes(&alerts, 1), "the host's alert comes");
    expect(strcmp(monitor_id, "pulse") == 0, "and names the monitor");
  }
  expect_code(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "finalize");
  return failures != 0;
}

/* -- the host ---------------------------------------------------------------- */

struct call {
  pmix_info_cbfunc_t done;
  void* data;
};

static struct call kept[2];
static atomic_int constructs, destructs, fences, monitors;

static void* answer_groups(void* unused) {
  (void)unused;
  /* The other way round: who mixes them up tells the wrong one. */
  for (int i = 1; i >= 0; --i) {
    size_t context = 1001 + (size_t)i;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_GROUP_CONTEXT_ID, &context, PMIX_SIZE);
    kept[i].done(PMIX_SUCCESS, &info, 1, kept[i].data, NULL, NULL);
  }
  return NULL;
}

/* All of the job, by their own names. */
static bool are_all(const pmix_proc_t* procs, size_t n) {
  bool has[4] = {false, false, false, false};
  for (size_t i = 0; i < n; ++i) {
    if (strcmp(procs[i].nspace, HOSTED) != 0)
      return false;
    if (procs[i].rank == PMIX_RANK_WILDCARD)
      return n == 1;
    if (procs[i].rank < 4)
      has[procs[i].rank] = true;
  }
  return n == 4 && has[0] && has[1] && has[2] && has[3];
}

static pmix_status_t group(pmix_group_operation_t what, char name[],
                           const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t infos[], size_t n,
                           pmix_info_cbfunc_t done, void* data) {
  const int which = strcmp(name, "one") == 0 ? 0 : 1;
  expect(which == 0 || strcmp(name, "two") == 0, "the name of the group");
  expect(are_all(procs, nprocs), "its processes");
  if (what == PMIX_GROUP_DESTRUCT) {
    ++destructs;
    done(PMIX_SUCCESS, NULL, 0, data, NULL, NULL);
    return PMIX_SUCCESS;
  }
  expect(what == PMIX_GROUP_CONSTRUCT, "the operation");
  expect(find(infos, n, PMIX_GROUP_ASSIGN_CONTEXT_ID) != NULL, "the directive");
  expect(kept[which].done == NULL, "each is asked for once");
  kept[which].done = done;
  kept[which].data = data;
  if (++constructs == 2) {
    pthread_t thread;
    pthread_create(&thread, NULL, answer_groups, NULL);
    pthread_detach(thread);
  }
  return PMIX_SUCCESS;
}

static pmix_status_t fence(const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t info[], size_t ninfo, char* bytes,
                           size_t size, pmix_modex_cbfunc_t done, void* data) {
  (void)info, (void)ninfo;
  expect(are_all(procs, nprocs), "a fence is over processes");
  ++fences;
  done(PMIX_SUCCESS, bytes, size, data, free, bytes);
  return PMIX_SUCCESS;
}

static void* alert(void* unused) {
  (void)unused;
  pmix_proc_t manager, whom;
  pmix_info_t info[3];
  struct answer sent = {0, 0};
  PMIX_LOAD_PROCID(&manager, "", PMIX_RANK_UNDEF);
  PMIX_LOAD_PROCID(&whom, HOSTED, 0);
  PMIX_INFO_LOAD(&info[0], PMIX_MONITOR_ID, "pulse", PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_EVENT_CUSTOM_RANGE, &whom, PMIX_PROC);
  PMIX_INFO_LOAD(&info[2], PMIX_EVENT_AFFECTED_PROC, &whom, PMIX_PROC);
  expect_code(PMIx_Notify_event(PMIX_MONITOR_HEARTBEAT_ALERT, &manager,
                                PMIX_RANGE_CUSTOM, info, 3, on_op, &sent),
              PMIX_SUCCESS, "the host's alert");
  expect_code(answer_of(&sent), PMIX_SUCCESS, "the alert is on its way");
  return NULL;
}

static pmix_status_t monitor(const pmix_proc_t* requestor,
                             const pmix_info_t* what, pmix_status_t error,
                             const pmix_info_t infos[], size_t n,
                             pmix_info_cbfunc_t done, void* data) {
  const pmix_info_t* id = find(infos, n, PMIX_MONITOR_ID);
  expect(strcmp(requestor->nspace, HOSTED) == 0, "who asks");
  expect(strcmp(what->key, PMIX_MONITOR_HEARTBEAT) == 0, "for what");
  expect(error == PMIX_MONITOR_HEARTBEAT_ALERT, "the code of the alert");
  expect(id != NULL && strcmp(id->value.data.string, "pulse") == 0, "the name");
  expect(find(infos, n, PMIX_MONITOR_HEARTBEAT_TIME) != NULL, "how often");
  ++monitors;
  if (requestor->rank != 0)
    return PMIX_ERR_NO_PERMISSIONS;
  done(PMIX_SUCCESS, NULL, 0, data, NULL, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, alert, NULL);
  pthread_detach(thread);
  return PMIX_SUCCESS;
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "client") == 0)
    return client();
  if (argc != 2)
    return 2;
  pmix_server_module_t module;
  memset(&module, 0, sizeof module);
  module.group = group;
  module.fence_nb = fence;
  module.monitor = monitor;
  expect_code(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS, "server_init");
  start_job(argv[1], "-");
  const int result = end_job("server groups");
  if (constructs != 2 || destructs != 2 || fences != 2 || monitors != 2) {
    printf("the host heard of %d constructs, %d destructs, %d fences, "
           "%d monitors\n",
           constructs, destructs, fences, monitors);
    return 1;
  }
  return result;
}
