/* Fences: over all, over some, several at once, late, and with the dead. */

#include "client.h"

static void plain(void) {
  begin();
  for (int i = 0; i < 200; ++i)
    meet();
  succeed(PMIx_Fence(NULL, 0, NULL, 0), "a fence that names nobody is of all");
  end();
}

static void collect(void) {
  begin();
  char text[32];
  snprintf(text, sizeof text, "of rank %u", me.rank);
  post("collected", text);
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t with_data = flag_info(PMIX_COLLECT_DATA);
  succeed(PMIx_Fence(&all, 1, &with_data, 1), "fence");
  for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
    const pmix_proc_t whom = rank_of(rank);
    snprintf(text, sizeof text, "of rank %u", rank);
    expect_string(&whom, "collected", text, 0);
  }
  end();
}

/* A fence of the ranks that a mask names. */
struct fence {
  pmix_proc_t procs[32];
  size_t n;
  struct pending done;
};

static void start(struct fence* x, unsigned mask) {
  const struct pending nothing = PENDING;
  x->done = nothing;
  x->n = 0;
  for (pmix_rank_t rank = 0; rank < job_size; ++rank)
    if ((mask >> rank & 1) != 0)
      x->procs[x->n++] = rank_of(rank);
  succeed(PMIx_Fence_nb(x->procs, x->n, NULL, 0, on_done, &x->done), "start");
}

static void finish(struct fence* x, const char* what) {
  if (!happens(&x->done, 1, 20))
    fail("%s does not complete", what);
  succeed(x->done.outcome, what);
}

static void subsets(void) {
  begin();
  struct fence mine;
  for (int i = 0; i < 50; ++i) {
    start(&mine, me.rank % 2 == 0 ? 0x55555555U : 0xaaaaaaaaU);
    finish(&mine, "fence of a half");
  }
  start(&mine, 1U << me.rank);
  finish(&mine, "fence of one");
  meet();
  end();
}

/* Fences over overlapping sets are called in another order by each rank. */
static void overlapping(void) {
  begin();
  static const unsigned masks[] = {0x3, 0x6, 0x5, 0x7, 0xf, 0x9, 0xe};
  enum { count = sizeof masks / sizeof masks[0] };
  static struct fence fences[count];
  for (int round = 0; round < 20; ++round) {
    for (size_t i = 0; i < count; ++i) {
      const size_t k = (i + me.rank) % count;
      if ((masks[k] >> me.rank & 1) != 0)
        start(&fences[k], masks[k]);
    }
    for (size_t k = 0; k < count; ++k)
      if ((masks[k] >> me.rank & 1) != 0)
        finish(&fences[k], "one of several fences");
  }
  end();
}

/* Fences over the same set complete in the order in which they are called. */
static void equal(void) {
  begin();
  enum { count = 8 };
  static struct fence fences[count];
  for (size_t i = 0; i < count; ++i)
    start(&fences[i], (1U << job_size) - 1);
  for (size_t i = 0; i < count; ++i)
    finish(&fences[i], "one of equal fences");
  end();
}

static pmix_status_t fence_with_limit(int seconds) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t limit = int_info(PMIX_TIMEOUT, seconds);
  return PMIx_Fence(&all, 1, &limit, 1);
}

static void times_out(void) {
  begin();
  const pmix_rank_t absent = job_size - 1;
  const pmix_proc_t zero = rank_of(0);
  if (me.rank == absent) {
    expect_string(&zero, "timed.out", "yes", 20);
  } else {
    const double start = now();
    expect(fence_with_limit(1), PMIX_ERR_TIMEOUT, "fence without the last");
    const double took = now() - start;
    demand(took > 0.5 && took < 4, "it takes the time asked for");
    if (me.rank == 0)
      post("timed.out", "yes");
  }
  end();
}

/* -- the dead -------------------------------------------------------------- */

static void must_fail(void) {
  const double start = now();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  const pmix_status_t outcome = PMIx_Fence(&all, 1, NULL, 0);
  demand(outcome != PMIX_SUCCESS, "a fence with a dead process fails");
  demand(now() - start < 10, "it fails in bounded time");
  fprintf(stderr, "rank %u: %s\n", me.rank, PMIx_Error_string(outcome));
}

static bool is_victim(void) {
  return me.rank == 1;
}

static void killed_before(void) {
  begin();
  meet();
  if (is_victim())
    kill(getpid(), SIGKILL);
  must_fail();
  end();
}

/* The victim dies while the others wait for it already. */
static void killed_late(void) {
  begin();
  meet();
  if (is_victim()) {
    pause_ms(300);
    kill(getpid(), SIGKILL);
  }
  must_fail();
  end();
}

/* The victim has joined, the last rank has not: the fence cannot be whole. */
static void killed_inside(void) {
  begin();
  meet();
  static struct fence joined;
  if (is_victim()) {
    start(&joined, (1U << job_size) - 1);
    pause_ms(200);
    kill(getpid(), SIGKILL);
  }
  if (me.rank == job_size - 1)
    pause_ms(600);
  const double start_of_fence = now();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  const pmix_status_t outcome = PMIx_Fence(&all, 1, NULL, 0);
  demand(now() - start_of_fence < 10, "it is answered in bounded time");
  fprintf(stderr, "rank %u: %s\n", me.rank, PMIx_Error_string(outcome));
  end();
}

static void exits(void) {
  begin();
  meet();
  if (is_victim())
    _exit(0);
  must_fail();
  end();
}

static void finalizes(void) {
  begin();
  meet();
  if (is_victim()) {
    end();
    return;
  }
  must_fail();
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"plain", plain},
    {"collect", collect},
    {"subsets", subsets},
    {"overlapping", overlapping},
    {"equal", equal},
    {"times_out", times_out},
    {"killed_before", killed_before},
    {"killed_late", killed_late},
    {"killed_inside", killed_inside},
    {"exits", exits},
    {"finalizes", finalizes},
  };
  return RUN_CASE(cases);
}
