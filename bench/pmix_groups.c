/* Times groups as programs see them. It knows pmix.h only, so the same source
 * runs under every launcher and on every library; bench/groups builds it for
 * three of them.
 *
 *   pmix_groups MODE [--out FILE] [--rounds N] [--groups N] [--seconds N]
 *
 *   collective  all processes construct and destruct --rounds groups, each with
 *               a context identifier
 *   invite      rank 0 invites all others, who join
 *   many        all processes construct --groups groups at once
 *   kept        ... one after another; they stay for --seconds, and are
 *               destructed at once
 *   dead        the last process is killed before it constructs
 *   silent      the last process does not construct, within PMIX_TIMEOUT 1
 *
 * Rank 0 writes a line `NAME FIGURE` per sample to FILE. A process that hangs
 * is ended by SIGALRM. */

#define _GNU_SOURCE

#include "samples.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

enum { warm_up_rounds = 5, max_life_seconds = 40 };

#define UNUSED __attribute__((unused))

static int rounds = 100;
static int groups = 1000;
static unsigned seconds = 3;

static pmix_proc_t everybody;
static pmix_info_t context;

static void fence(void) {
  check(PMIx_Fence(&everybody, 1, NULL, 0), "PMIx_Fence");
}

/* -- waiting -------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int happened;

static void happen(void) {
  pthread_mutex_lock(&mutex);
  ++happened;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}

static void await(int count) {
  pthread_mutex_lock(&mutex);
  while (happened < count)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

/* -- collective ------------------------------------------------------------ */

static pmix_status_t construct(const char* id, const pmix_info_t* infos,
                               size_t n) {
  pmix_info_t* results = NULL;
  size_t num_results = 0;
  pmix_status_t outcome =
    PMIx_Group_construct(id, &everybody, 1, infos, n, &results, &num_results);
  if (results != NULL)
    PMIX_INFO_FREE(results, num_results);
  return outcome;
}

static void run_collective(void) {
  fence();
  for (int i = 0; i < warm_up_rounds + rounds; ++i) {
    char id[64];
    snprintf(id, sizeof(id), "bench.%d", i);
    int64_t begin = now_ns();
    check(construct(id, &context, 1), "PMIx_Group_construct");
    int64_t constructed = now_ns();
    check(PMIx_Group_destruct(id, NULL, 0), "PMIx_Group_destruct");
    int64_t destructed = now_ns();
    if (i >= warm_up_rounds) {
      record_us("construct", constructed - begin);
      record_us("destruct", destructed - constructed);
    }
  }
  fence();
}

/* -- by invitation --------------------------------------------------------- */

static void on_joined(pmix_status_t status UNUSED, pmix_info_t* infos UNUSED,
                      size_t n UNUSED, void* data UNUSED,
                      pmix_release_cbfunc_t release, void* token) {
  if (release != NULL)
    release(token);
}

static void on_invited(size_t id UNUSED, pmix_status_t code UNUSED,
                       const pmix_proc_t* source, pmix_info_t infos[], size_t n,
                       pmix_info_t* results UNUSED, size_t num_results UNUSED,
                       pmix_event_notification_cbfunc_fn_t done, void* token) {
  if (!PMIX_CHECK_PROCID(source, &self))
    for (size_t i = 0; i < n; ++i)
      if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_ID))
        PMIx_Group_join_nb(infos[i].value.data.string, source,
                           PMIX_GROUP_ACCEPT, NULL, 0, on_joined, NULL);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, token);
}

static void on_complete(size_t id UNUSED, pmix_status_t code UNUSED,
                        const pmix_proc_t* source UNUSED,
                        pmix_info_t infos[] UNUSED, size_t n UNUSED,
                        pmix_info_t* results UNUSED, size_t num_results UNUSED,
                        pmix_event_notification_cbfunc_fn_t done, void* token) {
  happen();
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, token);
}

static void run_invite(void) {
  pmix_status_t invited = PMIX_GROUP_INVITED;
  pmix_status_t complete = PMIX_GROUP_CONSTRUCT_COMPLETE;
  if (self.rank > 0) {
    PMIx_Register_event_handler(&invited, 1, NULL, 0, on_invited, NULL, NULL);
    PMIx_Register_event_handler(&complete, 1, NULL, 0, on_complete, NULL, NULL);
  }
  pmix_proc_t* procs;
  PMIX_PROC_CREATE(procs, job_size);
  for (uint32_t i = 0; i < job_size; ++i)
    PMIX_LOAD_PROCID(&procs[i], self.nspace, i);
  fence();
  for (int i = 0; i < warm_up_rounds + rounds; ++i) {
    char id[64];
    snprintf(id, sizeof(id), "bench.%d", i);
    if (self.rank == 0) {
      pmix_info_t* results = NULL;
      size_t num_results = 0;
      int64_t begin = now_ns();
      check(
        PMIx_Group_invite(id, procs, job_size, NULL, 0, &results, &num_results),
        "PMIx_Group_invite");
      if (i >= warm_up_rounds)
        record_us("invite", now_ns() - begin);
      if (results != NULL)
        PMIX_INFO_FREE(results, num_results);
    } else {
      await(i + 1);
    }
    fence();
  }
  PMIX_PROC_FREE(procs, job_size);
}

/* -- many at once ---------------------------------------------------------- */

static int failures;

static void complain(const char* what) {
  if (failures > 0)
    fprintf(stderr, "pmix_groups: rank %u: %d of %d calls of %s fail\n",
            self.rank, failures, groups, what);
}

static void on_constructed(pmix_status_t status, pmix_info_t* infos UNUSED,
                           size_t n UNUSED, void* data UNUSED,
                           pmix_release_cbfunc_t release, void* token) {
  if (release != NULL)
    release(token);
  failures += status != PMIX_SUCCESS;
  happen();
}

static void on_destructed(pmix_status_t status, void* data UNUSED) {
  failures += status != PMIX_SUCCESS;
  happen();
}

static void run_many(void) {
  fence();
  int64_t begin = now_ns();
  for (int i = 0; i < groups; ++i) {
    char id[64];
    snprintf(id, sizeof(id), "bench.%d", i);
    check(
      PMIx_Group_construct_nb(id, &everybody, 1, NULL, 0, on_constructed, NULL),
      "PMIx_Group_construct_nb");
  }
  await(groups);
  if (failures == 0)
    record("constructs", groups * 1e9 / (double)(now_ns() - begin));
  complain("construct");
  fence();
}

static void run_kept(void) {
  for (int i = 0; i < groups; ++i) {
    char id[64];
    snprintf(id, sizeof(id), "bench.%d", i);
    check(construct(id, NULL, 0), "PMIx_Group_construct");
  }
  fence();
  record("ready", 0);
  write_samples();
  sleep(seconds);
  fence();
  int64_t begin = now_ns();
  for (int i = 0; i < groups; ++i) {
    char id[64];
    snprintf(id, sizeof(id), "bench.%d", i);
    check(PMIx_Group_destruct_nb(id, NULL, 0, on_destructed, NULL),
          "PMIx_Group_destruct_nb");
  }
  await(groups);
  if (failures == 0)
    record("destructs", groups * 1e9 / (double)(now_ns() - begin));
  complain("destruct");
  fence();
}

/* -- those who do not come ------------------------------------------------- */

static const char without_us[] = "bench.without";

/* When the one that is killed was killed. */
static int64_t killed_ns(const char* path) {
  long long result = 0;
  FILE* in = fopen(path, "r");
  if (in == NULL || fscanf(in, "%lld", &result) != 1)
    check(PMIX_ERR_NOT_FOUND, path);
  fclose(in);
  return result;
}

static void run_dead(void) {
  char path[4096];
  snprintf(path, sizeof(path), "%s.killed", out_file ? out_file : "bench");
  fence();
  if (self.rank == job_size - 1) {
    usleep(20000);
    FILE* out = fopen(path, "w");
    fprintf(out, "%lld", (long long)now_ns());
    fclose(out);
    kill(getpid(), SIGKILL);
  }
  pmix_status_t outcome = construct(without_us, NULL, 0);
  int64_t answered = now_ns();
  if (self.rank > 0)
    return;
  if (outcome == PMIX_SUCCESS || outcome == PMIX_ERR_NOT_SUPPORTED)
    check(PMIX_ERROR, "a construct without its member");
  record("dead", (double)(answered - killed_ns(path)) / 1e6);
  write_samples();
}

static void run_silent(void) {
  const int one = 1;
  pmix_info_t timeout;
  PMIX_INFO_LOAD(&timeout, PMIX_TIMEOUT, &one, PMIX_INT);
  fence();
  int64_t begin = now_ns();
  if (self.rank < job_size - 1) {
    if (construct(without_us, &timeout, 1) != PMIX_ERR_TIMEOUT)
      check(PMIX_ERROR, "a construct without its member");
    record("silent", (double)(now_ns() - begin) / 1e6);
    write_samples();
  }
  fence();
}

/* -- main ------------------------------------------------------------------ */

static bool parse(int argc, char** argv) {
  for (int i = 2; i + 1 < argc; i += 2) {
    const char* value = argv[i + 1];
    if (strcmp(argv[i], "--out") == 0)
      out_file = value;
    else if (strcmp(argv[i], "--rounds") == 0)
      rounds = atoi(value);
    else if (strcmp(argv[i], "--groups") == 0)
      groups = atoi(value);
    else if (strcmp(argv[i], "--seconds") == 0)
      seconds = (unsigned)atoi(value);
    else
      return false;
  }
  return argc % 2 == 0 && rounds > 0 && groups > 0;
}

int main(int argc, char** argv) {
  static const struct mode modes[] = {
    {"collective", run_collective},
    {"invite", run_invite},
    {"many", run_many},
    {"kept", run_kept},
    {"dead", run_dead},
    {"silent", run_silent},
  };
  void (*run)(void) = FIND_MODE(modes, argc > 1 ? argv[1] : NULL);
  if (run == NULL || !parse(argc, argv)) {
    fputs("usage: pmix_groups collective|invite|many|kept|dead|silent "
          "[--out FILE] [--rounds N] [--groups N] [--seconds N]\n",
          stderr);
    return 2;
  }
  alarm(max_life_seconds);
  check(PMIx_Init(&self, NULL, 0), "PMIx_Init");
  ask_job_size();
  PMIX_LOAD_PROCID(&everybody, self.nspace, PMIX_RANK_WILDCARD);
  const bool yes = true;
  PMIX_INFO_LOAD(&context, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
  run();
  check(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
  write_samples();
  return 0;
}
