/* Connects once, as a process of a job (environment) or as a tool (URI given),
 * and prints what came of it. */

#include "client.h"

int main(int argc, char** argv) {
  pmix_status_t outcome;
  if (argc > 1) {
    pmix_info_t infos[2] = {string_info(PMIX_SERVER_URI, argv[1]),
                            int_info(PMIX_CONNECT_MAX_RETRIES, 1)};
    outcome = PMIx_tool_init(&me, infos, 2);
    printf("tool: %s\n", PMIx_Error_string(outcome));
    if (outcome == PMIX_SUCCESS)
      PMIx_tool_finalize();
  } else {
    outcome = PMIx_Init(&me, NULL, 0);
    printf("client: %s\n", PMIx_Error_string(outcome));
    if (outcome == PMIX_SUCCESS)
      PMIx_Finalize(NULL, 0);
  }
  return outcome == PMIX_SUCCESS ? 0 : 1;
}
