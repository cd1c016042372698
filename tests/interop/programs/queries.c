/* Questions: who is where, which jobs there are, what the server can do. */

#include "client.h"

#include <limits.h>

/* Asks for one key; the caller frees the answer. */
static pmix_status_t ask(const char* key, const char* nspace,
                         pmix_info_t** infos, size_t* n) {
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, query.keys, key);
  if (nspace != NULL) {
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
    PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
  }
  *infos = NULL;
  *n = 0;
  outcome = PMIx_Query_info(&query, 1, infos, n);
  PMIX_QUERY_DESTRUCT(&query);
  return outcome;
}

/* Asks for one key that must be known. */
static pmix_value_t answer(const char* key, const char* nspace) {
  pmix_info_t* infos;
  size_t n;
  succeed(ask(key, nspace, &infos, &n), key);
  demand(n >= 1, key);
  pmix_value_t result;
  PMIX_VALUE_CONSTRUCT(&result);
  succeed(PMIx_Value_xfer(&result, &infos[0].value), key);
  PMIX_INFO_FREE(infos, n);
  return result;
}

static void resolve(void) {
  begin();
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  pmix_proc_t* procs = NULL;
  size_t n = 0;
  succeed(PMIx_Resolve_peers(host, me.nspace, &procs, &n), "peers");
  demand(n == job_size, "all are on this node");
  for (size_t i = 0; i < n; ++i)
    demand(procs[i].rank == i && strcmp(procs[i].nspace, me.nspace) == 0,
           "peer");
  PMIX_PROC_FREE(procs, n);
  n = 0;
  demand(PMIx_Resolve_peers("no-such-node", me.nspace, &procs, &n)
             != PMIX_SUCCESS
           || n == 0,
         "nobody is on another node");
  char* nodes = NULL;
  succeed(PMIx_Resolve_nodes(me.nspace, &nodes), "nodes");
  demand(strcmp(nodes, host) == 0, "the only node");
  free(nodes);
  end();
}

static void namespaces(void) {
  begin();
  demand(nspace_exists(me.nspace), "my job is listed");
  pmix_value_t jobs = answer(PMIX_QUERY_NAMESPACE_INFO, NULL);
  demand(jobs.type == PMIX_DATA_ARRAY && jobs.data.darray->size >= 1, "jobs");
  const pmix_info_t* all = jobs.data.darray->array;
  bool found = false;
  for (size_t i = 0; i < jobs.data.darray->size; ++i) {
    demand(all[i].value.type == PMIX_DATA_ARRAY, "data of a job");
    const pmix_info_t* data = all[i].value.data.darray->array;
    for (size_t k = 0; k < all[i].value.data.darray->size; ++k)
      found = found
              || (PMIX_CHECK_KEY(&data[k], PMIX_NSPACE)
                  && strcmp(data[k].value.data.string, me.nspace) == 0);
  }
  demand(found, "my job is among them");
  PMIX_VALUE_DESTRUCT(&jobs);
  end();
}

static void check_table(const char* key) {
  pmix_value_t table = answer(key, me.nspace);
  demand(table.type == PMIX_DATA_ARRAY
           && table.data.darray->type == PMIX_PROC_INFO,
         key);
  demand(table.data.darray->size == job_size, "one entry per process");
  const pmix_proc_info_t* procs = table.data.darray->array;
  for (size_t i = 0; i < table.data.darray->size; ++i) {
    demand(procs[i].executable_name != NULL
             && strcmp(procs[i].executable_name, case_args[0]) == 0,
           "program");
    demand(procs[i].pid > 0 && kill(procs[i].pid, 0) == 0, "its process");
    if (procs[i].proc.rank == me.rank)
      demand(procs[i].pid == getpid(), "my process");
    demand(procs[i].state == PMIX_PROC_STATE_CONNECTED, "its state");
  }
  PMIX_VALUE_DESTRUCT(&table);
}

static void tables(void) {
  begin();
  meet();
  check_table(PMIX_QUERY_PROC_TABLE);
  check_table(PMIX_QUERY_LOCAL_PROC_TABLE);
  pmix_value_t state = answer(PMIX_QUERY_JOB_STATUS, me.nspace);
  demand(state.type == PMIX_STATUS, "status of the job");
  PMIX_VALUE_DESTRUCT(&state);
  meet();
  end();
}

static void server(void) {
  begin();
  pmix_value_t memory = answer(PMIX_QUERY_MEMORY_USAGE, NULL);
  demand(memory.type == PMIX_DATA_ARRAY, "memory");
  const pmix_info_t* used = memory.data.darray->array;
  demand(memory.data.darray->size == 1
           && PMIX_CHECK_KEY(&used[0], PMIX_DAEMON_MEMORY),
         "memory of the daemon");
  demand(used[0].value.data.fval > 1 && used[0].value.data.fval < 1000, "MB");
  PMIX_VALUE_DESTRUCT(&memory);
  static const char* texts[] = {PMIX_QUERY_SPAWN_SUPPORT,
                                PMIX_QUERY_DEBUG_SUPPORT, PMIX_VERSION_INFO};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
    pmix_value_t text = answer(texts[i], NULL);
    demand(text.type == PMIX_STRING, texts[i]);
    printf("%s: %s\n", texts[i], text.data.string);
    PMIX_VALUE_DESTRUCT(&text);
  }
  end();
}

static void unknown(void) {
  begin();
  pmix_info_t* infos;
  size_t n;
  const double start = now();
  demand(ask("no.such.key", NULL, &infos, &n) != PMIX_SUCCESS, "no such key");
  demand(ask(PMIX_QUERY_PROC_TABLE, "no-such-job", &infos, &n) != PMIX_SUCCESS,
         "no such job");
  demand(now() - start < 5, "the answers come");
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, query.keys, PMIX_QUERY_SPAWN_SUPPORT);
  PMIX_ARGV_APPEND(outcome, query.keys, "no.such.key");
  /* This library gives the answers away unless it has all of them. */
  outcome = PMIx_Query_info(&query, 1, &infos, &n);
  expect(outcome, PMIX_QUERY_PARTIAL_SUCCESS, "half of the keys are known");
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"resolve", resolve}, {"namespaces", namespaces}, {"tables", tables},
    {"server", server},   {"unknown", unknown},
  };
  return RUN_CASE(cases);
}
