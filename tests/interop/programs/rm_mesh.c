/* What processes of a job on two nodes ask that many resource managers do not
 * offer: published data, events of other nodes, connections. */

#include "client.h"

#define GREETING -2147483000 /* a code of our own */

static struct pending greeted = PENDING;
static char greeter[32];

static void on_greeting(size_t id UNUSED, pmix_status_t code UNUSED,
                        const pmix_proc_t* source, pmix_info_t infos[] UNUSED,
                        size_t n UNUSED, pmix_info_t* results UNUSED,
                        size_t num_results UNUSED,
                        pmix_event_notification_cbfunc_fn_t done, void* data) {
  snprintf(greeter, sizeof greeter, "%u", source->rank);
  happen(&greeted, PMIX_SUCCESS);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static pmix_status_t publish(const char* key, const char* text) {
  pmix_info_t info = string_info(key, text);
  return PMIx_Publish(&info, 1);
}

static pmix_status_t look_up(const char* key, const char* wanted, bool waits) {
  pmix_info_t directives[2] = {int_info(PMIX_WAIT, 0),
                               int_info(PMIX_TIMEOUT, 20)};
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_LOAD_KEY(data.key, key);
  const pmix_status_t outcome =
    PMIx_Lookup(&data, 1, waits ? directives : NULL, waits ? 2 : 0);
  if (outcome == PMIX_SUCCESS
      && (data.value.type != PMIX_STRING
          || strcmp(data.value.data.string, wanted) != 0))
    fail("%s is not \"%s\"", key, wanted);
  PMIX_PDATA_DESTRUCT(&data);
  return outcome;
}

static void name_of(char* to, size_t size, const char* what, pmix_rank_t rank) {
  snprintf(to, size, "%s-%u", what, rank);
}

/* A fence with data, which the host carries; one without need not wait for
 * anybody: that of Slurm does not. */
static void gather(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  const pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  succeed(PMIx_Fence(&all, 1, &collect, 1), "fence with data");
}

static void exchange(void) {
  char mine[64];
  name_of(mine, sizeof mine, "card", me.rank);
  post(mine, mine);
  gather();
  for (pmix_rank_t r = 0; r < job_size; ++r) {
    const pmix_proc_t other = rank_of(r);
    char card[64];
    name_of(card, sizeof card, "card", r);
    expect_string(&other, card, card, 0);
  }
}

static void ask_all(void) {
  char key[64];
  name_of(key, sizeof key, "port", me.rank);
  succeed(publish(key, key), "publish");
  for (pmix_rank_t r = 0; r < job_size; ++r) {
    name_of(key, sizeof key, "port", r);
    succeed(look_up(key, key, true), "look up");
  }
  expect(look_up("nothing", "", false), PMIX_ERR_NOT_FOUND, "no such key");
  gather();
  char* keys[2] = {key, NULL};
  name_of(key, sizeof key, "port", me.rank);
  succeed(PMIx_Unpublish(keys, NULL, 0), "unpublish");
  gather();
  name_of(key, sizeof key, "port", (me.rank + 1) % job_size);
  expect(look_up(key, "", false), PMIX_ERR_NOT_FOUND, "a key withdrawn");
  gather();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  for (int i = 0; i < 3; ++i) {
    succeed(PMIx_Connect(&all, 1, NULL, 0), "connect");
    succeed(PMIx_Disconnect(&all, 1, NULL, 0), "disconnect");
  }
}

/* The first process tells all others; the last one tells only it. */
static void tell_all(void) {
  pmix_status_t code = GREETING;
  handle(&code, 1, on_greeting);
  gather();
  const pmix_rank_t last = job_size - 1;
  if (me.rank == 0)
    succeed(
      PMIx_Notify_event(code, &me, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL),
      "tell all");
  /* Its own handlers hear of it, too. */
  demand(happens(&greeted, 1, 20), "the first process is heard");
  demand(strcmp(greeter, "0") == 0, "it says who it is");
  gather();
  if (me.rank == last) {
    pmix_proc_t first = rank_of(0);
    pmix_info_t only;
    pmix_data_array_t targets = {PMIX_PROC, 1, &first};
    PMIX_INFO_LOAD(&only, PMIX_EVENT_CUSTOM_RANGE, &targets, PMIX_DATA_ARRAY);
    succeed(
      PMIx_Notify_event(code, &me, PMIX_RANGE_CUSTOM, &only, 1, NULL, NULL),
      "tell one");
  }
  if (me.rank == 0) {
    demand(happens(&greeted, 2, 20), "the last process is heard");
    demand(atoi(greeter) == (int)last, "it says who it is");
  }
  gather();
  if (me.rank != 0 && me.rank != last)
    demand(greeted.happened == 1, "nobody else is told");
}

static void whole(void) {
  begin();
  exchange();
  ask_all();
  tell_all();
  gather();
  end();
}

/* Before any fence: the request waits for the servers to find each other. */
static void early(void) {
  begin();
  char key[64];
  name_of(key, sizeof key, "early", me.rank);
  struct pending done = PENDING;
  pmix_info_t info = string_info(key, key);
  succeed(PMIx_Publish_nb(&info, 1, on_done, &done), "publish");
  exchange();
  demand(happens(&done, 1, 20), "it is answered");
  succeed(done.outcome, "published");
  name_of(key, sizeof key, "early", (me.rank + 1) % job_size);
  succeed(look_up(key, key, true), "look up");
  gather();
  end();
}

static struct pending fetched = PENDING;
static char fetched_text[64];

static void on_value(pmix_status_t status, pmix_value_t* value, void* data) {
  if (status == PMIX_SUCCESS && value->type == PMIX_STRING)
    snprintf(fetched_text, sizeof fetched_text, "%s", value->data.string);
  happen(data, status);
}

/* What no fence has collected comes from the node of its process. */
static void fetch_all(void) {
  gather();
  char mine[64];
  name_of(mine, sizeof mine, "own", me.rank);
  post(mine, mine);
  succeed(PMIx_Fence(NULL, 0, NULL, 0), "fence without data");
  for (pmix_rank_t r = 0; r < job_size; ++r) {
    const pmix_proc_t other = rank_of(r);
    char own[64];
    name_of(own, sizeof own, "own", r);
    expect_string(&other, own, own, 20);
  }
}

static void direct(void) {
  begin();
  fetch_all();
  gather();
  end();
}

/* What is not there yet is waited for: a host knows of a process's data only
 * that there are some. */
static void late(void) {
  begin();
  fetch_all();
  const pmix_rank_t last = job_size - 1;
  if (me.rank == 0) {
    const pmix_proc_t whom = rank_of(last);
    const pmix_info_t limit = int_info(PMIX_TIMEOUT, 20);
    succeed(PMIx_Get_nb(&whom, "late", &limit, 1, on_value, &fetched),
            "ask for what is not there yet");
  }
  succeed(PMIx_Fence(NULL, 0, NULL, 0), "fence without data");
  if (me.rank == last)
    post("late", "better than never");
  if (me.rank == 0) {
    demand(happens(&fetched, 1, 20), "it is answered");
    succeed(fetched.outcome, "what comes late");
    demand(strcmp(fetched_text, "better than never") == 0, "it is that");
    const pmix_proc_t whom = rank_of(last);
    const pmix_info_t limit = int_info(PMIX_TIMEOUT, 1);
    const pmix_status_t outcome = try_get(&whom, "never", &limit, 1);
    demand(outcome == PMIX_ERR_TIMEOUT || outcome == PMIX_ERR_NOT_FOUND,
           "what never comes is refused");
  }
  gather();
  end();
}

/* Without a mesh everything that the host does works, and nothing else. */
static void without(void) {
  begin();
  exchange();
  expect(publish("key", "text"), PMIX_ERR_NOT_SUPPORTED, "publish");
  expect(look_up("key", "text", false), PMIX_ERR_NOT_SUPPORTED, "look up");
  gather();
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"whole", whole}, {"early", early},     {"direct", direct},
    {"late", late},   {"without", without},
  };
  return RUN_CASE(cases);
}
