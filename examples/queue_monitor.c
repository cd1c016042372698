/* A kind of monitor of a site's own: too many files wait in a directory, so
 * whoever should take them does not get on.
 *
 *   cc -shared -fPIC -I PREFIX/include/troupe -o queue.so queue_monitor.c
 *   troupe run --monitor plugins=$PWD -n 4 ./a_program &
 *   troupe monitor add queue --proc NAMESPACE:0 --set limit=100
 *     --set directory=/tmp/queue --reaction signal:USR1
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe_monitor.h>

struct queue {
  char directory[4096];
  long limit;
};

static void* start(const troupe_monitor_target* target,
                   const troupe_monitor_setting* settings, size_t count,
                   char* why, size_t size) {
  struct queue* x = calloc(1, sizeof *x);
  (void)target; /* This monitor looks at no process. */
  for (size_t i = 0; x != NULL && i < count; ++i)
    if (strcmp(settings[i].key, "troupe.monitor.directory") == 0)
      snprintf(x->directory, sizeof x->directory, "%s", settings[i].value);
    else if (strcmp(settings[i].key, "troupe.monitor.limit") == 0)
      x->limit = atol(settings[i].value);
  if (x != NULL && x->directory[0] != '\0' && x->limit > 0)
    return x;
  snprintf(why, size, "needs the settings directory and limit");
  free(x);
  return NULL;
}

static int check(void* monitor, char* why, size_t size) {
  const struct queue* x = monitor;
  DIR* dir = opendir(x->directory); /* May block: only its monitor waits. */
  if (dir == NULL)
    return snprintf(why, size, "cannot read %s", x->directory), -1;
  long files = 0;
  for (const struct dirent* i; (i = readdir(dir)) != NULL;)
    files += i->d_name[0] != '.';
  closedir(dir);
  snprintf(why, size, "%ld files wait in %s", files, x->directory);
  return files > x->limit;
}

static const troupe_monitor_kind kind = {
  TROUPE_MONITOR_VERSION, "queue", 5.0, start, check, free};

const troupe_monitor_kind* troupe_monitor_kind_1(void) {
  return &kind;
}
