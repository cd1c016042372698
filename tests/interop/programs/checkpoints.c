/* A computation that saves its state and goes on from it.
 *
 *   checkpoints run FOLDER METHOD...
 *   checkpoints provision NODES IMAGE    asks for nodes, and prints the answer
 *
 * Each rank adds up 1, 2, 3 ... until there is a file FOLDER/stop. Its state is
 * in FOLDER/state.RANK, written when it is asked for a checkpoint; started from
 * one (TROUPE_CHECKPOINT_ID), it reads that first. In the end it writes into
 * FOLDER/result.RANK where it began, how far it got, the sum, and its node.
 * METHODs: `signal`, `event` (declared in this order, as the example of RFC0015
 * does), `preemptible`, `alert` (even ranks register for PREEMPT_ALERT).
 * While there is FOLDER/silent.RANK, that rank does not say that it is done;
 * with FOLDER/dies.RANK it ends instead. */

#include "client.h"

#include <stdatomic.h>

static const char* folder;
static char id[256];
static volatile sig_atomic_t asked_by_signal;
static atomic_int asked_by_event;
static atomic_int alerted;

struct state {
  unsigned long step;
  unsigned long sum;
};

/* -- files ----------------------------------------------------------------- */

static const char* path_of(const char* name) {
  static char result[4096];
  snprintf(result, sizeof result, "%s/%s.%u", folder, name, me.rank);
  return result;
}

static bool has(const char* name) {
  return access(path_of(name), F_OK) == 0;
}

static void save(const struct state* x) {
  char temporary[4200];
  snprintf(temporary, sizeof temporary, "%s.new", path_of("state"));
  FILE* file = fopen(temporary, "w");
  demand(file != NULL, "the state can be written");
  fprintf(file, "%lu %lu\n", x->step, x->sum);
  demand(fflush(file) == 0 && fsync(fileno(file)) == 0, "it is on disk");
  fclose(file);
  demand(rename(temporary, path_of("state")) == 0, "it takes its place");
}

static void restore(struct state* x) {
  FILE* file = fopen(path_of("state"), "r");
  demand(file != NULL, "there is a state to go on from");
  demand(fscanf(file, "%lu %lu", &x->step, &x->sum) == 2, "it is whole");
  fclose(file);
}

/* Writes a line so that nobody sees a part of it. */
static void write_line(const char* name, const char* line) {
  char temporary[4200];
  snprintf(temporary, sizeof temporary, "%s.new", path_of(name));
  FILE* file = fopen(temporary, "w");
  demand(file != NULL, name);
  fprintf(file, "%s\n", line);
  fclose(file);
  demand(rename(temporary, path_of(name)) == 0, name);
}

/* -- being asked ----------------------------------------------------------- */

static void on_signal(int number UNUSED) {
  asked_by_signal = 1;
}

static void on_checkpoint(size_t handler UNUSED, pmix_status_t code UNUSED,
                          const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                          size_t n, pmix_info_t* results UNUSED,
                          size_t nresults UNUSED,
                          pmix_event_notification_cbfunc_fn_t done,
                          void* data) {
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_JOB_CTRL_CHECKPOINT))
      snprintf(id, sizeof id, "%s", infos[i].value.data.string);
  atomic_store(&asked_by_event, 1);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void on_alert(size_t handler UNUSED, pmix_status_t code UNUSED,
                     const pmix_proc_t* source UNUSED,
                     pmix_info_t* infos UNUSED, size_t n UNUSED,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  atomic_store(&alerted, 1);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Whatever range a program takes: the resource manager hears of it. */
static void say_complete(void) {
  static const pmix_data_range_t ranges[] = {
    PMIX_RANGE_RM, PMIX_RANGE_NAMESPACE, PMIX_RANGE_LOCAL};
  pmix_info_t named = string_info(PMIX_JOB_CTRL_CHECKPOINT, id);
  struct pending done = PENDING;
  const pmix_status_t outcome =
    PMIx_Notify_event(PMIX_JCTRL_CHECKPOINT_COMPLETE, &me, ranges[me.rank % 3],
                      &named, id[0] != '\0' ? 1 : 0, on_done, &done);
  if (outcome != PMIX_OPERATION_SUCCEEDED) {
    succeed(outcome, "saying that it is done");
    demand(happens(&done, 1, 10), "that is answered");
    succeed(done.outcome, "the answer");
  }
  id[0] = '\0';
}

/* -- declaring ------------------------------------------------------------- */

static void on_declared(pmix_status_t outcome, pmix_info_t* infos UNUSED,
                        size_t n UNUSED, void* data,
                        pmix_release_cbfunc_t release, void* release_data) {
  if (release != NULL)
    release(release_data);
  happen(data, outcome);
}

static void declare(bool by_signal, bool by_event, bool preemptible) {
  pmix_info_t* methods;
  PMIX_INFO_CREATE(methods, 2);
  size_t n = 0;
  if (by_signal) {
    const int number = SIGUSR2;
    PMIX_INFO_LOAD(&methods[n++], PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, &number,
                   PMIX_INT);
  }
  if (by_event) {
    const pmix_status_t code = PMIX_JCTRL_CHECKPOINT;
    PMIX_INFO_LOAD(&methods[n++], PMIX_JOB_CTRL_CHECKPOINT_EVENT, &code,
                   PMIX_STATUS);
  }
  pmix_info_t infos[2];
  size_t size = 0;
  if (preemptible)
    infos[size++] = flag_info(PMIX_JOB_CTRL_PREEMPTIBLE);
  pmix_data_array_t array = {.type = PMIX_INFO, .size = n, .array = methods};
  if (n > 0)
    PMIX_INFO_LOAD(&infos[size++], PMIX_JOB_CTRL_CHECKPOINT_METHOD, &array,
                   PMIX_DATA_ARRAY);
  if (size == 0)
    return;
  struct pending done = PENDING;
  succeed(PMIx_Job_control_nb(NULL, 0, infos, size, on_declared, &done),
          "declaring");
  demand(happens(&done, 1, 10), "the declaration is answered");
  succeed(done.outcome, "the declaration");
}

static bool is_given(const char* word) {
  for (char** x = case_args + 1; case_args[0] != NULL && *x != NULL; ++x)
    if (strcmp(*x, word) == 0)
      return true;
  return false;
}

/* -- computing ------------------------------------------------------------- */

static void note_node(char* to, size_t size) {
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &value), "the node's name");
  snprintf(to, size, "%s", value->data.string);
  PMIX_VALUE_RELEASE(value);
}

static void check_restart(const char* from) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  expect_string(&all, PMIX_JOB_CTRL_RESTART, from, 0);
}

static void run(void) {
  folder = case_args[0];
  demand(folder != NULL, "a folder");
  begin();
  struct state x = {0, 0};
  const char* from = getenv("TROUPE_CHECKPOINT_ID");
  if (from != NULL) {
    check_restart(from);
    restore(&x);
  }
  const unsigned long began = x.step;
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR2, &action, NULL);
  pmix_status_t code = PMIX_JCTRL_CHECKPOINT;
  handle(&code, 1, on_checkpoint);
  code = PMIX_JCTRL_PREEMPT_ALERT;
  if (is_given("alert") && me.rank % 2 == 0)
    handle(&code, 1, on_alert);
  declare(is_given("signal"), is_given("event"), is_given("preemptible"));
  meet();
  write_line("nspace", me.nspace);
  char stop[4096];
  snprintf(stop, sizeof stop, "%s/stop", folder);
  while (access(stop, F_OK) != 0) {
    ++x.step;
    x.sum += x.step;
    pause_ms(2);
    if (atomic_exchange(&alerted, 0) != 0) {
      write_line("alerted", me.nspace);
      say_complete();
    }
    const bool is_asked =
      atomic_exchange(&asked_by_event, 0) != 0 || asked_by_signal != 0;
    asked_by_signal = 0;
    if (!is_asked)
      continue;
    if (has("dies"))
      raise(SIGKILL);
    save(&x);
    if (!has("silent"))
      say_complete();
  }
  demand(x.sum == x.step * (x.step + 1) / 2, "nothing is lost");
  char node[256];
  note_node(node, sizeof node);
  char line[600];
  snprintf(line, sizeof line, "%s %s", began > 0 ? "restored" : "fresh", node);
  write_line("result", line);
  end();
}

/* -- nodes ----------------------------------------------------------------- */

static void provision(void) {
  demand(case_args[0] != NULL && case_args[1] != NULL, "nodes and an image");
  begin();
  pmix_info_t infos[] = {
    string_info(PMIX_JOB_CTRL_PROVISION, case_args[0]),
    string_info(PMIX_JOB_CTRL_PROVISION_IMAGE, case_args[1])};
  struct pending done = PENDING;
  succeed(PMIx_Job_control_nb(NULL, 0, infos, 2, on_declared, &done),
          "asking for nodes");
  demand(happens(&done, 1, 15), "that is answered");
  printf("%d\n", done.outcome);
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"run", run},
                                           {"provision", provision}};
  return RUN_CASE(cases);
}
