/* To be preloaded: allocations of one process fail where the file named by
 * FAILING_MALLOC says so (failing_malloc.h), on any of its threads. Without
 * that file nothing changes. Of one kind none fails: that of glibc for the first
 * thread-local object of a thread, without which glibc ends the process. */

#define _GNU_SOURCE
#include "failing_malloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

static struct failing_malloc* told;

/* Where glibc registers thread-local objects. */
static const char* glibc_begin;
static const size_t glibc_size = 512;

__attribute__((constructor)) static void begin(void) {
  glibc_begin = (const char*)dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl");
  told = map_failing_malloc();
}

static bool is_meant(void) {
  return told != NULL && told->pid == getpid();
}

static bool is_refused(size_t size) {
  if (!is_meant())
    return false;
  if (told->room >= 0) {
    ++told->seen;
    if ((long)size <= told->room)
      return false;
    ++told->failed;
    return true;
  }
  if (told->skip < 0 || (long)size < told->least)
    return false;
  const long position = told->seen++;
  if (position < told->skip || position >= told->skip + told->count)
    return false;
  ++told->failed;
  return true;
}

static void* taken(void* x) {
  if (x != NULL && is_meant() && told->room >= 0)
    told->room -= (long)malloc_usable_size(x);
  return x;
}

static void* refuse(void) {
  errno = ENOMEM;
  return NULL;
}

void* malloc(size_t size) {
  return is_refused(size) ? refuse() : taken(__libc_malloc(size));
}

void* calloc(size_t n, size_t size) {
  const char* caller = __builtin_return_address(0);
  if (caller >= glibc_begin && caller < glibc_begin + glibc_size)
    return taken(__libc_calloc(n, size));
  return is_refused(n * size) ? refuse() : taken(__libc_calloc(n, size));
}

void free(void* x) {
  const int before = errno;
  if (x != NULL && is_meant() && told->room >= 0)
    told->room += (long)malloc_usable_size(x);
  __libc_free(x);
  errno = before;
}

void* realloc(void* x, size_t size) {
  const size_t before = x != NULL ? malloc_usable_size(x) : 0;
  if (size > before && is_refused(size))
    return refuse();
  void* result = __libc_realloc(x, size);
  if ((result != NULL || size == 0) && is_meant() && told->room >= 0)
    told->room += (long)before;
  return taken(result);
}

void* memalign(size_t alignment, size_t size) {
  return is_refused(size) ? refuse() : taken(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  void* x = memalign(alignment, size);
  if (x == NULL)
    return ENOMEM;
  *result = x;
  return 0;
}
