/* What others hear of processes that end, and clients of servers that do.
 *
 *   event_deaths deaths     ranks end in all ways; rank 0 hears of each once
 *   event_deaths bereaved   the node of rank 1 is lost, once all are `ready`;
 *                           the others hear of it once
 *   event_deaths aborts     rank 1 calls PMIx_Abort; rank 0 hears of it
 *   event_deaths orphan     the server vanishes; what happened is written into
 *                           the file `orphan`
 *   event_deaths steady S   waits for S seconds with a default handler, which
 *                           ends it, as that of Open MPI does */

#include "client.h"

#include <stdatomic.h>

/* -- deaths ---------------------------------------------------------------- */

enum { max_ranks = 16 };

struct death {
  pmix_status_t code;
  int times;
  int exit_code;
  double at;
};

static struct death deaths_of[max_ranks];
static struct pending dead = PENDING;
static int other_events;

static void on_death(size_t id UNUSED, pmix_status_t code,
                     const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  const double at = now();
  const pmix_proc_t* affected = NULL;
  int exit_code = -1;
  int procs = 0;
  for (size_t i = 0; i < n; ++i) {
    procs += infos[i].value.type == PMIX_PROC;
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC))
      affected = infos[i].value.data.proc;
    else if (PMIX_CHECK_KEY(&infos[i], PMIX_EXIT_CODE))
      exit_code = infos[i].value.data.integer;
  }
  if (affected != NULL && strcmp(affected->nspace, me.nspace) == 0
      && affected->rank < max_ranks && procs == 1 && source->nspace[0] == '\0'
      && source->rank == PMIX_RANK_UNDEF) {
    struct death* x = &deaths_of[affected->rank];
    x->code = code;
    x->exit_code = exit_code;
    x->at = at;
    if (x->times++ == 0)
      happen(&dead, code);
  } else {
    ++other_events;
  }
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static pmix_status_t death_codes[] = {
  PMIX_EVENT_PROC_TERMINATED,   PMIX_ERR_PROC_ABORTED,
  PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_TERM_WO_SYNC,
  PMIX_ERR_EXIT_NONZERO_TERM,   PMIX_ERR_PROC_REQUESTED_ABORT,
  PMIX_ERR_PROC_KILLED_BY_CMD};

enum { num_death_codes = sizeof death_codes / sizeof death_codes[0] };

/* Says when it ends, for rank 0. */
static void note_time(void) {
  char path[32];
  snprintf(path, sizeof path, "died.%u", me.rank);
  FILE* file = fopen(path, "w");
  fprintf(file, "%.9f", now());
  fclose(file);
}

static double noted_time(uint32_t rank) {
  char path[32];
  snprintf(path, sizeof path, "died.%u", rank);
  FILE* file = fopen(path, "r");
  double result = 0;
  demand(file != NULL && fscanf(file, "%lf", &result) == 1, "a time");
  fclose(file);
  return result;
}

static int compare_times(const void* x, const void* y) {
  const double difference = *(const double*)x - *(const double*)y;
  return (difference > 0) - (difference < 0);
}

static void deaths(void) {
  begin();
  demand(job_size >= 5 && job_size <= max_ranks, "5 to 16 processes");
  handle(death_codes, num_death_codes, on_death);
  meet();
  /* One after another, so that each is timed by itself. */
  pause_ms(150 * (long)me.rank);
  if (me.rank != 0) {
    switch (me.rank % 4) {
      case 1:
        note_time();
        kill(getpid(), SIGKILL);
        break;
      case 2:
        note_time();
        _exit(0);
      case 3:
        end();
        note_time();
        _exit(3);
      default:
        end();
        note_time();
        _exit(0);
    }
  }
  demand(happens(&dead, (int)job_size - 1, 20), "all ends are told of");
  pause_ms(1500); /* A connection lost would be told of now. */
  static const struct {
    pmix_status_t code;
    int exit_code;
  } expected[4] = {{PMIX_EVENT_PROC_TERMINATED, 0},
                   {PMIX_ERR_PROC_ABORTED_BY_SIG, 137},
                   {PMIX_ERR_PROC_TERM_WO_SYNC, 0},
                   {PMIX_ERR_EXIT_NONZERO_TERM, 3}};
  double times[max_ranks];
  for (uint32_t i = 1; i < job_size; ++i) {
    const struct death* x = &deaths_of[i];
    expect(x->code, expected[i % 4].code, "the code of an end");
    demand(x->times == 1, "each end is told of once");
    demand(x->exit_code == expected[i % 4].exit_code, "with its exit code");
    times[i - 1] = (x->at - noted_time(i)) * 1e3;
  }
  demand(other_events == 0, "nothing else is told");
  qsort(times, job_size - 1, sizeof times[0], compare_times);
  printf("%u ends, each once, median %.2f ms, longest %.2f ms\n", job_size - 1,
         times[(job_size - 1) / 2], times[job_size - 2]);
  demand(times[(job_size - 1) / 2] < 50, "within 50 ms");
  end();
}

static void bereaved(void) {
  begin();
  handle(death_codes, num_death_codes, on_death);
  meet();
  if (me.rank == 0) {
    printf("ready\n");
    fflush(stdout);
  }
  if (me.rank == 1)
    for (;;)
      pause();
  demand(happens(&dead, 1, 30), "the loss is told of");
  pause_ms(3000);
  expect(deaths_of[1].code, PMIX_ERR_PROC_ABORTED, "its code");
  printf("rank %u: heard of 1 %s\n", me.rank,
         deaths_of[1].times == 1 ? "once" : "more than once");
  end();
}

static void aborts(void) {
  signal(SIGTERM, SIG_IGN);
  begin();
  handle(death_codes, num_death_codes, on_death);
  meet();
  if (me.rank == 1) {
    PMIx_Abort(3, "on purpose", NULL, 0);
    _exit(3);
  }
  if (me.rank == 0) {
    demand(happens(&dead, 1, 1.5), "the end is told of");
    expect(deaths_of[1].code, PMIX_ERR_PROC_REQUESTED_ABORT, "its code");
    printf("heard of the abort\n");
    fflush(stdout);
  }
  for (;;)
    pause();
}

/* -- the server vanishes ----------------------------------------------------
 */

static atomic_int losses;
static struct pending lost = PENDING;

static void on_loss(size_t id UNUSED, pmix_status_t code,
                    const pmix_proc_t* source UNUSED, pmix_info_t* infos UNUSED,
                    size_t n UNUSED, pmix_info_t* results UNUSED,
                    size_t nresults UNUSED,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  atomic_fetch_add(&losses, 1);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  happen(&lost, code);
}

static void orphan(void) {
  /* The output goes with the server. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  begin();
  pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
  handle(&code, 1, on_loss);
  meet();
  FILE* file = fopen("orphan.new", "w");
  demand(file != NULL, "a file to write to");
  /* The guard of a launcher of Troupe would end us with it. */
  char command[64];
  snprintf(command, sizeof command, "pkill -KILL -P %d -x troupe-guard",
           (int)getppid());
  demand(system(command) >= 0, "a shell");
  const double start = now();
  kill(getppid(), SIGKILL);
  const bool came = happens(&lost, 1, 10);
  const double after = now() - start;
  pause_ms(2500); /* Theirs gathers losses for a second. */
  fprintf(file, "%s %d time(s) after %.0f ms\n", came ? "lost" : "nothing",
          atomic_load(&losses), after * 1e3);
  fclose(file);
  rename("orphan.new", "orphan");
  _exit(0);
}

/* -- one that ends at any event ---------------------------------------------
 */

static void on_any(size_t id UNUSED, pmix_status_t code,
                   const pmix_proc_t* source, pmix_info_t* infos UNUSED,
                   size_t n UNUSED, pmix_info_t* results UNUSED,
                   size_t nresults UNUSED,
                   pmix_event_notification_cbfunc_fn_t done UNUSED,
                   void* data UNUSED) {
  fail("a default handler got %s of %s", PMIx_Error_string(code),
       source->nspace);
}

static void steady(void) {
  begin();
  handle(NULL, 0, on_any);
  meet();
  printf("rank %u is ready\n", me.rank);
  fflush(stdout);
  pause_ms(1000 * (long)atoi(case_args[0] != NULL ? case_args[0] : "1"));
  meet();
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"deaths", deaths},
                                           {"bereaved", bereaved},
                                           {"aborts", aborts},
                                           {"orphan", orphan},
                                           {"steady", steady}};
  return RUN_CASE(cases);
}
