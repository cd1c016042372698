/* The packaged examples include a header of this name that the package lacks.
 * This one offers what they use of it: a lock that a callback opens, and the
 * records in which callbacks leave their results. */

#ifndef TROUPE_INTEROP_EXAMPLES_H
#define TROUPE_INTEROP_EXAMPLES_H

#include <pmix.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t opened;
  volatile bool is_open;
  pmix_status_t status;
  size_t evhandler_ref;
} mylock_t;

typedef struct {
  mylock_t lock;
  pmix_info_t* info;
  size_t ninfo;
  volatile bool active;
} myquery_data_t;

typedef struct {
  mylock_t lock;
  char* nspace;
  int exit_code;
  bool exit_code_given;
} myrel_t;

static inline void examples_ignore(int first, ...) {
  (void)first;
}

#define EXAMPLES_HIDE_UNUSED_PARAMS(...) examples_ignore(0, __VA_ARGS__)

#define DEBUG_CONSTRUCT_LOCK(l)                                                \
  do {                                                                         \
    pthread_mutex_init(&(l)->mutex, NULL);                                     \
    pthread_cond_init(&(l)->opened, NULL);                                     \
    (l)->is_open = false;                                                      \
    (l)->status = PMIX_SUCCESS;                                                \
    (l)->evhandler_ref = 0;                                                    \
  } while (0)

#define DEBUG_DESTRUCT_LOCK(l)                                                 \
  do {                                                                         \
    pthread_mutex_destroy(&(l)->mutex);                                        \
    pthread_cond_destroy(&(l)->opened);                                        \
  } while (0)

#define DEBUG_WAIT_THREAD(l)                                                   \
  do {                                                                         \
    pthread_mutex_lock(&(l)->mutex);                                           \
    while (!(l)->is_open)                                                      \
      pthread_cond_wait(&(l)->opened, &(l)->mutex);                            \
    pthread_mutex_unlock(&(l)->mutex);                                         \
  } while (0)

#define DEBUG_WAKEUP_THREAD(l)                                                 \
  do {                                                                         \
    pthread_mutex_lock(&(l)->mutex);                                           \
    (l)->is_open = true;                                                       \
    pthread_cond_broadcast(&(l)->opened);                                      \
    pthread_mutex_unlock(&(l)->mutex);                                         \
  } while (0)

#define DEBUG_CONSTRUCT_MYQUERY(q)                                             \
  do {                                                                         \
    DEBUG_CONSTRUCT_LOCK(&(q)->lock);                                          \
    (q)->info = NULL;                                                          \
    (q)->ninfo = 0;                                                            \
    (q)->active = true;                                                        \
  } while (0)

#define DEBUG_DESTRUCT_MYQUERY(q)                                              \
  do {                                                                         \
    DEBUG_DESTRUCT_LOCK(&(q)->lock);                                           \
    if ((q)->info != NULL)                                                     \
      PMIX_INFO_FREE((q)->info, (q)->ninfo);                                   \
  } while (0)

#define DEBUG_CONSTRUCT_MYREL(r)                                               \
  do {                                                                         \
    DEBUG_CONSTRUCT_LOCK(&(r)->lock);                                          \
    (r)->nspace = NULL;                                                        \
    (r)->exit_code = 0;                                                        \
    (r)->exit_code_given = false;                                              \
  } while (0)

#define DEBUG_DESTRUCT_MYREL(r)                                                \
  do {                                                                         \
    DEBUG_DESTRUCT_LOCK(&(r)->lock);                                           \
    free((r)->nspace);                                                         \
  } while (0)

#endif
