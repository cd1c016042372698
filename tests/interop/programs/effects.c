/* What attributes do that contract.c shows not to be refused: those that
 * programs use most, each by what comes of it.
 *
 * `data` is of a job of two, the others are of one. */

#include "client.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

/* -- jobs that say how they are -------------------------------------------- */

/* Where files are, whatever the directory of a process. */
static char here[PATH_MAX];

/* Starts processes of a shell: `script`, with the variable PLACE as `old`. */
static pmix_status_t spawn(const char* script, int procs, pmix_info_t* job,
                           size_t njob, pmix_info_t* own, size_t nown,
                           char* nspace) {
  const char* const argv[] = {"/bin/sh", "-c", script};
  pmix_status_t outcome = PMIX_SUCCESS;
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup("/bin/sh");
  for (size_t i = 0; i < 3; ++i)
    PMIX_ARGV_APPEND(outcome, app.argv, argv[i]);
  PMIX_ARGV_APPEND(outcome, app.env, "PLACE=old");
  succeed(outcome, "arguments");
  app.maxprocs = procs;
  app.info = own;
  app.ninfo = nown;
  outcome = PMIx_Spawn(job, njob, &app, 1, nspace);
  app.info = NULL;
  app.ninfo = 0;
  PMIX_APP_DESTRUCT(&app);
  return outcome;
}

static void comes(const char* path) {
  for (int i = 0; access(path, F_OK) != 0; ++i) {
    if (i > 6000)
      fail("%s does not come", path);
    pause_ms(10);
  }
}

/* The first line of a file, once it is there. */
static void read_line(const char* path, char* line, size_t size) {
  comes(path);
  FILE* in = fopen(path, "r");
  demand(in != NULL, path);
  if (fgets(line, (int)size, in) == NULL)
    line[0] = '\0';
  line[strcspn(line, "\n")] = '\0';
  fclose(in);
}

/* Runs a command that sets `r`, and compares that. `is_own`: the infos are those
   of the program and not of the job. */
static void gives(const char* name, const char* command, const char* wanted,
                  pmix_info_t* infos, size_t n, bool is_own) {
  char script[3 * PATH_MAX], path[2 * PATH_MAX], line[PATH_MAX];
  pmix_nspace_t nspace;
  snprintf(path, sizeof path, "%s/effect.%s", here, name);
  snprintf(script, sizeof script, "%s; echo \"$r\" >'%s.new'; mv '%s.new' '%s'",
           command, path, path, path);
  for (size_t i = 0; i < n; ++i)
    PMIX_INFO_REQUIRED(&infos[i]);
  succeed(spawn(script, 1, is_own ? NULL : infos, is_own ? 0 : n,
                is_own ? infos : NULL, is_own ? n : 0, nspace),
          name);
  read_line(path, line, sizeof line);
  if (strcmp(line, wanted) != 0)
    fail("%s: \"%s\", expected \"%s\"", name, line, wanted);
}

/* A job that cannot be as it is asked to: none of it starts. */
static void is_refused(const char* name, int procs, pmix_info_t* infos,
                       size_t n) {
  char script[2 * PATH_MAX], path[2 * PATH_MAX];
  pmix_nspace_t nspace;
  snprintf(path, sizeof path, "%s/started.%s", here, name);
  snprintf(script, sizeof script, "touch '%s'", path);
  demand(spawn(script, procs, infos, n, NULL, 0, nspace) != PMIX_SUCCESS, name);
  demand(access(path, F_OK) != 0, name);
}

static pmix_info_t change(const char* key, const char* name) {
  pmix_envar_t what = {(char*)name, "new", ':'};
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, key, &what, PMIX_ENVAR);
  return result;
}

static void environment(void) {
  pmix_info_t infos[2] = {string_info(PMIX_UNSET_ENVAR, "PLACE")};
  gives("unset", "r=${PLACE-unset}", "unset", infos, 1, true);
  infos[0] = change(PMIX_SET_ENVAR, "PLACE");
  gives("set", "r=$PLACE", "new", infos, 1, true);
  infos[0] = change(PMIX_PREPEND_ENVAR, "PLACE");
  gives("prepend", "r=$PLACE", "new:old", infos, 1, true);
  infos[0] = change(PMIX_APPEND_ENVAR, "PLACE");
  gives("append", "r=$PLACE", "old:new", infos, 1, true);
  infos[0] = change(PMIX_ADD_ENVAR, "PLACE");
  infos[1] = change(PMIX_ADD_ENVAR, "FRESH");
  gives("add", "r=\"$PLACE ${FRESH-unset}\"", "old new", infos, 2, true);
}

static void directories(bool on_own_library) {
  char elsewhere[PATH_MAX + 16];
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", here);
  demand(mkdir(elsewhere, 0700) == 0, "a directory");
  pmix_info_t x = string_info(PMIX_WDIR, elsewhere);
  gives("wdir", "r=$(pwd -P)", elsewhere, &x, 1, true);
  /* Debian's library gives each program a directory, which goes before. */
  if (on_own_library)
    gives("job_wdir", "r=$(pwd -P)", elsewhere, &x, 1, false);
}

static void places(void) {
  pmix_value_t* host = NULL;
  const pmix_proc_t self = me;
  succeed(PMIx_Get(&self, PMIX_HOSTNAME, NULL, 0, &host), "the node's name");
  demand(host->type == PMIX_STRING, "the node's name");
  const char* const keys[] = {PMIX_HOST, PMIX_ADD_HOST};
  const char* const names[] = {"host", "add_host"};
  for (int i = 0; i < 2; ++i) {
    pmix_info_t x = string_info(keys[i], host->data.string);
    gives(names[i], "r=here", "here", &x, 1, false);
    x = string_info(keys[i], "no.such.node");
    is_refused(names[i], 1, &x, 1);
  }
  PMIX_VALUE_RELEASE(host);
  pmix_info_t infos[2] = {string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE"),
                          flag_info(PMIX_NO_OVERSUBSCRIBE)};
  const long processors = sysconf(_SC_NPROCESSORS_CONF);
  is_refused("no_oversubscribe", (int)(2 * processors) + 1, infos, 2);
  infos[0] = flag_info(PMIX_NO_PROCS_ON_HEAD);
  is_refused("no_procs_on_head", 1, infos, 1);
  infos[0] = string_info(PMIX_PPR, "1:node");
  is_refused("ppr", 2, infos, 1);
  gives("ppr", "r=one", "one", infos, 1, false);
  infos[0] = string_info(PMIX_BINDTO, "hwthread");
  gives("bindto",
        "case $(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status) in "
        "*[-,]*) r=many ;; *) r=one ;; esac",
        "one", infos, 1, false);
}

/* Waits for the end of a process whose number is in a file. */
static void is_over(const char* path) {
  char line[32];
  read_line(path, line, sizeof line);
  const pid_t pid = (pid_t)atoi(line);
  demand(pid > 0, "a process");
  for (int i = 0; kill(pid, 0) == 0 || errno != ESRCH; ++i) {
    if (i > 6000)
      fail("process %d of %s does not end", (int)pid, path);
    pause_ms(10);
  }
}

static void ends(void) {
  begin();
  demand(getcwd(here, sizeof here) != NULL, "the working directory");
  char script[4 * PATH_MAX], path[2 * PATH_MAX], line[32];
  pmix_nspace_t nspace;
  pmix_info_t infos[2] = {int_info(PMIX_JOB_TIMEOUT, 15)};
  snprintf(path, sizeof path, "%s/timed", here);
  snprintf(script, sizeof script,
           "echo $$ >'%s.new'; mv '%s.new' '%s'; exec sleep 1000", path, path,
           path);
  succeed(spawn(script, 1, infos, 1, NULL, 0, nspace), "PMIX_JOB_TIMEOUT");
  is_over(path);
  /* One fails, which the other outlives. */
  const bool no = false;
  PMIX_INFO_LOAD(&infos[0], PMIX_ABORT_NON_ZERO_TERM, &no, PMIX_BOOL);
  infos[1] = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  snprintf(script, sizeof script,
           "cd '%s'; if [ \"$PMIX_RANK\" = 0 ]; then "
           "echo $$ >failed.new; mv failed.new failed; exit 3; fi; "
           "while [ ! -e go ]; do sleep 0.02; done; "
           "echo lives >outlives.new; mv outlives.new outlives",
           here);
  succeed(spawn(script, 2, infos, 2, NULL, 0, nspace),
          "PMIX_ABORT_NON_ZERO_TERM");
  snprintf(path, sizeof path, "%s/failed", here);
  is_over(path);
  snprintf(path, sizeof path, "%s/go", here);
  fclose(fopen(path, "w"));
  snprintf(path, sizeof path, "%s/outlives", here);
  read_line(path, line, sizeof line);
  /* What becomes of other jobs may be the status of this one. */
  fclose(fopen("all.ended", "w"));
  end();
}

/* spawns LIBRARY */
static void spawns(void) {
  begin();
  demand(getcwd(here, sizeof here) != NULL, "the working directory");
  environment();
  directories(strcmp(case_args[0], "ours") == 0);
  places();
  end();
}

/* -- streams --------------------------------------------------------------- */

/* What is in a file, once it has so many bytes. */
static void expect_file(const char* path, const char* wanted) {
  char bytes[256];
  size_t n = 0;
  for (int i = 0; n < strlen(wanted); ++i) {
    if (i > 6000)
      fail("%s has %zu bytes, expected %zu", path, n, strlen(wanted));
    FILE* in = fopen(path, "r");
    n = in != NULL ? fread(bytes, 1, sizeof bytes - 1, in) : 0;
    if (in != NULL)
      fclose(in);
    pause_ms(10);
  }
  bytes[n] = '\0';
  if (strcmp(bytes, wanted) != 0)
    fail("%s has \"%s\", expected \"%s\"", path, bytes, wanted);
}

/* Output of a job in a file and where this job's is: the script looks for the
 * words there. */
static void streams(void) {
  begin();
  demand(getcwd(here, sizeof here) != NULL, "the working directory");
  char name[PATH_MAX + 16], path[2 * PATH_MAX];
  pmix_nspace_t nspace;
  pmix_info_t infos[2];
  snprintf(name, sizeof name, "%s/kept", here);
  infos[0] = string_info(PMIX_OUTPUT_TO_FILE, name);
  succeed(spawn("echo also shown", 1, infos, 1, NULL, 0, nspace),
          "PMIX_OUTPUT_TO_FILE");
  snprintf(path, sizeof path, "%s.%s.0.out", name, nspace);
  expect_file(path, "also shown\n");
  snprintf(name, sizeof name, "%s/merged", here);
  infos[0] = string_info(PMIX_OUTPUT_TO_FILE, name);
  infos[1] = flag_info(PMIX_MERGE_STDERR_STDOUT);
  succeed(spawn("echo out; echo and err >&2", 1, infos, 2, NULL, 0, nspace),
          "PMIX_MERGE_STDERR_STDOUT");
  snprintf(path, sizeof path, "%s.%s.0.out", name, nspace);
  expect_file(path, "out\nand err\n");
  snprintf(path, sizeof path, "%s.%s.0.err", name, nspace);
  demand(access(path, F_OK) != 0, "one file for both");
  /* PMIX_SPAWN_PTY, which Debian's headers lack. */
  infos[0] = flag_info("pmix.spawn.pty");
  gives("pty", "if [ -t 1 ]; then r=terminal; else r=none; fi", "terminal",
        infos, 1, false);
  end();
}

/* -- data ------------------------------------------------------------------ */

static void data(void) {
  begin();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  const pmix_proc_t first = rank_of(0);
  const uint32_t session = number_of(&all, PMIX_SESSION_ID);
  const uint32_t other = session + 1;
  pmix_info_t infos[2] = {flag_info(PMIX_SESSION_INFO)};
  succeed(try_get(&all, PMIX_UNIV_SIZE, infos, 1), "data of the session");
  PMIX_INFO_LOAD(&infos[1], PMIX_SESSION_ID, &session, PMIX_UINT32);
  succeed(try_get(&all, PMIX_UNIV_SIZE, infos, 2), "of this one");
  PMIX_INFO_LOAD(&infos[1], PMIX_SESSION_ID, &other, PMIX_UINT32);
  demand(try_get(&all, PMIX_UNIV_SIZE, infos, 2) != PMIX_SUCCESS,
         "nothing of another one");
  /* What has changed since it was read. */
  pmix_info_t refresh = flag_info(PMIX_GET_REFRESH_CACHE);
  for (int i = 0; i < 3; ++i) {
    const char* const texts[] = {"once", "twice", "again"};
    if (me.rank == 0)
      post("changing", texts[i]);
    meet();
    pmix_value_t* value = NULL;
    succeed(PMIx_Get(&first, "changing", &refresh, 1, &value), "a refreshed");
    demand(value->type == PMIX_STRING, "text");
    demand(strcmp(value->data.string, texts[i]) == 0, "the newest value");
    PMIX_VALUE_RELEASE(value);
    meet();
  }
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"spawns", spawns},
    {"ends", ends},
    {"streams", streams},
    {"data", data},
  };
  return RUN_CASE(cases);
}
