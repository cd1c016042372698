/* The life of the library in a process: threads, repeated init, fork, exit. */

#include "client.h"

#include <dirent.h>
#include <sys/wait.h>

/* Numbers of the threads of this process; returns how many there are. */
static int threads(int ids[], int max) {
  DIR* dir = opendir("/proc/self/task");
  int n = 0;
  for (struct dirent* x = NULL; (x = readdir(dir)) != NULL;)
    if (x->d_name[0] != '.' && n < max)
      ids[n++] = atoi(x->d_name);
  closedir(dir);
  return n;
}

/* How often a thread of this process has been put to sleep. */
static long switches(int id) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
  FILE* file = fopen(path, "r");
  demand(file != NULL, "the thread is there");
  char line[256];
  long result = -1;
  while (fgets(line, sizeof line, file) != NULL)
    sscanf(line, "voluntary_ctxt_switches: %ld", &result);
  fclose(file);
  return result;
}

static long memory_kib(void) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  long result = -1;
  while (fgets(line, sizeof line, file) != NULL)
    sscanf(line, "VmRSS: %ld", &result);
  fclose(file);
  return result;
}

static int descriptors(void) {
  DIR* dir = opendir("/proc/self/fd");
  int n = 0;
  while (readdir(dir) != NULL)
    ++n;
  closedir(dir);
  return n;
}

static void one_thread(void) {
  int ids[16];
  demand(threads(ids, 16) == 1, "one thread before init");
  begin();
  demand(threads(ids, 16) == 1, "none more until something is asked");
  end();
  demand(threads(ids, 16) == 1, "none is left of an init alone");
  begin();
  meet();
  const int n = threads(ids, 16);
  demand(n == 2, "one thread more after a fence");
  const int other = ids[0] == getpid() ? ids[1] : ids[0];
  /* What the fence left to do is done. */
  pause_ms(100);
  const long before = switches(other);
  pause_ms(500);
  demand(switches(other) == before, "an idle thread does not wake");
  end();
  demand(threads(ids, 16) == 1, "one thread after finalize");
}

static void on_infos(pmix_status_t outcome, pmix_info_t* info, size_t ninfo,
                     void* data, pmix_release_cbfunc_t release,
                     void* release_data) {
  demand(outcome == PMIX_SUCCESS && ninfo == 1, "the version is told");
  (void)info;
  if (release != NULL)
    release(release_data);
  happen(data, outcome);
}

/* The first call of all is answered on the library's thread. */
static void first_call(void) {
  struct pending told = PENDING;
  pmix_query_t query;
  char* keys[] = {PMIX_QUERY_STABLE_ABI_VERSION, NULL};
  PMIX_QUERY_CONSTRUCT(&query);
  query.keys = keys;
  begin();
  succeed(PMIx_Query_info_nb(&query, 1, on_infos, &told), "a query");
  demand(happens(&told, 1, 10), "the query is answered");
  end();
}

static pthread_barrier_t ending;

static void* call_late(void* unused) {
  pthread_barrier_wait(&ending);
  pause_ms(200); /* The other thread waits for the other process by then. */
  expect(PMIx_Commit(), PMIX_ERR_INIT, "a call while another thread finalizes");
  return unused;
}

/* The first call of all comes while another thread is in PMIx_Finalize. */
static void late_call(void) {
  begin();
  demand(job_size == 2, "2 processes");
  put_string(PMIX_GLOBAL, "key", "text");
  pthread_t thread;
  pthread_barrier_init(&ending, NULL, 2);
  if (me.rank == 0)
    demand(pthread_create(&thread, NULL, call_late, NULL) == 0, "a thread");
  else
    pause_ms(1000);
  if (me.rank == 0)
    pthread_barrier_wait(&ending);
  const pmix_info_t together = flag_info(PMIX_EMBED_BARRIER);
  succeed(PMIx_Finalize(&together, 1), "PMIx_Finalize");
  if (me.rank == 0)
    pthread_join(thread, NULL);
}

static void cycles(void) {
  const int count = case_args[0] != NULL ? atoi(case_args[0]) : 1000;
  long memory = 0;
  int open = 0;
  for (int i = 0; i < count; ++i) {
    begin();
    if (i % 100 == 0)
      put_string(PMIX_GLOBAL, "key", "text");
    end();
    if (i == count / 10) {
      memory = memory_kib();
      open = descriptors();
    }
  }
  int ids[16];
  demand(threads(ids, 16) == 1, "no thread is left");
  if (descriptors() != open)
    fail("%d descriptors, then %d", open, descriptors());
  /* A leak of 100 bytes in each cycle would be seen. */
  if (memory_kib() - memory > 100L * count * 9 / 10 / 1024 + 256)
    fail("%ld KiB, then %ld KiB", memory, memory_kib());
  printf("%d cycles: %ld KiB, then %ld KiB\n", count, memory, memory_kib());
}

static void counted(void) {
  demand(!PMIx_Initialized(), "not before init");
  begin();
  pmix_proc_t again;
  succeed(PMIx_Init(&again, NULL, 0), "second init");
  demand(again.rank == me.rank && strcmp(again.nspace, me.nspace) == 0,
         "the same process");
  succeed(PMIx_Init(NULL, NULL, 0), "third init, without a result");
  end();
  end();
  demand(PMIx_Initialized(), "one is left");
  meet();
  end();
  demand(!PMIx_Initialized(), "none is left");
  expect(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT, "one too many");
  begin();
  meet();
  end();
}

static int child_status(pid_t child) {
  int state = 0;
  demand(waitpid(child, &state, 0) == child, "the child ends");
  if (WIFSIGNALED(state))
    fail("the child is ended by signal %d", WTERMSIG(state));
  return WEXITSTATUS(state);
}

/* What a forked child sees of its parent's library. */
static void in_child(void) {
  alarm(20);
  demand(!PMIx_Initialized(), "the child is not initialized");
  pmix_value_t* value = NULL;
  pmix_value_t text;
  PMIX_VALUE_LOAD(&text, "x", PMIX_STRING);
  expect(PMIx_Get(&me, PMIX_LOCAL_RANK, NULL, 0, &value), PMIX_ERR_INIT, "get");
  expect(PMIx_Put(PMIX_GLOBAL, "x", &text), PMIX_ERR_INIT, "put");
  expect(PMIx_Commit(), PMIX_ERR_INIT, "commit");
  expect(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_INIT, "fence");
  expect(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT, "finalize");
}

static void forks(void) {
  begin();
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      in_child();
      if (i % 2 == 0) {
        /* A helper may have a connection of its own. */
        begin();
        demand(number_of(&me, PMIX_LOCAL_RANK) < job_size, "its rank");
        end();
      }
      exit(i);
    }
    demand(child_status(child) == i, "the child ends as it says");
    meet();
  }
  /* The child of another thread, while the main one is in a fence. */
  end();
}

static void* fence_often(void* done) {
  while (!*(volatile bool*)done)
    meet();
  return NULL;
}

static void forks_in_calls(void) {
  begin();
  demand(job_size == 1, "alone");
  volatile bool done = false;
  pthread_t threads_[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads_[i], NULL, fence_often, (void*)&done);
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      in_child();
      _exit(3);
    }
    demand(child_status(child) == 3, "the child ends as it says");
  }
  done = true;
  for (int i = 0; i < 4; ++i)
    pthread_join(threads_[i], NULL);
  end();
}

/* Ends without PMIx_Finalize, in several ways. */
static void leave(const char* how) {
  struct pending ignored = PENDING;
  begin();
  if (strcmp(how, "at_once") == 0)
    exit(7);
  if (strcmp(how, "open_call") == 0) {
    const pmix_proc_t missing = rank_of(0);
    pmix_info_t wait = int_info(PMIX_TIMEOUT, 100);
    PMIx_Get_nb(&missing, "nobody posts this", &wait, 1, NULL, NULL);
    PMIx_Fence_nb(NULL, 0, NULL, 0, on_done, &ignored);
    exit(7);
  }
  if (strcmp(how, "busy") == 0) {
    for (int i = 0; i < 500; ++i)
      PMIx_Fence_nb(NULL, 0, NULL, 0, on_done, &ignored);
    exit(7);
  }
  if (strcmp(how, "thread") == 0) {
    static bool never = false;
    pthread_t other;
    pthread_create(&other, NULL, fence_often, &never);
    pause_ms(5);
    exit(7);
  }
  _exit(1);
}

static void exits(void) {
  const char* const ways[] = {"at_once", "open_call", "busy", "thread"};
  for (int i = 0; i < 80; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      leave(ways[i % 4]);
    }
    const int status = child_status(child);
    if (status != 7)
      fail("%s: status %d", ways[i % 4], status);
  }
  begin();
  end();
}

/* -- progress by the program ----------------------------------------------- */

static void on_event(size_t id UNUSED, pmix_status_t status UNUSED,
                     const pmix_proc_t* source UNUSED, pmix_info_t* info UNUSED,
                     size_t ninfo UNUSED, pmix_info_t* results UNUSED,
                     size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void drive(struct pending* x, const char* what) {
  const double deadline = now() + 20;
  while (!happens(x, 1, 0)) {
    demand(now() < deadline, what);
    PMIx_Progress();
  }
}

static void external(void) {
  pmix_info_t info = flag_info(PMIX_EXTERNAL_PROGRESS);
  int ids[16];
  for (int i = 0; i < 20; ++i) {
    succeed(PMIx_Init(&me, &info, 1), "init");
    demand(threads(ids, 16) == 1, "no thread is added");
    struct pending fenced = PENDING;
    succeed(PMIx_Fence_nb(NULL, 0, NULL, 0, on_done, &fenced), "fence_nb");
    drive(&fenced, "the fence ends");
    succeed(fenced.outcome, "fence_nb");
    struct pending registered = PENDING;
    pmix_status_t code = PMIX_ERR_TIMEOUT;
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered,
                                &registered);
    drive(&registered, "the registration is answered");
    /* Calls that wait drive themselves. */
    meet();
    PMIx_Progress();
    end();
    PMIx_Progress();
  }
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
    {"one_thread", one_thread}, {"first_call", first_call},
    {"cycles", cycles},         {"counted", counted},
    {"forks", forks},           {"exits", exits},
    {"external", external},     {"forks_in_calls", forks_in_calls},
    {"late_call", late_call},
  };
  return RUN_CASE(cases);
}
