/* Processes that are monitored, by themselves and by others.
 *
 *   monitors beats            rank 0 has itself watched by several monitors,
 *                             beats for a while and stops; all hear of it in
 *                             time and never early
 *   monitors range            alerts for all, for the job, for one, with a code
 *                             of its own
 *   monitors cancels          by identifier, all, the wrong one
 *   monitors stopped          rank 0 stops rank 1, which beats by a thread
 *   monitors steady SECONDS   each process beats all the time and must not hear
 *                             of an alert
 *   monitors memory           beats a second long on three threads, without a
 *                             message, and stops
 *   monitors files FOLDER     files that grow, are read, vanish
 *   monitors refused FOLDER   what cannot be monitored
 *   monitors seconds FOLDER   beats and a file, by the second
 *   monitors access FOLDER    files that are read, or only written
 *   monitors app_control      the system kills, but where the program reacts
 *   monitors answers FILE     prints what is said of requests
 *
 * TROUPE_SLOW says how many times slower than usual the machine is. */

#include "client.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* PMIX_MONITOR_HEARTBEAT_TIME and PMIX_MONITOR_FILE_CHECK_TIME in
 * milliseconds. */
#define HEARTBEAT_MS "troupe.monitor.heartbeat_ms"
#define FILE_CHECK_MS "troupe.monitor.file_check_ms"

/* -- requests -------------------------------------------------------------- */

static pmix_info_t number_info(const char* key, uint32_t value) {
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, key, &value, PMIX_UINT32);
  return result;
}

/* As the RFC loads a (void). */
static pmix_info_t void_info(const char* key) {
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, key, NULL, PMIX_POINTER);
  return result;
}

static void on_answer(pmix_status_t outcome, pmix_info_t* infos UNUSED,
                      size_t n UNUSED, void* data,
                      pmix_release_cbfunc_t release, void* release_data) {
  if (release != NULL)
    release(release_data);
  happen(data, outcome);
}

static pmix_status_t monitor(pmix_info_t what, pmix_status_t code,
                             pmix_info_t* directives, size_t n) {
  struct pending done = PENDING;
  const pmix_status_t outcome =
    PMIx_Process_monitor_nb(&what, code, directives, n, on_answer, &done);
  if (outcome != PMIX_SUCCESS)
    return outcome;
  demand(happens(&done, 1, 10), "the request is answered");
  return done.outcome;
}

static void watch_beats(const char* id, uint32_t ms, uint32_t drops) {
  pmix_info_t directives[] = {string_info(PMIX_MONITOR_ID, id),
                              number_info(HEARTBEAT_MS, ms),
                              number_info(PMIX_MONITOR_HEARTBEAT_DROPS, drops)};
  succeed(
    monitor(void_info(PMIX_MONITOR_HEARTBEAT), PMIX_SUCCESS, directives, 3),
    "monitor of heartbeats");
}

static pmix_status_t cancel(pmix_info_t which) {
  return monitor(which, PMIX_SUCCESS, NULL, 0);
}

static void beat(void) {
  PMIx_Heartbeat();
}

static void beat_for(double seconds, long every_ms) {
  const double until = now() + seconds;
  while (now() < until) {
    beat();
    pause_ms(every_ms);
  }
}

/* -- alerts ---------------------------------------------------------------- */

struct alert {
  double when;
  pmix_status_t code;
  pmix_proc_t source;
  pmix_proc_t affected;
  char id[64];
  char file[256];
};

static struct alert alerts[64];
static struct pending heard = PENDING;

static void on_alert(size_t handler UNUSED, pmix_status_t code,
                     const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  struct alert x = {.when = now(), .code = code};
  if (source != NULL)
    x.source = *source;
  for (size_t i = 0; i < n; ++i) {
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC))
      x.affected = *infos[i].value.data.proc;
    if (PMIX_CHECK_KEY(&infos[i], PMIX_MONITOR_ID))
      snprintf(x.id, sizeof x.id, "%s", infos[i].value.data.string);
    if (PMIX_CHECK_KEY(&infos[i], PMIX_MONITOR_FILE))
      snprintf(x.file, sizeof x.file, "%s", infos[i].value.data.string);
  }
  if (heard.happened < 64)
    alerts[heard.happened] = x;
  happen(&heard, code);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static pmix_status_t codes[] = {PMIX_MONITOR_HEARTBEAT_ALERT,
                                PMIX_MONITOR_FILE_ALERT, PMIX_ERR_PROC_MIGRATE};

static void listen_for_alerts(void) {
  handle(codes, 3, on_alert);
}

static const struct alert* find_alert(const char* id) {
  for (int i = 0; i < heard.happened; ++i)
    if (strcmp(alerts[i].id, id) == 0)
      return &alerts[i];
  fail("no alert of monitor %s", id);
}

/* How much later than due an alert may come. */
static double tolerance(void) {
  const char* slow = getenv("TROUPE_SLOW");
  return 0.05 * (slow != NULL ? atof(slow) : 1);
}

static void expect_on_time(const char* id, double due) {
  const struct alert* x = find_alert(id);
  const double late = x->when - due;
  printf("rank %u: alert of %s is %.1f ms after it is due\n", me.rank, id,
         late * 1e3);
  if (late < 0 || late > tolerance())
    fail("alert of %s comes %.1f ms after it is due", id, late * 1e3);
}

/* Rank 0 tells the others a moment of its clock, which is theirs, too. */
static double share(const char* key, double moment) {
  char text[64];
  if (me.rank == 0) {
    snprintf(text, sizeof text, "%.9f", moment);
    post(key, text);
    meet();
    return moment;
  }
  meet();
  const pmix_proc_t first = rank_of(0);
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(&first, key, NULL, 0, &value), key);
  moment = atof(value->data.string);
  PMIX_VALUE_RELEASE(value);
  return moment;
}

/* -- cases ----------------------------------------------------------------- */

static void beats(void) {
  begin();
  listen_for_alerts();
  meet();
  double last = 0;
  if (me.rank == 0) {
    watch_beats("fast", 300, 1);
    watch_beats("slow", 1000, 0);
    watch_beats("slower", 300, 3);
    beat_for(1.5, 100);
    demand(heard.happened == 0, "no alert while it beats");
    last = now();
    beat();
  }
  // The fence would be a sign of life if anything but a beat were one.
  last = share("last", last);
  demand(happens(&heard, 3, 10), "three alerts come");
  expect_on_time("fast", last + 0.6);
  expect_on_time("slow", last + 1.0);
  expect_on_time("slower", last + 1.2);
  const pmix_proc_t first = rank_of(0);
  for (int i = 0; i < 3; ++i) {
    demand(alerts[i].code == PMIX_MONITOR_HEARTBEAT_ALERT, "code");
    demand(PMIX_CHECK_PROCID(&alerts[i].source, &first), "source");
    demand(PMIX_CHECK_PROCID(&alerts[i].affected, &first), "affected");
  }
  meet();
  // One alert for one silence; the next beat arms the monitors.
  pause_ms(500);
  demand(heard.happened == 3, "no alert comes twice");
  if (me.rank == 0)
    beat();
  demand(happens(&heard, 6, 10), "all of them come again");
  meet();
  end();
}

struct beater {
  uint64_t beats;
  double last_begun;
};

static void* beat_fast(void* data) {
  struct beater* const self = data;
  const double until = now() + 1;
  do {
    self->last_begun = now();
    beat();
    ++self->beats;
  } while (self->last_begun < until);
  return NULL;
}

/* Segments that this process has sent on all of its TCP connections. */
static uint64_t segments_sent(void) {
  uint64_t result = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    struct tcp_info about;
    socklen_t size = sizeof(about);
    memset(&about, 0, sizeof(about));
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &about, &size) == 0)
      result += about.tcpi_segs_out;
  }
  return result;
}

static void memory(void) {
  enum { threads = 3 };
  pthread_t ids[threads];
  struct beater beaters[threads] = {{0, 0}};
  begin();
  listen_for_alerts();
  watch_beats("fast", 1000, 1);
  const uint64_t before = segments_sent();
  demand(before > 0, "it has a connection to its server");
  for (int i = 0; i < threads; ++i)
    demand(pthread_create(&ids[i], NULL, beat_fast, &beaters[i]) == 0,
           "a thread");
  uint64_t sum = 0;
  double last = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
    sum += beaters[i].beats;
    last = beaters[i].last_begun > last ? beaters[i].last_begun : last;
  }
  const uint64_t segments = segments_sent() - before;
  printf("%llu beats in a second, %llu segments\n", (unsigned long long)sum,
         (unsigned long long)segments);
  demand(heard.happened == 0, "no alert while it beats");
  // A busy machine has fewer beats; each by a message would be a segment of its own, or
  // share one with those that came at the same time.
  demand(sum >= 1000, "it beats more often than it could send by chance");
  demand(segments < 20, "beats are no messages");
  demand(happens(&heard, 1, 10), "its silence is noticed");
  demand(find_alert("fast")->when >= last + 1.9, "not too early");
  end();
}

static void range(void) {
  begin();
  listen_for_alerts();
  meet();
  if (me.rank == 0) {
    const pmix_proc_t one = rank_of(1);
    pmix_info_t directives[] = {number_info(HEARTBEAT_MS, 100),
                                string_info(PMIX_MONITOR_ID, "own"),
                                range_info(PMIX_RANGE_PROC_LOCAL)};
    succeed(
      monitor(void_info(PMIX_MONITOR_HEARTBEAT), PMIX_SUCCESS, directives, 3),
      "own");
    pmix_info_t custom[] = {
      number_info(HEARTBEAT_MS, 100), string_info(PMIX_MONITOR_ID, "one"),
      range_info(PMIX_RANGE_CUSTOM), flag_info(PMIX_EVENT_NON_DEFAULT)};
    PMIX_INFO_LOAD(&custom[3], PMIX_EVENT_CUSTOM_RANGE, &one, PMIX_PROC);
    succeed(monitor(void_info(PMIX_MONITOR_HEARTBEAT), PMIX_ERR_PROC_MIGRATE,
                    custom, 4),
            "one");
    demand(happens(&heard, 1, 5), "its own alert comes");
  } else if (me.rank == 1) {
    demand(happens(&heard, 1, 5), "an alert with its name comes");
  }
  pause_ms(300);
  demand(heard.happened == (me.rank < 2 ? 1 : 0), "to nobody else");
  if (me.rank == 0)
    find_alert("own");
  if (me.rank == 1)
    demand(find_alert("one")->code == PMIX_ERR_PROC_MIGRATE,
           "the code that was asked for");
  meet();
  end();
}

static void cancels(void) {
  begin();
  listen_for_alerts();
  meet();
  watch_beats("a", 400, 0);
  watch_beats("b", 400, 0);
  if (me.rank == 0) {
    expect(cancel(string_info(PMIX_MONITOR_CANCEL, "c")), PMIX_ERR_NOT_FOUND,
           "an identifier that is not there");
    succeed(cancel(string_info(PMIX_MONITOR_CANCEL, "a")), "cancel a");
    succeed(cancel(string_info(PMIX_MONITOR_CANCEL, NULL)), "cancel all");
    succeed(cancel(void_info(PMIX_MONITOR_CANCEL)), "cancel all, of none");
  }
  demand(happens(&heard, 2, 5), "those of the other come");
  pause_ms(200);
  demand(heard.happened == 2, "and no others");
  demand(alerts[0].source.rank == 1 && alerts[1].source.rank == 1,
         "cancelling is one's own affair");
  meet();
  end();
}

static volatile bool is_over;

static void* beat_on(void* data UNUSED) {
  while (!is_over) {
    beat();
    pause_ms(50);
  }
  return NULL;
}

static void stopped(void) {
  begin();
  listen_for_alerts();
  pthread_t thread;
  char text[32];
  snprintf(text, sizeof text, "%d", (int)getpid());
  post("pid", text);
  if (me.rank == 1) {
    watch_beats("thread", 600, 0);
    pthread_create(&thread, NULL, beat_on, NULL);
  }
  meet();
  if (me.rank == 0) {
    const pmix_proc_t other = rank_of(1);
    pmix_value_t* value = NULL;
    succeed(PMIx_Get(&other, "pid", NULL, 0, &value), "pid");
    const pid_t pid = atoi(value->data.string);
    PMIX_VALUE_RELEASE(value);
    pause_ms(900);
    demand(heard.happened == 0, "no alert while it runs");
    const double when = now();
    kill(pid, SIGSTOP);
    const bool came = happens(&heard, 1, 5);
    kill(pid, SIGCONT);
    demand(came, "the process that was stopped is found");
    const double took = alerts[0].when - when;
    printf("found %.1f ms after it was stopped\n", took * 1e3);
    demand(took > 0.5 && took < 0.6 + tolerance(), "in time");
  } else {
    demand(happens(&heard, 1, 10), "it hears of itself once it goes on");
  }
  meet();
  demand(heard.happened == 1, "it is alive again");
  // No thread may call PMIx after the end.
  is_over = true;
  if (me.rank == 1)
    pthread_join(thread, NULL);
  end();
}

static void steady(void) {
  begin();
  listen_for_alerts();
  watch_beats("steady", 400, 0);
  meet();
  if (me.rank == 0) {
    printf("ready\n");
    fflush(stdout);
  }
  beat_for(case_args[0] != NULL ? atof(case_args[0]) : 3, 100);
  demand(heard.happened == 0, "no alert");
  meet();
  end();
}

/* -- files ----------------------------------------------------------------- */

static char path[512];

static void write_file(const char* name, const char* mode) {
  snprintf(path, sizeof path, "%s/%s", case_args[0], name);
  FILE* file = fopen(path, mode);
  demand(file != NULL, path);
  fputs("x", file);
  fclose(file);
}

static pmix_status_t watch_file(const char* name, const char* sign,
                                uint32_t drops) {
  snprintf(path, sizeof path, "%s/%s", case_args[0], name);
  pmix_info_t directives[] = {
    string_info(PMIX_MONITOR_ID, name), number_info(FILE_CHECK_MS, 200),
    number_info(PMIX_MONITOR_FILE_DROPS, drops), flag_info(sign)};
  return monitor(string_info(PMIX_MONITOR_FILE, path), PMIX_SUCCESS, directives,
                 4);
}

static void files(void) {
  begin();
  listen_for_alerts();
  meet();
  if (me.rank == 0) {
    write_file("grows", "w");
    write_file("written", "w");
    write_file("vanishes", "w");
    succeed(watch_file("grows", PMIX_MONITOR_FILE_SIZE, 1), "size");
    succeed(watch_file("written", PMIX_MONITOR_FILE_MODIFY, 1), "modify");
    succeed(watch_file("vanishes", PMIX_MONITOR_FILE_SIZE, 1), "vanishes");
    succeed(watch_file("comes", PMIX_MONITOR_FILE_SIZE, 3), "comes");
    for (int i = 0; i < 10; ++i) {
      write_file("grows", "a");
      write_file("written", "r+");
      write_file("vanishes", "a");
      if (i > 2)
        write_file("comes", "a");
      pause_ms(100);
    }
    demand(heard.happened == 0, "no alert while they are written");
    unlink(strcat(strcpy(path, case_args[0]), "/vanishes"));
  }
  demand(happens(&heard, 4, 5), "four alerts come");
  static const char* names[] = {"grows", "written", "vanishes", "comes"};
  for (int i = 0; i < 4; ++i) {
    const struct alert* x = find_alert(names[i]);
    demand(x->code == PMIX_MONITOR_FILE_ALERT, "code");
    snprintf(path, sizeof path, "%s/%s", case_args[0], names[i]);
    demand(strcmp(x->file, path) == 0, "the file is named");
    demand(x->source.rank == 0 && x->affected.rank == 0, "the process is");
  }
  meet();
  end();
}

static void refused(void) {
  begin();
  pmix_info_t time = number_info(PMIX_MONITOR_FILE_CHECK_TIME, 1);
  expect(watch_file(".", PMIX_MONITOR_FILE_SIZE, 0), PMIX_ERR_BAD_PARAM,
         "a folder");
  expect(
    monitor(string_info(PMIX_MONITOR_FILE, "relative"), PMIX_SUCCESS, &time, 1),
    PMIX_ERR_BAD_PARAM, "a relative path");
  expect(monitor(void_info(PMIX_MONITOR_HEARTBEAT), PMIX_SUCCESS, NULL, 0),
         PMIX_ERR_BAD_PARAM, "heartbeats without a time");
  expect(monitor(string_info(PMIX_MONITOR_FILE_ACCESS, "/proc/self/status"),
                 PMIX_SUCCESS, &time, 1),
         PMIX_ERR_BAD_PARAM, "a file of the kernel");
  pmix_info_t beat_time = number_info(PMIX_MONITOR_HEARTBEAT_TIME, 100);
  for (int i = 0; i < 64; ++i)
    succeed(
      monitor(void_info(PMIX_MONITOR_HEARTBEAT), PMIX_SUCCESS, &beat_time, 1),
      "one of 64");
  expect(
    monitor(void_info(PMIX_MONITOR_HEARTBEAT), PMIX_SUCCESS, &beat_time, 1),
    PMIX_ERR_OUT_OF_RESOURCE, "the 65th");
  end();
}

/* Seconds as the RFC has them, of beats and of a file that nobody writes. */
static void seconds(void) {
  begin();
  listen_for_alerts();
  write_file("still", "w");
  pmix_info_t of_beats[] = {string_info(PMIX_MONITOR_ID, "beats"),
                            number_info(PMIX_MONITOR_HEARTBEAT_TIME, 1)};
  pmix_info_t of_file[] = {string_info(PMIX_MONITOR_ID, "still"),
                           number_info(PMIX_MONITOR_FILE_CHECK_TIME, 1),
                           flag_info(PMIX_MONITOR_FILE_SIZE)};
  const double before = now();
  succeed(
    monitor(string_info(PMIX_MONITOR_FILE, path), PMIX_SUCCESS, of_file, 3),
    "a file once a second");
  succeed(monitor(void_info(PMIX_MONITOR_HEARTBEAT), PMIX_SUCCESS, of_beats, 2),
          "a beat a second");
  const double after = now();
  demand(happens(&heard, 2, 10), "both alerts come");
  for (int i = 0; i < 2; ++i) {
    printf("%s after %.3f s\n", alerts[i].id, alerts[i].when - before);
    demand(alerts[i].when - before >= 1, "not before the second is over");
    demand(alerts[i].when - after < 1 + 4 * tolerance(), "and not much later");
  }
  end();
}

static void read_file(const char* name) {
  char byte;
  snprintf(path, sizeof path, "%s/%s", case_args[0], name);
  FILE* file = fopen(path, "r");
  demand(file != NULL && fread(&byte, 1, 1, file) == 1, path);
  fclose(file);
}

/* A file that is written and not read shows no sign of life if reading is one;
 * one that is read does. By the key of the RFC and by the one that came after
 * it, which names files in an array. */
static void access_times(void) {
  begin();
  listen_for_alerts();
  write_file("written", "w");
  write_file("read", "w");
  const pmix_status_t outcome =
    watch_file("written", PMIX_MONITOR_FILE_ACCESS, 2);
  if (outcome != PMIX_SUCCESS) {
    printf("no access times: %s\n", PMIx_Error_string(outcome));
    end();
    return;
  }
  char* names[] = {NULL};
  snprintf(path, sizeof path, "%s/read", case_args[0]);
  names[0] = path;
  pmix_data_array_t array = {PMIX_STRING, 1, names};
  pmix_info_t directives[] = {
    string_info(PMIX_MONITOR_ID, "read"), number_info(FILE_CHECK_MS, 200),
    number_info(PMIX_MONITOR_FILE_DROPS, 2),
    flag_info(PMIX_MONITOR_FILE_ACCESS), flag_info("pmix.monitor.fmon")};
  PMIX_INFO_LOAD(&directives[4], "pmix.monitor.fmon", &array, PMIX_DATA_ARRAY);
  succeed(monitor(flag_info("pmix.monitor.fchg"), PMIX_SUCCESS, directives, 5),
          "by the new key");
  const double until = now() + 5;
  while (heard.happened == 0 && now() < until) {
    write_file("written", "a");
    /* Where access times are relative, the first reading after each writing
       counts. */
    write_file("read", "a");
    read_file("read");
    pause_ms(20);
  }
  demand(heard.happened == 1, "there is one alert");
  find_alert("written");
  demand(happens(&heard, 2, 5), "and one when nobody reads any more");
  find_alert("read");
  printf("access is a sign of life\n");
  end();
}

/* The job has whoever is silent killed: not whom the program sees to itself. */
static void app_control(void) {
  begin();
  listen_for_alerts();
  pmix_info_t own[] = {string_info(PMIX_MONITOR_ID, "own"),
                       number_info(HEARTBEAT_MS, 200),
                       flag_info(PMIX_MONITOR_APP_CONTROL)};
  succeed(monitor(void_info(PMIX_MONITOR_HEARTBEAT), PMIX_SUCCESS, own, 3),
          "its own affair");
  demand(happens(&heard, 1, 10), "the alert comes");
  /* By the way that a reaction takes, after it. */
  pmix_info_t ask = int_info(PMIX_JOB_CTRL_SIGNAL, 0);
  struct pending done = PENDING;
  succeed(PMIx_Job_control_nb(&me, 1, &ask, 1, on_answer, &done), "a signal");
  demand(happens(&done, 1, 10), "it is answered");
  printf("spared\n");
  fflush(stdout);
  own[0] = string_info(PMIX_MONITOR_ID, "system");
  succeed(monitor(void_info(PMIX_MONITOR_HEARTBEAT), PMIX_SUCCESS, own, 2),
          "the affair of the system");
  pause_ms(20000);
  fail("nobody ends the process");
}

/* What the callback says of a request that is granted, and of one that is not. */
static char reason[256];

static void on_reason(pmix_status_t outcome, pmix_info_t* infos, size_t n,
                      void* data, pmix_release_cbfunc_t release,
                      void* release_data) {
  reason[0] = '\0';
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_TEXT_MESSAGE))
      snprintf(reason, sizeof reason, "%s", infos[i].value.data.string);
  if (release != NULL)
    release(release_data);
  happen(data, outcome);
}

static void answers(void) {
  begin();
  pmix_info_t time = number_info(PMIX_MONITOR_FILE_CHECK_TIME, 60);
  const char* paths[] = {case_args[0], "relative"};
  for (int i = 0; i < 2; ++i) {
    struct pending done = PENDING;
    pmix_info_t what = string_info(PMIX_MONITOR_FILE, paths[i]);
    succeed(
      PMIx_Process_monitor_nb(&what, PMIX_SUCCESS, &time, 1, on_reason, &done),
      "a request");
    demand(happens(&done, 1, 10), "it is answered");
    printf("%d %s\n", done.outcome, reason);
  }
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"beats", beats},
                                           {"range", range},
                                           {"cancels", cancels},
                                           {"stopped", stopped},
                                           {"steady", steady},
                                           {"memory", memory},
                                           {"files", files},
                                           {"refused", refused},
                                           {"seconds", seconds},
                                           {"access", access_times},
                                           {"app_control", app_control},
                                           {"answers", answers}};
  return RUN_CASE(cases);
}
