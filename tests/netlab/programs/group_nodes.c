/* Groups over nodes of which one is lost: that of ranks 1 and 4, the second of
 * three nodes with six processes. It is lost when there is the file `ready`.
 *
 *   group_nodes lost      before they have called construct, and afterwards
 *   group_nodes steady S  groups in turn for S seconds, from the file `ready`
 * on: whoever takes away networks loses none */

#include "../../interop/programs/group_client.h"

#include <fcntl.h>

static void say_ready(void) {
  if (me.rank == 0)
    close(open("ready", O_WRONLY | O_CREAT, 0600));
}

static void expect_context(const struct built* x) {
  demand(x->has_context && x->context != 0, "a context identifier");
}

static void lost(void) {
  begin();
  demand(job_size == 6, "6 processes");
  pmix_status_t code = PMIX_GROUP_MEMBER_FAILED;
  handle(&code, 1, on_group_event);
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t notify = flag_info(PMIX_GROUP_NOTIFY_TERMINATION);
  pmix_info_t tolerant[2] = {flag_info(PMIX_GROUP_FT_COLLECTIVE),
                             flag_info(PMIX_GROUP_ASSIGN_CONTEXT_ID)};
  pmix_proc_t some[6];
  succeed(construct("app.told", &all, 1, &notify, 1).outcome, "app.told");
  built_of("app.untold", &all, 1);
  /* It runs on the other nodes only. */
  if (me.rank % 3 != 1)
    built_of("app.beside", some, ranks(some, 4, 0, 2, 3, 5));
  meet();
  if (me.rank % 3 == 1)
    for (;;)
      pause();

  struct later* strict = construct_later("app.strict", &all, 1, NULL, 0);
  struct later* fewer = construct_later("app.fewer", &all, 1, tolerant, 2);
  struct later* moved = NULL;
  /* The lost node is the first of this one. */
  if (me.rank == 2 || me.rank == 5)
    moved =
      construct_later("app.moved", some, ranks(some, 3, 1, 2, 5), tolerant, 2);
  pause_ms(100);
  say_ready();
  const double begin = now();
  demand(happens(&strict->done, 1, 30), "the loss ends a construct");
  expect(strict->done.outcome, PMIX_GROUP_CONSTRUCT_ABORT, "construct");
  demand(happens(&fewer->done, 1, 30), "the loss ends a tolerant construct");
  const struct built x = await_built(fewer, "once");
  succeed(x.outcome, "a tolerant construct");
  expect_members(&x, "0 2 3 5");
  expect_context(&x);
  if (moved != NULL) {
    demand(happens(&moved->done, 1, 30), "and one of which it was the first");
    const struct built y = await_built(moved, "once");
    succeed(y.outcome, "a tolerant construct without its first node");
    expect_members(&y, "2 5");
    demand(y.context != x.context, "another context identifier");
    destruct("app.moved");
  }
  const double took = now() - begin;
  const pmix_proc_t group = proc_in("app.fewer", PMIX_RANK_WILDCARD);
  succeed(PMIx_Fence(&group, 1, NULL, 0), "fence of the rest");
  destruct("app.fewer");

  await_heard(PMIX_GROUP_MEMBER_FAILED, "app.told", 1, "the loss is told of");
  await_heard(PMIX_GROUP_MEMBER_FAILED, "app.told", 4, "the loss is told of");
  destruct("app.told");
  demand(PMIx_Group_destruct("app.untold", NULL, 0) != PMIX_SUCCESS,
         "destruct tells of the loss");
  destruct("app.beside");
  built_of("app.after", some, ranks(some, 4, 0, 2, 3, 5));
  destruct("app.after");
  demand(heard_of(PMIX_GROUP_MEMBER_FAILED, "app.told", 1) == 1
           && heard_of(PMIX_GROUP_MEMBER_FAILED, "app.told", 4) == 1,
         "once");
  printf("rank %u goes on without the node, after %.0f ms\n", me.rank,
         took * 1e3);
  end();
}

static void steady(void) {
  begin();
  const double seconds = case_args[0] != NULL ? atof(case_args[0]) : 1;
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t info = flag_info(PMIX_GROUP_ASSIGN_CONTEXT_ID);
  double longest = 0;
  int turns = 0;
  meet();
  say_ready();
  const double until = now() + seconds;
  for (bool on = true; on; ++turns) {
    char id[64];
    snprintf(id, sizeof id, "app.%d", turns);
    const double begin = now();
    const struct built x = construct(id, &all, 1, &info, 1);
    succeed(x.outcome, id);
    expect_context(&x);
    destruct(id);
    if (now() - begin > longest)
      longest = now() - begin;
    /* All end after the same turn: rank 0 says so. */
    char last[64];
    snprintf(last, sizeof last, "turn.%d", turns);
    if (me.rank == 0)
      put_string(PMIX_GLOBAL, last, now() < until ? "on" : "over");
    if (me.rank == 0)
      succeed(PMIx_Commit(), "commit");
    const pmix_proc_t first = rank_of(0);
    pmix_info_t timeout = int_info(PMIX_TIMEOUT, 20);
    pmix_value_t* value = NULL;
    succeed(PMIx_Get(&first, last, &timeout, 1, &value), last);
    on = strcmp(value->data.string, "on") == 0;
    PMIX_VALUE_RELEASE(value);
  }
  if (me.rank == 0)
    printf("%d groups in turn, none failed, the longest took %.0f ms\n", turns,
           longest * 1e3);
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"lost", lost}, {"steady", steady}};
  return RUN_CASE(cases);
}
