/* Processes that end and are started again in their place.
 *
 *   restarts dies N       rank 1 kills itself in its first N lives, after it has
 *                         posted which life it is
 *   restarts in_fence     rank 1 dies amid a fence that others wait in
 *   restarts stays        each says which life it is, until there is a file
 *                         `stop`
 *   restarts directives   starts jobs with directives of PMIx_Spawn
 *
 * Whoever lives hears of each restart (PMIX_ERR_PROC_RESTART). */

#include "client.h"

#include <sys/time.h>

static struct pending restarted = PENDING;

static void on_restart(size_t handler UNUSED, pmix_status_t code,
                       const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                       size_t n, pmix_info_t* results UNUSED,
                       size_t nresults UNUSED,
                       pmix_event_notification_cbfunc_fn_t done, void* data) {
  bool is_of_one = false;
  bool has_status = false;
  for (size_t i = 0; i < n; ++i) {
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC))
      is_of_one = infos[i].value.data.proc->rank == 1;
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EXIT_CODE))
      has_status = infos[i].value.data.integer > 128;
  }
  happen(&restarted, is_of_one && has_status ? code : PMIX_ERROR);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* How often this process has been started again; all who know agree. */
static uint32_t life(void) {
  const char* text = getenv("TROUPE_RESTARTS");
  const uint32_t result = text != NULL ? (uint32_t)atoi(text) : 0;
  const uint32_t told = number_of(&me, PMIX_REINCARNATION);
  if (told != result)
    fail("PMIX_REINCARNATION is %u, expected %u", told, result);
  return result;
}

static void hear_of_restarts(void) {
  pmix_status_t code = PMIX_ERR_PROC_RESTART;
  handle(&code, 1, on_restart);
}

static void say(const char* what, uint32_t number) {
  printf("rank %u %s %u\n", me.rank, what, number);
  fflush(stdout);
}

static void die(void) {
  fflush(NULL);
  raise(SIGKILL);
}

/* -- cases ----------------------------------------------------------------- */

static void dies(void) {
  const uint32_t lives = (uint32_t)atoi(case_args[0]);
  begin();
  const uint32_t number = life();
  if (number == 0) {
    hear_of_restarts();
    meet();
  }
  if (me.rank == 1) {
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    post(number == 0 ? "former" : "latter", text);
    post("life", text);
    say("lives", number);
    if (number < lives)
      die();
  } else {
    demand(happens(&restarted, (int)lives, 20), "the restarts are told");
    expect(restarted.outcome, PMIX_ERR_PROC_RESTART, "the event");
  }
  meet();
  char wanted[16];
  snprintf(wanted, sizeof wanted, "%u", lives);
  const pmix_proc_t one = rank_of(1);
  expect_string(&one, "life", wanted, 10);
  if (me.rank != 1) {
    // What only the former life has posted went with it.
    const pmix_info_t now_only = flag_info(PMIX_IMMEDIATE);
    demand(try_get(&one, "former", &now_only, 1) != PMIX_SUCCESS,
           "nothing is left of the former life");
  }
  say("sees life", lives);
  meet();
  end();
}

static void in_fence(void) {
  begin();
  const uint32_t number = life();
  if (number == 0) {
    hear_of_restarts();
    meet();
  }
  if (me.rank == 1 && number == 0) {
    // Long enough for the fence to have arrived; SIGALRM ends us.
    const struct itimerval soon = {{0, 0}, {0, 300000}};
    setitimer(ITIMER_REAL, &soon, NULL);
  }
  if (me.rank == 0)
    demand(happens(&restarted, 1, 20), "the restart is told");
  meet();
  meet();
  say("is done", number);
  end();
}

static void stays(void) {
  begin();
  say("lives", life());
  while (access("stop", F_OK) != 0)
    pause_ms(20);
  end();
}

/* -- directives of PMIx_Spawn ---------------------------------------------- */

static pmix_status_t spawn(const char* script, pmix_info_t* infos, size_t n) {
  char* argv[] = {"/bin/sh", "-c", (char*)script, NULL};
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = "/bin/sh";
  app.argv = argv;
  app.maxprocs = 1;
  pmix_nspace_t nspace;
  return PMIx_Spawn(infos, n, &app, 1, nspace);
}

static void is_there(const char* name) {
  for (int i = 0; access(name, F_OK) != 0; ++i) {
    if (i > 1000)
      fail("%s does not come", name);
    pause_ms(10);
  }
}

static void refuses_as(pmix_info_t x, pmix_status_t why) {
  char script[64];
  snprintf(script, sizeof script, "touch started.%.30s", x.key);
  expect(spawn(script, &x, 1), why, x.key);
  demand(access(script + strlen("touch "), F_OK) != 0, "nothing is started");
}

static void refuses(pmix_info_t x) {
  refuses_as(x, PMIX_ERR_NOT_SUPPORTED);
}

/* Two programs, of which the second has an info. */
static pmix_status_t spawn_two(pmix_info_t* job, pmix_info_t* second) {
  char* argv[2][4] = {{"/bin/sh", "-c", "touch first", NULL},
                      {"/bin/sh", "-c", "touch second", NULL}};
  pmix_app_t apps[2];
  for (int i = 0; i < 2; ++i) {
    PMIX_APP_CONSTRUCT(&apps[i]);
    apps[i].cmd = "/bin/sh";
    apps[i].argv = argv[i];
    apps[i].maxprocs = 1;
  }
  apps[1].info = second;
  apps[1].ninfo = 1;
  pmix_nspace_t nspace;
  return PMIx_Spawn(job, job != NULL ? 1 : 0, apps, 2, nspace);
}

/* A job has one mapping: that of a later program is not dropped. */
static void later_programs(void) {
  pmix_info_t wishes[] = {
    string_info(PMIX_MAPBY, "node"), string_info(PMIX_RANKBY, "fill"),
    string_info(PMIX_BINDTO, "none"), string_info(PMIX_PPR, "1:node")};
  for (size_t i = 0; i < sizeof wishes / sizeof *wishes; ++i) {
    expect(spawn_two(NULL, &wishes[i]), PMIX_ERR_NOT_SUPPORTED, wishes[i].key);
    demand(access("first", F_OK) != 0, "nothing is started");
  }
  pmix_info_t of_job = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  pmix_info_t same = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  succeed(spawn_two(&of_job, &same), "what the job says, too");
  is_there("first");
  is_there("second");
}

static void directives(void) {
  begin();
  later_programs();
  // What says where processes go, or how they begin, is never passed over.
  refuses(string_info("pmix.hostfile", "nodes"));
  refuses(string_info("pmix.addhostfile", "nodes"));
  refuses(int_info("pmix.colnum.node", 1));
  refuses(flag_info("pmix.cospawn"));
  refuses(flag_info("pmix.dbg.exec"));
  refuses_as(string_info("pmix.mapby", "slot:PE=x"), PMIX_ERR_BAD_PARAM);
  // What else is not done is refused if it is required.
  const char* others[] = {"pmix.nohup", "pmix.preloadbin", "pmix.fwdenv",
                          "nobody.knows.this"};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    pmix_info_t x = flag_info(others[i]);
    PMIX_INFO_REQUIRED(&x);
    refuses(x);
  }
  pmix_info_t optional = flag_info("pmix.nohup");
  succeed(spawn("touch optional", &optional, 1), "an optional directive");
  is_there("optional");
  pmix_info_t map = flag_info("pmix.dispmap");
  PMIX_INFO_REQUIRED(&map);
  succeed(spawn("touch mapped", &map, 1), "PMIX_DISPLAY_MAP");
  is_there("mapped");
  pmix_info_t index = flag_info("pmix.indxargv");
  PMIX_INFO_REQUIRED(&index);
  succeed(spawn("touch \"arg${0##*/}\"", &index, 1), "PMIX_INDEX_ARGV");
  is_there("argsh-0");
  pmix_info_t prefix = string_info("pmix.prefix", "/somewhere");
  succeed(
    spawn("case $PATH in /somewhere/bin:*) touch prefix ;; esac", &prefix, 1),
    "PMIX_PREFIX");
  is_there("prefix");
  const uint32_t most = 1;
  pmix_info_t again;
  PMIX_INFO_LOAD(&again, "pmix.maxrestarts", &most, PMIX_UINT32);
  succeed(spawn("[ \"$TROUPE_RESTARTS\" = 1 ] && touch again && exit; exit 3",
                &again, 1),
          "PMIX_MAX_RESTARTS");
  is_there("again");
  pmix_info_t limits[2] = {int_info("pmix.sp.time", 20),
                           int_info(PMIX_TIMEOUT, 20)};
  succeed(spawn("touch limited", limits, 2), "PMIX_SPAWN_TIMEOUT");
  is_there("limited");
  end();
}

static const struct test_case cases[] = {
  {"dies", dies},
  {"in_fence", in_fence},
  {"stays", stays},
  {"directives", directives},
};

int main(int argc, char** argv) {
  return RUN_CASE(cases);
}
