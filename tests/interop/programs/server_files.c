/* Several servers that want the same rendezvous file of a node: all start, the
 * first one that runs has it.
 *
 *   server_files DIRECTORY       an empty one
 */

#define PMIX_PLAIN_SERVER_INIT
#include <pmix.h>
#include <pmix_server.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char sys_file[4096];
static char sched_file[4096];
static pmix_server_module_t module;

#define expect(condition, what)                                                \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, what);        \
      fflush(NULL);                                                            \
      _exit(1);                                                                \
    }                                                                          \
  } while (0)

/* The number of the process that a file names; 0: there is none. */
static long owner(const char* path) {
  FILE* in = fopen(path, "r");
  char line[4096];
  long result = 0;
  if (in == NULL)
    return 0;
  for (int i = 0; i < 3 && fgets(line, sizeof line, in) != NULL; ++i)
    if (i == 2)
      result = atol(line);
  fclose(in);
  return result;
}

struct server {
  pid_t pid;
  int to, from;
};

/* Runs a server until it is told to end. */
static void serve(const char* where, int in, int out) {
  pmix_info_t infos[3];
  const bool yes = true;
  char c = 'u';
  PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_SYSTEM_SUPPORT, &yes, PMIX_BOOL);
  PMIX_INFO_LOAD(&infos[1], PMIX_SERVER_SCHEDULER, &yes, PMIX_BOOL);
  PMIX_INFO_LOAD(&infos[2], PMIX_SYSTEM_TMPDIR, where, PMIX_STRING);
  expect(PMIx_server_init(&module, infos, 3) == PMIX_SUCCESS, "init");
  expect(write(out, &c, 1) == 1, "saying so");
  if (read(in, &c, 1) != 1)
    _exit(1);
  expect(PMIx_server_finalize() == PMIX_SUCCESS, "finalize");
  _exit(0);
}

static struct server start(const char* where) {
  int to[2], from[2];
  char c;
  expect(pipe(to) == 0 && pipe(from) == 0, "pipes");
  const pid_t pid = fork();
  expect(pid >= 0, "fork");
  if (pid == 0) {
    close(to[1]);
    close(from[0]);
    serve(where, to[0], from[1]);
  }
  close(to[0]);
  close(from[1]);
  expect(read(from[0], &c, 1) == 1, "the server starts");
  return (struct server){pid, to[1], from[0]};
}

static void finish(struct server x, bool politely) {
  int outcome = 0;
  if (politely)
    expect(write(x.to, "e", 1) == 1, "telling it to end");
  else
    kill(x.pid, SIGKILL);
  expect(waitpid(x.pid, &outcome, 0) == x.pid, "its end");
  if (politely)
    expect(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0, "ends well");
  close(x.to);
  close(x.from);
}

static bool has_files(pid_t pid) {
  return owner(sys_file) == pid && owner(sched_file) == pid;
}

int main(int argc, char** argv) {
  char host[256] = "";
  expect(argc == 2, "usage: server_files DIRECTORY");
  gethostname(host, sizeof host - 1);
  snprintf(sys_file, sizeof sys_file, "%s/pmix.sys.%s", argv[1], host);
  snprintf(sched_file, sizeof sched_file, "%s/pmix.sched.%s", argv[1], host);
  struct server first = start(argv[1]);
  expect(has_files(first.pid), "the first one has the files");
  struct server second = start(argv[1]);
  expect(has_files(first.pid), "the second one leaves them alone");
  finish(second, true);
  expect(has_files(first.pid), "also at its end");
  second = start(argv[1]);
  finish(first, false);
  expect(has_files(first.pid), "what the dead leaves");
  first = start(argv[1]);
  expect(has_files(first.pid), "does not block the next one");
  finish(second, true);
  expect(has_files(first.pid), "whoever else ends");
  finish(first, true);
  expect(owner(sys_file) == 0 && owner(sched_file) == 0, "nothing is left");
  /* What is no file is left alone, too. */
  expect(mkdir(sys_file, 0700) == 0, "a directory in the way");
  expect(symlink("/nowhere", sched_file) == 0, "a link in the way");
  first = start(argv[1]);
  finish(first, true);
  struct stat st;
  expect(rmdir(sys_file) == 0, "the directory stays");
  expect(lstat(sched_file, &st) == 0 && S_ISLNK(st.st_mode), "the link stays");
  expect(unlink(sched_file) == 0, "only the link");
  return 0;
}
