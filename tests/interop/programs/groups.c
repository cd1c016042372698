/* Groups that are constructed, used and destructed.
 *
 *   groups basics      sizes, orders, ranks of members, context identifiers (4)
 *   groups refused     callers, processes and identifiers that are wrong (3)
 *   groups together    several at once over the same processes (any number)
 *   groups data        what members have posted, right after construct (any)
 *   groups reuse       an identifier again, by others, by another job (4)
 *   groups spawned     a group of a job and the one that it has started (1)
 *   groups many N      N groups in turn: no growth, no slowdown (any) */

#include "group_client.h"

/* -- basics ---------------------------------------------------------------- */

static void basics(void) {
  begin();
  demand(job_size >= 4, "4 processes");
  pmix_proc_t procs[8];
  char id[64];

  /* One member. */
  snprintf(id, sizeof id, "app.self.%u", me.rank);
  built_of(id, &me, 1);
  destruct(id);

  /* All of the job. */
  procs[0] = rank_of(PMIX_RANK_WILDCARD);
  built_of("app.all", procs, 1);
  destruct("app.all");

  /* Some: the others do something else. */
  if (me.rank == 0 || me.rank == 2 || me.rank == 3) {
    const struct built x =
      built_of("app.some", procs, ranks(procs, 3, 0, 2, 3));
    expect_members(&x, "0 2 3");
    destruct("app.some");
  }
  meet();

  /* The position in the array is the rank: 0 is 2, 1 is 0, 2 is 1. */
  char text[32];
  snprintf(text, sizeof text, "i am %u", me.rank);
  post("who", text);
  if (me.rank < 3) {
    const struct built x =
      built_of("app.order", procs, ranks(procs, 3, 2, 0, 1));
    expect_members(&x, "2 0 1");
    const pmix_proc_t first = proc_in("app.order", 0);
    const pmix_proc_t last = proc_in("app.order", 2);
    expect_string(&first, "who", "i am 2", 5);
    expect_string(&last, "who", "i am 1", 5);
    destruct("app.order");
  }
  meet();

  /* Each names them in another order: one group, and one order for all. */
  if (me.rank < 3) {
    const struct built x =
      built_of("app.orders", procs,
               ranks(procs, 3, me.rank, (me.rank + 1) % 3, (me.rank + 2) % 3));
    expect_members(&x, "0 1 2");
    const pmix_proc_t last = proc_in("app.orders", 2);
    expect_string(&last, "who", "i am 2", 5);
    destruct("app.orders");
  }
  meet();

  /* An order of its own. */
  pmix_data_array_t reversed;
  PMIX_DATA_ARRAY_CONSTRUCT(&reversed, 3, PMIX_PROC);
  ranks(reversed.array, 3, 2, 1, 0);
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_GROUP_FINAL_MEMBERSHIP_ORDER, &reversed,
                 PMIX_DATA_ARRAY);
  if (me.rank < 3) {
    const struct built x =
      construct("app.final", procs, ranks(procs, 3, 0, 1, 2), &info, 1);
    succeed(x.outcome, "a membership order");
    expect_members(&x, "2 1 0");
    const pmix_proc_t first = proc_in("app.final", 0);
    expect_string(&first, "who", "i am 2", 5);
    destruct("app.final");
  }
  meet();

  /* Context identifiers: one for a group, never 0, and never the same one. */
  procs[0] = rank_of(PMIX_RANK_WILDCARD);
  info = flag_info(PMIX_GROUP_ASSIGN_CONTEXT_ID);
  size_t seen[4];
  for (int i = 0; i < 4; ++i) {
    snprintf(id, sizeof id, "app.context.%d", i);
    const struct built x = construct(id, procs, 1, &info, 1);
    succeed(x.outcome, id);
    demand(x.has_context && x.context != 0, "a context identifier");
    for (int k = 0; k < i; ++k)
      demand(seen[k] != x.context, "another context identifier");
    seen[i] = x.context;
    snprintf(text, sizeof text, "%zu", x.context);
    agree(id, text);
    if (i % 2 == 0)
      destruct(id);
  }
  end();
}

/* -- mistakes -------------------------------------------------------------- */

static void refuse(pmix_status_t got, const char* what) {
  if (me.rank == 0)
    fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(got));
  if (got >= 0 || got == PMIX_OPERATION_SUCCEEDED || got == PMIX_ERR_TIMEOUT
      || got == PMIX_ERR_UNREACH)
    fail("%s: %s (%d), expected to be refused", what, PMIx_Error_string(got),
         got);
}

static void refused(void) {
  begin();
  demand(job_size == 3, "3 processes");
  pmix_proc_t procs[8];
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  char longest[PMIX_MAX_NSLEN + 2];

  /* Who calls is not among them. */
  ranks(procs, 1, (me.rank + 1) % 3);
  struct built x = construct("app.others", procs, 1, NULL, 0);
  refuse(x.outcome, "a caller that is not among the processes");
  demand(x.took < 1, "at once");

  /* Identifiers. */
  refuse(construct(me.nspace, &all, 1, NULL, 0).outcome, "the job's namespace");
  refuse(construct("", &all, 1, NULL, 0).outcome, "no identifier");
  refuse(construct(NULL, &all, 1, NULL, 0).outcome, "a null identifier");
  memset(longest, 'x', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  refuse(construct(longest, &all, 1, NULL, 0).outcome, "256 bytes");
  longest[sizeof longest - 2] = '\0';
  built_of(longest, &all, 1);
  destruct(longest);
  built_of("app.gr\xc3\xbc\xc3\x9f"
           "e",
           &all, 1);
  destruct("app.gr\xc3\xbc\xc3\x9f"
           "e");

  /* Processes. */
  procs[0] = me;
  procs[1] = proc_in("no-such-job", 0);
  refuse(construct("app.unknown", procs, 2, NULL, 0).outcome,
         "an unknown process");
  procs[1] = rank_of(4711);
  refuse(construct("app.unknown", procs, 2, NULL, 0).outcome,
         "an unknown rank");

  /* One says 0 and 1; the others, all. */
  meet();
  x = me.rank == 0
        ? construct("app.differ", procs, ranks(procs, 2, 0, 1), NULL, 0)
        : construct("app.differ", &all, 1, NULL, 0);
  refuse(x.outcome, "other processes, the same identifier");
  demand(x.took < 3, "without a long wait");
  meet();

  /* Groups that are not there. */
  refuse(PMIx_Group_destruct("app.nothing", NULL, 0), "destruct of nothing");
  meet();
  if (me.rank < 2)
    built_of("app.two", procs, ranks(procs, 2, 0, 1));
  meet();
  if (me.rank == 2)
    refuse(PMIx_Group_destruct("app.two", NULL, 0), "destruct by a stranger");
  meet();
  if (me.rank < 2) {
    destruct("app.two");
    refuse(PMIx_Group_destruct("app.two", NULL, 0), "the second destruct");
  }
  meet();
  end();
}

/* -- several at once ------------------------------------------------------- */

static void together(void) {
  enum { count = 32 };
  begin();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t info = flag_info(PMIX_GROUP_ASSIGN_CONTEXT_ID);
  struct later* calls[count];
  struct pending ends[count];
  size_t contexts[count];
  char id[64];
  meet();
  /* Each begins with another one. */
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t k = (i + me.rank * 7) % count;
    snprintf(id, sizeof id, "app.%u", k);
    calls[k] = construct_later(id, &all, 1, &info, 1);
  }
  for (uint32_t k = 0; k < count; ++k) {
    demand(happens(&calls[k]->done, 1, 10), "every construct is answered");
    succeed(calls[k]->done.outcome, "every construct");
    contexts[k] = calls[k]->what.context;
    for (uint32_t i = 0; i < k; ++i)
      demand(contexts[i] != contexts[k], "a context identifier of its own");
  }
  for (uint32_t k = 0; k < count; ++k)
    demand(calls[k]->done.happened == 1, "once");
  for (uint32_t i = 0; i < count; ++i) {
    const struct pending fresh = PENDING;
    ends[i] = fresh;
    snprintf(id, sizeof id, "app.%u", (i + me.rank * 5) % count);
    succeed(PMIx_Group_destruct_nb(id, NULL, 0, on_done, &ends[i]), id);
  }
  for (uint32_t i = 0; i < count; ++i) {
    demand(happens(&ends[i], 1, 10), "every destruct is answered");
    succeed(ends[i].outcome, "every destruct");
  }
  meet();
  end();
}

/* -- data ------------------------------------------------------------------ */

static void data(void) {
  begin();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  char text[64];
  snprintf(text, sizeof text, "contact of %u", me.rank);
  put_string(PMIX_GLOBAL, "contact", text);
  succeed(PMIx_Commit(), "commit");

  /* And what only the members of the group exchange. */
  const size_t local = 100 + me.rank;
  pmix_info_t inner;
  PMIX_INFO_LOAD(&inner, PMIX_GROUP_LOCAL_CID, &local, PMIX_SIZE);
  pmix_data_array_t array = {PMIX_INFO, 1, &inner};
  pmix_info_t infos[2];
  infos[0] = flag_info(PMIX_GROUP_ASSIGN_CONTEXT_ID);
  PMIX_INFO_LOAD(&infos[1], PMIX_GROUP_INFO, &array, PMIX_DATA_ARRAY);
  const struct built x = construct("app.data", &all, 1, infos, 2);
  succeed(x.outcome, "construct");
  demand(x.has_context, "a context identifier");

  /* Nobody is asked for it any more. */
  pmix_info_t at_once = flag_info(PMIX_IMMEDIATE);
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t other = rank_of(i);
    snprintf(text, sizeof text, "contact of %u", i);
    pmix_value_t* value = NULL;
    succeed(PMIx_Get(&other, "contact", &at_once, 1, &value), "contact");
    demand(value->type == PMIX_STRING && strcmp(value->data.string, text) == 0,
           "the right one");
    PMIX_VALUE_RELEASE(value);
    pmix_info_t qualifiers[2];
    PMIX_INFO_LOAD(&qualifiers[0], PMIX_GROUP_CONTEXT_ID, &x.context,
                   PMIX_SIZE);
    PMIX_INFO_SET_QUALIFIER(&qualifiers[0]);
    qualifiers[1] = int_info(PMIX_TIMEOUT, 5);
    succeed(PMIx_Get(&other, PMIX_GROUP_LOCAL_CID, qualifiers, 2, &value),
            "local context identifier");
    demand(value->type == PMIX_SIZE && value->data.size == 100 + i,
           "of that process");
    PMIX_VALUE_RELEASE(value);
  }
  destruct("app.data");
  end();
}

/* -- the same identifier ----------------------------------------------------
 */

static void reuse(void) {
  begin();
  demand(job_size == 4, "4 processes");
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_proc_t pair[2];
  ranks(pair, 2, me.rank / 2 * 2, me.rank / 2 * 2 + 1);
  for (int i = 0; i < 20; ++i) {
    built_of("app.name", &all, 1);
    destruct("app.name");
    /* Two pairs that have nothing to do with each other. */
    built_of("app.name", pair, 2);
    const pmix_proc_t group = proc_in("app.name", PMIX_RANK_WILDCARD);
    succeed(PMIx_Fence(&group, 1, NULL, 0), "fence of the own one");
    destruct("app.name");
    meet();
  }
  /* While it is there: no. */
  built_of("app.name", &all, 1);
  const struct built x = construct("app.name", &all, 1, NULL, 0);
  demand(x.outcome < 0 && x.took < 3, "a second one of the same name");
  destruct("app.name");
  meet();
  end();
}

/* -- two jobs -------------------------------------------------------------- */

static void with_others(const char* other, uint32_t size) {
  pmix_proc_t procs[2] = {rank_of(PMIX_RANK_WILDCARD),
                          proc_in(other, PMIX_RANK_WILDCARD)};
  char text[64];
  snprintf(text, sizeof text, "i am %u of %u", me.rank, job_size);
  post("who", text);
  pmix_info_t info = flag_info(PMIX_GROUP_ASSIGN_CONTEXT_ID);
  const struct built x = construct("app.family", procs, 2, &info, 1);
  succeed(x.outcome, "construct over two jobs");
  demand(x.has_context && x.context != 0, "a context identifier");
  pmix_proc_t job = proc_in(other, PMIX_RANK_WILDCARD);
  demand(number_of(&job, PMIX_JOB_SIZE) == size, "the size of the other job");
  for (uint32_t i = 0; i < size; ++i) {
    const pmix_proc_t they = proc_in(other, i);
    snprintf(text, sizeof text, "i am %u of %u", i, size);
    expect_string(&they, "who", text, 5);
  }
  const pmix_proc_t group = proc_in("app.family", PMIX_RANK_WILDCARD);
  succeed(PMIx_Fence(&group, 1, NULL, 0), "fence over two jobs");
  destruct("app.family");
}

enum { children = 2 };

static void spawned(void) {
  begin();
  demand(job_size == 1, "1 process");
  pmix_nspace_t nspace;
  spawn_case("child", children, nspace);
  with_others(nspace, children);
  await_end(nspace, 10);
  end();
}

static void child(void) {
  begin();
  const pmix_proc_t they = parent();
  with_others(they.nspace, 1);
  end();
}

/* -- many in turn ---------------------------------------------------------- */

/* What the server holds now, in KiB. */
static long held(void) {
  char path[64];
  char line[256];
  long result = 0;
  snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
  FILE* file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmRSS: %ld", &result) == 1)
      break;
  if (file != NULL)
    fclose(file);
  return result;
}

static void many(void) {
  begin();
  const int total = case_args[0] != NULL ? atoi(case_args[0]) : 1000;
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  const int tenth = total / 10;
  demand(tenth > 0, "a number");
  double times[10];
  long memory[10];
  for (int part = 0; part < 10; ++part) {
    times[part] = 1e9;
    for (int i = 0; i < tenth; ++i) {
      char id[64];
      snprintf(id, sizeof id, "app.%d.%d", part, i);
      const double begin = now();
      built_of(id, &all, 1);
      destruct(id);
      /* The shortest: what else the machine does does not count. */
      if ((now() - begin) * 1e6 < times[part])
        times[part] = (now() - begin) * 1e6;
    }
    memory[part] = held();
  }
  if (me.rank == 0)
    printf("a group in turn: %.0f us at first, %.0f us at last; "
           "memory of the server %ld KiB at first, %ld KiB at last\n",
           times[1], times[9], memory[1], memory[9]);
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"basics", basics}, {"refused", refused}, {"together", together},
    {"data", data},     {"reuse", reuse},     {"spawned", spawned},
    {"child", child},   {"many", many}};
  return RUN_CASE(cases);
}
