/* Tools that become servers, with processes of their own.
 * usage: tool_server serves [URI] */

#define PMIX_PLAIN_SERVER_INIT
#include "client.h"

#include <pmix_server.h>
#include <sys/wait.h>

/* A tool that has a server module serves processes of its own. */
static void serves(void) {
  pmix_info_t infos[] = {case_args[0] != NULL
                           ? string_info(PMIX_SERVER_URI, case_args[0])
                           : flag_info(PMIX_TOOL_DO_NOT_CONNECT)};
  static pmix_server_module_t module;
  char** env = NULL;
  pmix_info_t size;
  const uint32_t one = 1;
  PMIX_INFO_LOAD(&size, PMIX_JOB_SIZE, &one, PMIX_UINT32);
  const pmix_nspace_t nspace = "children";
  const pmix_proc_t child = proc_in(nspace, 0);
  expect(PMIx_tool_set_server_module(&module), PMIX_ERR_INIT, "before init");
  for (int i = 0; i < 2; ++i) {
    succeed(PMIx_tool_init(&me, infos, 1), "tool_init");
    expect(PMIx_server_setup_fork(&child, &env), PMIX_ERR_INIT, "no server");
    expect(PMIx_tool_set_server_module(NULL), PMIX_ERR_BAD_PARAM, "null");
    succeed(PMIx_tool_set_server_module(&module), "set_server_module");
    expect(PMIx_tool_set_server_module(&module), PMIX_ERR_EXISTS, "twice");
    expect(PMIx_server_register_nspace(nspace, 1, &size, 1, NULL, NULL),
           PMIX_OPERATION_SUCCEEDED, "register_nspace");
    expect(PMIx_server_register_client(&child, geteuid(), getegid(), NULL, NULL,
                                       NULL),
           PMIX_OPERATION_SUCCEEDED, "register_client");
    succeed(PMIx_server_setup_fork(&child, &env), "setup_fork");
    const pid_t pid = fork();
    demand(pid >= 0, "fork");
    if (pid == 0) {
      for (char** x = env; *x != NULL; ++x)
        putenv(*x);
      execl(self_path, self_path, "child", (char*)NULL);
      _exit(127);
    }
    int outcome = -1;
    demand(waitpid(pid, &outcome, 0) == pid && outcome == 0, "the child");
    PMIX_ARGV_FREE(env);
    env = NULL;
    demand(PMIx_tool_is_connected() == (case_args[0] != NULL), "as before");
    succeed(PMIx_tool_finalize(), "tool_finalize");
    demand(!PMIx_Initialized(), "finalized");
  }
}

static void child(void) {
  begin();
  demand(strcmp(me.nspace, "children") == 0 && job_size == 1, "its job");
  end();
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"serves", serves}, {"child", child}};
  return RUN_CASE(cases);
}
