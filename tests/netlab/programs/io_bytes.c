/* Bytes that say where they stand: `io_bytes write SIZE [RANK [FILE]]` writes
 * them, if it is that rank or is told none; all but the first thousand once
 * there is such a file. `io_bytes check SIZE` reads them and says whether each
 * is the one that belongs there, and nothing follows. */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned char buffer[1 << 16];

/* The byte at an offset: eight in a row name their place. */
static unsigned char byte_at(uint64_t offset) {
  uint64_t x = (offset / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return (unsigned char)(x >> (offset % 8 * 8));
}

static void fill(uint64_t from, size_t size) {
  for (size_t i = 0; i < size; ++i)
    buffer[i] = byte_at(from + i);
}

static int write_all(uint64_t size, const char* file) {
  uint64_t done = 0;
  while (done < size) {
    size_t part = sizeof buffer - (size_t)(done % 4099);
    if (file != NULL && done == 0)
      part = 1000;
    if (part > size - done)
      part = (size_t)(size - done);
    while (file != NULL && done == 1000 && access(file, F_OK) != 0)
      usleep(20000);
    fill(done, part);
    for (size_t at = 0; at < part;) {
      ssize_t n = write(STDOUT_FILENO, buffer + at, part - at);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0) {
        perror("write");
        return 1;
      }
      at += (size_t)n;
    }
    done += part;
  }
  return 0;
}

static int check_all(uint64_t size) {
  uint64_t done = 0;
  for (;;) {
    ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      perror("read");
      return 1;
    }
    if (n == 0)
      break;
    for (ssize_t i = 0; i < n; ++i)
      if (buffer[i] != byte_at(done + (uint64_t)i)) {
        printf("byte %llu is wrong\n",
               (unsigned long long)(done + (uint64_t)i));
        return 1;
      }
    done += (uint64_t)n;
  }
  printf("%llu bytes of %llu, exact\n", (unsigned long long)done,
         (unsigned long long)size);
  return done == size ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: io_bytes write SIZE [RANK [FILE]] | check SIZE\n");
    return 2;
  }
  uint64_t size = strtoull(argv[2], NULL, 10);
  if (strcmp(argv[1], "check") == 0)
    return check_all(size);
  const char* rank = getenv("PMIX_RANK");
  if (argc > 3 && (rank == NULL || strcmp(rank, argv[3]) != 0))
    return 0;
  return write_all(size, argc > 4 ? argv[4] : NULL);
}
