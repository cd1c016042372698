/* What failing_malloc.c is told: a file of this shape, named by
 * FAILING_MALLOC, which any process may map and write. */

#ifndef TROUPE_INTEROP_FAILING_MALLOC_H
#define TROUPE_INTEROP_FAILING_MALLOC_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct failing_malloc {
  /* Whose allocations fail; all others are left alone. */
  _Atomic int pid;

  /* Allocations that may still succeed, of those with at least so many bytes;
   * below 0: nothing fails. */
  _Atomic long skip;
  _Atomic long least;

  /* How many fail then. */
  _Atomic long count;

  /* Bytes that the process may still take more than it gives back; below 0: no
   * matter. Used with `count` 0. */
  _Atomic long room;

  /* Allocations since `skip` was set, and those that failed. */
  _Atomic long seen;
  _Atomic long failed;
};

/* Maps the file; null if there is none. */
static inline struct failing_malloc* map_failing_malloc(void) {
  const char* path = getenv("FAILING_MALLOC");
  const int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0)
    return NULL;
  /* The rest of the page is whoever's who walks. */
  void* result = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return result != MAP_FAILED ? result : NULL;
}

static inline void let_all_succeed(struct failing_malloc* x) {
  x->skip = -1;
  x->room = -1;
}

/* After `skip` allocations of at least `least` bytes, `count` fail. */
static inline void let_fail(struct failing_malloc* x, int pid, long skip,
                            long count, long least) {
  let_all_succeed(x);
  x->seen = 0;
  x->failed = 0;
  x->count = count;
  x->least = least;
  x->pid = pid;
  x->skip = skip;
}

/* No more than `room` bytes beyond what there is. */
static inline void leave_room(struct failing_malloc* x, int pid, long room) {
  let_all_succeed(x);
  x->seen = 0;
  x->failed = 0;
  x->pid = pid;
  x->room = room;
}

#endif
