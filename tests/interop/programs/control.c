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

/* -- one's own affair ------------------------------------------------------ */

static volatile sig_atomic_t is_last;

static void on_last(int number UNUSED) {
  is_last = 1;
}

/* Says when it is there, and at the last signal how many others it has had. */
static void counts_own(void) {
  signal(SIGUSR1, on_signal);
  signal(SIGUSR2, on_last);
  begin();
  write_number("there", me.rank, getpid());
  while (!is_last)
    pause_ms(2);
  write_number("had", me.rank, signals_seen);
  end();
}

/* Rank 0 signals all of its namespace by naming nobody. The processes of a job
 * that it has started get what is sent to them afterwards, and only that. */
static void others(void) {
  char nspace[PMIX_MAX_NSLEN + 1];
  signal(SIGUSR1, on_signal);
  begin();
  be_ready();
  if (me.rank == 0) {
    spawn_case("counts_own", 2, nspace);
    await_number("there", 0);
    await_number("there", 1);
    pmix_info_t usr1 = int_info(PMIX_JOB_CTRL_SIGNAL, SIGUSR1);
    pmix_info_t usr2 = int_info(PMIX_JOB_CTRL_SIGNAL, SIGUSR2);
    succeed(control(NULL, 0, &usr1, 1), "a signal to nobody by name");
    const pmix_proc_t all = proc_in(nspace, PMIX_RANK_WILDCARD);
    succeed(control(&all, 1, &usr2, 1), "a signal to the other job");
    demand(await_number("had", 0) == 0 && await_number("had", 1) == 0,
           "the other job gets nothing of the first");
  }
  const double deadline = now() + 10;
  while (signals_seen == 0) {
    demand(now() < deadline, "all of the own job get the signal");
    pause_ms(2);
  }
  meet();
  if (me.rank == 0)
    printf("own job only\n");
  end();
}

/* Ranks 0 and 1 have requests outstanding, one of each by the same name. Rank 0
 * cancels all of its own, then rank 1 its one by name. Nobody is killed. */
static void owns(void) {
  begin();
  signal(SIGTERM, SIG_IGN);
  be_ready();
  if (me.rank > 1) {
    meet();
    meet();
    end();
    return;
  }
  struct pending answers[2] = {PENDING, PENDING};
  const char* ids[] = {"same", "other"};
  const int wanted = me.rank == 0 ? 2 : 1;
  char state[64];
  for (int i = 0; i < wanted; ++i) {
    const pmix_proc_t whom = rank_of(me.rank == 0 ? 2 + i : 4);
    pmix_info_t slow[] = {flag_info(PMIX_JOB_CTRL_TERMINATE),
                          int_info(GRACE, 60000),
                          string_info(PMIX_JOB_CTRL_ID, ids[i])};
    succeed(PMIx_Job_control_nb(&whom, 1, slow, 3, on_answer, &answers[i]),
            "a request that takes its time");
    const double deadline = now() + 10;
    do {
      state_of(ids[i], state);
      demand(now() < deadline, "the request is known");
    } while (strcmp(state, "running") != 0);
  }
  write_number("asked", me.rank, 1);
  await_number("asked", 1 - me.rank);
  if (me.rank == 0) {
    pmix_info_t all = string_info(PMIX_JOB_CTRL_CANCEL, NULL);
    succeed(control(NULL, 0, &all, 1), "cancel without a name");
    for (int i = 0; i < 2; ++i) {
      demand(happens(&answers[i], 1, 10), "who is cancelled is answered");
      expect(answers[i].outcome, PMIX_ERR_JOB_CANCELED, "a cancelled request");
      state_of(ids[i], state);
      demand(strcmp(state, "cancelled") == 0, "the states of the cancelled");
    }
    meet();
  } else {
    meet();
    state_of("same", state);
    demand(strcmp(state, "running") == 0, "another's request goes on");
    demand(answers[0].happened == 0, "and is not answered");
    pmix_info_t one = string_info(PMIX_JOB_CTRL_CANCEL, "same");
    succeed(control(NULL, 0, &one, 1), "cancel by name");
    demand(happens(&answers[0], 1, 10), "who is cancelled is answered");
    expect(answers[0].outcome, PMIX_ERR_JOB_CANCELED, "the named request");
  }
  meet();
  if (me.rank == 0)
    printf("own requests only\n");
  end();
}

/* -- a checkpoint by a code of one's own ------------------------------------ */

#define OWN_CODE (PMIX_EXTERNAL_ERR_BASE - 7)

static struct pending asked_to_save = PENDING;
static char save_as[64];

static void on_save(size_t handler UNUSED, pmix_status_t code,
                    const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                    size_t n, pmix_info_t* results UNUSED,
                    size_t nresults UNUSED,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_JOB_CTRL_CHECKPOINT))
      snprintf(save_as, sizeof save_as, "%s", infos[i].value.data.string);
  happen(&asked_to_save, code);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Rank 0 asks rank 1 alone, with a code that it makes up; all have registered
 * for it. The request is done when rank 1 says that it has saved its state. */
static void event(void) {
  begin();
  pmix_status_t code = OWN_CODE;
  handle(&code, 1, on_save);
  be_ready();
  if (me.rank == 0) {
    const pmix_proc_t whom = rank_of(1);
    pmix_info_t ask[] = {string_info(PMIX_JOB_CTRL_CHECKPOINT, "by code"),
                         flag_info(PMIX_JOB_CTRL_CHECKPOINT_EVENT)};
    PMIX_INFO_LOAD(&ask[1], PMIX_JOB_CTRL_CHECKPOINT_EVENT, &code, PMIX_STATUS);
    succeed(control(&whom, 1, ask, 2), "a checkpoint by a code");
    demand(read_number("saved", 1) >= 0, "it is done when rank 1 has saved");
  } else if (me.rank == 1) {
    demand(happens(&asked_to_save, 1, 10), "rank 1 is asked");
    demand(asked_to_save.outcome == OWN_CODE, "with that code");
    demand(strcmp(save_as, "by code") == 0, "and the name");
    write_number("saved", 1, 1);
    pmix_info_t named = string_info(PMIX_JOB_CTRL_CHECKPOINT, save_as);
    struct pending said = PENDING;
    const pmix_status_t outcome =
      PMIx_Notify_event(PMIX_JCTRL_CHECKPOINT_COMPLETE, &me, PMIX_RANGE_RM,
                        &named, 1, on_done, &said);
    if (outcome != PMIX_OPERATION_SUCCEEDED) {
      succeed(outcome, "saying that it is done");
      demand(happens(&said, 1, 10), "that is answered");
      succeed(said.outcome, "the answer");
    }
  }
  meet();
  demand(asked_to_save.happened == (me.rank == 1 ? 1 : 0),
         "it alone is asked, once");
  if (me.rank == 0)
    printf("saved\n");
  end();
}

/* -- what the system is going to do ----------------------------------------- */

static struct pending told = PENDING;
static bool ends_job;
static int action_timeout = -1;

static void on_intent(size_t handler UNUSED, pmix_status_t code,
                      const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                      size_t n, pmix_info_t* results UNUSED,
                      size_t nresults UNUSED,
                      pmix_event_notification_cbfunc_fn_t done, void* data) {
  for (size_t i = 0; i < n; ++i) {
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_TERMINATE_JOB))
      ends_job = PMIX_INFO_TRUE(&infos[i]);
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_ACTION_TIMEOUT))
      action_timeout = infos[i].value.data.integer;
  }
  happen(&told, code);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Rank 1 is killed: rank 0 hears of it whether the job is ended for that. */
static void failure(void) {
  signal(SIGTERM, SIG_IGN);
  begin();
  pmix_status_t code = PMIX_ERR_PROC_ABORTED_BY_SIG;
  handle(&code, 1, on_intent);
  be_ready();
  if (me.rank == 1)
    raise(SIGKILL);
  demand(happens(&told, 1, 10), "the end of the other is told");
  printf("%s\n", ends_job ? "the job ends" : "the job goes on");
  fflush(stdout);
  end();
}

/* Rank 1 has the job preempted; the alert says what comes and when. */
static void preempts(void) {
  begin();
  pmix_status_t code = PMIX_JCTRL_PREEMPT_ALERT;
  handle(&code, 1, on_intent);
  pmix_info_t declared = flag_info(PMIX_JOB_CTRL_PREEMPTIBLE);
  succeed(control(NULL, 0, &declared, 1), "a job that may be preempted");
  be_ready();
  if (me.rank == 1) {
    struct pending answer = PENDING;
    pmix_info_t what[] = {string_info("troupe.control.preempt", "terminate"),
                          int_info(GRACE, 60000)};
    succeed(PMIx_Job_control_nb(NULL, 0, what, 2, on_answer, &answer),
            "a preemption");
    demand(happens(&told, 1, 10), "the alert comes");
    pmix_info_t all = string_info(PMIX_JOB_CTRL_CANCEL, NULL);
    succeed(control(NULL, 0, &all, 1), "cancel");
    demand(happens(&answer, 1, 10), "the preemption is answered");
    expect(answer.outcome, PMIX_ERR_JOB_CANCELED, "the preemption");
  }
  demand(happens(&told, 1, 10), "the alert comes");
  demand(ends_job && action_timeout == 60, "it says that the job is ended");
  meet();
  end();
}

/* -- logs ------------------------------------------------------------------ */

/* Prints a channel of the answer and the status of what was written to it. */
static void print_channels(const pmix_info_t* infos, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (!PMIX_CHECK_KEY(&infos[i], "troupe.control.log"))
      continue;
    const pmix_data_array_t* array = infos[i].value.data.darray;
    const pmix_info_t* x = array->array;
    for (size_t j = 0; j < array->size; ++j)
      printf("%s %d\n", x[j].key, x[j].value.data.status);
  }
}

static volatile sig_atomic_t unwanted;

static void on_unwanted(int number UNUSED) {
  ++unwanted;
}

/* Rank 0 signals rank 1, and wants it in the log and by mail; then with a mail
 * that is required: `logs STATUS` says what becomes of that. */
static void logs(void) {
  const pmix_status_t wanted = atoi(case_args[0]);
  signal(SIGUSR1, on_signal);
  signal(SIGUSR2, on_unwanted);
  begin();
  be_ready();
  if (me.rank == 0) {
    const pmix_proc_t whom = rank_of(1);
    pmix_info_t fields[] = {
      string_info(PMIX_LOG_EMAIL_ADDR, "operator@example.org"),
      string_info(PMIX_LOG_EMAIL_SUBJECT, "a signal"),
      string_info(PMIX_LOG_EMAIL_MSG, "as agreed")};
    pmix_data_array_t mail = {PMIX_INFO, 3, fields};
    pmix_info_t what[] = {int_info(PMIX_JOB_CTRL_SIGNAL, SIGUSR2),
                          string_info(PMIX_LOG_STDERR, "maintenance"),
                          flag_info(PMIX_LOG_EMAIL)};
    PMIX_INFO_LOAD(&what[2], PMIX_LOG_EMAIL, &mail, PMIX_DATA_ARRAY);
    PMIX_INFO_REQUIRED(&what[2]);
    expect(control(&whom, 1, what, 3), wanted, "a mail that is required");
    what[0] = int_info(PMIX_JOB_CTRL_SIGNAL, SIGUSR1);
    PMIX_INFO_LOAD(&what[2], PMIX_LOG_EMAIL, &mail, PMIX_DATA_ARRAY);
    what[2].flags = 0;
    pmix_info_t* infos = NULL;
    size_t n = 0;
    succeed(PMIx_Job_control(&whom, 1, what, 3, &infos, &n),
            "a mail that is not");
    print_channels(infos, n);
  } else {
    const double deadline = now() + 20;
    while (signals_seen == 0) {
      demand(now() < deadline, "the signal comes");
      pause_ms(2);
    }
    demand(unwanted == (wanted == PMIX_SUCCESS ? 1 : 0),
           "what is refused is not done");
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
  {"bereaved", bereaved}, {"beats", beats},     {"counts_own", counts_own},
  {"others", others},     {"owns", owns},       {"event", event},
  {"logs", logs},         {"failure", failure}, {"preempts", preempts},
};

int main(int argc, char** argv) {
  return RUN_CASE(cases);
}
