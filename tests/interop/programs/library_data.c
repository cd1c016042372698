/* Data that nobody posts under the key that is asked for, or not yet. */

#include "client.h"

#ifndef PMIX_DEL_LOCAL
#  define PMIX_DEL_LOCAL 5
#  define PMIX_DEL_REMOTE 6
#  define PMIX_DEL_GLOBAL 7
#  define PMIX_DEL_INTERNAL 8
#endif

/* -- what is made here ----------------------------------------------------- */

static void names_all(const pmix_proc_t* whom) {
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(whom, PMIX_LOCAL_PROCS, NULL, 0, &value), "local procs");
  demand(value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_PROC
           && value->data.darray->size == job_size,
         "an array of all processes");
  const pmix_proc_t* procs = value->data.darray->array;
  for (uint32_t i = 0; i < job_size; ++i)
    demand(strcmp(procs[i].nspace, me.nspace) == 0 && procs[i].rank == i,
           "each of them");
  PMIX_VALUE_RELEASE(value);
}

static void local_procs(void) {
  begin();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  names_all(&all);
  names_all(&me);
  meet();
  end();
}

static void on_topology(pmix_status_t outcome, pmix_value_t* value,
                        void* data) {
  demand(outcome == PMIX_SUCCESS && value->type == PMIX_TOPO
           && value->data.topo->topology != NULL,
         "the topology comes");
  happen(data, outcome);
}

static void topology(void) {
  begin();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_topology_t loaded = {NULL, NULL};
  succeed(PMIx_Load_topology(&loaded), "load");
  pmix_info_t optional = flag_info(PMIX_OPTIONAL);
  for (int i = 0; i < 3; ++i) {
    pmix_value_t* value = NULL;
    succeed(
      PMIx_Get(i == 0 ? &all : &me, PMIX_TOPOLOGY2, &optional, i % 2, &value),
      "the topology");
    demand(value->type == PMIX_TOPO, "its type");
    demand(strncmp(value->data.topo->source, "hwloc", 5) == 0, "its source");
    demand(value->data.topo->topology == loaded.topology, "the shared one");
    PMIX_VALUE_RELEASE(value);
  }
  pmix_info_t how = flag_info(PMIX_GET_POINTER_VALUES);
  pmix_value_t* first = NULL;
  pmix_value_t* second = NULL;
  succeed(PMIx_Get(&me, PMIX_TOPOLOGY2, &how, 1, &first), "pointer");
  succeed(PMIx_Get(&me, PMIX_TOPOLOGY2, &how, 1, &second), "pointer again");
  demand(first == second && first->type == PMIX_TOPO, "the same");
  pmix_value_t own;
  PMIX_VALUE_CONSTRUCT(&own);
  second = &own;
  how = flag_info(PMIX_GET_STATIC_VALUES);
  succeed(PMIx_Get(&me, PMIX_TOPOLOGY2, &how, 1, &second), "static");
  demand(own.type == PMIX_TOPO && own.data.topo->topology != NULL, "filled");
  PMIX_VALUE_DESTRUCT(&own);
  struct pending found = PENDING;
  succeed(PMIx_Get_nb(&me, PMIX_TOPOLOGY2, NULL, 0, on_topology, &found),
          "get_nb");
  demand(happens(&found, 1, 20), "the callback comes");
  expect(try_get(&(pmix_proc_t){"nobody", 0}, PMIX_TOPOLOGY2, &optional, 1),
         PMIX_ERR_NOT_FOUND, "the topology of others");
  end();
}

/* Where a process is: also if it is not bound. */
static void localities(void) {
  begin();
  char* mine = NULL;
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t peer = rank_of((me.rank + i) % job_size);
    pmix_value_t* value = NULL;
    succeed(PMIx_Get(&peer, PMIX_LOCALITY_STRING, NULL, 0, &value), "locality");
    demand(value->type == PMIX_STRING, "a text");
    if (mine == NULL)
      mine = strdup(value->data.string);
    pmix_locality_t shared = 0;
    succeed(PMIx_Get_relative_locality(mine, value->data.string, &shared),
            "what they share");
    demand((shared & PMIX_LOCALITY_SHARE_HWTHREAD) != 0,
           "a processor: neither is bound");
    PMIX_VALUE_RELEASE(value);
  }
  free(mine);
  pmix_info_t at_once = flag_info(PMIX_IMMEDIATE);
  const pmix_proc_t nobody = rank_of(job_size);
  expect(try_get(&nobody, PMIX_LOCALITY_STRING, &at_once, 1),
         PMIX_ERR_NOT_FOUND, "that of nobody");
  meet();
  end();
}

/* -- what comes later ------------------------------------------------------ */

static void* post_later(void* key) {
  pause_ms(200);
  post(key, "late");
  return NULL;
}

static void on_late(pmix_status_t outcome, pmix_value_t* value, void* data) {
  demand(outcome == PMIX_SUCCESS && value->type == PMIX_STRING
           && strcmp(value->data.string, "late") == 0,
         "the late value");
  happen(data, outcome);
}

/* A get of one's own key waits for it as for anybody's, unless it is told not
 * to: PMIx Standard, PMIx_Get. */
static void own_keys(void) {
  begin();
  pmix_info_t how = flag_info(PMIX_OPTIONAL);
  expect(try_get(&me, "never", &how, 1), PMIX_ERR_NOT_FOUND, "optional");
  how = flag_info(PMIX_IMMEDIATE);
  expect(try_get(&me, "never", &how, 1), PMIX_ERR_NOT_FOUND, "immediate");
  how = int_info(PMIX_TIMEOUT, 1);
  const pmix_status_t code = try_get(&me, "never", &how, 1);
  demand(code == PMIX_ERR_TIMEOUT || code == PMIX_ERR_NOT_FOUND, "timeout");
  struct pending found = PENDING;
  succeed(PMIx_Get_nb(&me, "later", NULL, 0, on_late, &found), "get_nb");
  pthread_t thread;
  demand(pthread_create(&thread, NULL, post_later, "later") == 0, "a thread");
  demand(happens(&found, 1, 20), "the callback comes");
  pthread_join(thread, NULL);
  expect_string(&me, "later", "late", 0);
  end();
}

/* -- qualified values ------------------------------------------------------ */

static void put_qualified(const char* key, const char* text, int qualifier) {
  pmix_value_t value;
  pmix_data_array_t array;
  PMIX_DATA_ARRAY_CONSTRUCT(&array, 2, PMIX_INFO);
  pmix_info_t* infos = array.array;
  PMIX_INFO_LOAD(&infos[0], key, text, PMIX_STRING);
  PMIX_INFO_LOAD(&infos[1], "our.qualifier", &qualifier, PMIX_INT);
  infos[1].flags |= 0x8; /* PMIX_INFO_QUALIFIER */
  value.type = PMIX_DATA_ARRAY;
  value.data.darray = &array;
  succeed(PMIx_Put(PMIX_GLOBAL, "pmix.qual.val", &value), "put");
  PMIX_DATA_ARRAY_DESTRUCT(&array);
}

static pmix_info_t qualifier_info(int x) {
  pmix_info_t result = int_info("our.qualifier", x);
  result.flags |= 0x8;
  return result;
}

static void qualified(void) {
  begin();
  char text[64];
  snprintf(text, sizeof text, "one of %u", me.rank);
  put_qualified("key", text, 1);
  snprintf(text, sizeof text, "two of %u", me.rank);
  put_qualified("key", text, 2);
  snprintf(text, sizeof text, "none of %u", me.rank);
  post("key", text);
  meet();
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t peer = rank_of(i);
    for (int n = 0; n < 3; ++n) {
      const char* names[] = {"none", "one", "two"};
      pmix_info_t how = qualifier_info(n);
      pmix_value_t* value = NULL;
      succeed(PMIx_Get(&peer, "key", &how, n == 0 ? 0 : 1, &value), names[n]);
      snprintf(text, sizeof text, "%s of %u", names[n], i);
      demand(value->type == PMIX_STRING
               && strcmp(value->data.string, text) == 0,
             text);
      PMIX_VALUE_RELEASE(value);
    }
    pmix_info_t other = qualifier_info(3);
    expect(try_get(&peer, "key", &other, 1), PMIX_ERR_NOT_FOUND,
           "another qualifier");
  }
  pmix_value_t odd;
  PMIX_VALUE_LOAD(&odd, "x", PMIX_STRING);
  expect(PMIx_Put(PMIX_GLOBAL, "pmix.qual.val", &odd), PMIX_ERR_BAD_PARAM,
         "a qualified value that is none");
  PMIX_VALUE_DESTRUCT(&odd);
  meet();
  end();
}

/* -- taking back ----------------------------------------------------------- */

/* Fences with all that has been posted. */
static void exchange(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  succeed(PMIx_Fence(&all, 1, &collect, 1), "fence with data");
}

static bool is_here(const pmix_proc_t* peer) {
  char names[2][256];
  for (int i = 0; i < 2; ++i) {
    pmix_value_t* value = NULL;
    succeed(PMIx_Get(i == 0 ? &me : peer, PMIX_HOSTNAME, NULL, 0, &value),
            "host name");
    snprintf(names[i], sizeof names[i], "%s", value->data.string);
    PMIX_VALUE_RELEASE(value);
  }
  return strcmp(names[0], names[1]) == 0;
}

static void expect_gone(const pmix_proc_t* peer, const char* key) {
  pmix_info_t at_once = flag_info(PMIX_IMMEDIATE);
  expect(try_get(peer, key, &at_once, 1), PMIX_ERR_NOT_FOUND, key);
}

static void take_back(pmix_scope_t scope, const char* key) {
  succeed(PMIx_Put(scope, key, NULL), key);
}

/* From the caller at once, whoever else was to see it. */
static void take_own_back(void) {
  pmix_info_t here = flag_info(PMIX_OPTIONAL);
  put_string(PMIX_GLOBAL, "new", "text");
  put_string(PMIX_INTERNAL, "inner", "text");
  take_back(PMIX_DEL_GLOBAL, "never");
  take_back(PMIX_DEL_INTERNAL, "new");
  take_back(PMIX_DEL_GLOBAL, "inner");
  expect_string(&me, "new", "text", 0);
  expect_string(&me, "inner", "text", 0);
  take_back(PMIX_DEL_GLOBAL, "new");
  take_back(PMIX_DEL_INTERNAL, "inner");
  expect(try_get(&me, "new", &here, 1), PMIX_ERR_NOT_FOUND, "new");
  expect(try_get(&me, "inner", &here, 1), PMIX_ERR_NOT_FOUND, "inner");
}

static void taken_back(void) {
  begin();
  take_own_back();
  put_string(PMIX_GLOBAL, "kept", "k");
  put_string(PMIX_GLOBAL, "dropped", "d");
  put_string(PMIX_GLOBAL, "near", "n");
  put_string(PMIX_GLOBAL, "far", "f");
  put_string(PMIX_LOCAL, "local", "l");
  put_qualified("dropped", "q", 1);
  succeed(PMIx_Commit(), "commit");
  exchange();
  pmix_info_t by = qualifier_info(1);
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t peer = rank_of(i);
    expect_gone(&peer, "new");
    expect_string(&peer, "kept", "k", 10);
    expect_string(&peer, "dropped", "d", 10);
    expect_string(&peer, "near", "n", 10);
    expect_string(&peer, "far", "f", 10);
    if (is_here(&peer))
      expect_string(&peer, "local", "l", 10);
    expect(try_get(&peer, "dropped", &by, 1), PMIX_SUCCESS, "with a qualifier");
  }
  exchange();

  take_back(PMIX_DEL_GLOBAL, "dropped");
  expect_gone(&me, "dropped");
  take_back(PMIX_DEL_REMOTE, "near");
  take_back(PMIX_DEL_LOCAL, "far");
  take_back(PMIX_DEL_LOCAL, "local");
  succeed(PMIx_Commit(), "commit");
  exchange();
  pmix_info_t both[2] = {qualifier_info(1), flag_info(PMIX_IMMEDIATE)};
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t peer = rank_of(i);
    expect_string(&peer, "kept", "k", 0);
    expect_gone(&peer, "dropped");
    expect(try_get(&peer, "dropped", both, 2), PMIX_ERR_NOT_FOUND,
           "with a qualifier");
    const bool here = is_here(&peer);
    if (here || i == me.rank)
      expect_string(&peer, "near", "n", 0);
    else
      expect_gone(&peer, "near");
    /* One sees one's own as long as anybody is to. */
    if (here && i != me.rank)
      expect_gone(&peer, "far");
    else
      expect_string(&peer, "far", "f", 0);
    expect_gone(&peer, "local");
  }
  exchange();

  /* And posted anew, once after the commit and once before it. */
  take_back(PMIX_DEL_GLOBAL, "kept");
  put_string(PMIX_GLOBAL, "kept", "k2");
  put_string(PMIX_GLOBAL, "dropped", "d2");
  succeed(PMIx_Commit(), "commit");
  exchange();
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t peer = rank_of(i);
    expect_string(&peer, "kept", "k2", 0);
    expect_string(&peer, "dropped", "d2", 0);
  }
  meet();
  end();
}

/* Other servers would take no notice: what they have they keep. */
static void not_taken_back(void) {
  begin();
  take_own_back();
  post("kept", "text");
  for (int scope = PMIX_DEL_LOCAL; scope <= PMIX_DEL_GLOBAL; ++scope)
    expect(PMIx_Put((pmix_scope_t)scope, "kept", NULL), PMIX_ERR_NOT_SUPPORTED,
           "what others have");
  exchange();
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t peer = rank_of(i);
    expect_string(&peer, "kept", "text", 10);
    expect_gone(&peer, "new");
  }
  meet();
  end();
}

/* -- spawn ----------------------------------------------------------------- */

static void parents(void) {
  begin();
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = "true";
  app.maxprocs = 1;
  pmix_nspace_t nspace;
  pmix_info_t odd = string_info(PMIX_PARENT_ID, "me");
  expect(PMIx_Spawn(&odd, 1, &app, 1, nspace), PMIX_ERR_BAD_PARAM, "job");
  expect(PMIx_Spawn_nb(&odd, 1, &app, 1, NULL, NULL), PMIX_ERR_BAD_PARAM,
         "spawn_nb");
  app.info = &odd;
  app.ninfo = 1;
  expect(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_ERR_BAD_PARAM, "program");
  end();
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
    {"local_procs", local_procs}, {"topology", topology},
    {"own_keys", own_keys},       {"qualified", qualified},
    {"taken_back", taken_back},   {"not_taken_back", not_taken_back},
    {"parents", parents},         {"localities", localities},
  };
  return RUN_CASE(cases);
}
