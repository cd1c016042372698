/* Asks its server one question of each kind, whatever becomes of it: for
 * servers that answer nonsense. Exits with 0 once all calls have returned and
 * all went well, else with 3. */

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

static void note(const char* what, pmix_status_t got) {
  fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(got));
  wrong |= got != PMIX_SUCCESS;
}

int main(void) {
  pmix_proc_t me;
  pmix_status_t rc = PMIx_Init(&me, NULL, 0);
  note("init", rc);
  if (rc != PMIX_SUCCESS)
    return 3;
  pmix_value_t* value = NULL;
  pmix_value_t mine;
  pmix_info_t info;
  pmix_info_t timeout;
  int seconds = 2;
  PMIX_INFO_LOAD(&timeout, PMIX_TIMEOUT, &seconds, PMIX_INT);
  PMIX_VALUE_LOAD(&mine, "v", PMIX_STRING);
  note("put", PMIx_Put(PMIX_GLOBAL, "mine", &mine));
  note("commit", PMIx_Commit());
  note("fence", PMIx_Fence(NULL, 0, &timeout, 1));
  pmix_proc_t all;
  PMIX_PROC_LOAD(&all, me.nspace, PMIX_RANK_WILDCARD);
  rc = PMIx_Get(&all, "not.there", &timeout, 1, &value);
  fprintf(stderr, "get: %s\n", PMIx_Error_string(rc));
  PMIX_INFO_LOAD(&info, "published", "x", PMIX_STRING);
  note("publish", PMIx_Publish(&info, 1));
  pmix_pdata_t found;
  PMIX_PDATA_CONSTRUCT(&found);
  strcpy(found.key, "published");
  note("lookup", PMIx_Lookup(&found, 1, &timeout, 1));
  note("unpublish", PMIx_Unpublish(NULL, NULL, 0));
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  PMIX_ARGV_APPEND(rc, query.keys, PMIX_QUERY_NAMESPACES);
  pmix_info_t* results = NULL;
  size_t n = 0;
  note("query", PMIx_Query_info(&query, 1, &results, &n));
  pmix_proc_t* peers = NULL;
  note("peers", PMIx_Resolve_peers(NULL, me.nspace, &peers, &n));
  char* nodes = NULL;
  note("nodes", PMIx_Resolve_nodes(me.nspace, &nodes));
  note("group", PMIx_Group_construct("g", &me, 1, &timeout, 1, &results, &n));
  note("group ends", PMIx_Group_destruct("g", NULL, 0));
  PMIX_INFO_LOAD(&info, PMIX_LOG_STDERR, "logged\n", PMIX_STRING);
  rc = PMIx_Log(&info, 1, NULL, 0);
  note("finalize", PMIx_Finalize(NULL, 0));
  return wrong ? 3 : 0;
}
