/* A tool that has a server run job after job.
 *
 *   spawner URI COUNT PROCESSES PROGRAM [ARGUMENT]...
 *
 * Prints what came of them in one line. */

#include "client.h"

static void run_one(int procs, char** words) {
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup(words[0]);
  pmix_status_t outcome = PMIX_SUCCESS;
  for (size_t i = 0; words[i] != NULL && outcome == PMIX_SUCCESS; ++i)
    PMIX_ARGV_APPEND(outcome, app.argv, words[i]);
  succeed(outcome, "arguments");
  app.maxprocs = procs;
  pmix_info_t info = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  char nspace[PMIX_MAX_NSLEN + 1];
  succeed(PMIx_Spawn(&info, 1, &app, 1, nspace), "spawn");
  PMIX_APP_DESTRUCT(&app);
  PMIX_INFO_DESTRUCT(&info);
  const double deadline = now() + 30;
  while (nspace_exists(nspace)) {
    demand(now() < deadline, "the job ends in time");
    pause_ms(1);
  }
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: %s URI COUNT PROCESSES PROGRAM...\n", argv[0]);
    return 2;
  }
  pmix_info_t server = string_info(PMIX_SERVER_URI, argv[1]);
  succeed(PMIx_tool_init(&me, &server, 1), "PMIx_tool_init");
  const int count = atoi(argv[2]);
  const double start = now();
  for (int i = 0; i < count; ++i)
    run_one(atoi(argv[3]), argv + 4);
  const double seconds = now() - start;
  printf("%d jobs in %.2f s, %.2f ms each\n", count, seconds,
         seconds * 1e3 / (count > 0 ? count : 1));
  succeed(PMIx_tool_finalize(), "PMIx_tool_finalize");
  return 0;
}
