/* Operations in turn, the same on all ranks, while somebody kills processes:
 * any outcome will do, but each call has to end.
 *
 *   turmoil KIND ROUNDS  KIND is spawn, group or connect
 *   turmoil late COUNT   asks of so many jobs, in vain, while they end (1)
 *   turmoil child        what `spawn` starts
 *   turmoil brief        what `late` starts
 *
 * Says `ready RANK` before the first operation, and `late CALL ...` of a call
 * that has not ended after 20 s. */

#include "../../interop/programs/client.h"

static const char* volatile call_name;
static volatile double call_begin;

static void* watch(void* nothing) {
  double told = 0;
  for (;;) {
    pause_ms(200);
    const double begin = call_begin;
    if (begin > 0 && begin != told && now() - begin > 20) {
      told = begin;
      printf("late %s: %s:%u\n", call_name, me.nspace, me.rank);
      fflush(stdout);
    }
  }
  return nothing;
}

/* Notes which call is under way. */
#define watched(call)                                                          \
  (call_name = #call, call_begin = now(), watched_outcome(call))

static pmix_status_t watched_outcome(pmix_status_t outcome) {
  call_begin = 0;
  return outcome;
}

static void connect_with(pmix_proc_t* procs, size_t n) {
  if (watched(PMIx_Connect(procs, n, NULL, 0)) == PMIX_SUCCESS)
    watched(PMIx_Disconnect(procs, n, NULL, 0));
}

static pmix_status_t start_three(char* what, char* nspace) {
  char* argv[] = {self_path, what, NULL};
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = self_path;
  app.argv = argv;
  app.maxprocs = 3;
  pmix_info_t infos[2] = {string_info(PMIX_MAPBY, "node:OVERSUBSCRIBE"),
                          flag_info(PMIX_JOB_RECOVERABLE)};
  return watched(PMIx_Spawn(infos, 2, &app, 1, nspace));
}

/* One process starts three more, and is connected with them for a while. */
static void spawn_one(void) {
  char nspace[PMIX_MAX_NSLEN + 1] = "";
  if (start_three("child", nspace) != PMIX_SUCCESS)
    return;
  pmix_proc_t procs[2] = {me, proc_in(nspace, PMIX_RANK_WILDCARD)};
  connect_with(procs, 2);
  /* Of a job that may be over by now. */
  watched(PMIx_Disconnect(procs, 2, NULL, 0));
}

static void brief(void) {
  begin();
  meet();
  end();
}

static void late(void) {
  begin();
  for (int i = 0; i < atoi(case_args[0]); ++i) {
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    succeed(start_three("brief", nspace), "spawn");
    pmix_proc_t procs[2] = {me, proc_in(nspace, PMIX_RANK_WILDCARD)};
    /* Fails when one of them ends. */
    demand(PMIx_Connect(procs, 2, NULL, 0) != PMIX_SUCCESS, "no connection");
    for (int k = 0; k < 20; ++k) {
      const double start = now();
      demand(PMIx_Disconnect(procs, 2, NULL, 0) != PMIX_SUCCESS,
             "nothing to disconnect");
      demand(now() - start < 15, "a job that is over is none to wait for");
    }
  }
  end();
}

static void child(void) {
  begin();
  pmix_proc_t procs[2] = {parent(), rank_of(PMIX_RANK_WILDCARD)};
  watched(PMIx_Fence(&procs[1], 1, NULL, 0));
  connect_with(procs, 2);
  watched(PMIx_Finalize(NULL, 0));
}

static void on_invitation(size_t id UNUSED, pmix_status_t code UNUSED,
                          const pmix_proc_t* source, pmix_info_t* infos,
                          size_t n, pmix_info_t* results UNUSED,
                          size_t num_results UNUSED,
                          pmix_event_notification_cbfunc_fn_t done,
                          void* data) {
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_ID))
      PMIx_Group_join_nb(infos[i].value.data.string, source, PMIX_GROUP_ACCEPT,
                         NULL, 0, NULL, NULL);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void group_one(int round, int how, bool invites) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t* infos = NULL;
  size_t n = 0;
  char name[32];
  snprintf(name, sizeof name, "group.%d", round);
  if (how == 0) {
    if (invites)
      watched(PMIx_Group_invite(name, &all, 1, NULL, 0, &infos, &n));
  } else if (watched(PMIx_Group_construct(name, &all, 1, NULL, 0, &infos, &n))
             == PMIX_SUCCESS) {
    if (how == 1 && me.rank % 2 == 1)
      watched(PMIx_Group_leave(name, NULL, 0));
    else
      watched(PMIx_Group_destruct(name, NULL, 0));
  }
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
}

/* @param kind The operations. */
static void rounds(const char* kind) {
  begin();
  pmix_status_t code = PMIX_GROUP_INVITED;
  handle(&code, 1, on_invitation);
  pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  watched(PMIx_Fence(&all, 1, NULL, 0));
  printf("ready %u\n", me.rank);
  fflush(stdout);
  for (int i = 0; i < atoi(case_args[0]); ++i) {
    const bool is_turn = me.rank == (uint32_t)i % job_size;
    if (strcmp(kind, "group") == 0)
      group_one(i, i % 3, is_turn);
    else if (strcmp(kind, "connect") == 0)
      connect_with(&all, 1);
    else if (is_turn)
      spawn_one();
    watched(PMIx_Fence(&all, 1, NULL, 0));
  }
  watched(PMIx_Finalize(NULL, 0));
}

static void spawns(void) {
  rounds("spawn");
}

static void groups(void) {
  rounds("group");
}

static void connects(void) {
  rounds("connect");
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"spawn", spawns}, {"group", groups}, {"connect", connects},
    {"late", late},    {"brief", brief},  {"child", child}};
  pthread_t watcher;
  pthread_create(&watcher, NULL, watch, NULL);
  return RUN_CASE(cases);
}
