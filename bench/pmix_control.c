/* Times job control and heartbeats as a program sees them. It knows pmix.h
 * only, so the same binary runs under every launcher; bench/control starts it.
 *
 *   pmix_control MODE [--out FILE] [--rounds N] [--seconds N] [--uri URI]
 *                     [--nspace NAME] [--file FILE] [--procs N]
 *
 *   signal   a process has itself signalled by PMIx_Job_control: until the
 *            handler runs, and until the answer
 *   beats    heartbeats as fast as they go, for --seconds
 *   death    one of two processes is killed by SIGKILL; the other hears of it
 *   target   no PMIx: waits for signals and writes into --file when they came
 *   all      a tool: signals all --procs processes of --nspace, which are
 *            targets that share --file
 *
 * Rank 0, or the tool, writes a line `NAME FIGURE` per sample to --out. A
 * process that hangs is ended by SIGALRM. */

#define _GNU_SOURCE

#include "samples.h"

#include <dirent.h>
#include <fcntl.h>
#include <pmix_tool.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

enum { max_life_seconds = 120, max_targets = 4096 };

static const char* uri = "";
static const char* nspace = "";
static const char* shared_file = "targets";
static int rounds = 100;
static int procs = 1;
static double seconds = 2;

/* What targets tell, and the process that dies. */
struct board {
  atomic_int next;
  atomic_int signalled;
  _Atomic int64_t last;
};

static struct board* board;

static pmix_info_t signal_info(int number) {
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT);
  return result;
}

/* -- signal -----------------------------------------------------------------
 */

static _Atomic int64_t signalled_at;

static void on_signal(int number) {
  (void)number;
  atomic_store(&signalled_at, now_ns());
}

static void signal_oneself(void) {
  signal(SIGUSR1, on_signal);
  const pmix_info_t usr1 = signal_info(SIGUSR1);
  for (int i = 0; i < rounds + 5; ++i) {
    atomic_store(&signalled_at, 0);
    const int64_t start = now_ns();
    pmix_info_t* results = NULL;
    size_t n = 0;
    check(PMIx_Job_control(&self, 1, &usr1, 1, &results, &n), "job control");
    const int64_t answered = now_ns();
    if (results != NULL)
      PMIX_INFO_FREE(results, n);
    while (atomic_load(&signalled_at) == 0)
      usleep(10);
    if (i < 5)
      continue;
    record("answer", (double)(answered - start) / 1e3);
    record("signalled", (double)(atomic_load(&signalled_at) - start) / 1e3);
  }
}

/* -- beats ------------------------------------------------------------------
 */

/* CPU time of all threads of the process that started us, in nanoseconds. */
static double server_cpu(void) {
  char path[320];
  snprintf(path, sizeof path, "/proc/%d/task", (int)getppid());
  double sum = 0;
  DIR* folder = opendir(path);
  for (struct dirent* x; folder != NULL && (x = readdir(folder)) != NULL;) {
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)getppid(),
             x->d_name);
    double one = 0;
    FILE* file = x->d_name[0] != '.' ? fopen(path, "r") : NULL;
    if (file != NULL && fscanf(file, "%lf", &one) == 1)
      sum += one;
    if (file != NULL)
      fclose(file);
  }
  if (folder != NULL)
    closedir(folder);
  return sum;
}

static void beat(void) {
  const double before = server_cpu();
  const int64_t start = now_ns();
  const int64_t end = start + (int64_t)(seconds * 1e9);
  uint64_t count = 0;
  int64_t now = start;
  while (now < end) {
    for (int i = 0; i < 100; ++i)
      PMIx_Heartbeat();
    count += 100;
    now = now_ns();
  }
  /* What is answered was read after all of them. */
  check(PMIx_Fence(&self, 1, NULL, 0), "fence");
  const int64_t answered = now_ns();
  record("sent", (double)count / ((double)(now - start) / 1e9));
  record("taken", (double)count / ((double)(answered - start) / 1e9));
  record("beat_cpu", (server_cpu() - before) / 1e3 / (double)count);
}

/* -- death ------------------------------------------------------------------
 */

static _Atomic int64_t heard_at;

static void on_death(size_t id, pmix_status_t code, const pmix_proc_t* source,
                     pmix_info_t* infos, size_t n, pmix_info_t* results,
                     size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                     void* data) {
  (void)id;
  (void)code;
  (void)source;
  (void)infos;
  (void)n;
  (void)results;
  (void)nresults;
  int64_t none = 0;
  const int64_t now = now_ns();
  atomic_compare_exchange_strong(&heard_at, &none, now);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void on_registered(pmix_status_t code, size_t id, void* data) {
  (void)id;
  atomic_store((atomic_int*)data, code < 0 ? -1 : 1);
}

static void die_or_hear(void) {
  pmix_proc_t all = self;
  all.rank = PMIX_RANK_WILDCARD;
  pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_ABORTED};
  if (self.rank == 0) {
    atomic_int registered = 0;
    PMIx_Register_event_handler(codes, 2, NULL, 0, on_death, on_registered,
                                &registered);
    while (atomic_load(&registered) == 0)
      usleep(100);
  }
  check(PMIx_Fence(&all, 1, NULL, 0), "fence");
  if (self.rank != 0) {
    atomic_store(&board->last, now_ns());
    raise(SIGKILL);
  }
  for (int i = 0; i < 50000 && atomic_load(&heard_at) == 0; ++i)
    usleep(100);
  if (atomic_load(&heard_at) == 0)
    return;
  record("death",
         (double)(atomic_load(&heard_at) - atomic_load(&board->last)) / 1e3);
}

/* -- many targets ------------------------------------------------------------
 */

static void open_board(void) {
  const int fd = open(shared_file, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof *board) != 0) {
    fprintf(stderr, "pmix_control: cannot open %s\n", shared_file);
    exit(1);
  }
  board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (board == MAP_FAILED) {
    fprintf(stderr, "pmix_control: cannot map %s\n", shared_file);
    exit(1);
  }
}

static void on_target_signal(int number) {
  (void)number;
  atomic_store(&board->last, now_ns());
  atomic_fetch_add(&board->signalled, 1);
}

static void be_a_target(void) {
  signal(SIGUSR1, on_target_signal);
  alarm(0);
  atomic_fetch_add(&board->next, 1);
  for (;;)
    pause();
}

static void signal_all(void) {
  for (int i = 0; i < 60000 && atomic_load(&board->next) < procs; ++i)
    usleep(1000);
  if (atomic_load(&board->next) < procs) {
    fprintf(stderr, "pmix_control: %d of %d targets are there\n",
            atomic_load(&board->next), procs);
    exit(1);
  }
  sleep(1); /* Now the daemons have heard of all of them. */
  pmix_proc_t job;
  PMIX_LOAD_PROCID(&job, nspace, PMIX_RANK_WILDCARD);
  const pmix_info_t usr1 = signal_info(SIGUSR1);
  for (int i = 0; i < rounds; ++i) {
    atomic_store(&board->signalled, 0);
    const int64_t start = now_ns();
    pmix_info_t* results = NULL;
    size_t n = 0;
    check(PMIx_Job_control(&job, 1, &usr1, 1, &results, &n), "job control");
    const int64_t answered = now_ns();
    if (results != NULL)
      PMIX_INFO_FREE(results, n);
    for (int j = 0; j < 10000 && atomic_load(&board->signalled) < procs; ++j)
      usleep(1000);
    if (atomic_load(&board->signalled) != procs) {
      fprintf(stderr,
              "pmix_control: %d of %d targets were signalled in round %d\n",
              atomic_load(&board->signalled), procs, i);
      exit(1);
    }
    record("all_answer", (double)(answered - start) / 1e6);
    record("all_signalled", (double)(atomic_load(&board->last) - start) / 1e6);
    usleep(100000);
  }
}

/* -- main --------------------------------------------------------------------
 */

static void read_options(int argc, char** argv) {
  for (int i = 2; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--out") == 0)
      out_file = argv[i + 1];
    else if (strcmp(argv[i], "--uri") == 0)
      uri = argv[i + 1];
    else if (strcmp(argv[i], "--nspace") == 0)
      nspace = argv[i + 1];
    else if (strcmp(argv[i], "--file") == 0)
      shared_file = argv[i + 1];
    else if (strcmp(argv[i], "--rounds") == 0)
      rounds = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--procs") == 0)
      procs = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--seconds") == 0)
      seconds = atof(argv[i + 1]);
  }
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  read_options(argc, argv);
  alarm(max_life_seconds);
  if (strcmp(mode, "target") == 0) {
    open_board();
    be_a_target();
  }
  if (strcmp(mode, "all") == 0) {
    open_board();
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, uri, PMIX_STRING);
    check(PMIx_tool_init(&self, &info, 1), "PMIx_tool_init");
    signal_all();
    write_samples();
    check(PMIx_tool_finalize(), "PMIx_tool_finalize");
    return 0;
  }
  check(PMIx_Init(&self, NULL, 0), "PMIx_Init");
  if (strcmp(mode, "signal") == 0) {
    signal_oneself();
  } else if (strcmp(mode, "beats") == 0) {
    beat();
  } else if (strcmp(mode, "death") == 0) {
    open_board();
    die_or_hear();
  } else {
    fprintf(stderr, "pmix_control: there is no mode \"%s\"\n", mode);
    return 2;
  }
  write_samples();
  check(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
  return 0;
}
