/* Tools on our library: they find, attach to, switch between and leave servers.
 * usage: library_tool CASE [URI...] */

#include "client.h"

static pmix_proc_t init(const pmix_info_t* infos, size_t n) {
  succeed(PMIx_tool_init(&me, (pmix_info_t*)infos, n), "tool_init");
  pmix_proc_t* servers = NULL;
  size_t count = 0;
  succeed(PMIx_tool_get_servers(&servers, &count), "get_servers");
  demand(count == 1, "one server");
  const pmix_proc_t result = servers[0];
  free(servers);
  return result;
}

static void finalize(void) {
  succeed(PMIx_tool_finalize(), "tool_finalize");
  demand(!PMIx_Initialized(), "finalized");
}

/* Asks the server a question that every server answers. */
static void ask(void) {
  char* keys[] = {PMIX_QUERY_NAMESPACES, NULL};
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  query.keys = keys;
  pmix_info_t* infos = NULL;
  size_t n = 0;
  const pmix_status_t code = PMIx_Query_info(&query, 1, &infos, &n);
  if (code != PMIX_SUCCESS && code != PMIX_ERR_NOT_FOUND)
    fail("query: %s", PMIx_Error_string(code));
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
}

static void by_uri(void) {
  const pmix_info_t uri = string_info(PMIX_SERVER_URI, case_args[0]);
  const pmix_proc_t server = init(&uri, 1);
  demand(strncmp(case_args[0], server.nspace, strlen(server.nspace)) == 0,
         "the server that was named");
  ask();
  finalize();
}

static void found(void) {
  init(NULL, 0);
  ask();
  finalize();
}

static void named(void) {
  pmix_info_t infos[] = {string_info(PMIX_SERVER_URI, case_args[0]),
                         string_info(PMIX_TOOL_NSPACE, "mytool"),
                         int_info(PMIX_TOOL_RANK, 0)};
  pmix_rank_t rank = 3;
  PMIX_INFO_LOAD(&infos[2], PMIX_TOOL_RANK, &rank, PMIX_PROC_RANK);
  init(infos, 3);
  demand(strcmp(me.nspace, "mytool") == 0 && me.rank == 3, "the name we want");
  finalize();
}

static void nobody(void) {
  expect(PMIx_tool_init(&me, NULL, 0), PMIX_ERR_UNREACH, "tool_init");
  const pmix_info_t dead =
    string_info(PMIX_SERVER_URI, "server.0;tcp4://127.0.0.1:1");
  expect(PMIx_tool_init(&me, (pmix_info_t*)&dead, 1), PMIX_ERR_UNREACH,
         "tool_init");
  demand(!PMIx_Initialized(), "not initialized");
}

static void alone(void) {
  pmix_info_t infos[] = {flag_info(PMIX_TOOL_DO_NOT_CONNECT)};
  succeed(PMIx_tool_init(&me, infos, 1), "tool_init");
  demand(strlen(me.nspace) > 0, "a name of its own");
  pmix_proc_t* servers = NULL;
  size_t n = 1;
  expect(PMIx_tool_get_servers(&servers, &n), PMIX_ERR_UNREACH, "get_servers");
  demand(servers == NULL && n == 0, "none");
  expect(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_UNREACH, "fence");
  put_string(PMIX_GLOBAL, "key", "text");
  expect_string(&me, "key", "text", 0);
  /* A server may come later. */
  pmix_info_t uri = string_info(PMIX_SERVER_URI, case_args[0]);
  pmix_proc_t self, server;
  succeed(PMIx_tool_attach_to_server(&self, &server, &uri, 1), "attach");
  ask();
  finalize();
}

static bool is_primary(const pmix_proc_t* x) {
  pmix_proc_t* servers = NULL;
  size_t n = 0;
  succeed(PMIx_tool_get_servers(&servers, &n), "get_servers");
  const bool result = n > 0 && strcmp(servers[0].nspace, x->nspace) == 0;
  free(servers);
  return result;
}

static size_t count(void) {
  pmix_proc_t* servers = NULL;
  size_t n = 0;
  if (PMIx_tool_get_servers(&servers, &n) != PMIX_SUCCESS)
    return 0;
  free(servers);
  return n;
}

static void switches(void) {
  const pmix_info_t uri = string_info(PMIX_SERVER_URI, case_args[0]);
  const pmix_proc_t first = init(&uri, 1);
  pmix_info_t infos[] = {string_info(PMIX_SERVER_URI, case_args[1]),
                         flag_info(PMIX_PRIMARY_SERVER)};
  pmix_proc_t self, second;
  succeed(PMIx_tool_attach_to_server(&self, &second, infos, 1), "attach");
  demand(count() == 2, "two servers");
  demand(is_primary(&first), "the first is asked");
  ask();
  succeed(PMIx_tool_set_server(&second, NULL, 0), "set_server");
  demand(is_primary(&second), "the second is asked");
  ask();
  const pmix_proc_t stranger = proc_in("stranger", 0);
  expect(PMIx_tool_set_server(&stranger, NULL, 0), PMIX_ERR_UNREACH, "set");
  expect(PMIx_tool_disconnect(&stranger), PMIX_ERR_NOT_FOUND, "disconnect");
  demand(is_primary(&second), "the second is asked still");
  succeed(PMIx_tool_disconnect(&second), "disconnect");
  demand(count() == 1 && is_primary(&first), "the first is left");
  ask();
  succeed(PMIx_tool_attach_to_server(&self, &second, infos, 2), "attach");
  demand(is_primary(&second), "the newcomer is asked");
  ask();
  succeed(PMIx_tool_disconnect(&first), "disconnect");
  succeed(PMIx_tool_disconnect(&second), "disconnect");
  demand(count() == 0, "none is left");
  expect(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_UNREACH, "fence");
  finalize();
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
    {"by_uri", by_uri}, {"found", found}, {"named", named},
    {"nobody", nobody}, {"alone", alone}, {"switches", switches},
  };
  return RUN_CASE(cases);
}
