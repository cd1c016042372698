/* Kinds of monitors of a site's own, as a shared object that a daemon of Troupe
 * loads (docs/monitoring.md). C, so that nothing but this file ties a plugin to
 * a release: a plugin that was built with it works with all daemons that know
 * TROUPE_MONITOR_VERSION.
 *
 *     cc -shared -fPIC -o queue.so queue_monitor.c
 *     troupe run --monitor plugins=DIRECTORY ...
 */
#ifndef TROUPE_MONITOR_H
#define TROUPE_MONITOR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TROUPE_MONITOR_VERSION 1

/* Whom a monitor watches: a process of this node. */
typedef struct {
  const char* nspace;
  uint32_t rank;
  pid_t pid; /* 0: not known */
} troupe_monitor_target;

/* A setting of the request, such as {"troupe.monitor.limit", "5"}; numbers and
 * truth values come as text. */
typedef struct {
  const char* key;
  const char* value;
} troupe_monitor_setting;

/* A kind of monitors. All functions are called on threads that may block, those
 * of one monitor never at the same time. */
typedef struct {
  uint32_t version; /* TROUPE_MONITOR_VERSION */

  const char* name; /* of the kind: letters, digits, "_", "-", "." */

  double
    interval; /* seconds between two looks, unless a request says otherwise */

  /* Begins to watch. Returns what check and stop are given, or NULL after it
   * has written a sentence to `why`: the monitor is refused. */
  void* (*start)(const troupe_monitor_target* target,
                 const troupe_monitor_setting* settings, size_t count,
                 char* why, size_t size);

  /* Looks. Returns 0 if all is well, 1 for an alert after it has written why,
   * a sentence without the name of the process, and -1 if it could not look. */
  int (*check)(void* monitor, char* why, size_t size);

  /* Watches no longer. */
  void (*stop)(void* monitor);
} troupe_monitor_kind;

/* What a plugin defines; its name ends with TROUPE_MONITOR_VERSION. The kind
 * must stay where it is. */
const troupe_monitor_kind* troupe_monitor_kind_1(void);

#ifdef __cplusplus
}
#endif

#endif
