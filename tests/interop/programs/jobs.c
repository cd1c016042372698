/* Spawn, connect and disconnect, and what a child job is told. */

#include "client.h"

/* -- connect --------------------------------------------------------------- */

static void connect_own(void) {
  begin();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  for (int i = 0; i < 5; ++i) {
    succeed(PMIx_Connect(&all, 1, NULL, 0), "connect");
    succeed(PMIx_Disconnect(&all, 1, NULL, 0), "disconnect");
  }
  end();
}

static void connect_both(const char* first, const char* second,
                         const char* other, uint32_t other_size) {
  pmix_proc_t procs[2] = {proc_in(first, PMIX_RANK_WILDCARD),
                          proc_in(second, PMIX_RANK_WILDCARD)};
  succeed(PMIx_Connect(procs, 2, NULL, 0), "connect");
  const pmix_proc_t all = proc_in(other, PMIX_RANK_WILDCARD);
  demand(number_of(&all, PMIX_JOB_SIZE) == other_size, "size of the other job");
  const pmix_proc_t last = proc_in(other, other_size - 1);
  expect_string(&last, "greeting", "hello", 20);
  for (int i = 0; i < 10; ++i)
    succeed(PMIx_Fence(procs, 2, NULL, 0), "fence of both jobs");
  succeed(PMIx_Disconnect(procs, 2, NULL, 0), "disconnect");
}

static void connect_jobs(void) {
  begin();
  post("greeting", "hello");
  if (me.rank == 0) {
    char child[PMIX_MAX_NSLEN + 1];
    spawn_case("connect_child", 3, child);
    post("child", child);
  }
  const pmix_proc_t zero = rank_of(0);
  pmix_info_t limit = int_info(PMIX_TIMEOUT, 20);
  pmix_value_t* child = NULL;
  succeed(PMIx_Get(&zero, "child", &limit, 1, &child), "name of the child");
  connect_both(me.nspace, child->data.string, child->data.string, 3);
  await_end(child->data.string, 20);
  PMIX_VALUE_RELEASE(child);
  end();
}

static void connect_child(void) {
  begin();
  post("greeting", "hello");
  const pmix_proc_t from = parent();
  const pmix_proc_t all = proc_in(from.nspace, PMIX_RANK_WILDCARD);
  connect_both(from.nspace, me.nspace, from.nspace,
               number_of(&all, PMIX_JOB_SIZE));
  end();
}

static void connect_alone(void) {
  begin();
  if (me.rank == 0) {
    const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
    pmix_info_t limit = int_info(PMIX_TIMEOUT, 1);
    const double start = now();
    expect(PMIx_Connect(&all, 1, &limit, 1), PMIX_ERR_TIMEOUT, "connect");
    demand(now() - start < 5, "it fails in bounded time");
    post("done", "yes");
  } else {
    const pmix_proc_t zero = rank_of(0);
    expect_string(&zero, "done", "yes", 20);
  }
  end();
}

/* -- spawn ----------------------------------------------------------------- */

/* Two programs, each with its variables, directory and arguments. */
static void spawn(void) {
  begin();
  pmix_app_t* apps;
  PMIX_APP_CREATE(apps, 2);
  pmix_status_t outcome;
  for (int i = 0; i < 2; ++i) {
    apps[i].cmd = strdup(self_path);
    PMIX_ARGV_APPEND(outcome, apps[i].argv, self_path);
    PMIX_ARGV_APPEND(outcome, apps[i].argv, "spawned");
    apps[i].maxprocs = i + 1;
  }
  PMIX_ARGV_APPEND(outcome, apps[0].argv, "one word");
  PMIX_ARGV_APPEND(outcome, apps[1].argv, "$HOME;`id`");
  PMIX_ARGV_APPEND(outcome, apps[0].env, "SPAWNED=first");
  PMIX_ARGV_APPEND(outcome, apps[1].env, "SPAWNED=second");
  succeed(outcome, "arguments");
  apps[0].cwd = strdup("/");
  apps[1].cwd = strdup("/usr");
  pmix_info_t info = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  char child[PMIX_MAX_NSLEN + 1];
  succeed(PMIx_Spawn(&info, 1, apps, 2, child), "spawn");
  PMIX_APP_FREE(apps, 2);
  demand(strcmp(child, me.nspace) != 0, "the child has its own namespace");
  for (pmix_rank_t rank = 0; rank < 3; ++rank) {
    const pmix_proc_t whom = proc_in(child, rank);
    expect_string(&whom, "report", "fine", 20);
  }
  post("bye", "yes");
  await_end(child, 20);
  end();
}

static void spawned(void) {
  begin();
  const bool first = me.rank == 0;
  demand(job_size == 3, "both programs are one job");
  demand(number_of(&me, PMIX_APPNUM) == (first ? 0U : 1U), "program");
  demand(number_of(&me, PMIX_APP_RANK) == (me.rank == 2 ? 1U : 0U), "rank");
  const char* variable = getenv("SPAWNED");
  demand(variable != NULL && strcmp(variable, first ? "first" : "second") == 0,
         "variable");
  char where[256] = "";
  demand(getcwd(where, sizeof where) != NULL
           && strcmp(where, first ? "/" : "/usr") == 0,
         "directory");
  demand(strcmp(case_args[0], first ? "one word" : "$HOME;`id`") == 0,
         "no shell has seen the arguments");
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(&all, PMIX_SPAWNED, NULL, 0, &value), "spawned");
  demand(value->type == PMIX_BOOL && value->data.flag, "spawned");
  PMIX_VALUE_RELEASE(value);
  const pmix_proc_t from = parent();
  demand(from.rank == 0 && strcmp(from.nspace, me.nspace) != 0, "parent");
  demand(getuid() == (uid_t)atoi(getenv("PARENT_UID")), "user");
  post("report", "fine");
  expect_string(&from, "bye", "yes", 20);
  end();
}

static void spawn_missing(void) {
  begin();
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup("/there/is/no/such/program");
  app.maxprocs = 1;
  char child[PMIX_MAX_NSLEN + 1];
  const double start = now();
  const pmix_status_t outcome = PMIx_Spawn(NULL, 0, &app, 1, child);
  demand(outcome != PMIX_SUCCESS, "spawn fails");
  demand(now() - start < 5, "it fails in bounded time");
  printf("spawn: %s\n", PMIx_Error_string(outcome));
  PMIX_APP_DESTRUCT(&app);
  end();
}

/* The parent does not wait: the launcher waits for both. */
static void spawn_and_leave(void) {
  begin();
  char child[PMIX_MAX_NSLEN + 1];
  spawn_case("slow_child", 1, child);
  end();
}

static void slow_child(void) {
  begin();
  pause_ms(500);
  printf("the child ends\n");
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"connect_own", connect_own},
    {"connect_jobs", connect_jobs},
    {"connect_child", connect_child},
    {"connect_alone", connect_alone},
    {"spawn", spawn},
    {"spawned", spawned},
    {"spawn_missing", spawn_missing},
    {"spawn_and_leave", spawn_and_leave},
    {"slow_child", slow_child},
  };
  return RUN_CASE(cases);
}
