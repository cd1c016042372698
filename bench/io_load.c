/* What bench/io runs at both ends of a launcher: processes that write or read,
 * and what is before and behind the launcher. Knows no PMIx.
 *
 *   io_load write BYTES SIZE [OUT]   writes BYTES in calls of SIZE, lines that
 * end with a newline; appends its processor time in seconds to OUT io_load
 * stamp COUNT PAUSE_MS     writes lines with the time of their writing io_load
 * sink OUT                 reads all; appends seconds from the first to the
 * last byte, and how many came io_load read                     the same behind
 * the launcher, to stderr io_load times                    reads what `stamp`
 * wrote; prints microseconds per line to stderr
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char* what) {
  fprintf(stderr, "io_load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void write_all(const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = write(STDOUT_FILENO, bytes, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      fail("write");
    bytes += n;
    size -= (size_t)n;
  }
}

/* One line per call: processes append at the same time. */
static void note(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd < 0 || write(fd, text, strlen(text)) < 0)
    fail(path);
  close(fd);
}

static int run_write(uint64_t bytes, size_t size, const char* out) {
  char* block = malloc(size);
  if (block == NULL)
    fail("malloc");
  for (size_t i = 0; i < size; ++i)
    block[i] = i % 64 == 63 || i + 1 == size ? '\n' : (char)('!' + i % 90);
  for (; bytes >= size; bytes -= size)
    write_all(block, size);
  free(block);
  if (out != NULL) {
    struct rusage used;
    char text[64];
    getrusage(RUSAGE_SELF, &used);
    snprintf(text, sizeof(text), "cpu %.6f\n",
             (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
               + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec)
                   * 1e-6);
    note(out, text);
  }
  return 0;
}

static int run_stamp(int count, int pause_ms) {
  for (int i = 0; i < count; ++i) {
    char line[64];
    const int n = snprintf(line, sizeof(line), "%lld\n", (long long)now_ns());
    write_all(line, (size_t)n);
    const struct timespec pause = {pause_ms / 1000,
                                   (long)(pause_ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
  }
  return 0;
}

struct passed {
  uint64_t bytes;
  double seconds;
};

static struct passed read_all(void) {
  static char buffer[1 << 20];
  struct passed result = {0, 0};
  int64_t first = 0;
  int64_t last = 0;
  for (;;) {
    const ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      fail("read");
    if (n == 0)
      break;
    last = now_ns();
    if (first == 0)
      first = last;
    result.bytes += (uint64_t)n;
  }
  result.seconds = (double)(last - first) * 1e-9;
  return result;
}

static int run_sink(const char* out) {
  const struct passed x = read_all();
  char text[96];
  snprintf(text, sizeof(text), "seconds %.6f\nbytes %llu\n", x.seconds,
           (unsigned long long)x.bytes);
  if (out != NULL)
    note(out, text);
  else
    fputs(text, stderr);
  return 0;
}

static int run_times(void) {
  char buffer[4096];
  size_t kept = 0;
  for (;;) {
    const ssize_t n =
      read(STDIN_FILENO, buffer + kept, sizeof(buffer) - 1 - kept);
    const int64_t then = now_ns();
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return 0;
    kept += (size_t)n;
    buffer[kept] = '\0';
    char* begin = buffer;
    for (char* end; (end = strchr(begin, '\n')) != NULL; begin = end + 1)
      fprintf(stderr, "us %.1f\n", (double)(then - atoll(begin)) * 1e-3);
    kept -= (size_t)(begin - buffer);
    memmove(buffer, begin, kept);
  }
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "write") == 0 && argc >= 4 && atol(argv[3]) > 0)
    return run_write(strtoull(argv[2], NULL, 10), (size_t)atol(argv[3]),
                     argc > 4 ? argv[4] : NULL);
  if (strcmp(mode, "stamp") == 0 && argc == 4)
    return run_stamp(atoi(argv[2]), atoi(argv[3]));
  if (strcmp(mode, "sink") == 0 && argc == 3)
    return run_sink(argv[2]);
  if (strcmp(mode, "read") == 0)
    return run_sink(NULL);
  if (strcmp(mode, "times") == 0)
    return run_times();
  fprintf(stderr, "io_load: write BYTES SIZE [OUT] | stamp COUNT PAUSE_MS | "
                  "sink OUT | read | times\n");
  return 2;
}
