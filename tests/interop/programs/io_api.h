/* What the programs about forwarded input and output share: a pattern that says
 * at each byte where it stands, processes that write it, and the jobs. */

#ifndef TROUPE_INTEROP_IO_API_H
#define TROUPE_INTEROP_IO_API_H

#include "client.h"

#include <errno.h>

enum { line_size = 16 };

/* Attributes of ours. */
#define IO_OFFSETS "troupe.iof.offsets"
#define IO_OFFSET "troupe.iof.offset"
#define IO_MISSED "troupe.iof.missed"

/* -- the pattern ----------------------------------------------------------- */

/* The line of the stream `tag` that holds the byte at `offset`: the number of
 * the stream, and that of the line. */
static inline void pattern_line(unsigned tag, size_t offset, char* line) {
  size_t number = offset / line_size;
  for (int i = line_size - 2; i > 3; --i, number /= 10)
    line[i] = (char)('0' + number % 10);
  line[3] = ' ';
  for (int i = 2; i >= 0; --i, tag /= 10)
    line[i] = (char)('0' + tag % 10);
  line[line_size - 1] = '\n';
}

/* Whether bytes are those of a stream from `offset` on. */
static inline bool is_pattern(unsigned tag, size_t offset, const char* bytes,
                              size_t size) {
  char line[line_size];
  for (size_t i = 0; i < size;) {
    const size_t at = (offset + i) % line_size;
    const size_t n = size - i < line_size - at ? size - i : line_size - at;
    pattern_line(tag, offset + i, line);
    if (memcmp(line + at, bytes + i, n) != 0)
      return false;
    i += n;
  }
  return true;
}

static inline char* make_pattern(unsigned tag, size_t size) {
  char* bytes = malloc(size + line_size);
  for (size_t i = 0; i < size; i += line_size)
    pattern_line(tag, i, bytes + i);
  return bytes;
}

static inline void write_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, bytes, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      _exit(3);
    bytes += n;
    size -= (size_t)n;
  }
}

static inline void await_file(const char* path, double seconds) {
  const double deadline = now() + seconds;
  while (access(path, F_OK) != 0) {
    if (now() > deadline)
      _exit(4);
    pause_ms(5);
  }
}

/* -- processes without PMIx ------------------------------------------------ */

static inline unsigned own_rank(void) {
  const char* rank = getenv("PMIX_RANK");
  return rank != NULL ? (unsigned)atoi(rank) : 0;
}

/* usage: writer FIRST ALL GO: writes FIRST bytes of the pattern, waits for the
 * file GO, writes the others, and a quarter to standard error. */
static void writer(void) {
  const size_t first = strtoull(case_args[0], NULL, 10);
  const size_t all = strtoull(case_args[1], NULL, 10);
  const unsigned rank = own_rank();
  char* out = make_pattern(rank, all);
  char* err = make_pattern(rank + 100, all / 4);
  write_all(STDOUT_FILENO, out, first);
  await_file(case_args[2], 60);
  write_all(STDOUT_FILENO, out + first, all - first);
  write_all(STDERR_FILENO, err, all / 4);
}

/* usage: reader PAUSE: after PAUSE milliseconds reads all its input and says
 * how much it was and whether it was the pattern of stream 7. */
static void reader(void) {
  pause_ms(atol(case_args[0]));
  static char bytes[1 << 16];
  size_t all = 0;
  bool is_right = true;
  for (;;) {
    const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    is_right = is_right && is_pattern(7, all, bytes, (size_t)n);
    all += (size_t)n;
  }
  printf("%zu %s\n", all, is_right ? "right" : "wrong");
  fflush(stdout);
}

/* -- the tool -------------------------------------------------------------- */

static inline void begin_tool(void) {
  pmix_info_t uri = string_info(PMIX_SERVER_URI, getenv("IO_SERVER"));
  succeed(PMIx_tool_init(&me, &uri, 1), "PMIx_tool_init");
}

static inline void end_tool(void) {
  succeed(PMIx_tool_finalize(), "PMIx_tool_finalize");
}

/* The attribute that says who can be pushed to. */
static const char* input_key = PMIX_STDIN_TGT;

/* Starts `procs` processes of this program; nothing of theirs is forwarded
 * unless somebody asks for it. */
static inline void start(int procs, char* const* args, char* nspace) {
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup(self_path);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, app.argv, self_path);
  for (; *args != NULL; ++args)
    PMIX_ARGV_APPEND(outcome, app.argv, *args);
  succeed(outcome, "arguments");
  app.maxprocs = procs;
  const bool no = false;
  pmix_info_t infos[4];
  infos[0] = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  PMIX_INFO_LOAD(&infos[1], PMIX_FWD_STDOUT, &no, PMIX_BOOL);
  PMIX_INFO_LOAD(&infos[2], PMIX_FWD_STDERR, &no, PMIX_BOOL);
  const pmix_rank_t everybody = PMIX_RANK_WILDCARD;
  PMIX_INFO_LOAD(&infos[3], input_key, &everybody, PMIX_PROC_RANK);
  succeed(PMIx_Spawn(infos, 4, &app, 1, nspace), "PMIx_Spawn");
  PMIX_APP_DESTRUCT(&app);
}

static inline void touch(const char* path) {
  FILE* file = fopen(path, "w");
  demand(file != NULL, path);
  fclose(file);
}

/* That neither we nor the daemon have needed much.
 * before: our own peak when it began. */
static inline void demand_little_memory(long before) {
  const long own = peak_memory("self") - before;
  const long server = peak_memory(getenv("IO_DAEMON"));
  printf("own memory grew by %ld KiB, the daemon's peak is %ld KiB\n", own,
         server);
  demand(server < 64 << 10, "the daemon needs less than 64 MiB");
  if (getenv("IO_OWN") != NULL)
    demand(own < 8 << 10, "we need less than 8 MiB more");
}

#endif
