/* What the others hear of processes whose node is lost. Run with `--rtos
 * recoverable`.
 *
 *   survives waits DOOMED...      all meet, rank 0 prints `ready`; the ranks
 *                                 DOOMED wait for their end, the others until
 *                                 they have heard of each of them; then those
 *                                 meet once more
 *   survives in_fence DOOMED...   the others are in a fence of all when it
 *                                 happens
 *
 * Survivors print `rank 1: heard of 2 after 1.234 s`, `rank 1: fence SUCCESS
 * after 1.234 s` and `rank 1: the others met`; seconds count from when the file
 * `struck` got there, which the script writes, in the directory of the job. */

#include "../../interop/programs/client.h"

#include <sys/stat.h>

enum { max_ranks = 64 };

static struct pending heard = PENDING;
static int heard_of[max_ranks];
static double heard_at[max_ranks];
static bool doomed[max_ranks];
static int num_doomed;

static double wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds from the blow to `when`; below 0 if there was none. */
static double since_struck(double when) {
  struct stat s;
  if (stat("struck", &s) != 0)
    return -1;
  return when - (double)s.st_mtim.tv_sec - (double)s.st_mtim.tv_nsec / 1e9;
}

static void on_event(size_t id UNUSED, pmix_status_t code,
                     const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  const pmix_proc_t* affected = NULL;
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC)
        && infos[i].value.type == PMIX_PROC)
      affected = infos[i].value.data.proc;
  printf("rank %u: event %s (%d) of %s:%u\n", me.rank, PMIx_Error_string(code),
         code,
         affected != NULL ? affected->nspace
         : source != NULL ? source->nspace
                          : "?",
         affected != NULL ? affected->rank
         : source != NULL ? source->rank
                          : 0);
  fflush(stdout);
  if (affected != NULL && strcmp(affected->nspace, me.nspace) == 0
      && affected->rank < max_ranks && heard_of[affected->rank]++ == 0) {
    heard_at[affected->rank] = wall_clock();
    happen(&heard, PMIX_SUCCESS);
  }
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void start(void) {
  setlinebuf(stdout);
  begin();
  demand(job_size <= max_ranks, "not so many processes");
  for (char** x = case_args; *x != NULL; ++x) {
    const int rank = atoi(*x);
    demand(rank >= 0 && rank < (int)job_size, "ranks of the job");
    doomed[rank] = true;
    ++num_doomed;
  }
  /* Losses that Open MPI's default handler would take for its own end do not
   * come to default handlers. */
  pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED, PMIX_ERR_PROC_ABORTED_BY_SIG,
                           PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_EVENT_NODE_DOWN};
  handle(codes, 4, on_event);
  meet();
  if (me.rank == 0) {
    printf("ready\n");
    fflush(stdout);
  }
  if (doomed[me.rank])
    for (;;)
      pause();
}

static void await_reports(void) {
  if (!happens(&heard, num_doomed, 60))
    fail("heard of %d of %d in 60 s", heard.happened, num_doomed);
  for (uint32_t i = 0; i < job_size; ++i)
    if (doomed[i])
      printf("rank %u: heard of %u after %.3f s\n", me.rank, i,
             since_struck(heard_at[i]));
}

static void survivors_meet(void) {
  pmix_proc_t procs[max_ranks];
  size_t n = 0;
  for (uint32_t i = 0; i < job_size; ++i)
    if (!doomed[i])
      procs[n++] = rank_of(i);
  succeed(PMIx_Fence(procs, n, NULL, 0), "fence of the survivors");
  printf("rank %u: the others met\n", me.rank);
  end();
}

static void waits(void) {
  start();
  await_reports();
  survivors_meet();
}

static void in_fence(void) {
  start();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  const pmix_status_t outcome = PMIx_Fence(&all, 1, NULL, 0);
  printf("rank %u: fence %s after %.3f s\n", me.rank,
         PMIx_Error_string(outcome), since_struck(wall_clock()));
  await_reports();
  survivors_meet();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"waits", waits},
                                           {"in_fence", in_fence}};
  return RUN_CASE(cases);
}
