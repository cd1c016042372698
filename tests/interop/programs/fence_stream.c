/* Ranks 0 and 1 fence until the file "stop" is there; rank 0 writes when each
 * fence began and how long it took, in ns of the monotonic clock, to the file
 * "fences". */

#include <pmix.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(void) {
  pmix_proc_t me;
  pmix_proc_t both[2];
  if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
    return 1;
  for (pmix_rank_t i = 0; i < 2; ++i)
    PMIX_PROC_LOAD(&both[i], me.nspace, i);
  FILE* file = me.rank == 0 ? fopen("fences", "w") : NULL;
  if (me.rank == 0 && file == NULL)
    return 2;
  /* It is read while it is being written. */
  if (file != NULL)
    setvbuf(file, NULL, _IONBF, 0);
  for (int is_over = 0; !is_over;) {
    /* What rank 0 says before a fence, rank 1 knows after it. */
    if (file != NULL && access("stop", F_OK) == 0) {
      FILE* over = fopen("over", "w");
      if (over == NULL || fclose(over) != 0)
        return 3;
      is_over = 1;
    }
    int64_t times[2] = {now(), 0};
    if (PMIx_Fence(both, 2, NULL, 0) != PMIX_SUCCESS)
      return 4;
    times[1] = now() - times[0];
    if (file != NULL)
      fwrite(times, sizeof(times), 1, file);
    else
      is_over = access("over", F_OK) == 0;
  }
  if (file != NULL && fclose(file) != 0)
    return 5;
  return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 6;
}
