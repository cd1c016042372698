/* Job control on real processes: who stands still, who gets a signal, who ends.
 * Rank 0 asks; the others work until they are told to stop. */

#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

/* Keys of ours. */
#define GRACE "troupe.control.grace"
#define STATUS "troupe.control.status"

static volatile sig_atomic_t signals_seen;

static void on_signal(int number UNUSED) {
  ++signals_seen;
}

/* -- files by which the ranks hear of each other --------------------------- */

static void write_number(const char* name, uint32_t rank, long number) {
  char path[64], temporary[72];
  snprintf(path, sizeof path, "%s.%u", name, rank);
  snprintf(temporary, sizeof temporary, "%s.new", path);
  FILE* file = fopen(temporary, "w");
  demand(file != NULL, "a file is written");
  fprintf(file, "%ld\n", number);
  fclose(file);
  rename(temporary, path);
}

static long read_number(const char* name, uint32_t rank) {
  char path[64];
  long result = -1;
  snprintf(path, sizeof path, "%s.%u", name, rank);
  FILE* file = fopen(path, "r");
  if (file == NULL)
    return -1;
  if (fscanf(file, "%ld", &result) != 1)
    result = -1;
  fclose(file);
  return result;
}

static long await_number(const char* name, uint32_t rank) {
  const double deadline = now() + 10;
  long result = -1;
  while ((result = read_number(name, rank)) < 0 && now() < deadline)
    pause_ms(2);
  demand(result >= 0, "the others write their files");
  return result;
}

/* -- processes ------------------------------------------------------------- */

/* The processor time of a process in ticks; -1 if it is gone. */
static long cpu_time(long pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  const int fd = open(path, O_RDONLY);
  if (fd < 0)
    return -1;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0)
    return -1;
  text[n] = '\0';
  const char* rest = strrchr(text, ')');
  char state = '?';
  unsigned long user = 0, system = 0;
  if (rest == NULL
      || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                &state, &user, &system)
           != 3
      || state == 'Z')
    return -1;
  return (long)(user + system);
}

static void await_gone(long pid) {
  const double deadline = now() + 10;
  while (cpu_time(pid) >= 0) {
    demand(now() < deadline, "the process is gone");
    pause_ms(2);
  }
}

/* Waits until a process uses the processor. */
static void await_work(long pid) {
  const long start = cpu_time(pid);
  const double deadline = now() + 10;
  demand(start >= 0, "the process lives");
  while (cpu_time(pid) == start) {
    demand(now() < deadline, "the process works");
    pause_ms(2);
  }
}

/* Whether none of these uses the processor for a while. */
static bool stand_still(const long* pids, int n) {
  long before[8];
  for (int i = 0; i < n; ++i)
    before[i] = cpu_time(pids[i]);
  pause_ms(300);
  for (int i = 0; i < n; ++i)
    if (cpu_time(pids[i]) != before[i])
      return false;
  return true;
}

/* -- requests -------------------------------------------------------------- */

static pmix_status_t control(const pmix_proc_t* targets, size_t n,
                             pmix_info_t* directives, size_t ndirs) {
  pmix_info_t* infos = NULL;
  size_t ninfos = 0;
  const pmix_status_t outcome =
    PMIx_Job_control(targets, n, directives, ndirs, &infos, &ninfos);
  if (infos != NULL)
    PMIX_INFO_FREE(infos, ninfos);
  return outcome;
}

static pmix_status_t tell(pmix_rank_t rank, pmix_info_t directive) {
  const pmix_proc_t whom = rank_of(rank);
  return control(&whom, 1, &directive, 1);
}

/* The state of a request; empty if it is not known. */
static void state_of(const char* id, char* state) {
  pmix_query_t query;
  pmix_status_t outcome;
  PMIX_QUERY_CONSTRUCT(&query);
  PMIX_ARGV_APPEND(outcome, query.keys, STATUS);
  succeed(outcome, "a query");
  pmix_info_t qualifier = string_info(PMIX_JOB_CTRL_ID, id);
  PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
  PMIX_INFO_XFER(&query.qualifiers[0], &qualifier);
  pmix_info_t* infos = NULL;
  size_t n = 0;
  state[0] = '\0';
  outcome = PMIx_Query_info(&query, 1, &infos, &n);
  if (outcome == PMIX_SUCCESS && n > 0
      && infos[0].value.type == PMIX_DATA_ARRAY) {
    const pmix_data_array_t* items = infos[0].value.data.darray;
    const pmix_info_t* item = items->array;
    const pmix_data_array_t* fields = item->value.data.darray;
    const pmix_info_t* field = fields->array;
    for (size_t i = 0; i < fields->size; ++i)
      if (strcmp(field[i].key, "state") == 0)
        strcpy(state, field[i].value.data.string);
  }
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
}

/* -- what the others do ---------------------------------------------------- */

static void work(void) {
  for (volatile unsigned long x = 0;; ++x)
    ;
}

/* A child in a session of its own, which works. */
static long work_elsewhere(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    setsid();
    work();
  }
  return pid;
}

static void be_ready(void) {
  write_number("pid", me.rank, getpid());
  meet();
}

/* -- cases ----------------------------------------------------------------- */

/* Ranks 1 and 2, and a child of 2 in another session, stand still; 3 works. */
static void pauses(void) {
  begin();
  if (me.rank == 2)
    write_number("child", me.rank, work_elsewhere());
  be_ready();
  if (me.rank != 0)
    work();
  const long paused[] = {await_number("pid", 1), await_number("pid", 2),
                         await_number("child", 2)};
  const long works = await_number("pid", 3);
  for (int i = 0; i < 3; ++i)
    await_work(paused[i]);
  const pmix_proc_t two[] = {rank_of(1), rank_of(2)};
  pmix_info_t pause[] = {flag_info(PMIX_JOB_CTRL_PAUSE),
                         string_info(PMIX_JOB_CTRL_ID, "standstill")};
  pmix_info_t resume = flag_info(PMIX_JOB_CTRL_RESUME);
  for (int i = 0; i < 2; ++i)
    succeed(control(two, 2, pause, 2), "pause, once and again");
  char state[64];
  state_of("standstill", state);
  demand(strcmp(state, "done") == 0, "the state of a request is known");
  pause_ms(50);
  demand(stand_still(paused, 3), "whoever is paused uses no processor");
  await_work(works);
  succeed(control(two, 2, &resume, 1), "resume");
  for (int i = 0; i < 3; ++i)
    await_work(paused[i]);
  succeed(control(two, 2, &resume, 1), "resume of those that work");
  /* Whoever is paused can be killed, and takes its family along. */
  succeed(tell(2, pause[0]), "pause");
  succeed(tell(2, flag_info(PMIX_JOB_CTRL_KILL)), "kill of a paused process");
  await_gone(paused[1]);
  await_gone(paused[2]);
  await_work(paused[0]);
  succeed(tell(1, pause[0]), "pause");
  pmix_info_t end_it = flag_info(PMIX_JOB_CTRL_TERMINATE);
  succeed(control(two, 1, &end_it, 1), "end of a paused process");
  await_gone(paused[0]);
  succeed(tell(3, flag_info(PMIX_JOB_CTRL_KILL)), "kill");
  printf("paused\n");
  end();
}

/* Each rank counts the signals it gets. */
static void signals(void) {
  signal(SIGUSR1, on_signal);
  begin();
  be_ready();
  if (me.rank != 0) {
    int seen = 0;
    while (seen < 2) {
      pause_ms(2);
      if (seen != signals_seen)
        write_number("seen", me.rank, seen = signals_seen);
    }
    meet();
    end();
    return;
  }
  pmix_info_t usr1 = int_info(PMIX_JOB_CTRL_SIGNAL, SIGUSR1);
  succeed(tell(1, int_info(PMIX_JOB_CTRL_SIGNAL, 0)), "signal 0");
  expect(tell(1, int_info(PMIX_JOB_CTRL_SIGNAL, 65)), PMIX_ERR_BAD_PARAM,
         "signal 65");
  expect(tell(job_size, usr1), PMIX_ERR_NOT_FOUND, "nobody");
  const pmix_proc_t odd[] = {rank_of(1), rank_of(3), rank_of(1)};
  succeed(control(odd, 3, &usr1, 1), "a signal to 1 and 3");
  demand(await_number("seen", 1) == 1 && await_number("seen", 3) == 1,
         "those named get it, once");
  pause_ms(100);
  demand(read_number("seen", 2) < 0 && signals_seen == 0
           && read_number("seen", 1) == 1,
         "nobody else gets it");
  /* Without targets: the whole job, its own. */
  succeed(control(NULL, 0, &usr1, 1), "a signal to all");
  demand(await_number("seen", 2) == 1, "all get it");
  succeed(tell(2, usr1), "a signal to 2");
  meet();
  printf("signalled\n");
  end();
}

/* Rank 1 heeds no SIGTERM: it has its grace, and is killed. */
static void ends(void) {
  begin();
  if (me.rank == 1)
    signal(SIGTERM, SIG_IGN);
  be_ready();
  if (me.rank != 0)
    for (;;)
      pause_ms(1000);
  const long stubborn = await_number("pid", 1);
  const long obedient = await_number("pid", 2);
  const pmix_proc_t both[] = {rank_of(1), rank_of(2)};
  pmix_info_t directives[] = {flag_info(PMIX_JOB_CTRL_TERMINATE),
                              int_info(GRACE, 700)};
  const double start = now();
  succeed(control(both, 2, directives, 2), "terminate");
  const double took = now() - start;
  demand(took > 0.65 && took < 10, "the grace is waited for");
  await_gone(stubborn);
  await_gone(obedient);
  /* The dead are named, and nobody else is hit. */
  const pmix_proc_t some[] = {rank_of(1), rank_of(0)};
  pmix_info_t ask = int_info(PMIX_JOB_CTRL_SIGNAL, 0);
  expect(control(some, 2, &ask, 1), PMIX_ERR_PARTIAL_SUCCESS,
         "one of two runs");
  expect(control(some, 1, &ask, 1), PMIX_ERR_NOT_FOUND, "none runs");
  printf("ended after %.0f ms\n", took * 1e3);
  end();
}

/* Rank 0 has a long request cancelled by its name. */
static void on_answer(pmix_status_t outcome, pmix_info_t* infos UNUSED,
                      size_t n UNUSED, void* data,
                      pmix_release_cbfunc_t release, void* release_data) {
  if (release != NULL)
    release(release_data);
  happen(data, outcome);
}

static void cancels(void) {
  begin();
  signal(SIGTERM, SIG_IGN);
  be_ready();
  if (me.rank != 0) {
    while (read_number("over", 0) < 0)
      pause_ms(5);
    end();
    return;
  }
  const pmix_proc_t whom = rank_of(1);
  pmix_info_t slow[] = {flag_info(PMIX_JOB_CTRL_TERMINATE),
                        int_info(GRACE, 5000),
                        string_info(PMIX_JOB_CTRL_ID, "slow")};
  struct pending answer = PENDING;
  succeed(PMIx_Job_control_nb(&whom, 1, slow, 3, on_answer, &answer),
          "a request that takes its time");
  char state[64];
  const double deadline = now() + 5;
  do {
    state_of("slow", state);
    demand(now() < deadline, "the request is known");
  } while (strcmp(state, "running") != 0);
  expect(control(&whom, 1, slow, 3), PMIX_ERR_EXISTS, "the same id again");
  pmix_info_t wrong = string_info(PMIX_JOB_CTRL_CANCEL, "other");
  expect(control(NULL, 0, &wrong, 1), PMIX_ERR_NOT_FOUND, "a wrong id");
  pmix_info_t cancel = string_info(PMIX_JOB_CTRL_CANCEL, "slow");
  succeed(control(NULL, 0, &cancel, 1), "cancel");
  demand(happens(&answer, 1, 5), "who is cancelled is answered");
  expect(answer.outcome, PMIX_ERR_JOB_CANCELED, "the cancelled request");
  state_of("slow", state);
  demand(strcmp(state, "cancelled") == 0, "its state is known");
  expect(control(NULL, 0, &cancel, 1), PMIX_ERR_NOT_FOUND, "cancel again");
  write_number("over", 0, 1);
  printf("cancelled\n");
  end();
}

/* The whole job ends, with the file and the folder that it registered. */
static void cleans(void) {
  begin();
  be_ready();
  if (me.rank == 0) {
    char folder[4096], file[4200];
    demand(getcwd(folder, sizeof folder) != NULL, "a folder");
    snprintf(file, sizeof file, "%s/left.behind", folder);
    pmix_info_t path = string_info(PMIX_REGISTER_CLEANUP, file);
    succeed(control(NULL, 0, &path, 1), "register a file");
    write_number("left", 0, 1);
    rename("left.0", "left.behind");
    printf("registered\n");
    fflush(stdout);
    pmix_info_t kill_all = flag_info(PMIX_JOB_CTRL_KILL);
    control(NULL, 0, &kill_all, 1);
  }
  for (;;)
    pause_ms(1000);
}

/* Rank 1 has itself watched and beats; whoever is paused need not beat, and
 * whoever only stops beating is told of. */
static struct pending alert = PENDING;

static void on_alert(size_t handler UNUSED, pmix_status_t code,
                     const pmix_proc_t* source UNUSED,
                     pmix_info_t* infos UNUSED, size_t n UNUSED,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  happen(&alert, code);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void beats(void) {
  begin();
  signal(SIGUSR1, on_signal);
  pmix_status_t codes[] = {PMIX_MONITOR_HEARTBEAT_ALERT};
  handle(codes, 1, on_alert);
  if (me.rank == 1) {
    struct pending answer = PENDING;
    pmix_info_t what = flag_info(PMIX_MONITOR_HEARTBEAT);
    const uint32_t period = 300;
    pmix_info_t directives[2] = {string_info(PMIX_MONITOR_ID, "paused")};
    PMIX_INFO_LOAD(&directives[1], "troupe.monitor.heartbeat_ms", &period,
                   PMIX_UINT32);
    succeed(PMIx_Process_monitor_nb(&what, PMIX_MONITOR_HEARTBEAT_ALERT,
                                    directives, 2, on_answer, &answer),
            "a monitor");
    demand(happens(&answer, 1, 10), "it is answered");
    succeed(answer.outcome, "a monitor of heartbeats");
  }
  be_ready();
  if (me.rank == 1)
    while (signals_seen == 0) {
      PMIx_Heartbeat();
      pause_ms(20);
    }
  if (me.rank == 0) {
    succeed(tell(1, flag_info(PMIX_JOB_CTRL_PAUSE)), "pause");
    demand(!happens(&alert, 1, 1.2), "whoever is paused is excused");
    succeed(tell(1, flag_info(PMIX_JOB_CTRL_RESUME)), "resume");
    demand(!happens(&alert, 1, 0.6), "and beats again");
    succeed(tell(1, int_info(PMIX_JOB_CTRL_SIGNAL, SIGUSR1)), "a signal");
    demand(happens(&alert, 1, 10), "whoever stops beating is told of");
    printf("excused\n");
  }
  meet();
  end();
}

/* Rank 0 sends rank 1 as many signals as it is told to: each arrives once,
 * whatever happens to the lanes between them. */
static void counts(void) {
  const int wanted = atoi(case_args[0]);
  signal(SIGUSR1, on_signal);
  begin();
  be_ready();
  if (me.rank == 1) {
    for (int seen = 0; read_number("over", 0) < 0; pause_ms(1))
      if (seen != signals_seen)
        write_number("seen", 1, seen = signals_seen);
  } else if (me.rank == 0) {
    for (int i = 1; i <= wanted; ++i) {
      succeed(tell(1, int_info(PMIX_JOB_CTRL_SIGNAL, SIGUSR1)), "a signal");
      const double deadline = now() + 20;
      while (read_number("seen", 1) < i) {
        demand(now() < deadline, "each signal arrives");
        pause_ms(1);
      }
      if (i == wanted / 4)
        write_number("way", 0, i);
    }
    pause_ms(200);
    demand(read_number("seen", 1) == wanted, "and arrives once");
    write_number("over", 0, 1);
    printf("each once\n");
  }
  end();
}

/* Rank 0 ends ranks on two nodes, one of which is lost in the middle. */
static void bereaved(void) {
  signal(SIGTERM, SIG_IGN);
  begin();
  be_ready();
  if (me.rank != 0)
    for (;;)
      pause_ms(1000);
  const pmix_proc_t all[] = {rank_of(1), rank_of(2), rank_of(3)};
  pmix_info_t directives[] = {flag_info(PMIX_JOB_CTRL_TERMINATE),
                              int_info(GRACE, 2000)};
  const long near = await_number("pid", 2);
  printf("asking\n");
  fflush(stdout);
  write_number("asking", 0, 1);
  const double start = now();
  succeed(control(all, 3, directives, 2), "ends on a node that is lost, too");
  await_gone(near);
  printf("answered after %.1f s\n", now() - start);
  pmix_info_t pause = flag_info(PMIX_JOB_CTRL_PAUSE);
  expect(control(all, 3, &pause, 1), PMIX_ERR_NOT_FOUND, "nobody is left");
  end();
}

static const struct test_case cases[] = {
  {"pauses", pauses},     {"signals", signals}, {"ends", ends},
  {"cancels", cancels},   {"cleans", cleans},   {"counts", counts},
  {"bereaved", bereaved}, {"beats", beats},
};

int main(int argc, char** argv) {
  return RUN_CASE(cases);
}
