/* What any client and any server can do together: job data, put, commit, fence,
 * get, publish and lookup, spawn, connect, an event. */

#include "client.h"

static struct pending told = PENDING;

#define TOLD_EVENT (PMIX_EXTERNAL_ERR_BASE - 7)

/* -- data ------------------------------------------------------------------ */

static void key_of(char* to, size_t size, pmix_rank_t rank) {
  snprintf(to, size, "pairs.%u", rank);
}

/* Enough for no number of it to fit into a byte or a packet. The case `together N`
 * has less: of more than 4 KiB, OpenPMIx 6.1 gives programs the compressed form,
 * with its own servers, too. */
static size_t block_size = 70000;

static void block_of(char* to, size_t size, pmix_rank_t rank) {
  memset(to, 'a' + (int)(rank % 26), size - 1);
  to[size - 1] = '\0';
}

static void exchange(void) {
  char key[64];
  char text[70000];
  key_of(key, sizeof key, me.rank);
  block_of(text, block_size, me.rank);
  post(key, text);
  post("pairs.late", "yes");
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  succeed(PMIx_Fence(&all, 1, &collect, 1), "fence that collects");
  for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
    const pmix_proc_t whom = rank_of(rank);
    key_of(key, sizeof key, rank);
    block_of(text, block_size, rank);
    expect_string(&whom, key, text, 20);
    expect_string(&whom, "pairs.late", "yes", 20);
  }
}

static void on_value(pmix_status_t outcome, pmix_value_t* value, void* data) {
  if (outcome == PMIX_SUCCESS
      && (value->type != PMIX_STRING
          || strcmp(value->data.string, "here") != 0))
    outcome = PMIX_ERR_TYPE_MISMATCH;
  happen(data, outcome);
}

/* Without a fence in between. */
static void direct(void) {
  if (job_size == 1)
    return;
  const pmix_proc_t next = rank_of((me.rank + 1) % job_size);
  struct pending done = PENDING;
  pmix_info_t limit = int_info(PMIX_TIMEOUT, 20);
  succeed(PMIx_Get_nb(&next, "pairs.direct", &limit, 1, on_value, &done),
          "get without waiting");
  post("pairs.direct", "here");
  demand(happens(&done, 1, 25), "the value comes");
  succeed(done.outcome, "get without waiting, its value");
}

/* -- publish --------------------------------------------------------------- */

static void publish(void) {
  char key[PMIX_MAX_KEYLEN];
  snprintf(key, sizeof key, "pairs.published.%.200s", me.nspace);
  if (me.rank == 0) {
    pmix_info_t info = string_info(key, "found");
    succeed(PMIx_Publish(&info, 1), "publish");
  }
  meet();
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_LOAD_KEY(data.key, key);
  succeed(PMIx_Lookup(&data, 1, NULL, 0), "lookup");
  demand(data.value.type == PMIX_STRING
           && strcmp(data.value.data.string, "found") == 0,
         "what was published is found");
  demand(data.proc.rank == 0 && strcmp(data.proc.nspace, me.nspace) == 0,
         "the publisher is named");
  PMIX_PDATA_DESTRUCT(&data);
  meet();
  if (me.rank == 0) {
    char* keys[] = {key, NULL};
    succeed(PMIx_Unpublish(keys, NULL, 0), "unpublish");
  }
}

/* -- events ---------------------------------------------------------------- */

static void on_told(size_t id UNUSED, pmix_status_t code,
                    const pmix_proc_t* source UNUSED,
                    pmix_info_t infos[] UNUSED, size_t n UNUSED,
                    pmix_info_t* results UNUSED, size_t n_results UNUSED,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  happen(&told, code);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void tell(void) {
  pmix_status_t code = TOLD_EVENT;
  handle(&code, 1, on_told);
  meet();
  if (me.rank == 0) {
    struct pending done = PENDING;
    const pmix_status_t outcome = PMIx_Notify_event(
      TOLD_EVENT, &me, PMIX_RANGE_LOCAL, NULL, 0, on_done, &done);
    demand(outcome == PMIX_SUCCESS || outcome == PMIX_OPERATION_SUCCEEDED,
           "the event is sent");
    if (outcome == PMIX_SUCCESS)
      demand(happens(&done, 1, 10), "the event is on its way");
  } else {
    demand(happens(&told, 1, 20), "the event comes");
  }
  meet();
}

/* -- jobs ------------------------------------------------------------------ */

static void child(void) {
  begin();
  const pmix_proc_t both[2] = {proc_in(case_args[0], 0),
                               rank_of(PMIX_RANK_WILDCARD)};
  succeed(PMIx_Connect(both, 2, NULL, 0), "child connects");
  succeed(PMIx_Disconnect(both, 2, NULL, 0), "child disconnects");
  end();
}

static void spawn(void) {
  if (me.rank != 0)
    return;
  /* Open MPI 4.1's mpirun does not say who the parent is. */
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup(self_path);
  const char* words[] = {self_path, "child", me.nspace};
  pmix_status_t outcome = PMIX_SUCCESS;
  for (size_t i = 0; i < 3 && outcome == PMIX_SUCCESS; ++i)
    PMIX_ARGV_APPEND(outcome, app.argv, words[i]);
  succeed(outcome, "arguments");
  app.maxprocs = 2;
  pmix_info_t info = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  char nspace[PMIX_MAX_NSLEN + 1] = "";
  succeed(PMIx_Spawn(&info, 1, &app, 1, nspace), "spawn");
  PMIX_APP_DESTRUCT(&app);
  const pmix_proc_t all = proc_in(nspace, PMIX_RANK_WILDCARD);
  demand(number_of(&all, PMIX_JOB_SIZE) == 2, "size of the other job");
  const pmix_proc_t both[2] = {me, all};
  succeed(PMIx_Connect(both, 2, NULL, 0), "parent connects");
  succeed(PMIx_Disconnect(both, 2, NULL, 0), "parent disconnects");
}

static void together(void) {
  begin();
  if (case_args[0] != NULL)
    block_size = (size_t)atoi(case_args[0]);
  demand(block_size > 0 && block_size <= 70000, "the size of a text");
  exchange();
  direct();
  publish();
  tell();
  spawn();
  meet();
  if (me.rank == 0)
    printf("pairs: %u processes agree, %s\n", job_size, PMIx_Get_version());
  fflush(stdout);
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"together", together},
    {"child", child},
  };
  return RUN_CASE(cases);
}
