/* Calls as the table of directives has them: each attribute as a required one,
 * and what comes of it. A job of two. */

#include "client.h"

/* What the table says, a line each: call, name in C, key, type, treatment. */
struct row {
  char call[64];
  char name[96];
  char key[96];
  char type[32];
  char how[16];
};

/* Not exercised here. */
#define NO_CALL 1

static bool on_own_library;
static int number;

static pmix_proc_t peer(void) {
  return rank_of(1 - me.rank);
}

static pmix_proc_t everybody(void) {
  return rank_of(PMIX_RANK_WILDCARD);
}

static const char* fresh(const char* prefix) {
  static char name[64];
  snprintf(name, sizeof name, "contract.%s.%d", prefix, number);
  return name;
}

/* A required info of the type of an attribute; nothing is meant by its value. */
static pmix_info_t required(const struct row* x) {
  pmix_info_t result;
  const bool yes = true;
  const uint32_t one = 1;
  const uint64_t one64 = 1;
  const float half = 0.5F;
  if (strcmp(x->type, "bool_") == 0) {
    PMIX_INFO_LOAD(&result, x->key, &yes, PMIX_BOOL);
  } else if (strcmp(x->type, "string") == 0) {
    PMIX_INFO_LOAD(&result, x->key, "x", PMIX_STRING);
  } else if (strcmp(x->type, "size") == 0) {
    const size_t size = 1;
    PMIX_INFO_LOAD(&result, x->key, &size, PMIX_SIZE);
  } else if (strcmp(x->type, "uint64") == 0) {
    PMIX_INFO_LOAD(&result, x->key, &one64, PMIX_UINT64);
  } else if (strcmp(x->type, "float_") == 0) {
    PMIX_INFO_LOAD(&result, x->key, &half, PMIX_FLOAT);
  } else if (strcmp(x->type, "proc") == 0) {
    const pmix_proc_t self = me;
    PMIX_INFO_LOAD(&result, x->key, &self, PMIX_PROC);
  } else if (strcmp(x->type, "data_array") == 0) {
    static pmix_proc_t members[1];
    members[0] = me;
    pmix_data_array_t array = {PMIX_PROC, 1, members};
    PMIX_INFO_LOAD(&result, x->key, &array, PMIX_DATA_ARRAY);
  } else if (strcmp(x->type, "proc_rank") == 0) {
    PMIX_INFO_LOAD(&result, x->key, &me.rank, PMIX_PROC_RANK);
  } else if (strcmp(x->type, "data_range") == 0) {
    result = range_info(PMIX_RANGE_NAMESPACE);
  } else if (strcmp(x->type, "persist") == 0) {
    const pmix_persistence_t until_end = PMIX_PERSIST_PROC;
    PMIX_INFO_LOAD(&result, x->key, &until_end, PMIX_PERSIST);
  } else if (strcmp(x->type, "int_") == 0) {
    result = int_info(x->key, 1);
  } else {
    PMIX_INFO_LOAD(&result, x->key, &one, PMIX_UINT32);
  }
  PMIX_INFO_REQUIRED(&result);
  return result;
}

static bool is(const struct row* x, const char* name) {
  return strcmp(x->name, name) == 0;
}

static void ignore(size_t id UNUSED, pmix_iof_channel_t channel UNUSED,
                   pmix_proc_t* source UNUSED, pmix_byte_object_t* bytes UNUSED,
                   pmix_info_t* infos UNUSED, size_t n UNUSED) {}

static void on_event(size_t id UNUSED, pmix_status_t code UNUSED,
                     const pmix_proc_t* source UNUSED,
                     pmix_info_t* infos UNUSED, size_t n UNUSED,
                     pmix_info_t* results UNUSED, size_t m UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* -- what all members call ------------------------------------------------- */

static pmix_status_t connects(pmix_info_t* x) {
  const pmix_proc_t all = everybody();
  const pmix_status_t outcome = PMIx_Connect(&all, 1, x, 1);
  if (outcome == PMIX_SUCCESS)
    PMIx_Disconnect(&all, 1, NULL, 0);
  return outcome;
}

static pmix_status_t disconnects(pmix_info_t* x) {
  const pmix_proc_t all = everybody();
  PMIx_Connect(&all, 1, NULL, 0);
  const pmix_status_t outcome = PMIx_Disconnect(&all, 1, x, 1);
  if (outcome != PMIX_SUCCESS)
    PMIx_Disconnect(&all, 1, NULL, 0);
  return outcome;
}

static pmix_status_t construct(const char* group, pmix_info_t* x, size_t n) {
  const pmix_proc_t members[2] = {rank_of(0), rank_of(1)};
  pmix_info_t* results = NULL;
  size_t count = 0;
  const pmix_status_t outcome =
    PMIx_Group_construct(group, members, 2, x, n, &results, &count);
  if (results != NULL)
    PMIX_INFO_FREE(results, count);
  return outcome;
}

static pmix_status_t group(const struct row* row, pmix_info_t* x) {
  const char* name = fresh("group");
  if (strcmp(row->call, "group_construct") == 0) {
    if (is(row, "PMIX_GROUP_LEADER") || is(row, "PMIX_GROUP_ADD_MEMBERS")
        || is(row, "PMIX_GROUP_BOOTSTRAP") || is(row, "PMIX_PROC_DATA")
        || is(row, "PMIX_GROUP_FINAL_MEMBERSHIP_ORDER")
        || is(row, "PMIX_GROUP_INFO") || is(row, "PMIX_GROUP_ENDPT_DATA"))
      return NO_CALL;
    const pmix_status_t outcome = construct(name, x, 1);
    if (outcome == PMIX_SUCCESS)
      PMIx_Group_destruct(name, NULL, 0);
    return outcome;
  }
  if (strcmp(row->call, "group_leave") == 0 && !on_own_library)
    return NO_CALL;
  const pmix_status_t made = construct(name, NULL, 0);
  if (made != PMIX_SUCCESS)
    return made;
  const pmix_status_t outcome = strcmp(row->call, "group_leave") == 0
                                  ? PMIx_Group_leave(name, x, 1)
                                  : PMIx_Group_destruct(name, x, 1);
  if (outcome != PMIX_SUCCESS)
    PMIx_Group_destruct(name, NULL, 0);
  return outcome;
}

/* -- data ------------------------------------------------------------------ */

static pmix_status_t get(const struct row* row, pmix_info_t* x) {
  const pmix_proc_t from = peer();
  pmix_info_t infos[2] = {*x, flag_info(PMIX_IMMEDIATE)};
  pmix_value_t room;
  pmix_value_t* value = &room;
  PMIX_VALUE_CONSTRUCT(&room);
  if (!is(row, "PMIX_GET_STATIC_VALUES"))
    value = NULL;
  return PMIx_Get(&from, "contract.no.such.key", infos, 2, &value);
}

static pmix_status_t publish(pmix_info_t* x) {
  char key[64];
  snprintf(key, sizeof key, "%s.%u", fresh("key"), me.rank);
  pmix_info_t infos[2] = {*x, int_info(key, 1)};
  const pmix_status_t outcome = PMIx_Publish(infos, 2);
  char* keys[] = {key, NULL};
  if (outcome == PMIX_SUCCESS)
    PMIx_Unpublish(keys, NULL, 0);
  return outcome;
}

static pmix_status_t lookup(const struct row* row, pmix_info_t* x) {
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_LOAD_KEY(data.key, "contract.no.such.key");
  pmix_info_t infos[2] = {*x, int_info(PMIX_TIMEOUT, 1)};
  return PMIx_Lookup(&data, 1, infos, is(row, "PMIX_WAIT") ? 2 : 1);
}

static pmix_status_t unpublish(pmix_info_t* x) {
  char key[] = "contract.no.such.key";
  char* keys[] = {key, NULL};
  return PMIx_Unpublish(keys, x, 1);
}

/* -- questions, logs ------------------------------------------------------- */

static pmix_status_t query(const pmix_info_t* x) {
  pmix_query_t what;
  PMIX_QUERY_CONSTRUCT(&what);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, what.keys, PMIX_QUERY_NAMESPACES);
  /* Without it, Debian's library looks for an answer of its own first. */
  const pmix_info_t refresh = flag_info(PMIX_QUERY_REFRESH_CACHE);
  PMIX_QUERY_QUALIFIERS_CREATE(&what, 2);
  PMIX_INFO_XFER(&what.qualifiers[0], x);
  what.qualifiers[0].flags = x->flags;
  PMIX_INFO_XFER(&what.qualifiers[1], &refresh);
  pmix_info_t* infos = NULL;
  size_t n = 0;
  outcome = PMIx_Query_info(&what, 1, &infos, &n);
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&what);
  return outcome;
}

static pmix_status_t writes(const pmix_info_t* x) {
  const pmix_info_t data = string_info(PMIX_LOG_STDERR, "\n");
  return PMIx_Log(&data, 1, x, 1);
}

/* -- control --------------------------------------------------------------- */

static pmix_status_t control(const struct row* row, pmix_info_t* x) {
  if (strncmp(row->key, "pmix.reg.", 9) == 0
      || strncmp(row->key, "pmix.log.", 9) == 0
      || strncmp(row->key, "pmix.clnup", 10) == 0)
    return NO_CALL;
  const pmix_proc_t nobody = proc_in("nobody", 0);
  const pmix_info_t infos[2] = {*x, flag_info(PMIX_JOB_CTRL_PAUSE)};
  pmix_info_t* results = NULL;
  size_t n = 0;
  const size_t count = is(row, "PMIX_JOB_CTRL_PAUSE") ? 1 : 2;
  return PMIx_Job_control(&nobody, 1, infos, count, &results, &n);
}

static pmix_status_t monitor(const struct row* row, pmix_info_t* x) {
  if (strstr(row->name, "RESOURCE") != NULL
      || strstr(row->name, "TARGET") != NULL
      || is(row, "PMIX_MONITOR_LOCAL_ONLY"))
    return NO_CALL;
  const pmix_info_t beats = flag_info(PMIX_MONITOR_HEARTBEAT);
  const uint32_t minute = 60;
  pmix_info_t infos[2] = {*x};
  PMIX_INFO_LOAD(&infos[1], PMIX_MONITOR_HEARTBEAT_TIME, &minute, PMIX_UINT32);
  const size_t count = is(row, "PMIX_MONITOR_HEARTBEAT_TIME") ? 1 : 2;
  pmix_info_t* results = NULL;
  size_t n = 0;
  const pmix_status_t outcome =
    PMIx_Process_monitor(&beats, -4000, infos, count, &results, &n);
  pmix_info_t all;
  PMIX_INFO_LOAD(&all, PMIX_MONITOR_CANCEL, NULL, PMIX_STRING);
  PMIx_Process_monitor(&all, PMIX_SUCCESS, NULL, 0, &results, &n);
  return outcome;
}

static pmix_status_t credential(const char* call, pmix_info_t* x) {
  pmix_byte_object_t bytes = {NULL, 0};
  if (strcmp(call, "get_credential") == 0)
    return PMIx_Get_credential(x, 1, &bytes);
  char text[] = "x";
  bytes.bytes = text;
  bytes.size = 1;
  pmix_info_t* results = NULL;
  size_t n = 0;
  return PMIx_Validate_credential(&bytes, x, 1, &results, &n);
}

static pmix_status_t allocate(pmix_info_t* x) {
  pmix_info_t* results = NULL;
  size_t n = 0;
  return PMIx_Allocation_request(PMIX_ALLOC_NEW, x, 1, &results, &n);
}

static pmix_status_t fabric(pmix_info_t* x) {
  pmix_fabric_t what;
  PMIX_FABRIC_CONSTRUCT(&what);
  return PMIx_Fabric_register(&what, x, 1);
}

/* -- input and output, events ---------------------------------------------- */

static pmix_status_t pull(pmix_info_t* x) {
  const pmix_proc_t of = me;
  const pmix_status_t outcome =
    PMIx_IOF_pull(&of, 1, x, 1, PMIX_FWD_STDOUT_CHANNEL, ignore, NULL, NULL);
  if (outcome >= 0)
    PMIx_IOF_deregister((size_t)outcome, NULL, 0, NULL, NULL);
  return outcome < 0 ? outcome : PMIX_SUCCESS;
}

static pmix_status_t push(pmix_info_t* x) {
  const pmix_proc_t to = me;
  char text[] = "x";
  pmix_byte_object_t bytes = {text, 1};
  return PMIx_IOF_push(&to, 1, &bytes, x, 1, NULL, NULL);
}

/* Debian's library compares the names of handlers that have none: there is never
   more than one. */
static size_t last_handler;

static void on_handler(pmix_status_t outcome, size_t id, void* data) {
  last_handler = id;
  happen(data, outcome);
}

static pmix_status_t handler(pmix_info_t* x) {
  pmix_status_t code = -5000 - number;
  struct pending done = PENDING;
  const pmix_status_t begun =
    PMIx_Register_event_handler(&code, 1, x, 1, on_event, on_handler, &done);
  if (begun < 0)
    return begun;
  demand(happens(&done, 1, 10), "the registration is answered");
  struct pending gone = PENDING;
  if (done.outcome == PMIX_SUCCESS
      && PMIx_Deregister_event_handler(last_handler, on_done, &gone)
           == PMIX_SUCCESS)
    demand(happens(&gone, 1, 10), "the end of it, too");
  return done.outcome;
}

static pmix_status_t notify(pmix_info_t* x) {
  const pmix_proc_t self = me;
  struct pending done = PENDING;
  const pmix_status_t begun = PMIx_Notify_event(
    -6000 - number, &self, PMIX_RANGE_LOCAL, x, 1, on_done, &done);
  if (begun != PMIX_SUCCESS)
    return begun;
  demand(happens(&done, 1, 10), "the event is taken");
  return done.outcome;
}

/* -- what the library does alone, or Debian's answers by itself ------------------------------------------- */

static pmix_status_t life(const struct row* row, pmix_info_t* x) {
  pmix_proc_t self;
  if (is(row, "PMIX_EXTERNAL_PROGRESS"))
    return NO_CALL;
  if (strcmp(row->call, "init") == 0) {
    const pmix_status_t outcome = PMIx_Init(&self, x, 1);
    if (outcome == PMIX_SUCCESS)
      PMIx_Finalize(NULL, 0);
    return outcome;
  }
  if (strcmp(row->call, "finalize") == 0) {
    succeed(PMIx_Init(&self, NULL, 0), "one more init");
    const pmix_status_t outcome = PMIx_Finalize(x, 1);
    if (outcome != PMIX_SUCCESS)
      PMIx_Finalize(NULL, 0);
    return outcome;
  }
  const pmix_status_t outcome = PMIx_tool_init(&self, x, 1);
  if (outcome == PMIX_SUCCESS)
    PMIx_tool_finalize();
  return outcome;
}

static pmix_status_t tool(const char* call, pmix_info_t* x) {
  pmix_proc_t self;
  pmix_proc_t server = proc_in("nobody", 0);
  pmix_info_t infos[2] = {
    *x, string_info(PMIX_SERVER_URI, "nobody.0;tcp4://127.0.0.1:1")};
  if (strcmp(call, "tool_set_server") == 0)
    return PMIx_tool_set_server(&server, x, 1);
  if (strcmp(call, "tool_attach_to_server") == 0)
    return PMIx_tool_attach_to_server(&self, &server, infos, 2);
  return PMIx_tool_connect_to_server(&self, infos, 2);
}

static pmix_status_t by_invitation(const struct row* row, pmix_info_t* x) {
  const pmix_proc_t whom = peer();
  pmix_info_t* results = NULL;
  size_t n = 0;
  if (strcmp(row->call, "group_join") == 0)
    return PMIx_Group_join(fresh("join"), &whom, PMIX_GROUP_ACCEPT, x, 1,
                           &results, &n);
  if (strcmp(row->how, "done") == 0)
    return NO_CALL;
  pmix_info_t infos[2] = {*x, int_info(PMIX_TIMEOUT, 1)};
  return PMIx_Group_invite(fresh("invite"), &whom, 1, infos, 2, &results, &n);
}

static pmix_status_t distances(pmix_info_t* x) {
  pmix_device_distance_t* found = NULL;
  size_t n = 0;
  return PMIx_Compute_distances(NULL, NULL, x, 1, &found, &n);
}

static pmix_status_t call_of_library(const struct row* row, pmix_info_t* x) {
  const char* call = row->call;
  if (!on_own_library)
    return NO_CALL;
  if (strcmp(call, "init") == 0 || strcmp(call, "finalize") == 0
      || strcmp(call, "tool_init") == 0)
    return life(row, x);
  if (strncmp(call, "tool_", 5) == 0)
    return tool(call, x);
  if (strcmp(call, "fabric_register") == 0)
    return fabric(x);
  if (strcmp(call, "iof_pull") == 0)
    return pull(x);
  if (strcmp(call, "iof_push") == 0)
    return push(x);
  if (strcmp(call, "group_join") == 0 || strcmp(call, "group_invite") == 0)
    return by_invitation(row, x);
  if (strcmp(call, "compute_distances") == 0)
    return distances(x);
  if (strcmp(call, "iof_deregister") == 0)
    return PMIx_IOF_deregister(4711, x, 1, NULL, NULL);
  return NO_CALL;
}

/* -- the walk -------------------------------------------------------------- */

static pmix_status_t call(const struct row* row, pmix_info_t* x) {
  const char* name = row->call;
  const pmix_proc_t all = everybody();
  if (strcmp(name, "fence") == 0)
    return PMIx_Fence(&all, 1, x, 1);
  if (strcmp(name, "connect") == 0)
    return connects(x);
  if (strcmp(name, "disconnect") == 0)
    return disconnects(x);
  if (strcmp(name, "group_construct") == 0
      || strcmp(name, "group_destruct") == 0
      || strcmp(name, "group_leave") == 0)
    return group(row, x);
  if (strcmp(name, "get") == 0)
    return get(row, x);
  if (strcmp(name, "publish") == 0)
    return publish(x);
  if (strcmp(name, "lookup") == 0)
    return lookup(row, x);
  if (strcmp(name, "unpublish") == 0)
    return unpublish(x);
  if (strcmp(name, "query_info") == 0)
    return query(x);
  if (strcmp(name, "log") == 0)
    return writes(x);
  if (strcmp(name, "job_control") == 0)
    return control(row, x);
  if (strcmp(name, "process_monitor") == 0)
    return monitor(row, x);
  if (strstr(name, "_credential") != NULL)
    return credential(name, x);
  if (strcmp(name, "allocation_request") == 0)
    return allocate(x);
  if (strcmp(name, "register_event_handler") == 0)
    return handler(x);
  if (strcmp(name, "notify_event") == 0)
    return notify(x);
  return call_of_library(row, x);
}

/* walk TABLE LIBRARY: prints for each row whether the call refused it, and what
   is not as the table says. */
static void walk(void) {
  begin();
  on_own_library = strcmp(case_args[1], "ours") == 0;
  FILE* table = fopen(case_args[0], "r");
  demand(table != NULL, "the table can be read");
  struct row row;
  int wrong = 0;
  while (fscanf(table, "%63s %95s %95s %31s %15s", row.call, row.name, row.key,
                row.type, row.how)
         == 5) {
    ++number;
    pmix_info_t x = required(&row);
    const pmix_status_t outcome = call(&row, &x);
    /* Debian's library says of any refusal of a handler that its server failed. */
    const bool is_refused =
      outcome == PMIX_ERR_NOT_SUPPORTED
      || (outcome == PMIX_ERR_SERVER_FAILED_REQUEST
          && strcmp(row.call, "register_event_handler") == 0);
    const bool is_done = strcmp(row.how, "done") == 0;
    if (outcome != NO_CALL && is_refused == is_done) {
      ++wrong;
      fprintf(stderr, "%s with %s, %s: %s (%d)\n", row.call, row.name, row.how,
              PMIx_Error_string(outcome), outcome);
    }
    if (me.rank == 0 && outcome != NO_CALL)
      printf("%s %s\n", row.call, row.name);
  }
  fclose(table);
  fflush(stdout);
  meet();
  end();
  if (wrong > 0)
    exit(1);
}

/* support QUALIFIER FUNCTION: prints the names of the attributes that a function
   acts upon, as a query says. */
static void support(void) {
  begin();
  pmix_query_t what;
  PMIX_QUERY_CONSTRUCT(&what);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, what.keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
  PMIX_QUERY_QUALIFIERS_CREATE(&what, 1);
  PMIX_INFO_LOAD(&what.qualifiers[0], case_args[0], case_args[1], PMIX_STRING);
  pmix_info_t* infos = NULL;
  size_t n = 0;
  outcome = PMIx_Query_info(&what, 1, &infos, &n);
  succeed(outcome, "query");
  demand(n == 1 && infos[0].value.type == PMIX_DATA_ARRAY, "an array");
  const pmix_data_array_t* functions = infos[0].value.data.darray;
  for (size_t i = 0; i < functions->size; ++i) {
    const pmix_info_t* function = (const pmix_info_t*)functions->array + i;
    const pmix_data_array_t* found = function->value.data.darray;
    for (size_t j = 0; j < found->size; ++j)
      printf("%s %s\n", function->key,
             ((const pmix_regattr_t*)found->array)[j].name);
  }
  PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&what);
  end();
}

/* -- keys of queries ------------------------------------------------------- */

/* Whether a key is answered by something under its name. */
static bool is_answered(const char* key, pmix_info_t* qualifiers,
                        size_t count) {
  pmix_query_t what;
  PMIX_QUERY_CONSTRUCT(&what);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, what.keys, key);
  PMIX_QUERY_QUALIFIERS_CREATE(&what, count);
  for (size_t i = 0; i < count; ++i)
    PMIX_INFO_XFER(&what.qualifiers[i], &qualifiers[i]);
  pmix_info_t* infos = NULL;
  size_t n = 0;
  outcome = PMIx_Query_info(&what, 1, &infos, &n);
  bool result = false;
  for (size_t i = 0; outcome == PMIX_SUCCESS && i < n; ++i)
    result = result || PMIX_CHECK_KEY(&infos[i], key);
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&what);
  return result;
}

/* keys TABLE: prints the names of those that are answered, of lines with a name and a
   key. There are a process set and a group "contract", and what the process has
   declared. */
static void keys(void) {
  begin();
  const int number = SIGUSR2;
  pmix_info_t method;
  PMIX_INFO_LOAD(&method, PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, &number, PMIX_INT);
  pmix_data_array_t methods = {PMIX_INFO, 1, &method};
  pmix_info_t declared[2] = {flag_info(PMIX_JOB_CTRL_PREEMPTIBLE)};
  PMIX_INFO_LOAD(&declared[1], PMIX_JOB_CTRL_CHECKPOINT_METHOD, &methods,
                 PMIX_DATA_ARRAY);
  pmix_info_t* results = NULL;
  size_t count = 0;
  succeed(PMIx_Job_control(NULL, 0, declared, 2, &results, &count), "declare");
  if (results != NULL)
    PMIX_INFO_FREE(results, count);
  succeed(construct("contract.group", NULL, 0), "construct");
  if (me.rank == 0) {
    FILE* table = fopen(case_args[0], "r");
    demand(table != NULL, "the table can be read");
    pmix_info_t qualifiers[] = {string_info(PMIX_NSPACE, me.nspace),
                                string_info(PMIX_PSET_NAME, "contract"),
                                string_info(PMIX_GROUP_ID, "contract.group"),
                                string_info("pmix.srvr.attrs", "all"),
                                flag_info(PMIX_QUERY_REFRESH_CACHE)};
    char name[96];
    char key[96];
    while (fscanf(table, "%95s %95s", name, key) == 2)
      if (is_answered(key, qualifiers, sizeof qualifiers / sizeof *qualifiers))
        printf("%s\n", name);
    fclose(table);
    fflush(stdout);
  }
  meet();
  succeed(PMIx_Group_destruct("contract.group", NULL, 0), "destruct");
  end();
}

/* PMIX_MODEL_DECLARED: what a library says of itself reaches the others. */
static struct pending declared = PENDING;

static void on_model(size_t id UNUSED, pmix_status_t code UNUSED,
                     const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                     size_t n, pmix_info_t* results UNUSED, size_t m UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_PROGRAMMING_MODEL)
        && infos[i].value.type == PMIX_STRING
        && strcmp(infos[i].value.data.string, "contract") == 0)
      happen(&declared, PMIX_SUCCESS);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void model(void) {
  begin();
  pmix_status_t code = PMIX_MODEL_DECLARED;
  handle(&code, 1, on_model);
  pmix_proc_t self;
  const pmix_info_t x = string_info(PMIX_PROGRAMMING_MODEL, "contract");
  pmix_info_t copy = x;
  succeed(PMIx_Init(&self, &copy, 1), "another library's init");
  demand(happens(&declared, 1, 10), "the model is declared");
  succeed(PMIx_Finalize(NULL, 0), "its finalize");
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"walk", walk},
    {"support", support},
    {"keys", keys},
    {"model", model},
  };
  return RUN_CASE(cases);
}
