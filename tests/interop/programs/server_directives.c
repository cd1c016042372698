/* What functions of a host do of the infos that they are given: each attribute
 * of their table as a required one, what comes of it, and what it does.
 *
 *   server_directives init DIRECTORY <ROWS   PMIx_server_init, a process each
 *   server_directives calls <ROWS            the others, in one server
 *
 * A row is `call name key how`; what is called is printed as `call name`. */

#define _GNU_SOURCE
#include "host.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

struct row {
  char call[64];
  char name[96];
  char key[96];
  char how[16];
};

static struct row rows[256];
static size_t row_count;

static void read_rows(void) {
  struct row* x = rows;
  while (row_count < sizeof rows / sizeof *rows
         && scanf("%63s %95s %95s %15s", x->call, x->name, x->key, x->how)
              == 4) {
    ++x;
    ++row_count;
  }
  if (row_count == 0) {
    fprintf(stderr, "no rows\n");
    exit(2);
  }
}

static bool is(const char* text, const char* other) {
  return strcmp(text, other) == 0;
}

/* Whether what came of a call is what the table says. */
static void compare(const struct row* row, pmix_status_t outcome) {
  const pmix_status_t wanted =
    is(row->how, "done") ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
  expect_code(outcome, wanted, row->name);
  printf("%s %s\n", row->call, row->name);
  fflush(stdout);
}

/* -- PMIx_server_init ------------------------------------------------------ */

static const char* wanted_file;
static int files_found;

static int note_file(const char* path, const struct stat* st, int kind,
                     struct FTW* where) {
  (void)st;
  if (kind == FTW_F && strstr(path + where->base, wanted_file) != NULL)
    ++files_found;
  return 0;
}

/* Files whose names have this in them, anywhere below a directory. */
static int files_below(const char* directory, const char* part) {
  wanted_file = part;
  files_found = 0;
  nftw(directory, note_file, 8, FTW_PHYS);
  return files_found;
}

static void line_of(const char* path, char* line, size_t size) {
  FILE* in = fopen(path, "r");
  line[0] = '\0';
  if (in == NULL)
    return;
  if (fgets(line, (int)size, in) == NULL)
    line[0] = '\0';
  fclose(in);
}

/* Whether the library has a thread of its own. */
static bool has_thread(void) {
  DIR* tasks = opendir("/proc/self/task");
  bool found = false;
  const struct dirent* x;
  while (tasks != NULL && (x = readdir(tasks)) != NULL) {
    char path[300], name[32];
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", x->d_name);
    line_of(path, name, sizeof name);
    found |= is(name, "pmix\n");
  }
  if (tasks != NULL)
    closedir(tasks);
  return found;
}

static char inventory_host[256];

static void on_inventory(pmix_status_t status, pmix_info_t* info, size_t ninfo,
                         void* data, pmix_release_cbfunc_t release,
                         void* what) {
  if (ninfo == 1 && info[0].value.type == PMIX_DATA_ARRAY) {
    const pmix_data_array_t* node = info[0].value.data.darray;
    const pmix_info_t* host = find(node->array, node->size, PMIX_HOSTNAME);
    if (host != NULL)
      snprintf(inventory_host, sizeof inventory_host, "%s",
               host->value.data.string);
  }
  if (release != NULL)
    release(what);
  on_op(status, data);
}

/* What an attribute has done, of a server that has it or has none. */
static void look(const char* key, const char* root, const char* own) {
  const bool has_tools = is(key, PMIX_SERVER_TOOL_SUPPORT)
                         || is(key, PMIX_SERVER_SESSION_SUPPORT)
                         || is(key, PMIX_SERVER_TMPDIR);
  const bool is_system =
    is(key, PMIX_SERVER_SYSTEM_SUPPORT) || is(key, PMIX_SYSTEM_TMPDIR);
  char path[512], uri[512], mine[64];
  snprintf(mine, sizeof mine, ".tool.%d", (int)getpid());
  expect((files_below(root, mine) == 1) == has_tools, "a file for tools");
  expect((files_below(root, "pmix.sys.") == 1) == is_system,
         "a file of the server of the system");
  expect((files_below(root, "pmix.sched.") == 1)
           == is(key, PMIX_SERVER_SCHEDULER),
         "a file of the scheduler");
  expect((files_below(root, "pmix.sysctrlr.") == 1)
           == is(key, PMIX_SERVER_SYS_CONTROLLER),
         "a file of the controller");
  if (is(key, PMIX_SERVER_SESSION_SUPPORT))
    expect(files_below(root, ".tool") > files_below(root, ".tool."),
           "a file of the session");
  if (is(key, PMIX_SERVER_TMPDIR))
    expect(files_below(own, mine) == 1, "files of the server are there");
  if (is(key, PMIX_SYSTEM_TMPDIR))
    expect(files_below(own, "pmix.sys.") == 1, "system files are there");
  snprintf(path, sizeof path, "%s/uri", root);
  line_of(path, uri, sizeof uri);
  expect(strstr(uri, "tcp4://") != NULL, "where it listens");
  expect((strncmp(uri, "chosen.", 7) == 0) == is(key, PMIX_SERVER_NSPACE),
         "its namespace");
  expect((strstr(uri, ".7;") != NULL) == is(key, PMIX_SERVER_RANK), "its rank");
  snprintf(path, sizeof path, "%s/rendezvous", root);
  line_of(path, uri, sizeof uri);
  expect((strstr(uri, "tcp4://") != NULL)
           == is(key, PMIX_LAUNCHER_RENDEZVOUS_FILE),
         "the file of a launcher");
  const bool is_driven = is(key, PMIX_EXTERNAL_PROGRESS);
  expect(has_thread() != is_driven, "a thread of the library");
  if (is_driven)
    return;
  struct answer done = {0, 0};
  expect_code(PMIx_server_collect_inventory(NULL, 0, on_inventory, &done),
              PMIX_SUCCESS, "collect the inventory");
  expect_code(answer_of(&done), PMIX_SUCCESS, "the inventory");
  expect(is(inventory_host, "chosen-host") == is(key, PMIX_HOSTNAME),
         "the name of the node");
}

/* Starts a server with an attribute, or with none, in a process of its own. */
static pmix_status_t starts(const char* key, const char* root) {
  static pmix_server_module_t module;
  pmix_info_t infos[3];
  size_t n = 1;
  char own[400], path[512];
  const bool yes = true;
  const pmix_rank_t rank = 7;
  snprintf(own, sizeof own, "%s/own", root);
  snprintf(path, sizeof path, "%s/uri", root);
  if (mkdir(root, 0700) != 0 || mkdir(own, 0700) != 0)
    return PMIX_ERR_FILE_OPEN_FAILURE;
  setenv("TMPDIR", root, 1);
  unsetenv("PMIX_SYSTEM_TMPDIR");
  PMIX_INFO_LOAD(&infos[0], PMIX_TCP_REPORT_URI, path, PMIX_STRING);
  if (is(key, PMIX_TCP_REPORT_URI)) {
    PMIX_INFO_REQUIRED(&infos[0]);
  } else if (key[0] != '\0') {
    if (is(key, PMIX_SERVER_NSPACE)) {
      PMIX_INFO_LOAD(&infos[1], key, "chosen", PMIX_STRING);
    } else if (is(key, PMIX_SERVER_RANK)) {
      PMIX_INFO_LOAD(&infos[1], key, &rank, PMIX_PROC_RANK);
    } else if (is(key, PMIX_HOSTNAME)) {
      PMIX_INFO_LOAD(&infos[1], key, "chosen-host", PMIX_STRING);
    } else if (is(key, PMIX_SERVER_TMPDIR) || is(key, PMIX_SYSTEM_TMPDIR)) {
      PMIX_INFO_LOAD(&infos[1], key, own, PMIX_STRING);
    } else if (is(key, PMIX_LAUNCHER_RENDEZVOUS_FILE)) {
      snprintf(path, sizeof path, "%s/rendezvous", root);
      PMIX_INFO_LOAD(&infos[1], key, path, PMIX_STRING);
    } else {
      PMIX_INFO_LOAD(&infos[1], key, &yes, PMIX_BOOL);
    }
    PMIX_INFO_REQUIRED(&infos[1]);
    n = 2;
  }
  if (is(key, PMIX_SYSTEM_TMPDIR) || is(key, PMIX_SERVER_TMPDIR)) {
    PMIX_INFO_LOAD(&infos[2],
                   is(key, PMIX_SYSTEM_TMPDIR) ? PMIX_SERVER_SYSTEM_SUPPORT
                                               : PMIX_SERVER_TOOL_SUPPORT,
                   &yes, PMIX_BOOL);
    n = 3;
  }
  const pmix_status_t outcome = PMIx_server_init(&module, infos, n);
  if (outcome == PMIX_SUCCESS) {
    look(key, root, own);
    expect_code(PMIx_server_finalize(), PMIX_SUCCESS, "finalize");
  }
  return outcome;
}

static int init(const char* directory) {
  for (size_t i = 0; i <= row_count; ++i) {
    char root[300];
    int status = 0;
    snprintf(root, sizeof root, "%s/%d", directory, (int)i);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      failures = 0;
      if (i < row_count)
        compare(&rows[i], starts(rows[i].key, root));
      else
        expect_code(starts("", root), PMIX_SUCCESS, "a server without infos");
      fflush(NULL);
      _exit(failures != 0);
    }
    expect(child > 0 && waitpid(child, &status, 0) == child && status == 0,
           i < row_count ? rows[i].name : "without infos");
  }
  return failures != 0;
}

/* -- the other functions --------------------------------------------------- */

/* The value of SITE in the environment that a process of a namespace would get,
   which had it as `old`; "-" for none. */
static void site_of(const char* nspace, char* value, size_t size) {
  char** env = NULL;
  pmix_proc_t proc;
  pmix_status_t code;
  PMIX_ARGV_APPEND(code, env, "SITE=old");
  PMIX_LOAD_PROCID(&proc, nspace, 0);
  expect_code(code, PMIX_SUCCESS, "an environment");
  expect_code(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS, "setup_fork");
  snprintf(value, size, "-");
  for (char** x = env; x != NULL && *x != NULL; ++x)
    if (strncmp(*x, "SITE=", 5) == 0)
      snprintf(value, size, "%s", *x + 5);
  PMIX_ARGV_FREE(env);
}

static pmix_status_t sets_up(const struct row* row) {
  pmix_envar_t change = {"SITE", "new", ':'};
  const bool yes = true;
  pmix_info_t x;
  char nspace[96], site[64];
  const char* wanted = NULL;
  struct answer done = {0, 0};
  if (is(row->key, PMIX_UNSET_ENVAR)) {
    PMIX_INFO_LOAD(&x, row->key, "SITE", PMIX_STRING);
    wanted = "-";
  } else if (is(row->how, "done")) {
    PMIX_INFO_LOAD(&x, row->key, &change, PMIX_ENVAR);
    wanted = is(row->key, PMIX_SET_ENVAR)       ? "new"
             : is(row->key, PMIX_ADD_ENVAR)     ? "old"
             : is(row->key, PMIX_PREPEND_ENVAR) ? "new:old"
                                                : "old:new";
  } else {
    PMIX_INFO_LOAD(&x, row->key, &yes, PMIX_BOOL);
  }
  if (!is(row->how, "optional"))
    PMIX_INFO_REQUIRED(&x);
  /* Names of attributes are none of other namespaces. */
  snprintf(nspace, sizeof nspace, "%s", row->name);
  pmix_status_t outcome =
    PMIx_server_setup_local_support(nspace, &x, 1, on_op, &done);
  if (outcome == PMIX_SUCCESS)
    outcome = answer_of(&done);
  site_of(nspace, site, sizeof site);
  expect(is(site, outcome == PMIX_SUCCESS && wanted != NULL ? wanted : "old"),
         "what a process finds in its environment");
  PMIX_INFO_DESTRUCT(&x);
  return outcome;
}

static void on_setup(pmix_status_t status, pmix_info_t info[], size_t ninfo,
                     void* data, pmix_op_cbfunc_t done, void* what) {
  (void)info, (void)ninfo;
  if (done != NULL)
    done(PMIX_SUCCESS, what);
  on_op(status, data);
}

static pmix_status_t calls(const struct row* row) {
  pmix_nspace_t nspace = "registered";
  const bool yes = true;
  pmix_info_t x;
  struct answer done = {0, 0};
  pmix_status_t code = PMIX_ERR_BAD_PARAM;
  if (is(row->call, "server_setup_local_support"))
    return sets_up(row);
  PMIX_INFO_LOAD(&x, row->key, &yes, PMIX_BOOL);
  if (!is(row->how, "optional"))
    PMIX_INFO_REQUIRED(&x);
  if (is(row->call, "server_register_nspace"))
    code = PMIx_server_register_nspace(nspace, 0, &x, 1, on_op, &done);
  else if (is(row->call, "server_setup_application"))
    code = PMIx_server_setup_application(nspace, &x, 1, on_setup, &done);
  else if (is(row->call, "server_collect_inventory"))
    code = PMIx_server_collect_inventory(&x, 1, on_inventory, &done);
  else if (is(row->call, "server_deliver_inventory"))
    code = PMIx_server_deliver_inventory(NULL, 0, &x, 1, on_op, &done);
  else if (is(row->call, "server_iof_flow_control"))
    code = PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, false, &x,
                                        1, on_op, &done);
  else
    fprintf(stderr, "no call for %s\n", row->call);
  if (code != PMIX_SUCCESS)
    return code;
  return answer_of(&done);
}

int main(int argc, char** argv) {
  static pmix_server_module_t module;
  read_rows();
  if (argc == 3 && is(argv[1], "init"))
    return init(argv[2]);
  if (argc != 2 || !is(argv[1], "calls"))
    return 2;
  expect_code(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS, "server_init");
  for (size_t i = 0; i < row_count; ++i) {
    const pmix_status_t outcome = calls(&rows[i]);
    if (is(rows[i].how, "optional"))
      expect_code(outcome, PMIX_SUCCESS, rows[i].name);
    else
      compare(&rows[i], outcome);
  }
  expect_code(PMIx_server_finalize(), PMIX_SUCCESS, "server_finalize");
  return failures != 0;
}
