/* The use of resources, as a process is told of it and as the kernel tells it.
 *
 *   usage self       rank 0 works and compares what it is told with /proc
 *   usage job        one sample of all processes, of the node and its devices
 *   usage updates    samples that come by themselves until they are cancelled
 *   usage range      samples for others: the job, then one process
 *   usage listed FILE
 *                    all are told of the job each second, until somebody else has
 *                    ended that and made FILE
 *   usage nodes N    processes of N nodes, and the nodes themselves */

#include "client.h"

#include <sys/resource.h>

/* The headers of release 4 do not have these. */
#define PROC_USAGE "pmix.monitor.presuse"
#define NODE_USAGE "pmix.monitor.ndresuse"
#define DISK_USAGE "pmix.monitor.dkresuse"
#define NET_USAGE "pmix.monitor.netresuse"
#define RATE "pmix.monitor.resrate"
#define TARGET_PROCS "pmix.monitor.tgtproc"
#define TARGET_NETS "pmix.monitor.tgtnets"
#define LOCAL_ONLY "pmix.monitor.local"
#define UPDATE (-114)

static pmix_info_t* results;
static size_t nresults;

static pmix_status_t sample(const char* what, pmix_info_t* directives,
                            size_t n) {
  pmix_data_array_t none = {.type = PMIX_INFO, .size = 0, .array = NULL};
  pmix_info_t monitor;
  PMIX_INFO_LOAD(&monitor, what, &none, PMIX_DATA_ARRAY);
  results = NULL;
  nresults = 0;
  return PMIx_Process_monitor(&monitor, UPDATE, directives, n, &results,
                              &nresults);
}

/* The element `key` of an array of infos; null if there is none. */
static const pmix_value_t* element(const pmix_info_t* of, const char* key) {
  demand(of->value.type == PMIX_DATA_ARRAY, "a sample is an array");
  const pmix_data_array_t* array = of->value.data.darray;
  demand(array->type == PMIX_INFO, "a sample is an array of infos");
  const pmix_info_t* infos = array->array;
  for (size_t i = 0; i < array->size; ++i)
    if (PMIX_CHECK_KEY(&infos[i], key))
      return &infos[i].value;
  return NULL;
}

static double real(const pmix_info_t* of, const char* key) {
  const pmix_value_t* x = element(of, key);
  if (x == NULL || x->type != PMIX_FLOAT)
    fail("%s is no float", key);
  return x->data.fval;
}

static double seconds_of(const pmix_info_t* of) {
  const pmix_value_t* x = element(of, "pmix.proc.time");
  demand(x != NULL && x->type == PMIX_TIMEVAL, "CPU time is a timeval");
  return (double)x->data.tv.tv_sec + (double)x->data.tv.tv_usec * 1e-6;
}

static pmix_info_t procs_info(pmix_proc_t* procs, size_t n) {
  pmix_data_array_t array = {.type = PMIX_PROC, .size = n, .array = procs};
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, TARGET_PROCS, &array, PMIX_DATA_ARRAY);
  return result;
}

static double cpu_time(void) {
  struct rusage x;
  getrusage(RUSAGE_SELF, &x);
  return (double)(x.ru_utime.tv_sec + x.ru_stime.tv_sec)
         + (double)(x.ru_utime.tv_usec + x.ru_stime.tv_usec) * 1e-6;
}

/* A number in MB behind a name in a file of the kernel. */
static double kernel_mb(const char* path, const char* name) {
  char line[256];
  const size_t length = strlen(name);
  double result = -1;
  FILE* file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, length) == 0 && line[length] == ':')
      result = atof(line + length + 1) / 1024;
  if (file != NULL)
    fclose(file);
  demand(result >= 0, name);
  return result;
}

static void demand_near(const char* what, double told, double low, double high,
                        double tolerance) {
  printf("%s: told %.2f, the kernel says %.2f to %.2f\n", what, told, low,
         high);
  if (told < low - tolerance || told > high + tolerance)
    fail("%s: %f is not between %f and %f", what, told, low, high);
}

static void run_self(void) {
  begin();
  const size_t size = (size_t)96 << 20;
  char* block = malloc(size);
  memset(block, 1, size);
  while (cpu_time() < 0.5)
    for (size_t i = 0; i < size; i += 4096)
      ++block[i];
  pmix_info_t target = procs_info(&me, 1);
  const double cpu_before = cpu_time();
  const double rss_before = kernel_mb("/proc/self/status", "VmRSS");
  succeed(sample(PROC_USAGE, &target, 1), "a sample of this process");
  const double cpu_after = cpu_time();
  const double rss_after = kernel_mb("/proc/self/status", "VmRSS");
  demand(nresults == 1, "one process is told of");
  demand(PMIX_CHECK_KEY(&results[0], "pmix.proc.res"), "by the key for that");
  const pmix_value_t* who = element(&results[0], PMIX_PROCID);
  demand(who != NULL && PMIX_CHECK_PROCID(who->data.proc, &me), "itself");
  const pmix_value_t* pid = element(&results[0], PMIX_PROC_PID);
  demand(pid != NULL && pid->data.pid == getpid(), "its number");
  /* The kernel counts CPU time in ticks of 10 ms, twice. */
  demand_near("CPU time in s", seconds_of(&results[0]), cpu_before, cpu_after,
              0.03);
  demand_near("resident MB", real(&results[0], "pmix.proc.rss"), rss_before,
              rss_after, 2);
  demand(real(&results[0], "pmix.proc.pss") >= 96, "its own memory");
  demand(real(&results[0], "pmix.proc.pcpu") > 0, "it has worked");
  demand(element(&results[0], "pmix.proc.samptime") != NULL, "when");
  PMIX_INFO_FREE(results, nresults);
  free(block);
  end();
}

static void run_job(void) {
  begin();
  meet();
  if (me.rank == 0) {
    succeed(sample(PROC_USAGE, NULL, 0), "a sample of the job");
    demand(nresults == job_size, "all processes are told of");
    PMIX_INFO_FREE(results, nresults);
    succeed(sample(NODE_USAGE, NULL, 0), "a sample of the node");
    demand(nresults == 1, "one node is told of");
    demand_near("memory of the node in MB", real(&results[0], "pmix.node.mtot"),
                kernel_mb("/proc/meminfo", "MemTotal"),
                kernel_mb("/proc/meminfo", "MemTotal"), 1);
    demand(element(&results[0], "pmix.net.res") != NULL, "with its networks");
    PMIX_INFO_FREE(results, nresults);
    char* names[] = {"lo"};
    pmix_data_array_t array = {.type = PMIX_STRING, .size = 1, .array = names};
    pmix_info_t target;
    PMIX_INFO_LOAD(&target, TARGET_NETS, &array, PMIX_DATA_ARRAY);
    succeed(sample(NET_USAGE, &target, 1), "a sample of a network");
    demand(nresults == 1 && element(&results[0], "pmix.net.rcb") != NULL,
           "one network is told of");
    PMIX_INFO_FREE(results, nresults);
    succeed(sample(DISK_USAGE, NULL, 0), "a sample of the disks");
    if (nresults > 0)
      PMIX_INFO_FREE(results, nresults);
    pmix_proc_t nobody = rank_of(job_size);
    pmix_info_t missing = procs_info(&nobody, 1);
    expect(sample(PROC_USAGE, &missing, 1), PMIX_ERR_NOT_FOUND,
           "a process that is not there");
    pmix_info_t wrong = string_info(RATE, "often");
    expect(sample(PROC_USAGE, &wrong, 1), PMIX_ERR_BAD_PARAM, "a wrong rate");
  }
  meet();
  end();
}

static struct pending updates = PENDING;
static size_t processes_told;

static void on_update(size_t handler UNUSED, pmix_status_t code,
                      const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                      size_t n, pmix_info_t* more UNUSED, size_t nmore UNUSED,
                      pmix_event_notification_cbfunc_fn_t done, void* data) {
  processes_told = 0;
  for (size_t i = 0; i < n; ++i)
    processes_told += PMIX_CHECK_KEY(&infos[i], "pmix.proc.res") ? 1 : 0;
  happen(&updates, code);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void run_updates(void) {
  begin();
  pmix_status_t code = UPDATE;
  handle(&code, 1, on_update);
  meet();
  if (me.rank == 0) {
    uint32_t rate = 1;
    pmix_info_t directives[2];
    PMIX_INFO_LOAD(&directives[0], RATE, &rate, PMIX_UINT32);
    directives[1] = string_info(PMIX_MONITOR_ID, "mine");
    const double start = now();
    succeed(sample(PROC_USAGE, directives, 2), "a sample of the job");
    demand(nresults == job_size, "the first is the answer");
    PMIX_INFO_FREE(results, nresults);
    demand(happens(&updates, 2, 10), "two more follow");
    printf("two updates after %.2f s\n", now() - start);
    demand(now() - start >= 1.9, "not before they are due");
    demand(processes_told == job_size, "of all processes");
    pmix_info_t which = string_info(PMIX_MONITOR_CANCEL, "mine");
    succeed(
      PMIx_Process_monitor(&which, PMIX_SUCCESS, NULL, 0, &results, &nresults),
      "the end of the updates");
    pause_ms(200);
    const int told = updates.happened;
    pause_ms(1500);
    demand(updates.happened == told, "none follows");
  }
  meet();
  demand(me.rank == 0 || updates.happened == 0, "nobody else is told");
  end();
}

/* Rank 0 has the updates told to its namespace, then to rank 2 alone. */
static void run_range(void) {
  begin();
  pmix_status_t code = UPDATE;
  handle(&code, 1, on_update);
  meet();
  const pmix_proc_t one = rank_of(2);
  uint32_t rate = 1;
  pmix_info_t directives[4] = {flag_info(RATE),
                               string_info(PMIX_MONITOR_ID, "all"),
                               range_info(PMIX_RANGE_CUSTOM)};
  PMIX_INFO_LOAD(&directives[0], RATE, &rate, PMIX_UINT32);
  if (me.rank == 0) {
    expect(sample(PROC_USAGE, directives, 3), PMIX_ERR_BAD_PARAM,
           "a range without those that it is of");
    directives[2] = range_info(PMIX_RANGE_NAMESPACE);
    succeed(sample(PROC_USAGE, directives, 3), "updates for the job");
  }
  demand(happens(&updates, 1, 10), "all of the job are told");
  demand(processes_told == job_size, "of all processes");
  meet();
  if (me.rank == 0) {
    pmix_info_t which = string_info(PMIX_MONITOR_CANCEL, "all");
    succeed(
      PMIx_Process_monitor(&which, PMIX_SUCCESS, NULL, 0, &results, &nresults),
      "the end of the updates");
  }
  meet();
  const int before = updates.happened;
  meet();
  if (me.rank == 0) {
    directives[2] = range_info(PMIX_RANGE_CUSTOM);
    PMIX_INFO_LOAD(&directives[3], PMIX_EVENT_CUSTOM_RANGE, &one, PMIX_PROC);
    succeed(sample(PROC_USAGE, directives, 4), "updates for one");
  }
  if (me.rank == 2)
    demand(happens(&updates, before + 2, 10), "it is told");
  meet();
  demand(me.rank == 2 || updates.happened == before, "nobody else is told");
  end();
}

static void run_listed(void) {
  begin();
  demand(case_args[0] != NULL, "a file is named");
  pmix_status_t code = UPDATE;
  handle(&code, 1, on_update);
  uint32_t rate = 1;
  pmix_info_t directives[2];
  PMIX_INFO_LOAD(&directives[0], RATE, &rate, PMIX_UINT32);
  directives[1] = string_info(PMIX_MONITOR_ID, "mine");
  succeed(sample(PROC_USAGE, directives, 2), "updates");
  PMIX_INFO_FREE(results, nresults);
  demand(happens(&updates, 1, 20), "it is told");
  meet();
  if (me.rank == 0) {
    printf("told\n");
    fflush(stdout);
  }
  while (access(case_args[0], F_OK) != 0)
    pause_ms(50);
  pause_ms(200);
  const int before = updates.happened;
  pause_ms(1500);
  demand(updates.happened == before, "none follows");
  pmix_info_t which = string_info(PMIX_MONITOR_CANCEL, "mine");
  expect(
    PMIx_Process_monitor(&which, PMIX_SUCCESS, NULL, 0, &results, &nresults),
    PMIX_ERR_NOT_FOUND, "to end what has been ended");
  end();
}

static void run_nodes(void) {
  begin();
  meet();
  const size_t nodes = (size_t)atoi(case_args[0]);
  if (me.rank == 0) {
    succeed(sample(PROC_USAGE, NULL, 0), "a sample of the job");
    demand(nresults == job_size, "all processes are told of");
    for (uint32_t rank = 0; rank < job_size; ++rank) {
      size_t found = 0;
      for (size_t i = 0; i < nresults; ++i)
        found += element(&results[i], PMIX_PROCID)->data.proc->rank == rank;
      demand(found == 1, "each once");
    }
    PMIX_INFO_FREE(results, nresults);
    pmix_proc_t last = rank_of(job_size - 1);
    pmix_info_t target = procs_info(&last, 1);
    succeed(sample(PROC_USAGE, &target, 1), "a process of another node");
    demand(nresults == 1, "one is told of");
    printf("rank %u runs on %s\n", last.rank,
           element(&results[0], PMIX_HOSTNAME)->data.string);
    PMIX_INFO_FREE(results, nresults);
    succeed(sample(NODE_USAGE, NULL, 0), "a sample of the nodes");
    demand(nresults == nodes, "all nodes are told of");
    PMIX_INFO_FREE(results, nresults);
    pmix_info_t local = flag_info(LOCAL_ONLY);
    succeed(sample(NODE_USAGE, &local, 1), "a sample of this node");
    demand(nresults == 1, "this node is told of");
    PMIX_INFO_FREE(results, nresults);
  }
  meet();
  end();
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
    {"self", run_self},   {"job", run_job},       {"updates", run_updates},
    {"range", run_range}, {"listed", run_listed}, {"nodes", run_nodes}};
  return RUN_CASE(cases);
}
