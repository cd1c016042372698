/* What a process is told of its place, by its server and by its environment.
 *
 *   place_told                 prints one line: what both say, if they agree
 *   place_told nodes A,B       the same of nodes A and B: oversubscribed or not
 *   place_told spawn N         starts N processes of itself, waits for their
 * end
 */

#include "client.h"

static pmix_proc_t all;

/* Whether the server says that a node (NULL: this one) is oversubscribed. Open
 * MPI takes the key as a yes, whatever its value. */
static bool is_oversubscribed(const char* node) {
  pmix_info_t infos[3] = {flag_info(PMIX_OPTIONAL), flag_info(PMIX_NODE_INFO),
                          string_info(PMIX_HOSTNAME, node ? node : "")};
  const pmix_status_t outcome =
    try_get(&all, PMIX_NODE_OVERSUBSCRIBED, infos, node ? 3 : 1);
  if (outcome != PMIX_SUCCESS && outcome != PMIX_ERR_NOT_FOUND)
    fail("%s of %s: %s", PMIX_NODE_OVERSUBSCRIBED, node ? node : "here",
         PMIx_Error_string(outcome));
  return outcome == PMIX_SUCCESS;
}

/* The environment says the same as the server. */
static void compare(const char* variable, uint32_t expected) {
  const char* text = getenv(variable);
  if (text == NULL || strtoul(text, NULL, 10) != expected)
    fail("%s is %s, expected %u", variable, text ? text : "unset", expected);
}

static void check_place(void) {
  const uint32_t local_rank = number_of(&me, PMIX_LOCAL_RANK);
  const uint32_t local_size = number_of(&all, PMIX_LOCAL_SIZE);
  compare("TROUPE_RANK", me.rank);
  compare("OMPI_COMM_WORLD_RANK", me.rank);
  compare("TROUPE_SIZE", job_size);
  compare("OMPI_COMM_WORLD_SIZE", job_size);
  compare("TROUPE_LOCAL_RANK", local_rank);
  compare("OMPI_COMM_WORLD_LOCAL_RANK", local_rank);
  compare("OMPI_COMM_WORLD_NODE_RANK", number_of(&me, PMIX_NODE_RANK));
  compare("MPI_LOCALRANKID", local_rank);
  compare("PMIX_LOCAL_RANK", local_rank);
  compare("TROUPE_LOCAL_SIZE", local_size);
  compare("OMPI_COMM_WORLD_LOCAL_SIZE", local_size);
  compare("MPI_LOCALNRANKS", local_size);
  compare("PMIX_LOCAL_SIZE", local_size);
  compare("TROUPE_NUM_NODES", number_of(&all, PMIX_NUM_NODES));
  compare("TROUPE_APP", number_of(&me, PMIX_APPNUM));
  compare("TROUPE_UNIVERSE_SIZE", number_of(&all, PMIX_UNIV_SIZE));
  compare("TROUPE_OVERSUBSCRIBED", is_oversubscribed(NULL));
  demand(strcmp(getenv("TROUPE_JOB"), me.nspace) == 0, "TROUPE_JOB");
}

static void spawn(char* procs) {
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup(self_path);
  app.maxprocs = atoi(procs);
  char nspace[PMIX_MAX_NSLEN + 1];
  succeed(PMIx_Spawn(NULL, 0, &app, 1, nspace), "spawn");
  PMIX_APP_DESTRUCT(&app);
  const double deadline = now() + 60;
  while (nspace_exists(nspace)) {
    demand(now() < deadline, "the job ends in time");
    pause_ms(5);
  }
}

int main(int argc, char** argv) {
  snprintf(self_path, sizeof self_path, "%s", argv[0]);
  begin();
  all = rank_of(PMIX_RANK_WILDCARD);
  check_place();
  if (argc > 2 && strcmp(argv[1], "spawn") == 0) {
    if (me.rank == 0)
      spawn(argv[2]);
  } else if (argc > 2) {
    for (char* x = strtok(argv[2], ","); x != NULL; x = strtok(NULL, ","))
      printf("%u: %s %s\n", me.rank, x,
             is_oversubscribed(x) ? "oversubscribed" : "free");
  } else {
    printf("%u of %u on %s: %s, yields %s\n", me.rank, job_size,
           getenv("TROUPE_HOSTNAME"),
           is_oversubscribed(NULL) ? "oversubscribed" : "free",
           getenv("OMPI_MCA_mpi_oversubscribe") ? "yes" : "no");
  }
  fflush(stdout);
  meet();
  end();
  return 0;
}
