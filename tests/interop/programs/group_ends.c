/* Groups whose members end, leave, or never come.
 *
 *   group_ends deaths    members end in all ways at all times (num_deaths + 2)
 *   group_ends silent    members that live and never call (3)
 *   group_ends leave     one after another leaves (3)
 *   group_ends fence     ... while the others are in a fence (3)
 *
 * Those that share a folder share the file `board`, wherever they run. */

#include "group_client.h"

#include <fcntl.h>
#include <sys/mman.h>

/* -- deaths ---------------------------------------------------------------- */

enum when {
  before_all,  /* before anybody calls construct */
  before_it,   /* while the others are in construct */
  after_it,    /* when it has called, and not all others have */
  between,     /* after construct, before destruct */
  in_destruct, /* while the others are in destruct */
};

enum how { by_kill, by_abort, by_exit, by_finalize };

static const struct death {
  enum when when;
  enum how how;
  const char* flag;
  /* The group goes on without it. */
  bool survived;
} deaths_[] = {
  {before_all, by_kill, NULL, false},
  {before_all, by_abort, NULL, false},
  {before_all, by_exit, NULL, false},
  {before_all, by_finalize, NULL, false},
  {before_all, by_kill, PMIX_GROUP_FT_COLLECTIVE, true},
  {before_all, by_exit, PMIX_GROUP_OPTIONAL, true},
  {before_it, by_kill, NULL, false},
  {before_it, by_abort, NULL, false},
  {before_it, by_exit, NULL, false},
  {before_it, by_finalize, NULL, false},
  {before_it, by_kill, PMIX_GROUP_FT_COLLECTIVE, true},
  {before_it, by_finalize, PMIX_GROUP_OPTIONAL, true},
  {after_it, by_kill, NULL, false},
  {after_it, by_exit, NULL, false},
  {after_it, by_kill, PMIX_GROUP_FT_COLLECTIVE, true},
  {between, by_kill, NULL, false},
  {between, by_finalize, NULL, false},
  {between, by_kill, PMIX_GROUP_NOTIFY_TERMINATION, true},
  {between, by_abort, PMIX_GROUP_NOTIFY_TERMINATION, true},
  {between, by_exit, PMIX_GROUP_NOTIFY_TERMINATION, true},
  {between, by_finalize, PMIX_GROUP_NOTIFY_TERMINATION, true},
  {in_destruct, by_kill, NULL, false},
  {in_destruct, by_kill, PMIX_GROUP_NOTIFY_TERMINATION, true},
  {in_destruct, by_exit, PMIX_GROUP_NOTIFY_TERMINATION, true},
};

enum {
  num_deaths = sizeof deaths_ / sizeof deaths_[0],
  survivors = 2,
  /* What each of them does for a death, in steps. */
  steps = 4
};

/* Who has come how far. */
static struct board {
  atomic_int done[num_deaths][survivors + 1][steps];
  atomic_int pid[num_deaths];
} * board;

static void open_board(void) {
  const int fd = open("board", O_RDWR | O_CREAT, 0600);
  demand(fd >= 0 && ftruncate(fd, sizeof *board) == 0, "a file to share");
  board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  demand(board != MAP_FAILED, "a page to share");
  close(fd);
}

static void await_flag(atomic_int* flag, const char* what) {
  const double deadline = now() + 20;
  while (atomic_load(flag) == 0) {
    demand(now() < deadline, what);
    pause_ms(1);
  }
}

static void die(int i) {
  switch (deaths_[i].how) {
    case by_kill:
      kill(getpid(), SIGKILL);
      break;
    case by_abort:
      abort();
    case by_exit:
      _exit(0);
    case by_finalize:
      end();
      _exit(0);
  }
}

static void victim(int i) {
  const struct death* x = &deaths_[i];
  atomic_int(*done)[steps] = board->done[i];
  char id[64];
  snprintf(id, sizeof id, "app.death.%d", i);
  pmix_proc_t procs[3];
  ranks(procs, 3, 0, 1, me.rank);
  pmix_info_t info;
  if (x->flag != NULL)
    info = flag_info(x->flag);
  const size_t n = x->flag != NULL ? 1 : 0;
  atomic_store(&board->pid[i], getpid());
  /* Its turn comes when both others have come to this death. */
  await_flag(&done[0][0], "the turn");
  await_flag(&done[1][0], "the turn");
  switch (x->when) {
    case before_all:
      break;
    case before_it:
      pause_ms(50);
      break;
    case after_it:
      construct_later(id, procs, 3, &info, n);
      pause_ms(50);
      break;
    case between:
    case in_destruct:
      succeed(construct(id, procs, 3, &info, n).outcome, id);
      await_flag(&done[0][1], "the first is there");
      await_flag(&done[1][1], "the second is there");
      if (x->when == in_destruct)
        pause_ms(50);
      break;
  }
  die(i);
}

static void await_death(int i) {
  await_flag(&board->pid[i], "its number");
  const double deadline = now() + 10;
  while (kill(atomic_load(&board->pid[i]), 0) == 0) {
    demand(now() < deadline, "it ends");
    pause_ms(1);
  }
  pause_ms(20);
}

static void survive(int i) {
  const struct death* x = &deaths_[i];
  const pmix_rank_t dead = (pmix_rank_t)(i + survivors);
  atomic_int* done = board->done[i][me.rank];
  char id[64];
  snprintf(id, sizeof id, "app.death.%d", i);
  pmix_proc_t procs[3];
  ranks(procs, 3, 0, 1, dead);
  pmix_info_t info;
  if (x->flag != NULL)
    info = flag_info(x->flag);
  const size_t n = x->flag != NULL ? 1 : 0;
  atomic_store(&done[0], 1);
  if (x->when == before_all || (x->when == after_it && me.rank == 1))
    await_death(i);
  const struct built built = construct(id, procs, 3, &info, n);
  demand(built.took < 5, "construct ends soon");
  if (x->when < between) {
    if (x->survived) {
      demand(built.outcome == PMIX_SUCCESS
               || built.outcome == PMIX_ERR_PARTIAL_SUCCESS,
             "construct goes on with fewer");
      expect_members(&built, "0 1");
      const pmix_proc_t group = proc_in(id, PMIX_RANK_WILDCARD);
      succeed(PMIx_Fence(&group, 1, NULL, 0), "fence of the rest");
      destruct(id);
    } else {
      expect(built.outcome, PMIX_GROUP_CONSTRUCT_ABORT, "construct");
      demand(PMIx_Group_destruct(id, NULL, 0) != PMIX_SUCCESS,
             "there is no group");
    }
    return;
  }
  succeed(built.outcome, id);
  atomic_store(&done[1], 1);
  if (x->when == between)
    await_death(i);
  double took = 0;
  const pmix_status_t outcome = timed_destruct(id, &took);
  demand(took < 5, "destruct ends soon");
  if (!x->survived) {
    demand(outcome != PMIX_SUCCESS, "destruct tells of a death");
    return;
  }
  succeed(outcome, "destruct of the rest");
  await_heard(PMIX_GROUP_MEMBER_FAILED, id, dead, "a death is told of");
}

static void deaths(void) {
  begin();
  demand(job_size == num_deaths + survivors, "a process for each death");
  open_board();
  pmix_status_t codes[] = {PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEFT};
  handle(codes, 2, on_group_event);
  meet();
  if (me.rank >= survivors) {
    victim((int)me.rank - survivors);
    fail("a victim lives");
  }
  double longest = 0;
  for (int i = 0; i < num_deaths; ++i) {
    const double begin = now();
    survive(i);
    if (now() - begin > longest)
      longest = now() - begin;
    /* For whoever reads why the next one fails. */
    if (me.rank == 0)
      fprintf(stderr, "death %d: %.0f ms\n", i, (now() - begin) * 1e3);
  }
  pause_ms(200);
  for (int i = 0; i < num_deaths; ++i) {
    char id[64];
    snprintf(id, sizeof id, "app.death.%d", i);
    const pmix_rank_t dead = (pmix_rank_t)(i + survivors);
    const bool asked = deaths_[i].when >= between && deaths_[i].flag != NULL;
    if (asked)
      demand(heard_of(PMIX_GROUP_MEMBER_FAILED, id, dead) == 1, "once");
    demand(heard_of(PMIX_GROUP_LEFT, id, dead) == 0, "ending is not leaving");
  }
  printf("rank %u: %d deaths, the longest took %.0f ms\n", me.rank, num_deaths,
         longest * 1e3);
  end();
}

/* -- silence --------------------------------------------------------------- */

static void on_time(double took, const char* what) {
  if (took < 0.9 || took > 3)
    fail("%s: after %.3f s, expected 1", what, took);
}

static void silent(void) {
  begin();
  demand(job_size == 3, "3 processes");
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  built_of("app.ends", &all, 1);
  meet();
  if (me.rank < 2) {
    pmix_info_t infos[2] = {int_info(PMIX_TIMEOUT, 1),
                            flag_info(PMIX_GROUP_OPTIONAL)};
    const double begin = now();
    struct later* none = construct_later("app.none", &all, 1, infos, 1);
    /* One with a time limit, one without. */
    struct later* one =
      construct_later("app.one", &all, 1, infos, me.rank == 0 ? 1 : 0);
    struct later* fewer = construct_later("app.fewer", &all, 1, infos, 2);
    struct pending over = PENDING;
    succeed(PMIx_Group_destruct_nb("app.ends", infos, 1, on_done, &over),
            "app.ends");
    demand(happens(&over, 1, 10), "destruct is answered");
    on_time(now() - begin, "destruct");
    expect(over.outcome, PMIX_ERR_TIMEOUT, "destruct");
    struct built x = await_built(none, "construct is answered once");
    on_time(now() - begin, "construct");
    expect(x.outcome, PMIX_ERR_TIMEOUT, "construct");
    x = await_built(one, "who has no time limit is answered once");
    on_time(now() - begin, "another's time limit");
    expect(x.outcome, PMIX_ERR_TIMEOUT, "another's time limit");
    x = await_built(fewer, "optional construct is answered once");
    demand(x.outcome == PMIX_SUCCESS || x.outcome == PMIX_ERR_PARTIAL_SUCCESS,
           "with those who came");
    expect_members(&x, "0 1");
    const pmix_proc_t group = proc_in("app.fewer", PMIX_RANK_WILDCARD);
    succeed(PMIx_Fence(&group, 1, NULL, 0), "fence of those who came");
    destruct("app.fewer");
  }
  meet();
  /* Late is not never. */
  if (me.rank == 2)
    pause_ms(400);
  built_of("app.late", &all, 1);
  destruct("app.late");
  end();
}

/* -- leaving --------------------------------------------------------------- */

static void await_left(const char* id, pmix_rank_t who) {
  await_heard(PMIX_GROUP_LEFT, id, who, "leaving is told of");
}

static void leave(const char* id) {
  const double begin = now();
  succeed(PMIx_Group_leave(id, NULL, 0), "leave");
  demand(now() - begin < 1, "without waiting");
}

static void gone(const char* id) {
  const pmix_proc_t group = proc_in(id, PMIX_RANK_WILDCARD);
  demand(PMIx_Group_leave(id, NULL, 0) != PMIX_SUCCESS, "leaving twice");
  demand(PMIx_Fence(&group, 1, NULL, 0) != PMIX_SUCCESS, "a fence afterwards");
  demand(PMIx_Group_destruct(id, NULL, 0) != PMIX_SUCCESS,
         "a destruct afterwards");
}

static void leaving(void) {
  begin();
  demand(job_size == 3, "3 processes");
  pmix_status_t codes[] = {PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEFT};
  handle(codes, 2, on_group_event);
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  const pmix_proc_t group = proc_in("app.fewer", PMIX_RANK_WILDCARD);
  built_of("app.fewer", &all, 1);
  built_of("app.nobody", &all, 1);
  meet();
  if (me.rank == 2) {
    leave("app.fewer");
    gone("app.fewer");
  } else {
    await_left("app.fewer", 2);
    succeed(PMIx_Fence(&group, 1, NULL, 0), "fence of two");
    if (me.rank == 1) {
      leave("app.fewer");
      gone("app.fewer");
    } else {
      await_left("app.fewer", 1);
      destruct("app.fewer");
    }
  }
  /* All leave, at once. */
  leave("app.nobody");
  gone("app.nobody");
  meet();
  built_of("app.nobody", &all, 1);
  destruct("app.nobody");
  const int times = heard_of(PMIX_GROUP_LEFT, "app.fewer", 2);
  demand(times == (me.rank == 2 ? times : 1), "once");
  demand(heard_of(PMIX_GROUP_MEMBER_FAILED, "app.fewer", 2) == 0,
         "leaving is not ending");
  meet();
  end();
}

static void leaving_a_fence(void) {
  begin();
  demand(job_size == 3, "3 processes");
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  static const char* const ids[] = {"app.strict", "app.tolerant"};
  for (int i = 0; i < 2; ++i) {
    const pmix_proc_t group = proc_in(ids[i], PMIX_RANK_WILDCARD);
    pmix_info_t tolerant = flag_info(PMIX_GROUP_FT_COLLECTIVE);
    built_of(ids[i], &all, 1);
    meet();
    if (me.rank == 2) {
      pause_ms(100);
      leave(ids[i]);
    } else {
      const double begin = now();
      const pmix_status_t outcome = PMIx_Fence(&group, 1, &tolerant, (size_t)i);
      demand(now() - begin < 3, "the fence ends soon");
      if ((outcome == PMIX_SUCCESS) != (i == 1))
        fail("the fence of %s: %s (%d)", ids[i], PMIx_Error_string(outcome),
             outcome);
    }
    meet();
    if (me.rank != 2)
      destruct(ids[i]);
    meet();
  }
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"deaths", deaths},
                                           {"silent", silent},
                                           {"leave", leaving},
                                           {"fence", leaving_a_fence}};
  return RUN_CASE(cases);
}
