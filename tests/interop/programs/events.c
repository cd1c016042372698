/* Events between processes, and those about processes that die. */

#include "client.h"

#define EVENT (PMIX_EXTERNAL_ERR_BASE - 10)
#define SECOND_EVENT (PMIX_EXTERNAL_ERR_BASE - 11)
#define THIRD_EVENT (PMIX_EXTERNAL_ERR_BASE - 12)

static struct pending heard = PENDING;
static pmix_status_t last_code;
static pmix_proc_t last_source;
static pmix_proc_t last_affected;

static void on_event(size_t id UNUSED, pmix_status_t code,
                     const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  last_code = code;
  if (source != NULL)
    last_source = *source;
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC)
        && infos[i].value.type == PMIX_PROC)
      last_affected = *infos[i].value.data.proc;
  happen(&heard, code);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void notify(pmix_status_t code, pmix_data_range_t range,
                   const pmix_info_t* infos, size_t n) {
  struct pending sent = PENDING;
  const pmix_status_t outcome =
    PMIx_Notify_event(code, &me, range, infos, n, on_done, &sent);
  if (outcome == PMIX_OPERATION_SUCCEEDED)
    return;
  succeed(outcome, "notify");
  demand(happens(&sent, 1, 10), "the notification is answered");
  succeed(sent.outcome, "notify");
}

static void expect_event(int times, pmix_status_t code) {
  demand(happens(&heard, times, 10), "the event comes");
  demand(last_code == code, "it is the right one");
}

/* What Open MPI does: a default handler and one for a code. */
static void between(void) {
  begin();
  pmix_status_t codes[] = {EVENT, SECOND_EVENT};
  handle(codes, 2, on_event);
  meet();
  if (me.rank == 0) {
    notify(EVENT, PMIX_RANGE_NAMESPACE, NULL, 0);
  } else {
    expect_event(1, EVENT);
    demand(last_source.rank == 0, "its source");
  }
  meet();
  /* The library hands a process its own events, too. */
  if (me.rank == 1)
    notify(SECOND_EVENT, PMIX_RANGE_LOCAL, NULL, 0);
  else
    expect_event(2, SECOND_EVENT);
  meet();
  end();
}

static void to_default(void) {
  begin();
  handle(NULL, 0, on_event);
  pmix_status_t model = PMIX_MODEL_DECLARED;
  handle(&model, 1, on_event);
  meet();
  if (me.rank == 0)
    notify(PMIX_MODEL_DECLARED, PMIX_RANGE_NAMESPACE, NULL, 0);
  else
    expect_event(1, PMIX_MODEL_DECLARED);
  meet();
  end();
}

/* Rank 0 names rank 1 as the only receiver. */
static void targeted(void) {
  begin();
  pmix_status_t codes[] = {EVENT, SECOND_EVENT};
  if (me.rank != 0) /* The library hands a process its own events, too. */
    handle(codes, 2, on_event);
  meet();
  if (me.rank == 0) {
    pmix_proc_t one = rank_of(1);
    pmix_info_t to;
    PMIX_INFO_LOAD(&to, PMIX_EVENT_CUSTOM_RANGE, &one, PMIX_PROC);
    notify(EVENT, PMIX_RANGE_CUSTOM, &to, 1);
    notify(SECOND_EVENT, PMIX_RANGE_NAMESPACE, NULL, 0);
  } else if (me.rank == 1) {
    expect_event(2, SECOND_EVENT);
  } else {
    expect_event(1, SECOND_EVENT);
  }
  meet();
  demand(heard.happened
           == (me.rank == 0   ? 0
               : me.rank == 1 ? 2
                              : 1),
         "nobody else gets it");
  end();
}

/* Whoever registers late gets what has happened. */
static void cached(void) {
  begin();
  if (me.rank == 0)
    notify(THIRD_EVENT, PMIX_RANGE_NAMESPACE, NULL, 0);
  meet();
  if (me.rank != 0) {
    pmix_status_t code = THIRD_EVENT;
    handle(&code, 1, on_event);
    expect_event(1, THIRD_EVENT);
  }
  meet();
  end();
}

static int compare(const void* x, const void* y) {
  const double difference = *(const double*)x - *(const double*)y;
  return (difference > 0) - (difference < 0);
}

/* Ping-pong, and its median: a socket that waits for acknowledgements takes 40
 * ms. */
static void latency(void) {
  begin();
  pmix_status_t awaited = me.rank == 0 ? SECOND_EVENT : EVENT;
  handle(&awaited, 1, on_event);
  meet();
  enum { rounds = 21 };
  double ms[rounds] = {0};
  for (int i = 0; i < rounds && me.rank < 2; ++i) {
    const double start = now();
    if (me.rank == 0) {
      notify(EVENT, PMIX_RANGE_NAMESPACE, NULL, 0);
      expect_event(i + 1, SECOND_EVENT);
    } else {
      expect_event(i + 1, EVENT);
      notify(SECOND_EVENT, PMIX_RANGE_NAMESPACE, NULL, 0);
    }
    ms[i] = (now() - start) * 1e3;
  }
  qsort(ms, rounds, sizeof ms[0], compare);
  if (me.rank == 0)
    printf("there and back: %.2f ms\n", ms[rounds / 2]);
  demand(me.rank != 0 || ms[rounds / 2] < 20, "small frames leave at once");
  meet();
  end();
}

/* Waits for what a tool sends. */
static void from_tool(void) {
  begin();
  pmix_status_t code = -3001;
  handle(&code, 1, on_event);
  printf("rank %u is ready\n", me.rank);
  fflush(stdout);
  expect_event(1, code);
  meet();
  end();
}

/* -- the dead -------------------------------------------------------------- */

static void watch_death(pmix_status_t code, void (*die)(void)) {
  begin();
  handle(&code, 1, on_event);
  meet();
  if (me.rank == 1)
    die();
  const double start = now();
  expect_event(1, code);
  demand(now() - start < 10, "in bounded time");
  demand(last_affected.rank == 1
           && strcmp(last_affected.nspace, me.nspace) == 0,
         "the event names who died");
  end();
}

static void kill_self(void) {
  kill(getpid(), SIGKILL);
}

static void exit_early(void) {
  _exit(0);
}

static void exit_with_3(void) {
  end();
  _exit(3);
}

static void killed(void) {
  watch_death(PMIX_ERR_PROC_ABORTED_BY_SIG, kill_self);
}

static void unfinalized(void) {
  watch_death(PMIX_ERR_PROC_TERM_WO_SYNC, exit_early);
}

static void non_zero(void) {
  watch_death(PMIX_ERR_EXIT_NONZERO_TERM, exit_with_3);
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"between", between},   {"to_default", to_default},
    {"targeted", targeted}, {"cached", cached},
    {"latency", latency},   {"from_tool", from_tool},
    {"killed", killed},     {"unfinalized", unfinalized},
    {"non_zero", non_zero},
  };
  return RUN_CASE(cases);
}
