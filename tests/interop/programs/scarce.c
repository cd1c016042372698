/* Calls while allocations fail, at every position of each: in the library
 * (walk), or in the launcher that serves them (served).
 *
 *   scarce walk STRIDE COUNT    all steps, every STRIDE-th position; COUNT
 *                               allocations in a row fail (1)
 *   scarce at STEP POSITION COUNT  one of them, for a debugger
 *   scarce served STRIDE COUNT  all kinds of requests, from where an earlier
 *                               launcher ended (2: the other one looks on)
 *   scarce limited              large values for a server that has no memory
 *                               for them (2: the other one looks on)
 *   scarce report               what has been found by all that were `served`
 *
 * In a walk each position is tried in a process of its own, which must neither
 * abort nor hang: the step that is hit returns something, what follows does
 * too, and after PMIx_Finalize another PMIx_Init works. A server must not end:
 * the request that is hit gets an answer, or its connection ends. */

#include "client.h"
#include "failing_malloc.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* Longer than any answer takes here. */
#define PATIENCE 20

static struct failing_malloc* memory;

/* What a process has to tell about the step that was hit. */
static struct {
  _Atomic int was_hit;
  _Atomic int is_refused;  /* it returned an error */
  _Atomic int works_again; /* the same step then succeeded */
} * told;

static struct pending delivered = PENDING;
static size_t handler_id;

static void on_event(size_t id UNUSED, pmix_status_t code UNUSED,
                     const pmix_proc_t* source UNUSED,
                     pmix_info_t infos[] UNUSED, size_t n UNUSED,
                     pmix_info_t results[] UNUSED, size_t m UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  happen(&delivered, PMIX_SUCCESS);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static pmix_status_t init(void) {
  return PMIx_Init(&me, NULL, 0);
}

static pmix_status_t put(void) {
  pmix_value_t value = {.type = PMIX_STRING};
  value.data.string = (char*)"a text that is too long for a short string";
  return PMIx_Put(PMIX_GLOBAL, "scarce.key.with.a.long.name", &value);
}

static pmix_status_t commit(void) {
  return PMIx_Commit();
}

static pmix_status_t fence(void) {
  const pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  return PMIx_Fence(&me, 1, &collect, 1);
}

static pmix_status_t get_own(void) {
  return try_get(&me, "scarce.key.with.a.long.name", NULL, 0);
}

/* What nobody has: the server is asked. */
static pmix_status_t get_far(void) {
  const pmix_proc_t other = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t now_or_never = flag_info(PMIX_IMMEDIATE);
  const pmix_status_t outcome =
    try_get(&other, "scarce.key.that.nobody.has", &now_or_never, 1);
  return outcome == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : outcome;
}

static pmix_status_t get_job(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  return try_get(&all, PMIX_JOB_SIZE, NULL, 0);
}

static void on_handler(pmix_status_t outcome, size_t id, void* data) {
  handler_id = id;
  happen(data, outcome);
}

static pmix_status_t outcome_of(struct pending* x) {
  return happens(x, 1, PATIENCE) ? x->outcome : PMIX_ERR_TIMEOUT;
}

static pmix_status_t enlist(void) {
  pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 1;
  static struct pending done;
  done = (struct pending)PENDING;
  const pmix_status_t outcome =
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_handler, &done);
  if (outcome < 0 && outcome != PMIX_OPERATION_SUCCEEDED)
    return outcome;
  const pmix_status_t result = outcome_of(&done);
  return result > 0 ? PMIX_SUCCESS : result;
}

static pmix_status_t notify(void) {
  static struct pending done;
  done = (struct pending)PENDING;
  const pmix_status_t outcome =
    PMIx_Notify_event(PMIX_EXTERNAL_ERR_BASE - 1, &me, PMIX_RANGE_NAMESPACE,
                      NULL, 0, on_done, &done);
  if (outcome == PMIX_OPERATION_SUCCEEDED)
    return PMIX_SUCCESS;
  return outcome != PMIX_SUCCESS ? outcome : outcome_of(&done);
}

/* The own one among the range: what it was told of has come, if it was. */
static pmix_status_t receive(void) {
  delivered.happened = 0;
  const pmix_status_t outcome = notify();
  if (outcome != PMIX_SUCCESS)
    return outcome;
  return happens(&delivered, 1, 2) ? PMIX_SUCCESS : PMIX_ERR_TIMEOUT;
}

static pmix_status_t publish(void) {
  pmix_info_t info = string_info("scarce.published", "a text of some length");
  const pmix_status_t outcome = PMIx_Publish(&info, 1);
  PMIX_INFO_DESTRUCT(&info);
  if (outcome == PMIX_SUCCESS)
    return PMIx_Unpublish(NULL, NULL, 0);
  return outcome;
}

static pmix_status_t query(void) {
  pmix_query_t asked;
  PMIX_QUERY_CONSTRUCT(&asked);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, asked.keys, PMIX_QUERY_NAMESPACES);
  pmix_info_t* infos = NULL;
  size_t n = 0;
  outcome = PMIx_Query_info(&asked, 1, &infos, &n);
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&asked);
  return outcome;
}

static pmix_status_t group(void) {
  pmix_info_t* infos = NULL;
  size_t n = 0;
  const pmix_status_t outcome =
    PMIx_Group_construct("scarce.group", &me, 1, NULL, 0, &infos, &n);
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
  const pmix_status_t after = PMIx_Group_destruct("scarce.group", NULL, 0);
  return outcome != PMIX_SUCCESS ? outcome : after;
}

static pmix_status_t dismiss(void) {
  static struct pending done;
  done = (struct pending)PENDING;
  const pmix_status_t outcome =
    PMIx_Deregister_event_handler(handler_id, on_done, &done);
  if (outcome == PMIX_OPERATION_SUCCEEDED)
    return PMIX_SUCCESS;
  return outcome != PMIX_SUCCESS ? outcome : outcome_of(&done);
}

static pmix_status_t finalize(void) {
  return PMIx_Finalize(NULL, 0);
}

static const struct {
  const char* name;
  pmix_status_t (*run)(void);
} steps[] = {
  {"init", init},       {"put", put},         {"commit", commit},
  {"fence", fence},     {"get own", get_own}, {"get far", get_far},
  {"get job", get_job}, {"enlist", enlist},   {"notify", notify},
  {"receive", receive}, {"publish", publish}, {"query", query},
  {"group", group},     {"dismiss", dismiss}, {"finalize", finalize}};

#define STEPS (sizeof steps / sizeof *steps)

/* In a process of its own. */
static void go_through(size_t hit, long skip, long count) {
  alarm(3 * PATIENCE);
  for (size_t i = 0; i < STEPS; ++i) {
    if (i == hit)
      let_fail(memory, getpid(), skip, count, 0);
    const pmix_status_t outcome = steps[i].run();
    if (i != hit)
      continue;
    let_all_succeed(memory);
    told->was_hit = memory->failed > 0;
    told->is_refused = outcome != PMIX_SUCCESS;
    if (!told->is_refused)
      continue;
    /* Nothing is left of an init that failed, and what was finalized is. */
    const pmix_status_t again = steps[i].run();
    told->works_again = again == PMIX_SUCCESS;
    if (hit == 0)
      succeed(again, "init after one that failed");
  }
  succeed(init(), "init after finalize");
  succeed(finalize(), "the last finalize");
  _exit(0);
}

/* One position in this process, for a debugger. */
static void at(void) {
  demand(memory != NULL, "failing_malloc.c is preloaded");
  for (size_t i = 0; i < STEPS; ++i)
    if (strcmp(steps[i].name, case_args[0]) == 0)
      go_through(i, atol(case_args[1]), atol(case_args[2]));
}

static void walk(void) {
  demand(memory != NULL, "failing_malloc.c is preloaded");
  const long stride = atol(case_args[0]);
  const long count = atol(case_args[1]);
  long all = 0, refused = 0, dead = 0, ended = 0, hung = 0;
  for (size_t i = 0; i < STEPS; ++i) {
    long positions = 0, errors = 0, no_more = 0, bad = 0;
    for (long skip = 0;; skip += stride) {
      told->was_hit = told->is_refused = told->works_again = 0;
      let_all_succeed(memory);
      const pid_t child = fork();
      demand(child >= 0, "fork");
      if (child == 0)
        go_through(i, skip, count);
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) {
        ++bad;
        hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        ended += WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM;
        printf("  %s, position %ld: %s %d\n", steps[i].name, skip,
               WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        fflush(stdout);
      } else if (!told->was_hit) {
        break;
      }
      ++positions;
      errors += told->is_refused;
      no_more += told->is_refused && !told->works_again && status == 0;
      if (skip > 20000)
        fail("%s has no end", steps[i].name);
    }
    printf("%s: %ld positions, %ld errors, %ld for good, %ld fell\n",
           steps[i].name, positions, errors, no_more, bad);
    fflush(stdout);
    all += positions;
    refused += errors;
    dead += bad;
  }
  printf("%ld positions, %ld errors, %ld fell: %ld aborted, %ld hung\n", all,
         refused, dead, ended, hung);
  fflush(stdout);
  _exit(dead == 0 ? 0 : 1);
}

/* -- in the server --------------------------------------------------------- */

/* What has been found so far, behind what failing_malloc.c is told. */
struct campaign {
  size_t kind;
  long position;
  _Atomic int is_over;
  _Atomic long pings, pings_failed, pings_lost;
  struct {
    long positions, errors, lost, silent;
  } found[64];
};

static struct campaign* campaign;

static pmix_status_t look_up(void) {
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_LOAD_KEY(data.key, "scarce.nothing");
  const pmix_status_t outcome = PMIx_Lookup(&data, 1, NULL, 0);
  PMIX_PDATA_DESTRUCT(&data);
  return outcome == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : outcome;
}

static pmix_status_t post_something(void) {
  const pmix_status_t outcome = put();
  return outcome != PMIX_SUCCESS ? outcome : PMIx_Commit();
}

static pmix_status_t enlist_and_dismiss(void) {
  const pmix_status_t outcome = enlist();
  return outcome != PMIX_SUCCESS ? outcome : dismiss();
}

/* A signal that nobody minds. */
static pmix_status_t control(void) {
  pmix_info_t signal = int_info(PMIX_JOB_CTRL_SIGNAL, SIGWINCH);
  return PMIx_Job_control(&me, 1, &signal, 1, NULL, NULL);
}

static pmix_status_t connect_alone(void) {
  const pmix_status_t outcome = PMIx_Connect(&me, 1, NULL, 0);
  return outcome != PMIX_SUCCESS ? outcome : PMIx_Disconnect(&me, 1, NULL, 0);
}

static pmix_status_t spawn_something(void) {
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup("/bin/true");
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, app.argv, "true");
  app.maxprocs = 1;
  pmix_info_t info = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  pmix_nspace_t nspace;
  outcome = PMIx_Spawn(&info, 1, &app, 1, nspace);
  PMIX_INFO_DESTRUCT(&info);
  PMIX_APP_DESTRUCT(&app);
  return outcome;
}

static pmix_status_t print(void) {
  static const char text[] = "a line of standard output\n";
  const pmix_status_t outcome =
    write(1, text, sizeof text - 1) > 0 ? PMIX_SUCCESS : PMIX_ERROR;
  pause_ms(2); /* Nobody says when it has been read. */
  return outcome;
}

static pmix_status_t log_something(void) {
  pmix_info_t data = string_info(PMIX_LOG_STDERR, "a line of a log\n");
  const pmix_status_t outcome = PMIx_Log(&data, 1, NULL, 0);
  PMIX_INFO_DESTRUCT(&data);
  return outcome;
}

static pmix_status_t come_again(void) {
  const pmix_status_t outcome = PMIx_Finalize(NULL, 0);
  return outcome != PMIX_SUCCESS ? outcome : init();
}

static const struct kind {
  const char* name;
  pmix_status_t (*run)(void);

  /* Only every so many positions of those that are asked for. */
  long stride;
} kinds[] = {{"fence", fence, 1},           {"commit", post_something, 1},
             {"get", get_far, 1},           {"publish", publish, 1},
             {"lookup", look_up, 1},        {"events", enlist_and_dismiss, 1},
             {"notify", notify, 1},         {"query", query, 1},
             {"control", control, 1},       {"group", group, 1},
             {"connect", connect_alone, 1}, {"log", log_something, 1},
             {"output", print, 1},          {"spawn", spawn_something, 10},
             {"connection", come_again, 1}};

#define KINDS (sizeof kinds / sizeof *kinds)

static void on_hang(int signal UNUSED) {
  ++campaign->found[campaign->kind].silent;
  static const char text[] = "no answer\n";
  if (write(2, text, sizeof text - 1) < 0)
    _exit(4);
  _exit(3);
}

/* Until the server answers again; with a new connection if need be. */
static bool recovers(const struct kind* x) {
  const double deadline = now() + 10;
  bool was_lost = false;
  while (x->run() != PMIX_SUCCESS) {
    if (now() > deadline)
      return false;
    if (fence() != PMIX_SUCCESS) {
      was_lost = true;
      PMIx_Finalize(NULL, 0);
      init();
    }
    pause_ms(1);
  }
  campaign->found[campaign->kind].lost += was_lost;
  return true;
}

static void walk_kind(const struct kind* x, long stride, long count) {
  const long step = stride * x->stride;
  for (;; campaign->position += step) {
    alarm(PATIENCE);
    let_fail(memory, getppid(), campaign->position, count, 0);
    ++campaign->found[campaign->kind].positions;
    const pmix_status_t outcome = x->run();
    let_all_succeed(memory);
    if (memory->failed == 0 && outcome == PMIX_SUCCESS)
      break;
    campaign->found[campaign->kind].errors += outcome != PMIX_SUCCESS;
    if (!recovers(x))
      fail("%s, position %ld: %s, and then never well again", x->name,
           campaign->position, PMIx_Error_string(outcome));
    if (memory->failed == 0)
      campaign->position -= step; /* What was before has hit this one. */
  }
  --campaign->found[campaign->kind].positions;
}

static void look_on(void) {
  while (!campaign->is_over) {
    pause_ms(50);
    ++campaign->pings;
    if (fence() == PMIX_SUCCESS)
      continue;
    ++campaign->pings_failed;
    if (fence() == PMIX_SUCCESS)
      continue;
    ++campaign->pings_lost;
    PMIx_Finalize(NULL, 0);
    succeed(init(), "a new connection of who looks on");
  }
}

static void served(void) {
  demand(memory != NULL, "failing_malloc.c is preloaded");
  const long stride = atol(case_args[0]);
  const long count = atol(case_args[1]);
  succeed(init(), "init");
  meet();
  if (me.rank != 0) {
    look_on();
    end();
    return;
  }
  signal(SIGALRM, on_hang);
  for (; campaign->kind < KINDS; ++campaign->kind, campaign->position = 0)
    walk_kind(&kinds[campaign->kind], stride, count);
  campaign->is_over = 1;
  end();
}

/* The address space of the server may grow by so many bytes; 0: at will. */
static void limit_server(size_t more) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  char path[64];
  char line[256];
  unsigned long kib = 0;
  snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
  FILE* file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmSize: %lu", &kib) == 1)
      break;
  demand(kib > 0, "the size of the server");
  fclose(file);
  if (more > 0)
    limit.rlim_cur = kib * 1024 + more;
  demand(prlimit(getppid(), RLIMIT_AS, &limit, NULL) == 0, "prlimit");
}

/* Commits, and publishes, values for which the server has no memory. */
static void limited(void) {
  succeed(init(), "init");
  meet();
  if (me.rank != 0) {
    look_on();
    demand(campaign->pings > 0 && campaign->pings_failed == 0,
           "who looks on is served all the time");
    end();
    return;
  }
  long all = 0, refused = 0;
  for (size_t room = 2; room <= 16; room *= 8) {
    for (size_t size = 1; size <= 30; size += 7) {
      const size_t bytes = size << 20;
      char* text = malloc(bytes + 1);
      demand(text != NULL, "memory of our own");
      memset(text, 'x', bytes);
      text[bytes] = '\0';
      pmix_value_t value = {.type = PMIX_STRING};
      value.data.string = text;
      succeed(PMIx_Put(PMIX_GLOBAL, "scarce.long", &value), "put");
      limit_server(room << 20);
      pmix_status_t outcome = PMIx_Commit();
      if (outcome == PMIX_SUCCESS) {
        pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
        outcome = PMIx_Fence(&me, 1, &collect, 1);
      }
      limit_server(0);
      ++all;
      refused += outcome != PMIX_SUCCESS;
      free(text);
      if (fence() != PMIX_SUCCESS) {
        PMIx_Finalize(NULL, 0);
        succeed(init(), "a new connection");
      }
      succeed(fence(), "a fence when there is memory again");
    }
  }
  printf("%ld of %ld were refused\n", refused, all);
  fflush(stdout);
  demand(refused > 0, "some are refused");
  campaign->is_over = 1;
  end();
}

static void report(void) {
  long all = 0, silent = 0;
  for (size_t i = 0; i < KINDS; ++i) {
    printf("%s: %ld positions, %ld errors, %ld connections, %ld unanswered\n",
           kinds[i].name, campaign->found[i].positions,
           campaign->found[i].errors, campaign->found[i].lost,
           campaign->found[i].silent);
    all += campaign->found[i].positions;
    silent += campaign->found[i].silent;
  }
  printf("%ld positions, %ld unanswered; of %ld fences of the other one %ld "
         "failed, %ld connections were lost\n",
         all, silent, campaign->pings, campaign->pings_failed,
         campaign->pings_lost);
  fflush(stdout);
  _exit(silent == 0 && campaign->kind == KINDS ? 0 : 1);
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"walk", walk},
                                           {"at", at},
                                           {"served", served},
                                           {"limited", limited},
                                           {"report", report}};
  memory = map_failing_malloc();
  campaign = (struct campaign*)((char*)memory + 1024);
  told =
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return RUN_CASE(cases);
}
